"""Turns markers (range entries, optimizer steps, calls) into steps."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from typing import Any, Protocol

from sotprobe.capture.child.emit import Emitter
from sotprobe.capture.child.stepplan import StepPlan

# Which marker wins when a program has several (DESIGN, "What a program may be").
PRIORITY = {"case": 4, "nvprof": 3, "function": 2, "optimizer": 1, "call": 0}


class StepLimit(SystemExit):
    """Ends the user's program once enough steps were seen; a normal end."""

    def __init__(self) -> None:
        super().__init__(0)


class Listener(Protocol):
    def begin_step(self, index: int) -> None: ...

    def end_step(self, index: int) -> None: ...


class Steps:
    """The step clock.

    Markers call ``open`` and ``close``; the best marker seen so far is the clock and the others are ignored. Everything
    that costs time (reading the loss, records, listeners) happens between two steps, outside the timed region.
    """

    def __init__(self, emit: Emitter, plan: StepPlan, translations: Callable[[], int | None], *, synchronize=None):
        self._emit = emit
        self._plan = plan
        self._translations = translations
        self._synchronize = synchronize
        self._listeners: list[Listener] = []
        self._innermost: Listener | None = None
        self._source: str | None = None
        self._index = -1
        self._open = False
        self._missed_begin = False
        self._start = 0
        self._translated = 0
        self._loss: Any = None
        self._late_losses: list[tuple[int, Any]] = []
        self._owner = threading.get_ident()
        self._pid = os.getpid()
        self.batch_size: int | None = None
        self.finished = False
        self._raised = 0

    @property
    def index(self) -> int:
        """The step in progress, -1 before the first."""
        return self._index

    @property
    def source(self) -> str | None:
        return self._source

    def listen(self, listener: Listener, *, innermost: bool = False) -> None:
        """Tell ``listener`` about steps; the ``innermost`` one hears last that a step begins and first that it ended."""
        if innermost:
            self._innermost = listener
        else:
            self._listeners.append(listener)

    def _begin(self) -> None:
        self._index += 1
        for listener in self._listeners:
            listener.begin_step(self._index)
        if self._innermost is not None:
            self._innermost.begin_step(self._index)

    def _end(self) -> None:
        if self._innermost is not None:
            self._innermost.end_step(self._index)
        for listener in self._listeners:
            listener.end_step(self._index)

    def here(self) -> bool:
        """True in the process and thread whose steps are counted."""
        return threading.get_ident() == self._owner and os.getpid() == self._pid

    def set_loss(self, loss: Any) -> None:
        """Remember this step's loss; it is read when the step has ended."""
        self._loss = loss

    def is_clock(self, source: str) -> bool:
        """Make ``source`` the clock if it beats the present one; False when a better one is in charge."""
        if self._source == source:
            return True
        if self._source is not None and PRIORITY[source] < PRIORITY[self._source]:
            return False
        self._source = source
        return True

    def open(self, source: str) -> None:
        """A step begins now (an open one of a lesser marker becomes this one)."""
        if self.finished or not self.is_clock(source):
            return
        if not self._open:
            self._begin()
        self._open = True
        self._translated = self._translations() or 0
        if self._index == 0 and self._synchronize:
            self._synchronize()
        self._start = time.perf_counter_ns()

    def close(self, source: str, *, partial: bool = False) -> None:
        """The step ends now. Raises StepLimit when the plan has enough."""
        end = time.perf_counter_ns()
        if self.finished or not self.is_clock(source) or not self._open:
            return
        self._open = False
        wall = end - self._start
        after = self._translations()
        self._end()
        record: dict[str, Any] = {
            "index": self._index,
            "source": source,
            "start_ns": self._start,
            "wall_ns": wall,
            "translations": None if after is None else after - self._translated,
            "loss": self._read_loss(),
            "batch_size": self.batch_size,
        }
        if partial:
            record["partial"] = True
        self._emit.now("step", **record)
        if not partial and self._plan.done(self._index, wall):
            self.stop()

    def expect(self, source: str) -> None:
        """The end of a step is near; when none is open, its begin was missed and its time will be partial."""
        if self.finished or self._open or not self.is_clock(source):
            return
        self.open(source)
        self._missed_begin = True

    def switch(self, source: str) -> None:
        """A marker that only knows the end of a step: close the open one under its name and open the next."""
        if self.finished or not self.is_clock(source):
            return
        partial, self._missed_begin = self._missed_begin, False
        self.close(source, partial=partial)
        self.open(source)

    def stop(self) -> None:
        """End the program: enough was seen. Programs that swallow SystemExit are ended harder."""
        self.finished = True
        self.end_program()

    def end_program(self) -> None:
        self._raised += 1
        self._emit.flush()
        raise StepLimit

    def check_finished(self) -> None:
        """Called by markers after the end: the program (a unittest, say) caught StepLimit and went on."""
        if self.finished and self.here():
            self.end_program()

    def finish(self, *, clean: bool = True) -> None:
        """The program ended: close what is open (as partial) and write losses that were kept back."""
        if self._open and not self.finished and clean and self._source == "call":
            self.close(self._source, partial=True)
        self.finished = True
        for index, loss in self._late_losses:
            self._emit("step-loss", index=index, loss=_scalar(loss))
        self._late_losses.clear()
        self._emit.flush()

    def _read_loss(self) -> float | None:
        loss, self._loss = self._loss, None
        if loss is None:
            return None
        if self._synchronize:  # a GPU build: reading now would wait for the device between steps
            self._late_losses.append((self._index, loss.detach()))
            return None
        return _scalar(loss)


def _scalar(loss: Any) -> float | None:
    """The loss as a float; None when it is no single number."""
    if isinstance(loss, (int, float)):
        return float(loss)
    array = loss.detach().numpy()
    return float(array.reshape(-1)[0]) if array.size == 1 else None
