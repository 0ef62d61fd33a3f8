"""Where the time went: line totals, coverage and frame-callback time, all per step."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from statistics import median
from typing import Any

from sotprobe.model import LineTotal, SourceSite, Step
from sotprobe.model.run import FrameKey
from sotprobe.readers.frames import Frames
from sotprobe.readers.records import Display, Record, Records


def _window(records: Records) -> Record | None:
    """The last attribution window in which nothing was translated, else the last one: what the program ended up doing."""
    windows = [record for record in records.of("lines") if record.get("step_to") > record.get("step_from")]
    quiet = [record for record in windows if not record.get("translations", 0)]
    return (quiet or windows or [None])[-1]


def read_lines(records: Records, display: Display) -> tuple[LineTotal, ...] | None:
    """Totals per step of the window that counts; None when no window was completed."""
    window = _window(records)
    if window is None:
        return None
    steps = window.get("step_to") - window.get("step_from")
    totals: dict[tuple[SourceSite, bool], _Total] = {}
    for item in window.get("lines"):
        site = SourceSite(display(str(item.get("path", ""))), int(item.get("line") or 0), str(item.get("function") or ""))
        totals.setdefault((site, bool(item.get("inside"))), _Total()).add(item)
    return tuple(total.per_step(site, inside, steps) for (site, inside), total in totals.items())


class _Total:
    """What a line did in a window. Code that SOT generated enters a line several times, so its hits only count alone."""

    def __init__(self) -> None:
        self._hits = 0
        self._compiled_hits = 0
        self._wall_ns = 0
        self._operators: dict[str, list[int]] = defaultdict(lambda: [0, 0])

    def add(self, item: Mapping[str, Any]) -> None:
        if item.get("compiled"):
            self._compiled_hits += item.get("hits") or 0
        else:
            self._hits += item.get("hits") or 0
        self._wall_ns += item.get("wall_ns") or 0
        for name, count, ns in item.get("ops") or ():
            self._operators[name][0] += count
            self._operators[name][1] += ns

    def per_step(self, site: SourceSite, inside: bool, steps: int) -> LineTotal:
        return LineTotal(
            site=site,
            hits=(self._hits or self._compiled_hits) / steps,
            wall_ns=self._wall_ns / steps,
            inside=inside,
            operators={name: (count / steps, ns / steps) for name, (count, ns) in self._operators.items()},
        )


def line_counts(records: Records) -> dict[str, float]:
    """What the window was: ``lines.from``, ``lines.steps``, ``lines.wall_ns``, ``lines.operators``, ``lines.attributed``,
    ``lines.compiled_forward``."""
    window = _window(records)
    if window is None:
        return {}
    first, end = window.get("step_from"), window.get("step_to")
    counts: dict[str, float] = {"lines.from": first, "lines.steps": end - first}
    for name in ("wall_ns", "operators", "attributed", "compiled_forward"):
        if window.get(name) is not None:
            counts[f"lines.{name}"] = window.get(name)
    return counts


def traced_steps(records: Records) -> frozenset[int]:
    """Steps whose wall time is distorted because lines or frames were being traced."""
    steps: set[int] = set()
    for record in records.of("lines"):
        steps.update(range(record.get("step_from"), record.get("step_to")))
    for kind in ("coverage", "eager-frame"):
        steps.update(record.get("step") for record in records.of(kind) if record.get("step") is not None)
    return frozenset(steps)


def read_coverage(records: Records, display: Display) -> dict[int, frozenset[SourceSite]]:
    """The lines that ran or were simulated, by step."""
    covered: dict[int, set[SourceSite]] = defaultdict(set)
    for record in records.of("coverage"):
        for path, lines, functions in record.get("lines"):
            shown = display(path)
            covered[record.get("step")].update(SourceSite(shown, line, functions.get(str(line)) or "") for line in lines)
    return {step: frozenset(sites) for step, sites in covered.items()}


def read_frame_totals(
    records: Records, frames: Frames, counts: Callable[[Step], bool], steps: tuple[Step, ...]
) -> tuple[dict[FrameKey, float], dict[FrameKey, float]]:
    """Callback nanoseconds and entries per step of every frame, over the steps that ``counts`` accepts.

    A frame's callback time is the median over steps of that of one entry, so that a step in which the machine was busy
    elsewhere does not count.
    """
    chosen = {step.index for step in steps if counts(step)}
    if not chosen:
        return {}, {}
    each_ns: dict[FrameKey, list[float]] = defaultdict(list)
    entries: dict[FrameKey, int] = defaultdict(int)
    for record in records.of("frames"):
        if record.get("step") not in chosen:
            continue
        for item in record.get("frames"):
            frame = frames.get(item.get("code"))
            if frame is None:
                continue
            entered = item.get("entered") or 0
            entries[frame.key] += entered
            if entered and item.get("callback_ns") is not None:
                each_ns[frame.key].append(item["callback_ns"] / entered)
    per_step = {frame: total / len(chosen) for frame, total in entries.items()}
    return {frame: median(values) * per_step[frame] for frame, values in each_ns.items()}, per_step
