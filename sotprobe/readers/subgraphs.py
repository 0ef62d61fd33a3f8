"""Subgraph records: what was compiled, with what, and how often it ran."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from sotprobe.model import SourceSite, Statement, Subgraph, TensorFlow, TensorMeta
from sotprobe.readers.frames import Frames
from sotprobe.readers.records import Display, Record, Records


def read_subgraphs(records: Records, frames: Frames, display: Display) -> tuple[Subgraph, ...]:
    runs = _runs(records)
    shapes = _shapes(records)
    times = _times(records)
    return tuple(_subgraph(record, frames, display, runs, shapes, times) for record in records.of("subgraph"))


def _subgraph(record: Record, frames: Frames, display: Display, runs, shapes, times) -> Subgraph:
    name = record.get("name")
    frame = frames.get(record.get("code"))
    statements = tuple(_statement(item, display) for item in record.get("statements", ()))
    seen_inputs, seen_outputs = shapes.get(name, ([], []))
    forward_ns, backward_ns = times.get(name, (None, None))
    return Subgraph(
        name=name,
        frame=frame.site if frame else None,
        site=next((statement.site for statement in statements if statement.site), None),
        ops=record.get("ops"),
        statements=statements,
        inputs=_metas(record.get("inputs", ()), seen_inputs),
        outputs=_metas(record.get("outputs", ()), seen_outputs),
        dropped=record.get("dropped"),
        built_at_step=record.get("step"),
        compile_ns=record.get("compile_ns"),
        runs=tuple(sorted(runs.get(name, {}).items())),
        forward_ns=forward_ns,
        backward_ns=backward_ns,
        break_lines=frame.break_lines if frame else (),
        break_sides=frame.break_sides if frame else (),
    )


def _statement(item: Mapping[str, Any], display: Display) -> Statement:
    path, line = item.get("path"), item.get("line")
    site = SourceSite(display(path), line, item.get("function") or "") if path and isinstance(line, int) else None
    return Statement(str(item.get("text", "")), site)


def _metas(described, seen: list) -> tuple[TensorMeta, ...]:
    """``seen`` holds one list of [shape, dtype, stop_gradient] for every call whose shapes were new."""
    metas = []
    for position, item in enumerate(described):
        real = tuple(dict.fromkeys(tuple(call[position][0]) for call in seen if position < len(call)))
        ir_shape = item.get("ir_shape")
        metas.append(
            TensorMeta(
                str(item.get("name", "")),
                str(item.get("dtype") or ""),
                None if ir_shape is None else tuple(ir_shape),
                real,
                bool(item.get("at_break")),
            )
        )
    return tuple(metas)


def read_flow(records: Records) -> tuple[TensorFlow, ...]:
    """What passed between subgraphs, in the order of the steps that were looked at."""
    return tuple(
        TensorFlow(
            step=record.get("step"),
            origin=link["origin"],
            source=link["from"],
            output=link["output"],
            target=link.get("to"),
            input=link.get("input"),
            count=link.get("count") or 1,
            shape=None if link.get("shape") is None else tuple(link["shape"]),
            dtype=link.get("dtype"),
            bytes=link.get("bytes"),
        )
        for record in records.of("subgraph-flow")
        for link in record.get("links")
    )


def _runs(records: Records) -> dict[str, dict[int, int]]:
    runs: dict[str, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    for record in records.of("subgraph-runs"):
        for item in record.get("runs"):
            runs[item.get("name")][record.get("step")] += int(item.get("count") or 0)
    return runs


def _shapes(records: Records) -> dict[str, tuple[list, list]]:
    shapes: dict[str, tuple[list, list]] = defaultdict(lambda: ([], []))
    for record in records.of("subgraph-shapes"):
        inputs, outputs = shapes[record.get("name")]
        inputs.append(record.get("inputs", []))
        outputs.append(record.get("outputs", []))
    return shapes


def _times(records: Records) -> dict[str, tuple[float | None, float | None]]:
    """Nanoseconds per run in the attribution windows, forward and backward."""
    totals: dict[str, list] = defaultdict(lambda: [0, None, None])
    for record in records.of("subgraph-time"):
        for item in record.get("times"):
            total = totals[item.get("name")]
            total[0] += int(item.get("count") or 0)
            for place, name in ((1, "forward_ns"), (2, "backward_ns")):
                if item.get(name) is not None:
                    total[place] = (total[place] or 0) + item[name]
    return {
        name: tuple(None if value is None else value / count for value in (forward, backward))
        for name, (count, forward, backward) in totals.items()
        if count
    }
