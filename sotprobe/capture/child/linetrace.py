"""Watches the user's lines: sys.settrace up to Python 3.11, sys.monitoring from 3.12 on.

Either one tells a ``Watcher`` when a user frame begins to run, reaches a line, and stops running. Library code costs
what the interpreter charges for it and is never reported. Tracing never changes the program: a watcher that fails ends
the tracing and says so, and what was installed before is put back.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from types import CodeType, FrameType
from typing import Any, Protocol

from sotprobe.capture.child.usercode import UserCode, UserCodes


class Watcher(Protocol):
    """Called in the thread that runs the frame."""

    def enter(self, user: UserCode, frame: FrameType) -> None:
        """``frame`` starts, or a generator is resumed."""

    def line(self, user: UserCode, line: int) -> None:
        """The frame is about to run ``line`` (in generated code only where its lines are exact)."""

    def leave(self, frame: FrameType) -> None:
        """``frame`` returns, yields or is left by an exception."""


class Tracer(Protocol):
    """``start`` watches all threads the interpreter lets it watch; ``stop`` puts back what was there before."""

    def start(self, watcher: Watcher) -> None: ...

    def stop(self) -> None: ...

    def abandon(self) -> None:
        """In a forked child: stop at once, report nothing."""


def make_tracer(codes: UserCodes, note: Callable[[str], None]) -> Tracer:
    """The tracer for this Python; ``note`` is told what could not be watched."""
    return MonitoringTracer(codes, note) if sys.version_info >= (3, 12) else SettraceTracer(codes, note)


def _stack(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


class SettraceTracer:
    """Python <= 3.11. Sees the starting thread and the threads that start while it is on."""

    def __init__(self, codes: UserCodes, note: Callable[[str], None]):
        self._codes = codes
        self._note = note
        self._watcher: Watcher | None = None
        self._before: Any = None
        self._before_threads: Any = None
        self._borrowed: list[tuple[FrameType, Any]] = []
        self._failure: str | None = None
        self._global: Any = None

    def start(self, watcher: Watcher) -> None:
        self._failure = None
        self._watcher = watcher
        self._before = sys.gettrace()
        self._before_threads = threading.gettrace()
        if self._before is not None:
            self._note("the program's own trace function (a debugger or coverage) was set aside while lines were traced")
        for frame in _stack(sys._getframe(1)):
            user = self._codes.find(frame.f_code)
            if user is not None:
                self._borrowed.append((frame, frame.f_trace))
                frame.f_trace = self._local(user)
        self._global = self._begin_frame  # one bound method, to be recognised by identity
        threading.settrace(self._global)
        sys.settrace(self._global)

    def stop(self) -> None:
        watcher, self._watcher = self._watcher, None
        if watcher is None:
            return
        if self._failure is not None or sys.gettrace() is self._global:
            sys.settrace(self._before)
        else:
            self._note("the program installed a trace function of its own while lines were traced: lines are incomplete")
        if threading.gettrace() is self._global:
            threading.settrace(self._before_threads)
        for frame, before in self._borrowed:
            frame.f_trace = before
        self._borrowed.clear()
        if self._failure is not None:
            self._note(self._failure)

    def abandon(self) -> None:
        self._watcher = None
        self._borrowed.clear()
        if self._global is not None and sys.gettrace() is self._global:
            sys.settrace(None)
            threading.settrace(None)

    def _begin_frame(self, frame: FrameType, event: str, argument: object) -> Any:
        watcher = self._watcher
        if watcher is None:  # a thread that outlived the window
            sys.settrace(None)
            return None
        try:
            user = self._codes.find(frame.f_code)
            if user is None:
                return None
            watcher.enter(user, frame)
            if not user.exact:
                frame.f_trace_lines = False
            return user.tracer or self._local(user)
        except Exception as error:  # noqa: BLE001 - must not reach the user's program
            self._fail(error)
            return None

    def _local(self, user: UserCode) -> Callable:
        def trace(frame: FrameType, event: str, argument: object) -> Any:
            watcher = self._watcher
            if watcher is None:
                return None
            try:
                if event == "line":
                    watcher.line(user, frame.f_lineno)
                elif event == "return":
                    watcher.leave(frame)
            except Exception as error:  # noqa: BLE001 - must not reach the user's program
                self._fail(error)
            return trace

        user.tracer = trace
        return trace

    def _fail(self, error: Exception) -> None:
        self._failure = f"tracing of lines stopped: {type(error).__name__}: {error}"
        sys.settrace(None)


class MonitoringTracer:
    """Python >= 3.12. Sees every thread; lines are instrumented in user code only."""

    _TOOLS = (3, 4, 2, 1)  # free numbers first, then those a profiler or coverage would use (PEP 669)

    def __init__(self, codes: UserCodes, note: Callable[[str], None]):
        self._codes = codes
        self._note = note
        self._watcher: Watcher | None = None
        self._tool: int | None = None
        self._instrumented: dict[int, CodeType] = {}
        self._failure: str | None = None
        events = sys.monitoring.events
        self._global_events = events.PY_START | events.PY_RESUME | events.PY_THROW | events.PY_UNWIND
        self._frame_events = events.PY_RETURN | events.PY_YIELD
        self._callbacks = {
            events.PY_START: self._on_begin,
            events.PY_RESUME: self._on_begin,
            events.PY_THROW: self._on_throw,
            events.LINE: self._on_line,
            events.PY_RETURN: self._on_end,
            events.PY_YIELD: self._on_end,
            events.PY_UNWIND: self._on_unwind,
        }

    def start(self, watcher: Watcher) -> None:
        monitoring = sys.monitoring
        self._failure = None
        self._tool = next((tool for tool in self._TOOLS if monitoring.get_tool(tool) is None), None)
        if self._tool is None:
            self._note("every sys.monitoring tool number is taken: lines were not traced")
            return
        monitoring.use_tool_id(self._tool, "sotprobe")
        self._watcher = watcher
        for event, callback in self._callbacks.items():
            monitoring.register_callback(self._tool, event, callback)
        monitoring.set_events(self._tool, self._global_events)
        for top in sys._current_frames().values():
            for frame in _stack(top):
                user = self._codes.find(frame.f_code)
                if user is not None:
                    self._instrument(user)

    def stop(self) -> None:
        if self._watcher is None:
            return
        self._release()
        if self._failure is not None:
            self._note(self._failure)

    def abandon(self) -> None:
        if self._watcher is not None:
            self._release()

    def _release(self) -> None:
        monitoring = sys.monitoring
        self._watcher = None
        monitoring.set_events(self._tool, 0)
        for code in self._instrumented.values():
            monitoring.set_local_events(self._tool, code, 0)
        self._instrumented.clear()
        for event in self._callbacks:
            monitoring.register_callback(self._tool, event, None)
        monitoring.free_tool_id(self._tool)
        monitoring.restart_events()  # what was DISABLEd for library code must not stay so for the next window
        self._tool = None

    def _instrument(self, user: UserCode) -> None:
        code = user.code
        if id(code) not in self._instrumented:
            self._instrumented[id(code)] = code
            events = self._frame_events | (sys.monitoring.events.LINE if user.exact else 0)
            sys.monitoring.set_local_events(self._tool, code, events)

    def _on_begin(self, code: CodeType, offset: int) -> Any:
        watcher = self._watcher
        if watcher is None or self._failure is not None:
            return None
        try:
            user = self._codes.find(code)
            if user is None:
                return sys.monitoring.DISABLE
            self._instrument(user)
            watcher.enter(user, sys._getframe(1))
        except Exception as error:  # noqa: BLE001 - must not reach the user's program
            self._fail(error)
        return None

    def _on_throw(self, code: CodeType, offset: int, error: BaseException) -> None:
        watcher = self._watcher
        if watcher is None or self._failure is not None:
            return
        try:
            user = self._codes.find(code)
            if user is not None:
                self._instrument(user)
                watcher.enter(user, sys._getframe(1))
        except Exception as failure:  # noqa: BLE001 - must not reach the user's program
            self._fail(failure)

    def _on_line(self, code: CodeType, line: int) -> None:
        watcher = self._watcher
        if watcher is None or self._failure is not None:
            return
        try:
            user = self._codes.find(code)
            if user is not None:
                watcher.line(user, line)
        except Exception as error:  # noqa: BLE001 - must not reach the user's program
            self._fail(error)

    def _on_end(self, code: CodeType, offset: int, value: object) -> None:
        watcher = self._watcher
        if watcher is None or self._failure is not None:
            return
        try:
            watcher.leave(sys._getframe(1))
        except Exception as error:  # noqa: BLE001 - must not reach the user's program
            self._fail(error)

    def _on_unwind(self, code: CodeType, offset: int, error: BaseException) -> None:
        watcher = self._watcher
        if watcher is None or self._failure is not None:
            return
        try:
            if self._codes.find(code) is not None:
                watcher.leave(sys._getframe(1))
        except Exception as failure:  # noqa: BLE001 - must not reach the user's program
            self._fail(failure)

    def _fail(self, error: Exception) -> None:
        self._failure = f"tracing of lines stopped: {type(error).__name__}: {error}"
