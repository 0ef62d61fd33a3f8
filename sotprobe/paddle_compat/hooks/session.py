"""What the hooks share: where records go, which code objects were met, where the user's program stands."""

from __future__ import annotations

import functools
import inspect
import os
import sys
from collections.abc import Callable
from time import perf_counter_ns
from types import CodeType
from typing import Any

from sotprobe.model import SourceSite
from sotprobe.paddle_compat.names import original_name

Emit = Callable[..., None]
_OUTER_LIMIT = 50
_OWN_DIRECTORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep


def site_fields(site: SourceSite) -> dict[str, object]:
    """A site as records write it."""
    return {"path": site.path, "line": site.line, "function": site.function}


@functools.cache
def absolute(path: str) -> str:
    """``co_filename`` as an absolute path; names such as ``<string>`` stay."""
    return path if path.startswith("<") else os.path.abspath(path)


def code_flags(code: CodeType) -> list[str]:
    """What makes SOT leave the frames of a code object alone, as far as the code object shows it."""
    flags = []
    if getattr(code, "co_exceptiontable", b""):
        flags.append("exception-table")
    if code.co_flags & (inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR):
        flags.append("generator")
    if code.co_flags & (inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        flags.append("coroutine")
    return flags


class Session:
    """Emits records and gives code objects their ids.

    Code objects are told apart by identity: comparing two of them compares their bytecode, which is slow, and two
    functions of one source are different frames. Every code object met is kept alive, so that identities stay valid.
    """

    def __init__(self, emit: Emit, is_user: Callable[[str], bool], current_step: Callable[[], int]):
        self.emit = emit
        self.current_step = current_step
        self._is_user = functools.cache(lambda path: not path.startswith(_OWN_DIRECTORY) and is_user(path))
        self._ids: dict[int, tuple[int, CodeType]] = {}
        self._parents: dict[int, tuple[CodeType, int, str]] = {}
        self._alive: list[CodeType] = []

    def event(self, kind: str, **fields: object) -> None:
        """Emit a record with its time (perf_counter nanoseconds) and the step in progress."""
        self.emit(kind, t=perf_counter_ns(), step=self.current_step(), **fields)

    def note(self, text: str) -> None:
        """Say what could not be measured."""
        self.emit("note", text=text)

    def is_user(self, path: str) -> bool:
        """Whether a file is the user's: neither the standard library, nor a package, nor sotprobe."""
        return self._is_user(absolute(path))

    def code_id(self, code: CodeType) -> int:
        """The id of a code object; a ``code`` record is emitted the first time."""
        known = self._ids.get(id(code))
        if known is not None:
            return known[0]
        number = len(self._ids)
        self._ids[id(code)] = (number, code)
        self.emit(
            "code",
            id=number,
            path=absolute(code.co_filename),
            line=code.co_firstlineno,
            function=original_name(code.co_name),
            raw=code.co_name,
            user=self.is_user(code.co_filename),
            break_lines=self.break_lines(code),
            break_sides=self.break_sides(code),
            flags=code_flags(code),
        )
        return number

    def resumed(self, code: CodeType, parent: CodeType, line: int, side: str = "") -> None:
        """``code`` continues ``parent`` after a graph break at ``line``; ``side`` is ``then`` or
        ``else`` of a branch there, ``body`` or ``after`` of a loop."""
        self._alive.append(code)
        self._parents[id(code)] = (parent, line, side)

    def break_lines(self, code: CodeType) -> list[int]:
        """The break lines that lead from the user's function to ``code``, outermost first."""
        return [line for line, _ in self._chain(code)]

    def break_sides(self, code: CodeType) -> list[str]:
        """The side of each of those breaks on which ``code`` is; empty text for a break that is no branch."""
        return [side for _, side in self._chain(code)]

    def _chain(self, code: CodeType) -> list[tuple[int, str]]:
        """The breaks (line, side) that lead from the user's function to ``code``, outermost first."""
        chain: list[tuple[int, str]] = []
        while id(code) in self._parents:
            code, line, side = self._parents[id(code)]
            chain.append((line, side))
        return chain[::-1]

    def origin(self, code: CodeType) -> CodeType:
        """The user's code object that a resume function is part of."""
        while id(code) in self._parents:
            code = self._parents[id(code)][0]
        return code

    def user_site(self, site: SourceSite) -> dict[str, object] | None:
        """A site as records write it, None for a line that is not the user's."""
        if not self.is_user(site.path):
            return None
        return site_fields(SourceSite(absolute(site.path), site.line, original_name(site.function)))

    def user_sites(self, sites: list[SourceSite]) -> list[dict[str, object]]:
        """The user's lines among ``sites``, in the same order."""
        return [fields for site in sites if (fields := self.user_site(site)) is not None]

    def outer(self) -> list[dict[str, object]]:
        """The user's real frames above a hook, outermost first."""
        sites: list[SourceSite] = []
        frame: Any = sys._getframe(1)
        while frame is not None and len(sites) < _OUTER_LIMIT:
            code = frame.f_code
            if self.is_user(code.co_filename):
                sites.append(SourceSite(code.co_filename, frame.f_lineno or code.co_firstlineno, code.co_name))
            frame = frame.f_back
        return self.user_sites(sites[::-1])
