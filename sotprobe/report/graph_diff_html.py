"""A page around the picture of two compared graphs: that of one run, with both sides of what is clicked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from sotprobe.analyze.graph_diff_picture import DiffPicture
from sotprobe.analyze.graph_fold import Group, Link, Picture
from sotprobe.model import GraphNode
from sotprobe.model import graph as kinds
from sotprobe.model.graph_diff import GONE, KEPT
from sotprobe.report import graph_diff_result
from sotprobe.report import graph_diff_words as diff_words
from sotprobe.report import graph_words as words
from sotprobe.report.graph_diff_dot import DIFF_LOOKS, KEY, STATUS_WORDS
from sotprobe.report.graph_diff_words import DiffContext
from sotprobe.report.graph_html import Item, PageData, page
from sotprobe.report.text import visible

BEFORE, AFTER = "before", "after"
_ID = 2000


def render(shown: DiffPicture, context: DiffContext, svg: str) -> str:
    """The page with ``svg``, which was drawn of the same comparison (``graph_diff_dot.render(…, page=True)``)."""
    diff = shown.diff
    before, after, verdict = graph_diff_result.headlines(diff)
    lines = (after, verdict, *graph_diff_result.figure_lines(diff), words.folding(shown.picture))
    legend = [(status, STATUS_WORDS[status]) for status in DIFF_LOOKS]
    return page(before, lines, legend, KEY, svg, _DiffData(shown, context).all())


class _DiffData(PageData):
    figures_head = ("", BEFORE, AFTER)

    def __init__(self, shown: DiffPicture, context: DiffContext) -> None:
        self._shown = shown
        nothing = Picture(shown.picture.graph, (), ())
        self._sides = {BEFORE: PageData(nothing, context.before), AFTER: PageData(nothing, context.after)}
        super().__init__(shown.picture, context.after)

    def label(self, node: GraphNode | Group) -> str:
        if isinstance(node, Group):
            facts = ", ".join(diff_words.group_facts(node, self._shown))
            return f"{words.cut(node.name, 60)}: {facts}" if facts else words.cut(node.name, 60)
        item = self._shown.items[node.id]
        if node.kind == kinds.TENSOR:
            return f"{item.status}: tensor {words.cut(node.name, 60)}"
        return f"{item.status}: {words.cut(node.name, 60)} {diff_words.place(item)}"

    def link_lines(self, link: Link) -> Sequence[str]:
        return diff_words.link_lines(link, self._shown)

    def node(self, node: GraphNode, key: str, drawn: str) -> Item:
        item = self._shown.items[node.id]
        pieces = [(BEFORE, item.before), (AFTER, item.after)]
        sides = {side: self._sides[side].node(piece, key, drawn) for side, piece in pieces if piece is not None}
        shown = sides[BEFORE if item.status == GONE else AFTER]
        both = len(sides) == 2
        notes = [
            *diff_words.moves_at(item, self._shown),
            *diff_words.facts(item),
            diff_words.recompiled(item),
            diff_words.how(item),
        ]
        return {
            **shown,
            "id": visible(node.id[:_ID]),
            "label": self.label(node),
            "place": " -> ".join(dict.fromkeys(filter(None, (side["place"] for side in sides.values())))),
            "state": item.status,
            "state_text": f"{STATUS_WORDS[item.status]}: {diff_words.state(item)}",
            "notes": list(filter(None, notes)) if node.kind != kinds.TENSOR else [],
            "figures": list(_figures(sides)),
            **{
                name: [[f"{side} {row[0]}" if both else row[0], *row[1:]] for side in sides for row in sides[side][name]]
                for name in ("versions", "inputs", "outputs")
            },
            "findings": [{**found, "head": f"{side}: {found['head']}"} for side in sides for found in sides[side]["findings"]],
            "statements": sides[AFTER]["statements"] if AFTER in sides else [],
            "old_statements": sides[BEFORE]["statements"] if BEFORE in sides and item.status != KEPT else [],
        }

    def group(self, group: Group, key: str, members: list[list[str]]) -> Item:
        return {
            **super().group(group, key, members),
            "state": self._shown.status(group),
            "notes": list(diff_words.group_facts(group, self._shown)),
        }

    def edge_notes(self, link: Link) -> Iterator[str]:
        yield STATUS_WORDS[self._shown.link_status(link)]
        yield from (diff_words.edge_text(edge, self._shown) for edge in link.edges if edge.kind == kinds.PASSES)


def _figures(sides: dict[str, Item]) -> Iterator[list[str]]:
    """Each figure with both values, blank on a side that does not know it."""
    values = {side: dict(item["figures"]) for side, item in sides.items()}
    names = dict.fromkeys(name for pair in zip_longest(*(found for found in values.values())) for name in pair if name)
    for name in names:
        yield [name, *(values.get(side, {}).get(name, "") for side in (BEFORE, AFTER))]
