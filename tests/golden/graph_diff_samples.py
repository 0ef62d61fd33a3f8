"""Pairs of graphs to compare: of recorded runs, and of hostile texts. Run by path (runpy), as all samples are."""

from __future__ import annotations

import runpy
from dataclasses import replace
from pathlib import Path

from sotprobe.analyze.graph import build_graph, to_records
from sotprobe.analyze.graph_diff import Side, diff_graphs
from sotprobe.analyze.graph_diff_picture import DiffPicture, diff_picture
from sotprobe.readers.rundir import read_run
from sotprobe.report.graph_diff_words import DiffContext
from sotprobe.report.graph_words import Context

GOLDEN = Path(__file__).parent
RECORDED = {
    "detection_loss": ("detection_loss_331", "detection_loss_fixed_331"),
    "five_breaks": ("../runs/five_breaks_py311/static-diagnosis", "no_breaks_331"),
    "is_none": ("is_none_py310", "is_none_py311"),
    "item_storm": ("item_storm_300", "item_storm_331"),
    "set_value": ("set_value_322", "set_value_331"),
}


def recorded(name: str) -> Side:
    run = read_run(GOLDEN / "graph_diff_runs" / name)
    return Side(to_records(build_graph(run)), run.sources)


def hostile() -> tuple[Side, Side]:
    """Of ten nodes with hostile texts some are gone, some are new and the others have changed."""
    graph = runpy.run_path(str(GOLDEN / "graph_samples.py"))["SAMPLES"]["hostile"]
    return Side(part_of(graph, 4)), Side(part_of(graph, 5, ops=30.0, compiles=7))


def part_of(graph, every: int, **changes):
    """Without every so manieth node and its edges."""
    gone = {node.id for node in graph.nodes[every - 1 :: every]}
    nodes = tuple(replace(node, **changes) if node.kind == "subgraph" else node for node in graph.nodes if node.id not in gone)
    return replace(graph, nodes=nodes, edges=tuple(edge for edge in graph.edges if not {edge.source, edge.target} & gone))


def side_context(side: Side) -> Context:
    def line_of(site):
        lines = side.sources.get(site.path, "").splitlines()
        return lines[site.line - 1].strip() if 0 < site.line <= len(lines) else None

    return Context(line_of, lambda site: f"{site.path}#L{site.line}")


SIDES = {name: tuple(map(recorded, pair)) for name, pair in RECORDED.items()} | {"hostile": hostile()}
SHOWN: dict[str, DiffPicture] = {name: diff_picture(diff_graphs(*sides)) for name, sides in SIDES.items()}
CONTEXTS = {name: DiffContext(*map(side_context, sides)) for name, sides in SIDES.items()}
