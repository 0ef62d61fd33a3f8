"""A comparison of two subgraph graphs as tables for a terminal: figures, where code went, what became of every node."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from sotprobe.analyze.graph_diff_picture import DiffPicture
from sotprobe.analyze.graph_fold import Group
from sotprobe.model import GraphNode
from sotprobe.model import graph as kinds
from sotprobe.model.graph_diff import CHANGED, GONE, KEPT, MOVES, NEW
from sotprobe.report import graph_diff_result
from sotprobe.report import graph_diff_words as diff_words
from sotprobe.report import graph_words as words
from sotprobe.report.graph_diff_words import DiffContext
from sotprobe.report.text import code_line, count, figure, one_line

if TYPE_CHECKING:
    from sotprobe.report.page import Page

MIN_WIDTH = 40
LONGEST = 200
SIGNS = {KEPT: " ", CHANGED: "~", GONE: "-", NEW: "+"}
HEAD = ("  place", "state", "ops", "runs/step", "ms/step")
MISSING = "-"
# From the left; the others are figures.
_TEXTS = (0, 1)

Node = GraphNode | Group


def render(shown: DiffPicture, context: DiffContext | None = None, *, width: int = 100, color: bool = False) -> str:
    """The tables, ``width`` columns wide. No colour when NO_COLOR is set."""
    from sotprobe.report.page import Page

    page = Page(max(width, MIN_WIDTH), color and not os.environ.get("NO_COLOR"))
    *sides, verdict = graph_diff_result.headlines(shown.diff)
    for text in sides:
        page.paragraph((text, "bold"))
    page.paragraph(verdict)
    page.blank()
    page.table([("", "before", "after", "difference"), *graph_diff_result.figures(shown.diff)])
    _moves(page, shown)
    _nodes(page, shown, context or DiffContext())
    if shown.picture.folded_by is not None:
        page.paragraph(words.folding(shown.picture))
    return page.text()


def _moves(page: Page, shown: DiffPicture) -> None:
    if not shown.diff.moves:
        return
    page.section("where code went")
    for kind in MOVES:
        for move in (move for move in shown.diff.moves if move.kind == kind):
            page.paragraph(diff_words.move_line(move, shown), label=f"{kind:<7}", indent=2)


def _nodes(page: Page, shown: DiffPicture, context: DiffContext) -> None:
    from sotprobe.report.page import aligned

    nodes = [node for node in shown.picture.nodes if node.state != kinds.TENSOR]
    rows = {node.id: _cells(node, shown) for node in nodes}
    line = aligned((HEAD, *rows.values()), _TEXTS)

    page.blank()
    page.clipped((line(HEAD), "dim"), indent=2)
    for where, members in groupby(nodes, _where):
        page.unbroken((where, "bold"))
        for node in members:
            style = {CHANGED: "warning", GONE: "error"}.get(shown.status(node), "")
            page.clipped((line(rows[node.id]), style), indent=2)
            for text in _notes(node, shown, context):
                page.clipped((text, "dim"), indent=8)
    page.blank()
    page.paragraph(f"{SIGNS[CHANGED]} changed, {SIGNS[GONE]} gone, {SIGNS[NEW]} new; times are of one run each and no verdict")


def _where(node: Node) -> str:
    """The function and its file."""
    if isinstance(node, Group):
        return one_line(node.path or "several files", LONGEST)
    path = node.site.path if node.site is not None else ""
    return "  ".join(filter(None, (one_line(node.name, LONGEST), one_line(path, LONGEST))))


def _cells(node: Node, shown: DiffPicture) -> tuple[str, ...]:
    sign = SIGNS[shown.status(node)]
    if isinstance(node, Group):
        facts = ", ".join(diff_words.group_facts(node, shown))
        return (f"{sign} {words.cut(node.name, words.NAME_LIMIT)}", facts, *[MISSING] * 3)
    item = shown.items[node.id]
    name = f"{words.cut(node.name, words.NAME_LIMIT)} " if shown.picture.folded_by is not None else ""
    figures = (
        diff_words.pair(item, what, write) or MISSING
        for what, write in (("ops", count), ("runs_per_step", count), ("ms_per_step", figure))
    )
    return (f"{sign} {name}{words.cut(diff_words.place(item), words.NAME_LIMIT)}", words.why(item.node), *figures)


def _notes(node: Node, shown: DiffPicture, context: DiffContext) -> Iterator[str]:
    """What stands below a row: the line that breaks the graph, where its code went, and how it was found."""
    if isinstance(node, Group):
        return
    item = shown.items[node.id]
    if node.kind == kinds.DYNAMIC_REGION and (line := context.source_line(item)):
        yield f"| {code_line(line)}"
    if item.before is not None and words.why(item.before) != words.why(item.node):
        yield f"was: {words.why(item.before)}"
    yield from diff_words.other_facts(item)
    yield from diff_words.moves_at(item, shown)
    if text := diff_words.recompiled(item):
        yield text
    if item.how in diff_words.WEAK:
        yield diff_words.how(item)
