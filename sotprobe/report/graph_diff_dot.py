"""A picture of two compared graphs in the DOT language: both in one, coloured by what became of each node and edge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from sotprobe.analyze.graph_diff_picture import DiffPicture
from sotprobe.analyze.graph_fold import Group, Link
from sotprobe.model import GraphNode
from sotprobe.model import graph as kinds
from sotprobe.model.graph_diff import CHANGED, GONE, KEPT, NEW
from sotprobe.report import graph_diff_result
from sotprobe.report import graph_diff_words as diff_words
from sotprobe.report import graph_words as words
from sotprobe.report.dot_text import cell, wide
from sotprobe.report.graph_diff_words import DiffContext
from sotprobe.report.graph_dot import LOOKS, TOOLTIP_LINE, Look, Style, few, legend, write
from sotprobe.report.text import one_line

DIFF_LOOKS: Mapping[str, Look] = {
    KEPT: Look("#f1f3f5", "#6b757d"),
    CHANGED: Look("#fdeabf", "#a86500", width=1.8),
    GONE: Look("#f9d3d0", "#b3261e"),
    NEW: Look("#dff1e3", "#2f7d4f"),
}
EDGE_COLORS = {KEPT: "#8a949c", CHANGED: "#a86500", GONE: "#b3261e", NEW: "#2f7d4f"}
STATUS_WORDS = {KEPT: "kept", CHANGED: "changed", GONE: "gone", NEW: "new"}
KEY = "dashed border: runs dynamically, dotted: built and dropped; figures and lines: before -> after"
_MOVED = "#1a4f9c"


def render(shown: DiffPicture, context: DiffContext | None = None, *, page: bool = False) -> str:
    """The DOT text; for a ``page`` without head and links."""
    return write(shown.picture, DiffStyle(shown, context or DiffContext(), page))


class DiffStyle(Style):
    """What a picture of a comparison shows of each node and edge, and above them."""

    def __init__(self, shown: DiffPicture, context: DiffContext, page: bool) -> None:
        super().__init__(shown.picture, context.after, page)
        self._shown = shown
        self._both = context

    def title(self) -> str:
        diff = self._shown.diff
        return " -> ".join(dict.fromkeys((graph_diff_result.side_title(diff.before), graph_diff_result.side_title(diff.after))))

    def head(self) -> Iterator[str]:
        diff = self._shown.diff
        before, after, verdict = graph_diff_result.headlines(diff)
        yield cell(before, bold=True)
        yield cell(after, bold=True)
        yield from (cell(text) for text in (verdict, *graph_diff_result.figure_lines(diff), words.folding(self.picture)) if text)
        yield legend([(STATUS_WORDS[status], look) for status, look in DIFF_LOOKS.items()], KEY)

    def look(self, node: GraphNode | Group) -> Look:
        """Colours say what became of it, the border what it is."""
        look, kind = DIFF_LOOKS[self._shown.status(node)], LOOKS.get(node.state)
        if kind is None or isinstance(node, Group):
            return look
        return replace(look, style=kind.style, width=max(look.width, kind.width))

    def classes(self, node: GraphNode | Group) -> str:
        return " ".join((self._shown.status(node), *(("group",) if isinstance(node, Group) else ())))

    def url(self, node: GraphNode | Group) -> str | None:
        if self.page or isinstance(node, Group):
            return None
        item = self._shown.items[node.id]
        return None if item.node.site is None else self._both.of(item).source_url(item.node.site)

    def rows(self, node: GraphNode | Group) -> Iterator[str]:
        if isinstance(node, Group) and node.state != kinds.TENSOR:
            yield wide(words.cut(node.name, words.NAME_LIMIT), bold=True)
            yield from (wide(text) for text in diff_words.group_facts(node, self._shown))
        else:
            yield from super().rows(node)

    def piece_rows(self, node: GraphNode) -> Iterator[str]:
        item, color = self._shown.items[node.id], self.look(node).line
        name = "" if self.picture.folded_by is None else f"{words.cut(node.name, words.NAME_LIMIT)} "
        status = cell(f"  {STATUS_WORDS[item.status]}", bold=True, small=True, color=color, ALIGN="RIGHT")
        yield cell(f"{name}{diff_words.place(item)}", bold=True) + status
        if node.kind != kinds.SUBGRAPH or diff_words.state(item) != words.STATE_WORDS[kinds.COMPILED]:
            yield wide(words.cut(diff_words.state(item), 2 * words.LINE_LIMIT), color=color)
        if node.kind == kinds.DYNAMIC_REGION and (line := self._both.source_line(item)):
            yield wide(words.cut(line, words.LINE_LIMIT), mono=True, small=True)
        yield from (wide(text) for text in diff_words.facts(item))
        if text := diff_words.recompiled(item):
            yield wide(words.cut(text, words.LINE_LIMIT + 16), bold=True, color=color)
        if text := diff_words.times(item):
            yield wide(text, small=True, color="#39424a")
        for text in diff_words.moves_at(item, self._shown):
            yield wide(words.cut(text, words.LINE_LIMIT + 16), bold=True, small=True, color=_MOVED)

    def tip(self, node: GraphNode | Group) -> Iterator[str]:
        yield one_line(node.name, TOOLTIP_LINE)
        if isinstance(node, Group):
            yield from diff_words.group_facts(node, self._shown)
            return
        item = self._shown.items[node.id]
        yield STATUS_WORDS[item.status]
        if node.kind == kinds.TENSOR:
            return
        for side, piece, context in (("before", item.before, self._both.before), ("after", item.after, self._both.after)):
            if piece is not None:
                yield f"{side}: {one_line(words.place(piece), TOOLTIP_LINE)}, {words.why(piece)}"
                if piece.kind == kinds.DYNAMIC_REGION and piece.site is not None and (line := context.source_line(piece.site)):
                    yield one_line(line, TOOLTIP_LINE)
        yield from filter(None, (*diff_words.facts(item), diff_words.recompiled(item), diff_words.times(item)))
        yield from diff_words.moves_at(item, self._shown)
        if text := diff_words.how(item):
            yield text

    def link_look(self, link: Link) -> Mapping[str, object]:
        status = self._shown.link_status(link)
        look = dict(super().link_look(link))
        look["class"] = f"{look['class']} {status}"
        look["color"] = EDGE_COLORS[status]
        return look if status == KEPT else {**look, "penwidth": 1.6}

    def link_tip(self, link: Link) -> Iterator[str]:
        if not link.passes:
            return iter([f"what runs next: {STATUS_WORDS[self._shown.link_status(link)]}"])
        return few([diff_words.edge_text(edge, self._shown) for edge in link.edges if edge.kind == kinds.PASSES])

    def link_label(self, link: Link) -> Sequence[str]:
        return diff_words.link_lines(link, self._shown)
