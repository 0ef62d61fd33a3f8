"""Where the time went: line totals, coverage and frame-callback time, all per step."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

from sotprobe.model import LineTotal, SourceSite, Step
from sotprobe.model.run import FrameKey
from sotprobe.readers.frames import Frames
from sotprobe.readers.records import Display, Records


def read_lines(records: Records, display: Display) -> tuple[LineTotal, ...] | None:
    """Totals per step over all attribution windows; None when no window was completed."""
    windows = records.of("lines")
    steps = sum(record.get("step_to") - record.get("step_from") for record in windows)
    if steps <= 0:
        return None
    totals: dict[tuple, dict] = {}
    for record in windows:
        for item in record.get("lines"):
            site = SourceSite(display(str(item.get("path", ""))), int(item.get("line") or 0), str(item.get("function") or ""))
            total = totals.setdefault((site, bool(item.get("inside"))), {"hits": 0, "wall": 0, "ops": defaultdict(lambda: [0, 0])})
            total["hits"] += item.get("hits") or 0
            total["wall"] += item.get("wall_ns") or 0
            for name, count, ns in item.get("ops") or ():
                total["ops"][name][0] += count
                total["ops"][name][1] += ns
    return tuple(
        LineTotal(
            site=site,
            hits=total["hits"] / steps,
            wall_ns=total["wall"] / steps,
            inside=inside,
            operators={name: (count / steps, ns / steps) for name, (count, ns) in total["ops"].items()},
        )
        for (site, inside), total in totals.items()
    )


def line_counts(records: Records) -> dict[str, float]:
    """What the windows were: ``lines.steps``, ``lines.wall_ns``, ``lines.operators``, ``lines.attributed`` (all totals)."""
    windows = records.of("lines")
    if not windows:
        return {}
    counts: dict[str, float] = {"lines.steps": sum(record.get("step_to") - record.get("step_from") for record in windows)}
    for name in ("wall_ns", "operators", "attributed"):
        values = [record.get(name) for record in windows]
        if all(value is not None for value in values):
            counts[f"lines.{name}"] = sum(values)
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
            covered[record.get("step")].update(
                SourceSite(shown, line, functions.get(str(line)) or "") for line in lines
            )
    return {step: frozenset(sites) for step, sites in covered.items()}


def read_frame_totals(
    records: Records, frames: Frames, counts: Callable[[Step], bool], steps: tuple[Step, ...]
) -> tuple[dict[FrameKey, float], dict[FrameKey, float]]:
    """Callback nanoseconds and entries per step of every frame, averaged over the steps that ``counts`` accepts."""
    chosen = {step.index for step in steps if counts(step)}
    if not chosen:
        return {}, {}
    callback: dict[FrameKey, float] = defaultdict(float)
    entries: dict[FrameKey, float] = defaultdict(float)
    for record in records.of("frames"):
        if record.get("step") not in chosen:
            continue
        for item in record.get("frames"):
            frame = frames.get(item.get("code"))
            if frame is None:
                continue
            entries[frame.key] += (item.get("entered") or 0) / len(chosen)
            if item.get("callback_ns") is not None:
                callback[frame.key] += item["callback_ns"] / len(chosen)
    return dict(callback), dict(entries)
