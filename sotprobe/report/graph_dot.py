"""A picture of a subgraph graph in the DOT language, for graphviz: deterministic, and every text of others escaped.

Labels are HTML-like, made of the tags below and of nothing else. Text that comes from user code and logs loses what DOT would
act on: markup becomes entities, control and direction characters become visible escapes, and a backslash is written as the
sign that looks like it (``BACKSLASH``), because how often ``\\N`` and ``\\G`` are replaced depends on the version of graphviz.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from sotprobe.analyze.graph_fold import Group, Link, Picture
from sotprobe.model import GraphNode
from sotprobe.model import graph as kinds
from sotprobe.report import graph_words as words
from sotprobe.report.graph_layout import Frame, layout
from sotprobe.report.text import one_line, visible

# DejaVu Sans and Arial are of the same family of widths: what fits in the wider one fits in the other.
FONT = "DejaVu Sans,Verdana,Arial,sans-serif"
MONO = "DejaVu Sans Mono,Menlo,Consolas,monospace"
BACKSLASH = "\N{SET MINUS}"
TOOLTIP_LINE = 600
MOST_IN_TOOLTIP = 12
_SIZE, _SMALL = 11, 10
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
    writer = _Writer(picture, context or words.Context(), page)
    return "\n".join(writer.lines()) + "\n"


def css_class(node: GraphNode | Group) -> str:
    """The classes of a node in the SVG: its kind and its state, for a page's style sheet."""
    kind = "group" if isinstance(node, Group) else node.kind
    known = [name for name in (kind, node.state) if name in (*LOOKS, kinds.SUBGRAPH, "group")]
    return " ".join(dict.fromkeys(known))


# --- escaping --------------------------------------------------------------------------------------------------------

# Characters that visible() keeps and XML forbids.
NOT_XML = re.compile("[\ufffe\uffff]")
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\\": BACKSLASH})


def escape(text: str) -> str:
    """``text`` for an HTML-like label or between double quotes: nothing in it is left for DOT, XML or a terminal to act on."""
    return NOT_XML.sub("\N{REPLACEMENT CHARACTER}", visible(text)).translate(_ENTITIES)


class _Ready(str):
    """DOT made here, whose texts are escaped already."""


def _quoted(*lines: str) -> _Ready:
    return _Ready(f'"{"&#10;".join(map(escape, lines))}"')


def _attributes(values: Mapping[str, object]) -> str:
    texts = {name: _quoted(value) if type(value) is str else value for name, value in values.items()}
    return f"[{', '.join(f'{name}={value}' for name, value in texts.items())}]"


def _tag(name: str, body: str, **attributes: str) -> str:
    written = "".join(f' {key.replace("_", "-")}="{escape(value)}"' for key, value in attributes.items())
    return f"<{name}{written}>{body}</{name}>"


# --- labels ----------------------------------------------------------------------------------------------------------


def _cell(text: str, *, bold: bool = False, mono: bool = False, small: bool = False, color: str = "", **place: str) -> str:
    font = {"FACE": MONO if mono else "", "POINT_SIZE": str(_SMALL) if small else "", "COLOR": color}
    body = escape(text)
    if body.strip():  # an empty <B> or <FONT> is a syntax error
        body = _tag("FONT", body, **{name: value for name, value in font.items() if value}) if any(font.values()) else body
        body = _tag("B", body) if bold else body
    return _tag("TD", body, **{"ALIGN": "LEFT", **place})


def _wide(text: str, **look: Any) -> str:
    return _cell(text, COLSPAN="2", **look)


def _table(rows: Iterable[str], space: int = 0) -> str:
    body = "".join(_tag("TR", row) for row in rows)
    return _tag("TABLE", body, BORDER="0", CELLBORDER="0", CELLSPACING=str(space), CELLPADDING="1")


def _label(rows: Iterable[str]) -> _Ready:
    return _Ready(f"<{_table(rows)}>")


# --- the picture -----------------------------------------------------------------------------------------------------


class _Writer:
    def __init__(self, picture: Picture, context: words.Context, page: bool) -> None:
        self._picture = picture
        self._context = context
        self._page = page
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
        fonts = {"fontname": FONT, "fontsize": _SIZE}
        head: dict[str, object] = {"tooltip": words.title(self._picture.graph)}
        if not self._page:
            head |= {"label": self._head(), "labelloc": "t", "labeljust": "l"}
        space = {
            "rankdir": "TB",
            "newrank": "true",
            "ranksep": 0.35,
            "nodesep": 0.3,
            "pad": 0.2,
            "bgcolor": "white",
            "outputorder": "edgesfirst",
        }
        yield f"graph {_attributes({**head, **space, **fonts})};"
        yield f"node {_attributes({'shape': 'box', 'margin': '0.12,0.07', 'height': 0.3, **fonts})};"
        yield f"edge {_attributes({'arrowsize': 0.7, 'color': '#44515c', **fonts, 'fontsize': _SMALL})};"

    def _head(self) -> _Ready:
        graph = self._picture.graph
        texts = (", ".join(words.summary(graph.summary)), ", ".join(words.measures(graph.summary)), words.folding(self._picture))
        rows = [_cell(words.title(graph), bold=True), *(_cell(text) for text in texts if text)]
        legend = [
            _tag("TD", escape(words.STATE_WORDS[state]), BGCOLOR=look.fill, COLOR=look.line, BORDER="1", CELLPADDING="3")
            for state, look in LOOKS.items()
        ]
        rows.append(_tag("TD", _table(["".join([*legend, _cell(EDGES, small=True)])], 4), ALIGN="LEFT"))
        return _label(rows)

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
        text = _label([_cell("  ".join([*name, _short_path(frame.path), *part]), color="#39424a", bold=True)])
        tip = _quoted(*(one_line(text, TOOLTIP_LINE) for text in (frame.name, frame.path) if text is not None))
        yield f"subgraph cluster_{number} {{"
        yield f"  graph {_attributes({'id': f'f{number}', 'label': text, 'tooltip': tip, **look})};"
        yield from (f"  {node}" for node in nodes)
        yield "}"

    def _node(self, node: GraphNode | Group) -> str:
        look = LOOKS.get(node.state, _UNKNOWN)
        name = self._names[node.id]
        values: dict[str, object] = {"id": name, "class": css_class(node), "label": _label(self._rows(node))}
        values |= {"fillcolor": look.fill, "color": look.line, "style": look.style, "penwidth": look.width}
        if isinstance(node, Group) and node.state != kinds.TENSOR:
            values |= {"shape": "folder", "style": "filled"}
        if node.state == kinds.TENSOR:
            values |= {"shape": "ellipse", "margin": "0.01,0.01"}
        values["tooltip"] = _quoted(*tooltip(node, self._context))
        url = self._source_url(node)
        if url is not None:
            values["URL"] = url
        return f"{name} {_attributes(values)};"

    def _source_url(self, node: GraphNode | Group) -> str | None:
        if self._page or isinstance(node, Group) or node.site is None:
            return None
        return self._context.source_url(node.site)

    def _rows(self, node: GraphNode | Group) -> Iterator[str]:
        if node.state == kinds.TENSOR:
            yield from self._tensor_rows(node)
        elif isinstance(node, Group):
            yield _wide(words.cut(node.name, words.NAME_LIMIT), bold=True)
            yield from (_wide(text) for text in words.group_facts(node))
        else:
            yield from self._piece_rows(node)

    def _piece_rows(self, node: GraphNode) -> Iterator[str]:
        """A subgraph or a dynamic region."""
        color = LOOKS.get(node.state, _UNKNOWN).line
        name = "" if self._picture.folded_by is None else f"{words.cut(node.name, words.NAME_LIMIT)} "
        head = f"{name}{words.lines(node)}{f' ({words.side(node)})' if words.side(node) else ''}"
        yield _cell(head, bold=True) + _cell(words.sir_names(node), small=True, color="#5a6670", ALIGN="RIGHT")
        if node.kind == kinds.DYNAMIC_REGION or node.state in (kinds.DROPPED, kinds.CACHE_FULL):
            yield _wide(words.why(node), color=color)
        if node.kind == kinds.DYNAMIC_REGION and node.site is not None and (line := self._context.source_line(node.site)):
            yield _wide(words.cut(line, words.LINE_LIMIT), mono=True, small=True)
        yield from (_wide(text) for text in filter(None, (words.per_step(node), words.times(node))))
        if text := words.recompiles(node):
            yield _wide(words.cut(text, words.LINE_LIMIT + 8), bold=True, color=color)
        if text := words.compiles(node):
            yield _wide(text, small=True, color="#39424a")
        yield from self._finding_rows(node)

    def _finding_rows(self, node: GraphNode) -> Iterator[str]:
        for found in self._context.findings.get(node.id, ())[:2]:
            link = {"HREF": found.url, "TOOLTIP": one_line(found.finding.title)} if found.url and not self._page else {}
            yield _wide(f"finding {found.number}: {words.cut(found.finding.slug, 24)}", small=True, color="#1a5fb4", **link)

    def _tensor_rows(self, node: GraphNode | Group) -> Iterator[str]:
        members = node.members if isinstance(node, Group) else (node,)
        if len(members) > 3:
            yield _cell(node.name)
            return
        for member in members:
            edge = next((edge for edge in self._picture.graph.edges if member.id in (edge.source, edge.target)), None)
            texts = (words.cut(member.name, 24), words.shape(edge) if edge else "", words.seen(edge) if edge else "")
            yield _cell(" ".join(filter(None, texts)), small=True)

    # --- edges

    def _link(self, number: int, link: Link) -> str:
        source, target = self._names[link.source], self._names[link.target]
        passes = any(edge.kind == kinds.PASSES for edge in link.edges)
        values: dict[str, object] = {"id": f"e{number}", "class": "passes" if passes else "control", "tooltip": "what runs next"}
        if not passes:
            values |= {"style": "dashed", "arrowhead": "open", "color": "#8a949c"}
        if any(edge.kind == kinds.CONTROL for edge in link.edges):
            values["weight"] = 4
        if not self._leads_down(link):
            values["constraint"] = "false"
        if passes:
            values["tooltip"] = _quoted(*_few([words.edge_text(edge) for edge in link.edges if edge.kind == kinds.PASSES]))
            label = [] if self._at_tensor(link) else words.link_lines(link)
            if label:
                values["label"] = _label(_cell(f" {text} ") for text in label)
                values["labeltooltip"] = values["tooltip"]
        return f"{source} -> {target} {_attributes(values)};"

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


def _few(texts: Sequence[str]) -> Iterator[str]:
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
    yield from _few(missed)
    yield from map(words.finding, context.findings.get(node.id, ()))
