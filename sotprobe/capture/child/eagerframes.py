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
TOO_SMALL = "too-small"
PYTHON_TOO_NEW = "python-too-new"

_COROUTINE = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_SUSPENDABLE = _COROUTINE | inspect.CO_GENERATOR
# Up to Python 3.12 break calls go through a Python function of SOT's, NullVariable.__call__.
_TRAMPOLINE_FILES = os.path.join("paddle", "jit", "sot", "opcode_translator", "")
_SOT_FILES = os.path.join("paddle", "jit", "sot", "")
_CALLBACK = "eval_frame_callback"

CodeKey = tuple[str, int, str]


class Started:
    """Starts of a user frame, as itself or compiled: how often, and where from the first time.

    Not a dataclass: SOT would translate the generated constructor, whose code is in no file that could be skipped.
    """

    __slots__ = ("called_from", "caller", "count", "in_generator", "in_thread", "trampoline", "user")

    def __init__(self, user: UserCode, in_thread: bool):
        self.user = user
        self.in_thread = in_thread
        self.caller: UserCode | None = None  # the innermost user frame around it
        self.called_from: dict[str, object] | None = None
        self.trampoline = False  # between the two there is SOT's function for break calls
        self.in_generator = False
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
    """Collects started frames, one step after another.

    ``seen_codes`` counts SOT's callbacks by code object; ``always_compiled(code)`` says that SOT has translations of the
    code that it must have used.
    """

    def __init__(
        self,
        codes: UserCodes,
        calls: StaticCalls,
        seen_codes: Mapping[CodeType, int],
        always_compiled: Callable[[CodeType], bool] = lambda code: False,
    ):
        self._codes = codes
        self._calls = calls
        self._seen_codes = seen_codes
        self._always_compiled = always_compiled
        self._seen_before: dict[int, int] = {}  # by id(code): comparing code objects compares their bytecode
        self._seen_after: dict[int, int] = {}
        self._started: dict[tuple[int, int, bool], Started | None] = {}
        self._compiled: Counter[CodeKey] = Counter()
        # (caller, callee) that SOT was shown in an earlier step
        self._shown_pairs: set[tuple[CodeKey, CodeKey]] = set()

    def begin_step(self) -> None:
        self._seen_before = self._seen_now()
        self._started = {}
        self._compiled.clear()

    def enter(self, user: UserCode, frame: FrameType) -> None:
        """A user frame begins to run; counted when it starts below a to_static call."""
        if not self._calls.covers_this_thread() or not user.starts(frame):
            return
        caller = frame.f_back
        key = (id(user.code), id(caller.f_code) if caller is not None else 0, self._calls.in_other_thread())
        if key not in self._started:
            self._started[key] = self._first(user, caller)
        started = self._started[key]
        if started is None:
            return
        started.count += 1
        if user.compiled:
            self._compiled[_origin(user)] += 1

    def end_step(self, *, sot_supported: bool = True) -> list[dict[str, object]]:
        """The fields of an ``eager-frame`` record for each frame and reason, without step and phase.

        Rests of functions that SOT was shown and let run are left out: its own records say why.
        """
        self._seen_after = self._seen_now()
        merged: dict[tuple[CodeKey, str], dict[str, object]] = {}
        for started in self._frames():
            user = started.user
            if user.compiled:
                continue
            why = self._why(started) if sot_supported else PYTHON_TOO_NEW
            if user.resume and why == SEEN:
                continue
            fields = merged.setdefault(
                (_origin(user), why),
                {
                    "path": user.path,
                    "line": user.line,
                    "function": user.function,
                    "raw": user.raw,
                    "count": 0,
                    "why": why,
                    "called_from": started.called_from,
                    "seen": self._was_shown(user),
                },
            )
            fields["count"] += started.count  # type: ignore[operator]
        for started in self._frames():
            if started.caller is not None and (started.user.compiled or self._was_shown(started.user)):
                self._shown_pairs.add((_origin(started.caller), _origin(started.user)))
        return list(merged.values())

    def _seen_now(self) -> dict[int, int]:
        return {id(code): count for code, count in self._seen_codes.items()}

    def _frames(self) -> Iterator[Started]:
        return (started for started in self._started.values() if started is not None)

    def _first(self, user: UserCode, caller: FrameType | None) -> Started | None:
        """None when SOT itself runs the frame, while it translates or checks guards."""
        started = Started(user, self._calls.in_other_thread())
        for outer in self._calls.frames_below(caller):
            code = outer.f_code
            if code.co_name == _CALLBACK and _SOT_FILES in code.co_filename:
                return None
            started.in_generator = started.in_generator or bool(code.co_flags & _SUSPENDABLE)
            if started.caller is not None:
                continue
            started.trampoline = started.trampoline or _TRAMPOLINE_FILES in code.co_filename
            started.caller = self._codes.find(code)
            if started.caller is not None:
                started.called_from = {
                    "path": started.caller.path,
                    "line": started.caller.line_of(outer),
                    "function": started.caller.function,
                }
        return started

    def _was_shown(self, user: UserCode) -> bool:
        """Whether SOT was shown frames of this code that then ran as themselves."""
        shown = self._seen_after.get(id(user.code), 0) - self._seen_before.get(id(user.code), 0)
        return shown > self._compiled[_origin(user)]

    def _why(self, started: Started) -> str:
        user, caller = started.user, started.caller
        if started.in_thread:
            return THREAD
        if user.code.co_flags & _COROUTINE:
            return COROUTINE
        if user.code.co_flags & inspect.CO_GENERATOR:
            return GENERATOR
        if self._was_shown(user):
            return WITHOUT_GRAPH if self._always_compiled(user.code) else SEEN
        if getattr(user.code, "co_exceptiontable", b""):
            return EXCEPTION_TABLE
        if started.in_generator:
            return CALLED_FROM_GENERATOR
        if started.trampoline:  # the trampoline itself is no longer looked into
            return WITHOUT_GRAPH
        if caller is not None and caller.compiled and not user.resume:
            return TOO_SMALL  # compiled code replays a subgraph that was not kept
        if caller is not None and (_origin(caller), _origin(user)) in self._shown_pairs:
            return WITHOUT_GRAPH
        return HOOK_OFF


def _origin(user: UserCode) -> CodeKey:
    """Identifies the code that SOT compiled, for compiled code, or the code itself."""
    if not user.compiled:
        return user.path, user.line, user.raw
    rest = user.raw.removeprefix("#")
    return user.path, user.line, rest if rest.startswith("$") else user.function
