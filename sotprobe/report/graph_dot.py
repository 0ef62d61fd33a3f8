"""A picture of a subgraph graph in the DOT language, for graphviz: deterministic, and every text of others escaped.

``Style`` says what each node and edge looks like and what is written on it, the writer where they stand. A comparison of two
graphs is drawn by the same writer in another style.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sotprobe.analyze.graph_fold import Group, Link, Picture
from sotprobe.model import GraphNode
from sotprobe.model import graph as kinds
from sotprobe.report import graph_words as words
from sotprobe.report.dot_text import FONT, SIZE, SMALL, attributes, cell, escape, label, quoted, table, tag, wide
from sotprobe.report.graph_layout import Frame, layout
from sotprobe.report.text import one_line
from sotprobe.report.words import measures

TOOLTIP_LINE = 600
MOST_IN_TOOLTIP = 12
EDGES = "solid: tensors (? is a dynamic dimension), dashed: what runs next"


@dataclass(frozen=True)
class Look:
    """How a state is drawn: fill, border, the shape's style and the width of its border."""

    fill: str
    line: str
    style: str = "filled,rounded"
    width: float = 1.2


LOOKS: Mapping[str, Look] = {
    kinds.COMPILED: Look("#dff1e3", "#2f7d4f"),
    kinds.RECOMPILED: Look("#fdeabf", "#a86500", width=1.8),
    kinds.CACHE_FULL: Look("#f9d3d0", "#b3261e", width=2.4),
    kinds.DYNAMIC_REGION: Look("#e8e4f6", "#5f54a0", "filled,rounded,dashed"),
    kinds.DROPPED: Look("#ececec", "#707070", "filled,rounded,dotted", 1.6),
    kinds.TENSOR: Look("#ffffff", "#555555", "filled"),
}
_UNKNOWN = Look("#ffffff", "#000000")


def render(picture: Picture, context: words.Context | None = None, *, page: bool = False) -> str:
    """The DOT text. Node ``n3`` is the picture's fourth node, edge ``e3`` its fourth link.

    For a ``page``, which has its own head and its own links, the picture has neither.
    """
    return write(picture, Style(picture, context or words.Context(), page))


def write(picture: Picture, style: Style) -> str:
    """The DOT text of a picture in a style."""
    return "\n".join(_Writer(picture, style).lines()) + "\n"


def css_class(node: GraphNode | Group) -> str:
    """The classes of a node in the SVG: its kind and its state, for a page's style sheet."""
    kind = "group" if isinstance(node, Group) else node.kind
    known = [name for name in (kind, node.state) if name in (*LOOKS, kinds.SUBGRAPH, "group")]
    return " ".join(dict.fromkeys(known))


class Style:
    """What a picture of one run shows of each node and edge, and above them."""

    def __init__(self, picture: Picture, context: words.Context, page: bool) -> None:
        self.picture = picture
        self.context = context
        self.page = page

    def title(self) -> str:
        """What the picture is of, in a line."""
        return words.title(self.picture.graph)

    def head(self) -> Iterator[str]:
        """The rows above the picture, the legend last."""
        facts = self.picture.graph.summary
        yield cell(self.title(), bold=True)
        texts = (", ".join(words.summary(facts)), ", ".join(measures(facts)), words.folding(self.picture))
        yield from (cell(text) for text in texts if text)
        yield legend([(words.STATE_WORDS[state], look) for state, look in LOOKS.items()], EDGES)

    def look(self, node: GraphNode | Group) -> Look:
        """How a node is drawn."""
        return LOOKS.get(node.state, _UNKNOWN)

    def classes(self, node: GraphNode | Group) -> str:
        """A node's classes in the SVG."""
        return css_class(node)

    def tip(self, node: GraphNode | Group) -> Iterator[str]:
        """The lines of a node's tooltip."""
        return tooltip(node, self.context)

    def url(self, node: GraphNode | Group) -> str | None:
        """Where a node links to; on a page a click does something else."""
        if self.page or isinstance(node, Group) or node.site is None:
            return None
        return self.context.source_url(node.site)

    def rows(self, node: GraphNode | Group) -> Iterator[str]:
        """The rows of a node's label."""
        if node.state == kinds.TENSOR:
            yield from self.tensor_rows(node)
        elif isinstance(node, Group):
            yield wide(words.cut(node.name, words.NAME_LIMIT), bold=True)
            yield from (wide(text) for text in words.group_facts(node))
        else:
            yield from self.piece_rows(node)

    def piece_rows(self, node: GraphNode) -> Iterator[str]:
        """A subgraph or a dynamic region."""
        color = self.look(node).line
        yield cell(self.place(node), bold=True) + cell(words.sir_names(node), small=True, color="#5a6670", ALIGN="RIGHT")
        if node.kind == kinds.DYNAMIC_REGION or node.state in (kinds.DROPPED, kinds.CACHE_FULL):
            yield wide(words.why(node), color=color)
        yield from self.source_row(node)
        yield from (wide(text) for text in filter(None, (words.per_step(node), words.times(node))))
        if text := words.recompiles(node):
            yield wide(words.cut(text, words.LINE_LIMIT + 8), bold=True, color=color)
        if text := words.compiles(node):
            yield wide(text, small=True, color="#39424a")
        yield from self._finding_rows(node)

    def place(self, node: GraphNode) -> str:
        """The lines of a node, with its name where no frame says it."""
        name = "" if self.picture.folded_by is None else f"{words.cut(node.name, words.NAME_LIMIT)} "
        return f"{name}{words.lines(node)}{f' ({words.side(node)})' if words.side(node) else ''}"

    def source_row(self, node: GraphNode) -> Iterator[str]:
        """The line that is dynamic."""
        if node.kind == kinds.DYNAMIC_REGION and node.site is not None and (line := self.context.source_line(node.site)):
            yield wide(words.cut(line, words.LINE_LIMIT), mono=True, small=True)

    def _finding_rows(self, node: GraphNode) -> Iterator[str]:
        for found in self.context.findings.get(node.id, ())[:2]:
            link = {"HREF": found.url, "TOOLTIP": one_line(found.finding.title)} if found.url and not self.page else {}
            yield wide(f"finding {found.number}: {words.cut(found.finding.slug, 24)}", small=True, color="#1a5fb4", **link)

    def tensor_rows(self, node: GraphNode | Group) -> Iterator[str]:
        """A tensor, or several that pass between the same nodes."""
        members = node.members if isinstance(node, Group) else (node,)
        if len(members) > 3:
            yield cell(node.name)
            return
        for member in members:
            edge = next((edge for edge in self.picture.graph.edges if member.id in (edge.source, edge.target)), None)
            texts = (words.cut(member.name, 24), words.shape(edge) if edge else "", words.seen(edge) if edge else "")
            yield cell(" ".join(filter(None, texts)), small=True)

    def link_look(self, link: Link) -> Mapping[str, object]:
        """An edge's classes, colour and line."""
        if link.passes:
            return {"class": "passes"}
        return {"class": "control", "style": "dashed", "arrowhead": "open", "color": "#8a949c"}

    def link_tip(self, link: Link) -> Iterator[str]:
        """The lines of an edge's tooltip."""
        if link.passes:
            return few([words.edge_text(edge) for edge in link.edges if edge.kind == kinds.PASSES])
        return iter(["what runs next"])

    def link_label(self, link: Link) -> Sequence[str]:
        """What is written on an edge between two pieces of code."""
        return words.link_lines(link)


def legend(looks: Sequence[tuple[str, Look]], key: str) -> str:
    """A row that explains the looks."""
    boxes = [tag("TD", escape(text), BGCOLOR=look.fill, COLOR=look.line, BORDER="1", CELLPADDING="3") for text, look in looks]
    return tag("TD", table(["".join([*boxes, cell(key, small=True)])], 4), ALIGN="LEFT")


class _Writer:
    """Where nodes, edges and frames go, in DOT."""

    def __init__(self, picture: Picture, style: Style) -> None:
        self._picture = picture
        self._style = style
        self._layout = layout(picture)
        self._by_id = {node.id: node for node in picture.nodes}
        self._makers: dict[str, list[str]] = defaultdict(list)
        for link in picture.links:
            self._makers[link.target].append(link.source)
        self._names = {node.id: f"n{index}" for index, node in enumerate(picture.nodes)}

    def lines(self) -> Iterator[str]:
        yield "digraph sotprobe {"
        yield from (f"  {line}" for line in self._defaults())
        frames = (frame for column in self._layout.columns for frame in column)
        for number, frame in enumerate(frames):
            yield from (f"  {line}" for line in self._frame(number, frame))
        yield from (f"  {self._node(node)}" for node, _ in self._layout.loose)
        yield from (f"  {self._link(number, link)}" for number, link in enumerate(self._picture.links))
        yield from (f"  {line}" for line in self._places())
        yield "}"

    def _defaults(self) -> Iterator[str]:
        fonts = {"fontname": FONT, "fontsize": SIZE}
        head: dict[str, object] = {"tooltip": self._style.title()}
        if not self._style.page:
            head |= {"label": label(self._style.head()), "labelloc": "t", "labeljust": "l"}
        space = {
            "rankdir": "TB",
            "newrank": "true",
            "ranksep": 0.35,
            "nodesep": 0.3,
            "pad": 0.2,
            "bgcolor": "white",
            "outputorder": "edgesfirst",
        }
        yield f"graph {attributes({**head, **space, **fonts})};"
        yield f"node {attributes({'shape': 'box', 'margin': '0.12,0.07', 'height': 0.3, **fonts})};"
        yield f"edge {attributes({'arrowsize': 0.7, 'color': '#44515c', **fonts, 'fontsize': SMALL})};"

    # --- nodes

    def _frame(self, number: int, frame: Frame) -> Iterator[str]:
        nodes = [self._node(node) for node in frame.nodes]
        if frame.path is None:
            yield from nodes
            return
        look = {
            "style": "rounded,filled",
            "color": "#c3c9ce",
            "fillcolor": "#f8f9fa",
            "margin": 10,
            "labeljust": "l",
            "class": "function",
        }
        name = [words.cut(frame.name, words.NAME_LIMIT)] if frame.name is not None else []
        part = [f"({frame.part} of {frame.parts})"] if frame.parts > 1 else []
        text = label([cell("  ".join([*name, _short_path(frame.path), *part]), color="#39424a", bold=True)])
        tip = quoted(*(one_line(text, TOOLTIP_LINE) for text in (frame.name, frame.path) if text is not None))
        yield f"subgraph cluster_{number} {{"
        yield f"  graph {attributes({'id': f'f{number}', 'label': text, 'tooltip': tip, **look})};"
        yield from (f"  {node}" for node in nodes)
        yield "}"

    def _node(self, node: GraphNode | Group) -> str:
        style, look = self._style, self._style.look(node)
        name = self._names[node.id]
        values: dict[str, object] = {"id": name, "class": style.classes(node), "label": label(style.rows(node))}
        values |= {"fillcolor": look.fill, "color": look.line, "style": look.style, "penwidth": look.width}
        if isinstance(node, Group) and node.state != kinds.TENSOR:
            values |= {"shape": "folder", "style": "filled"}
        if node.state == kinds.TENSOR:
            values |= {"shape": "ellipse", "margin": "0.01,0.01"}
        values["tooltip"] = quoted(*style.tip(node))
        url = style.url(node)
        if url is not None:
            values["URL"] = url
        return f"{name} {attributes(values)};"

    # --- edges

    def _link(self, number: int, link: Link) -> str:
        source, target = self._names[link.source], self._names[link.target]
        look = dict(self._style.link_look(link))
        values: dict[str, object] = {"id": f"e{number}", "class": look.pop("class")}
        values |= {"tooltip": quoted(*self._style.link_tip(link)), **look}
        if any(edge.kind == kinds.CONTROL for edge in link.edges):
            values["weight"] = 4
        if not self._leads_down(link):
            values["constraint"] = "false"
        lines = [] if self._at_tensor(link) else self._style.link_label(link)
        if lines:
            values["label"] = label(cell(f" {text} ") for text in lines)
            values["labeltooltip"] = values["tooltip"]
        return f"{source} -> {target} {attributes(values)};"

    def _at_tensor(self, link: Link) -> bool:
        """A tensor node says itself what it is."""
        return kinds.TENSOR in (self._by_id[link.source].state, self._by_id[link.target].state)

    def _leads_down(self, link: Link) -> bool:
        """Whether the target is below the source: in its column and later in the program; a tensor is below what makes it."""
        if self._layout.column[link.source] is None or self._layout.column[link.source] != self._layout.column[link.target]:
            return False
        if self._by_id[link.target].state == kinds.TENSOR:
            return True
        order = self._layout.order
        if self._by_id[link.source].state == kinds.TENSOR:
            return all(order[maker] < order[link.target] for maker in self._makers[link.source])
        return order[link.source] < order[link.target]

    def _places(self) -> Iterator[str]:
        """The columns side by side; in a column, a node that nothing leads to comes after the one before it."""
        led_to = {link.target for link in self._picture.links if self._leads_down(link) and not self._at_tensor(link)}
        rows = [self._layout.rows(column) for column in self._layout.columns]
        for column in rows:
            for before, node in pairwise(column):
                if node.id not in led_to:
                    yield f'{self._names[before.id]} -> {self._names[node.id]} [style="invis", weight=8];'
        tops = [self._names[column[0].id] for column in rows if column]
        if len(tops) > 1:
            yield f'{{ rank="same"; {" ".join(f"{name};" for name in tops)} }}'
            yield from (f'{left} -> {right} [style="invis"];' for left, right in pairwise(tops))


def _short_path(path: str, limit: int = 48) -> str:
    """The end of a path, which says most: from a slash where there is one."""
    text = words.cut(path, 4096)
    if len(text) <= limit:
        return text
    end = text[-limit + 1 :]
    return f"…{end[max(0, end.find('/')) :]}"


def few(texts: Sequence[str]) -> Iterator[str]:
    """The first of them, and how many more there are."""
    yield from texts[:MOST_IN_TOOLTIP]
    if len(texts) > MOST_IN_TOOLTIP:
        yield f"and {len(texts) - MOST_IN_TOOLTIP} more"


def tooltip(node: GraphNode | Group, context: words.Context) -> Iterator[str]:
    """Everything of importance about a node, in lines."""
    yield one_line(node.name, TOOLTIP_LINE)
    if isinstance(node, Group):
        yield from words.group_facts(node)
        return
    if node.kind == kinds.TENSOR:
        return
    yield one_line(words.place(node), TOOLTIP_LINE)
    yield words.why(node)
    if node.kind == kinds.DYNAMIC_REGION and node.site is not None and (line := context.source_line(node.site)):
        yield one_line(line, TOOLTIP_LINE)
    yield from filter(None, (words.per_step(node), words.times(node), words.recompiles(node), words.compiles(node)))
    missed = [f"{one_line(version.name, 24)}: {text}" for version in node.versions if (text := words.guards(version))]
    yield from few(missed)
    yield from map(words.finding, context.findings.get(node.id, ()))
