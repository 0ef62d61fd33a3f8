"""Which user frames started as themselves below a to_static call, and why SOT did not take them.

A frame that SOT compiled starts under another name (``#...``) and one that was inlined never starts, so any other user
frame ran eagerly. SOT's callback says which of them it was shown; the rest it passed over without a word.
"""

from __future__ import annotations

import inspect
import os
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from types import CodeType, FrameType

from sotprobe.capture.child.usercode import UserCode, UserCodes

SEEN = "seen"
THREAD = "thread"
COROUTINE = "coroutine"
GENERATOR = "generator"
EXCEPTION_TABLE = "exception-table"
CALLED_FROM_GENERATOR = "called-from-generator"
HOOK_OFF = "hook-off"
WITHOUT_GRAPH = "without-graph"
PYTHON_TOO_NEW = "python-too-new"

_COROUTINE = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_SUSPENDABLE = _COROUTINE | inspect.CO_GENERATOR
# After so many callbacks without a graph SOT leaves a code object alone (eval_frame.c, Paddle 2.6-3.3).
_WITHOUT_GRAPH_AFTER = 10
# Break calls go through a function of SOT's own, NullVariable.__call__; it can lose the hook as any other can.
_SOT_FILES = os.path.join("paddle", "jit", "sot", "opcode_translator", "")

_CodeKey = tuple[str, int, str]


class Started:
    """Starts of a user frame as itself: how often, and where from the first time.

    Not a dataclass: SOT would translate the generated constructor, whose code is in no file that could be skipped.
    """

    __slots__ = ("by_sot", "called_from", "caller", "count", "in_generator", "in_thread", "user")

    def __init__(
        self,
        user: UserCode,
        caller: UserCode | None,
        called_from: dict[str, object] | None,
        by_sot: bool,
        in_generator: bool,
        in_thread: bool,
    ):
        self.user = user
        self.caller = caller
        self.called_from = called_from
        self.by_sot = by_sot  # its immediate caller is SOT's, or SOT wrote it
        self.in_generator = in_generator
        self.in_thread = in_thread
        self.count = 0


class StaticCalls:
    """Knows whether a thread is below the outermost to_static call."""

    def __init__(self) -> None:
        self._owner = threading.get_ident()
        self._before: set[int] = set()
        self._root: FrameType | None = None

    @property
    def inside(self) -> bool:
        return self._root is not None

    def enter(self, root: FrameType) -> None:
        self._root = root
        self._owner = threading.get_ident()
        self._before = {ident for ident in map(_ident, threading.enumerate()) if ident != self._owner}

    def leave(self) -> None:
        self._root = None

    def covers_this_thread(self) -> bool:
        """True in the thread of the call and in threads started during it."""
        return self._root is not None and threading.get_ident() not in self._before

    def in_other_thread(self) -> bool:
        return threading.get_ident() != self._owner

    def frames_below(self, frame: FrameType | None) -> Iterator[FrameType]:
        """From ``frame`` outwards to the to_static call."""
        while frame is not None and frame is not self._root:
            yield frame
            frame = frame.f_back


def _ident(thread: threading.Thread) -> int | None:
    return thread.ident


class EagerFrames:
    """Collects started frames during one step; ``seen_codes()`` counts SOT's callbacks by code object."""

    def __init__(self, codes: UserCodes, calls: StaticCalls, seen_codes: Callable[[], Mapping[CodeType, int]]):
        self._codes = codes
        self._calls = calls
        self._seen_codes = seen_codes
        self._seen_before = seen_codes()
        self._seen_after: Mapping[CodeType, int] = {}
        self._started: dict[tuple[int, int, bool], Started] = {}
        self._compiled: Counter[_CodeKey] = Counter()

    def enter(self, user: UserCode, frame: FrameType) -> None:
        """A user frame begins to run; counted when it starts below a to_static call."""
        if not self._calls.covers_this_thread() or not user.starts(frame):
            return
        if user.compiled:
            self._compiled[_origin(user)] += 1
            return
        caller = frame.f_back
        key = (id(user.code), id(caller.f_code) if caller is not None else 0, self._calls.in_other_thread())
        started = self._started.get(key)
        if started is None:
            started = self._started[key] = self._first(user, frame)
        started.count += 1

    def records(self, *, sot_supported: bool = True) -> Iterator[dict[str, object]]:
        """The fields of an ``eager-frame`` record for each frame and reason, without step and phase."""
        self._seen_after = self._seen_codes()
        merged: dict[tuple[_CodeKey, str], dict[str, object]] = {}
        for started in self._started.values():
            user = started.user
            seen = self._was_shown(user)
            why = self._why(started, seen) if sot_supported else PYTHON_TOO_NEW
            fields = merged.get((_origin(user), why))
            if fields is None:
                merged[_origin(user), why] = {
                    "path": user.path,
                    "line": user.line,
                    "function": user.function,
                    "raw": user.raw,
                    "count": started.count,
                    "why": why,
                    "called_from": started.called_from,
                    "seen": seen,
                }
            else:
                fields["count"] += started.count  # type: ignore[operator]
        yield from merged.values()

    def _first(self, user: UserCode, frame: FrameType) -> Started:
        caller = frame.f_back
        above = None
        in_generator = False
        for outer in self._calls.frames_below(caller):
            in_generator = in_generator or bool(outer.f_code.co_flags & _SUSPENDABLE)
            if above is None and (found := self._codes.find(outer.f_code)) is not None:
                above = (found, outer)
        site = None
        if above is not None:
            site = {"path": above[0].path, "line": above[0].line_of(above[1]), "function": above[0].function}
        by_sot = caller is not None and (
            _SOT_FILES in caller.f_code.co_filename or (above is not None and above[1] is caller and above[0].compiled)
        )
        return Started(user, above[0] if above else None, site, by_sot, in_generator, self._calls.in_other_thread())

    def _callbacks(self, user: UserCode) -> int:
        return self._seen_after.get(user.code, 0) - self._seen_before.get(user.code, 0)

    def _was_shown(self, user: UserCode) -> bool:
        """Whether SOT was shown frames of this code that then ran as themselves."""
        return self._callbacks(user) > self._compiled[_origin(user)]

    def _why(self, started: Started, seen: bool) -> str:
        code = started.user.code
        if started.in_thread:
            return THREAD
        if code.co_flags & _COROUTINE:
            return COROUTINE
        if code.co_flags & inspect.CO_GENERATOR:
            return GENERATOR
        if seen:
            return SEEN
        if getattr(code, "co_exceptiontable", b""):
            return EXCEPTION_TABLE
        if started.in_generator:
            return CALLED_FROM_GENERATOR
        return WITHOUT_GRAPH if self._lost_the_hook(started) else HOOK_OFF

    def _lost_the_hook(self, started: Started) -> bool:
        """True when the frame itself, or SOT's function that called it, was left alone for having no graph; False when
        the hook was off already where it was called."""
        if started.by_sot:
            return True
        caller = started.caller
        if caller is not None and not caller.compiled and not self._was_shown(caller) and not _passed_over(caller):
            return False
        return self._seen_before.get(started.user.code, 0) >= _WITHOUT_GRAPH_AFTER


def _passed_over(user: UserCode) -> bool:
    """Frames of this code never reach SOT, but what they call does."""
    return bool(getattr(user.code, "co_exceptiontable", b"")) or bool(user.code.co_flags & _SUSPENDABLE)


def _origin(user: UserCode) -> _CodeKey:
    """What SOT compiled, for compiled code, or the code itself."""
    if not user.compiled:
        return user.path, user.line, user.raw
    rest = user.raw.removeprefix("#")
    return user.path, user.line, rest if rest.startswith("$") else user.function
