"""What ran eagerly, on which lines, and what it cost: decides by step which tracing is on and emits what it saw.

Early steps show which lines and frames run at all, steps after the 20th what SOT made of the program in the end (it
changes its mind until then, ``StepInfo`` in eval_frame.c, Paddle 2.6-3.3). Between them and after them a window of a few
steps joins operators to lines. Only one kind of tracing is on at a time.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
import time
import traceback
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

from sotprobe.capture.child.coverage import Survey
from sotprobe.capture.child.eagerframes import EagerFrames, StaticCalls
from sotprobe.capture.child.hostevents import HostEvents
from sotprobe.capture.child.linetrace import make_tracer
from sotprobe.capture.child.opjoin import Execution, Joined, LineCost, Operator, Span, join
from sotprobe.capture.child.sotstate import always_compiled, sot_supported, translate_count
from sotprobe.capture.child.subgraphruns import SubgraphRuns
from sotprobe.capture.child.timeline import Keys, Timeline
from sotprobe.capture.child.usercode import UserCodes

EARLY_COVERAGE = (0, 1, 2)
EARLY_FRAMES = (1, 2)  # the last one completed is reported
LATE = (22, 23, 24, 38)  # what is compiled after the 20th step runs ten times before some releases forget it
WINDOWS = ((4, 7), (25, 30))
_PATIENCE = 6  # steps that a window waits for translations to end
_LONG_WINDOW = 5_000_000  # line events after which no further step is added to a window


@dataclass
class _Window:
    """An attribution window in progress; ``end`` is exclusive."""

    start: int
    end: int
    timeline: Timeline
    translations: int | None
    spans: list[Span] = field(default_factory=list)
    step_began: int | None = None
    events: tuple[list[Operator], list[Execution]] | None = None


def _harmless(method: Callable[..., None]) -> Callable[..., None]:
    """A method of ``Attribution`` that never raises, and does nothing once tracing has ended."""

    @functools.wraps(method)
    def guarded(attribution: Attribution, *args: Any) -> None:
        if attribution._closed:
            return
        try:
            method(attribution, *args)
        except Exception:  # noqa: BLE001 - the user's program goes on
            attribution._fail(traceback.format_exc(limit=-3))

    return guarded


class Attribution:
    """Listens to steps and to_static calls of one program.

    ``emit(kind, **fields)`` writes a record, ``is_user(path)`` tells the user's files from libraries. In static mode
    ``seen_codes`` counts SOT's callbacks by code object, always as they are now; None when SOT is not hooked (then eager
    frames cannot be told); the hooks also make the lines of generated code exact. ``windows`` are attribution windows
    [start, end), in order. ``harness`` says that sotprobe runs the loop itself (a case file): operators outside of the
    program's lines are then its backward and optimizer, and no news.

    Nothing that fails in here reaches the program: it is noted, and tracing ends.
    """

    def __init__(
        self,
        emit: Callable[..., None],
        is_user: Callable[[str], bool],
        seen_codes: Mapping[CodeType, int] | None = None,
        mode: str = "static",
        windows: Sequence[tuple[int, int]] = WINDOWS,
        harness: bool = False,
    ):
        self._emit = emit
        self._static = mode == "static"
        self._windows = list(windows)
        self._harness = harness
        self._codes = UserCodes(is_user, exact_generated_lines=seen_codes is not None)
        self._keys = Keys()
        self._calls = StaticCalls()
        self._frames: EagerFrames | None = None
        self._translations: Callable[[], int | None] = lambda: None
        if self._static and seen_codes is not None:
            self._frames = EagerFrames(self._codes, self._calls, seen_codes, always_compiled)
            self._translations = translate_count
        self._tracer = make_tracer(self._codes, self._note)
        self._events = HostEvents(self._give_way)
        self._runs = SubgraphRuns(self._static)
        self._survey: Survey | None = None
        self._window: _Window | None = None
        self._early_frames: tuple[int, list[dict[str, Any]]] | None = None
        self._translated_before: int | None = None
        self._last_step = -1
        self._windows_done = 0
        self._refused_window: int | None = None
        self._closed = False
        _stop_in_forked_children(self)

    @_harmless
    def begin_step(self, index: int) -> None:
        """The step ``index`` begins, in the thread that runs the steps. The one before may never have ended."""
        self._drop_survey()
        if self._window is None:
            if index in self._survey_steps():
                self._begin_survey(index)
            elif self._windows and index >= self._windows[0][0]:
                self._begin_window(index)
        self._translated_before = self._translations()
        if self._window is not None:
            self._window.timeline.mark_here(sys._getframe(2))
            self._window.step_began = time.time_ns()

    @_harmless
    def end_step(self, index: int) -> None:
        """The step ``index`` has ended. Records are emitted from here, outside the step."""
        now = time.time_ns()
        self._last_step = index
        if self._survey is not None:
            self._end_survey(index)
        window = self._window
        if window is None:
            return
        if window.events is None and window.step_began is not None:
            window.spans.append((window.step_began, now))
        window.step_began = None
        done = window.start + len(window.spans)
        if window.events is not None or done >= window.end or window.timeline.length > _LONG_WINDOW:
            self._end_window()

    @_harmless
    def enter_static(self) -> None:
        """The outermost to_static callable is about to be called."""
        frame = sys._getframe(2)
        self._calls.enter(frame)
        if self._window is not None:
            self._window.timeline.set_inside(True, frame)

    @_harmless
    def leave_static(self) -> None:
        """The outermost to_static call is over, by an exception perhaps."""
        self._calls.leave()
        if self._window is not None:
            self._window.timeline.set_inside(False, sys._getframe(2))

    @_harmless
    def close(self) -> None:
        """The program has ended: emit what is left and put everything back."""
        self._drop_survey()
        if self._window is not None:
            self._end_window()
        self._emit_early_frames()
        self._runs.uninstall()
        self._closed = True
        if self._windows_done == 0:
            self._note(f"time was not attributed to lines: the program ended after {self._last_step + 1} steps")

    # Lines and frames

    def _survey_steps(self) -> tuple[int, ...]:
        # Step 0 of the static mode would trace Paddle's translation; what it simulates is recorded by the hooks.
        return (EARLY_COVERAGE[1:] if self._static else EARLY_COVERAGE) + LATE

    def _begin_survey(self, index: int) -> None:
        frames = None
        if self._frames is not None and index in EARLY_FRAMES + LATE:
            frames = self._frames
            frames.begin_step()
        self._survey = Survey(frames)
        self._tracer.start(self._survey)

    def _drop_survey(self) -> None:
        if self._survey is not None:
            self._survey = None
            self._tracer.stop()

    def _end_survey(self, index: int) -> None:
        survey, self._survey = self._survey, None
        self._tracer.stop()
        self._emit("coverage", step=index, simulated=False, lines=survey.coverage.rows())
        if survey.frames is None:
            return
        records = survey.frames.end_step(sot_supported=sot_supported())
        if index in EARLY_FRAMES:
            self._early_frames = (index, records)
            if index == EARLY_FRAMES[-1]:
                self._emit_early_frames()
        else:
            self._emit_frames(index, "late", records)

    def _emit_early_frames(self) -> None:
        early, self._early_frames = self._early_frames, None
        if early is not None:
            self._emit_frames(early[0], "early", early[1])

    def _emit_frames(self, step: int, phase: str, records: list[dict[str, Any]]) -> None:
        for fields in records:
            self._emit("eager-frame", step=step, phase=phase, **fields)

    # Attribution windows

    def _begin_window(self, index: int) -> None:
        start, end = self._windows[0]
        # A step that follows a translating one probably translates too: wait, but not for ever.
        translated = self._translated_before is not None and self._translations() != self._translated_before
        if translated and index < start + _PATIENCE:
            return
        if not self._events.start():
            if self._refused_window != start:
                self._refused_window = start
                self._note(f"step {index}: the program's own paddle.profiler is alive: time cannot be attributed to lines")
            if index >= start + _PATIENCE:
                self._windows.pop(0)
            return
        self._windows.pop(0)
        timeline = Timeline(self._codes, self._keys, self._calls.inside)
        self._window = _Window(index, index + end - start, timeline, self._translations())
        self._runs.begin(timeline)
        self._tracer.start(timeline)

    @_harmless
    def _give_way(self) -> None:
        """The program builds a profiler of its own, and only one may be alive."""
        window = self._window
        if window is None or window.events is not None:
            self._events.discard()
            return
        window.events = self._events.stop()
        window.step_began = None
        self._note("an attribution window ended early: the program built a paddle.profiler of its own")

    def _end_window(self) -> None:
        window, self._window = self._window, None
        self._tracer.stop()
        forwards = self._runs.end()
        operators, executions = window.events if window.events is not None else self._events.stop()
        if not window.spans:
            return
        joined = join(
            window.timeline.tracks(),
            self._keys,
            threading.get_native_id(),
            window.spans,
            operators,
            executions,
            forwards,
        )
        self._windows_done += 1
        self._emit_window(window, joined)

    def _emit_window(self, window: _Window, joined: Joined) -> None:
        steps = {"step_from": window.start, "step_to": window.start + len(window.spans)}
        translations = self._translations()
        self._emit(
            "lines",
            **steps,
            wall_ns=sum(end - start for start, end in window.spans),
            lines=[
                {
                    "path": line.path,
                    "line": line.line,
                    "function": line.function,
                    "hits": cost.hits,
                    "wall_ns": cost.wall_ns,
                    "inside": line.inside,
                    "compiled": line.compiled,
                    "ops": _operators(cost),
                }
                for line, cost in sorted(joined.lines.items())
            ],
            nowhere={"wall_ns": joined.nowhere.wall_ns, "ops": _operators(joined.nowhere)},
            operators=joined.operators,
            compiled_operators=joined.compiled,
            compiled_forward=joined.compiled_forward,
            attributed=joined.attributed,
            translations=None if translations is None or window.translations is None else translations - window.translations,
        )
        if self._static:
            self._emit(
                "subgraph-time",
                **steps,
                times=[
                    {
                        "name": name,
                        "count": cost.count,
                        "forward_ns": cost.forward_ns,
                        "backward_ns": cost.backward_ns,
                    }
                    for name, cost in sorted(joined.subgraphs.items())
                ],
            )
        for text in _unattributed(joined, harness=self._harness):
            self._note(f"steps {steps['step_from']}-{steps['step_to'] - 1}: {text}")

    def _note(self, text: str) -> None:
        self._emit("note", text=text)

    def _fail(self, text: str) -> None:
        self._closed = True
        self._note(f"tracing of lines ended, a bug in sotprobe: {text}")
        self._tracer.stop()
        self._events.discard()
        self._runs.end()

    def _abandon(self) -> None:
        """In a forked child: nothing is traced or recorded there."""
        self._closed = True
        self._tracer.abandon()
        self._events.abandon()
        self._runs.end()


def _operators(cost: LineCost) -> list[list[object]]:
    return [[name, count, ns] for name, (count, ns) in sorted(cost.operators.items())]


def _unattributed(joined: Joined, *, harness: bool) -> list[str]:
    """Why not every operator is on a line or in a subgraph."""
    texts = []
    if not joined.operators:
        texts.append("Paddle's profiler recorded no operator")
    nowhere = sum(count for count, _ in joined.nowhere.operators.values())
    if nowhere and not harness:
        texts.append(f"{nowhere} operators ran with no line of the program on the stack")
    if joined.strangers:
        texts.append(f"{joined.strangers} operators ran in threads whose lines could not be watched")
    if joined.loose_backward:
        texts.append(f"{joined.loose_backward} backward runs of subgraphs match no forward run of the window")
    return texts


def _stop_in_forked_children(attribution: Attribution) -> None:
    reference = weakref.ref(attribution)

    def after_fork() -> None:
        attribution = reference()
        if attribution is not None:
            attribution._abandon()

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=after_fork)
