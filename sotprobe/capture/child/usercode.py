"""What tracing needs to know about a code object, worked out once."""

from __future__ import annotations

import functools
import inspect
import opcode
import os
from collections.abc import Callable
from types import CodeType, FrameType

from sotprobe.paddle_compat.names import is_generated, is_translated, original_name

_SUSPENDABLE = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_RESUME = opcode.opmap.get("RESUME")  # Python >= 3.11


@functools.cache
def _absolute(path: str) -> str:
    return os.path.abspath(path)


def _start_offset(code: CodeType) -> int:
    """``f_lasti`` of a frame that has just started, as the trace function sees it: at its first RESUME, if there is one.

    Not by ``dis``: this runs while tracing, and SOT would translate that module's functions.
    """
    offsets = range(0, len(code.co_code), 2)
    return next((offset for offset in offsets if code.co_code[offset] == _RESUME), -1)


class UserCode:
    """A code object of the user's program.

    ``compiled`` says that SOT wrote it in place of a frame, ``resume`` that it is the rest of a function after a graph
    break and runs as it is. ``function`` is the user's name for it.
    """

    __slots__ = ("_start", "code", "compiled", "exact", "function", "key_tables", "line", "path", "raw", "resume", "tracer")

    def __init__(self, code: CodeType, exact_generated_lines: bool):
        self.code = code  # keeps id(code) valid
        self.raw = code.co_name
        self.path = _absolute(code.co_filename)
        self.line = code.co_firstlineno
        self.function = original_name(self.raw)
        self.compiled = is_translated(self.raw)
        self.resume = is_generated(self.raw) and not self.compiled
        self.exact = exact_generated_lines or not is_generated(self.raw)
        self.key_tables: tuple[dict[int, int], dict[int, int]] = ({}, {})
        self.tracer: Callable | None = None
        self._start = _start_offset(code) if code.co_flags & _SUSPENDABLE else None

    @property
    def suspendable(self) -> bool:
        """Generators and coroutines: they start once and are resumed often."""
        return self._start is not None

    def starts(self, frame: FrameType) -> bool:
        """False when a frame that begins to run was only resumed (a generator)."""
        return self._start is None or frame.f_lasti <= self._start

    def line_of(self, frame: FrameType) -> int:
        """The line a frame stands on; the definition line where SOT's own line table is not to be trusted."""
        return (frame.f_lineno or self.line) if self.exact else self.line


class UserCodes:
    """Finds the ``UserCode`` of a code object, None for library code.

    Code objects are told apart by identity: comparing them compares bytecode, which is slow.
    """

    def __init__(self, is_user: Callable[[str], bool], *, exact_generated_lines: bool = False):
        self._is_user = is_user
        self._exact = exact_generated_lines
        self._known: dict[int, tuple[CodeType, UserCode | None]] = {}

    def find(self, code: CodeType) -> UserCode | None:
        known = self._known.get(id(code))
        if known is None:
            path = code.co_filename
            user = not path.startswith("<") and self._is_user(_absolute(path))
            known = self._known[id(code)] = (code, UserCode(code, self._exact) if user else None)
        return known[1]

    def above(self, frame: FrameType | None) -> tuple[UserCode, FrameType] | None:
        """The innermost user frame from ``frame`` outwards."""
        while frame is not None:
            user = self.find(frame.f_code)
            if user is not None:
                return user, frame
            frame = frame.f_back
        return None
