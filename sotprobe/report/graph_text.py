"""A subgraph graph as a table for a terminal: its nodes in program order, under the function that they are in."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from sotprobe.analyze.graph_fold import Group, Picture
from sotprobe.model import GraphNode
from sotprobe.model import graph as kinds
from sotprobe.report import graph_words as words
from sotprobe.report.text import code_line, count, figure, one_line
from sotprobe.report.words import measures

if TYPE_CHECKING:
    from sotprobe.report.page import Page

MIN_WIDTH = 40
MISSING = "-"
LONGEST = 200
HEAD = ("place", "state", "ops", "runs/step", "compiles", "ms/step")
# From the left; the others are figures.
_TEXTS = (0, 1)

Node = GraphNode | Group


def render(picture: Picture, context: words.Context | None = None, *, width: int = 100, color: bool = False) -> str:
    """The table, ``width`` columns wide. No colour when NO_COLOR is set."""
    from sotprobe.report.page import Page

    page = Page(max(width, MIN_WIDTH), color and not os.environ.get("NO_COLOR"))
    graph = picture.graph
    page.paragraph((words.title(graph), "bold"))
    for texts in (words.summary(graph.summary), measures(graph.summary), [words.folding(picture)]):
        if any(texts):
            page.paragraph(", ".join(texts), style="")
    _table(page, [node for node in picture.nodes if node.state != kinds.TENSOR], context or words.Context())
    return page.text()


def _table(page: Page, nodes: Sequence[Node], context: words.Context) -> None:
    from sotprobe.report.page import aligned

    rows = {node.id: _cells(node) for node in nodes}
    line = aligned((HEAD, *rows.values()), _TEXTS)

    page.blank()
    page.clipped((line(HEAD), "dim"), indent=2)
    for where, members in groupby(nodes, _where):
        page.unbroken((where, "bold"))
        for node in members:
            page.clipped(line(rows[node.id]), indent=2)
            for text in _notes(node, context):
                page.clipped((text, "dim"), indent=6)


def _where(node: Node) -> str:
    """The function and its file."""
    if isinstance(node, Group):
        return one_line(node.path or "several files", LONGEST)
    path = node.site.path if node.site is not None else ""
    return "  ".join(filter(None, (one_line(node.name, LONGEST), one_line(path, LONGEST))))


def _cells(node: Node) -> tuple[str, ...]:
    if isinstance(node, Group):
        place, state, compiles = words.cut(node.name, words.NAME_LIMIT), words.state(node), node.versions
    else:
        side = f" ({words.side(node)})" if words.side(node) else ""
        place, state, compiles = words.cut(f"{words.lines(node)}{side}", words.NAME_LIMIT), words.why(node), node.compiles
    figures = (
        _figure(node.ops, count),
        _figure(node.runs_per_step, count),
        _figure(compiles, count),
        _figure(node.ms_per_step, figure),
    )
    return (place, state, *figures)


def _figure(value: float | None, write) -> str:
    return MISSING if value is None else write(value)


def _notes(node: Node, context: words.Context) -> Iterator[str]:
    """What stands below a row: why it was translated again, or the line that breaks the graph."""
    if isinstance(node, Group):
        if node.dynamic:
            yield f"{node.dynamic} of {len(node.members)} are dynamic regions"
        return
    if recompiled := words.recompiles(node):
        yield recompiled
    elif node.kind == kinds.DYNAMIC_REGION and node.site is not None and (line := context.source_line(node.site)):
        yield f"| {code_line(line)}"
