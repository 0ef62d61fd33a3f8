"""Runs as read to Runs as analysed: line times without the slowdown of tracing them."""

from __future__ import annotations

from dataclasses import replace

from sotprobe.model import Evidence, LineTotal, Run

# Name in Run.counts of what line times were multiplied by.
TRACING_FACTOR = "lines.factor"


def assemble(run: Run) -> Run:
    """Scale line times so that a traced step takes what an untraced steady step of the same run took.

    Tracing slows a step by 1.2 to 2 times and more, in proportion to the lines that run. Without an untraced step nothing is
    known about the slowdown: line times then stay as recorded, and the notes say so. Operators' times are scaled alike.
    """
    if run.lines is None:
        return run
    plain, steps, wall = (run.counts.get(name) for name in ("untraced.step_ns", "lines.steps", "lines.wall_ns"))
    if not plain or not steps or not wall:
        text = "line times include the slowdown of tracing: no other step to compare with"
        return replace(run, notes=(*run.notes, Evidence("lines", text)))
    traced = wall / steps
    factor = min(1.0, plain / traced)  # tracing makes nothing faster: a traced step that was shorter is noise
    lines = tuple(_scaled(line, factor) for line in run.lines)
    return replace(run, lines=lines, counts={**run.counts, TRACING_FACTOR: factor})


def _scaled(line: LineTotal, factor: float) -> LineTotal:
    operators = {name: (count, ns * factor) for name, (count, ns) in line.operators.items()}
    return replace(line, wall_ns=line.wall_ns * factor, operators=operators)
