"""A page around the picture of a subgraph graph: pan and zoom, search, and details on a click. One file, no network.

The page may run its own script and nothing else (its Content-Security-Policy names the script by its hash). Texts of others are
data in it: jinja2 escapes what stands in the markup, the rest is JSON, which the script sets as text.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import resources
from typing import Any

from sotprobe.analyze.graph_fold import Group, Link, Picture
from sotprobe.model import GraphNode, GraphVersion, SourceSite, Statement, TensorMeta
from sotprobe.model import graph as kinds
from sotprobe.report import graph_words as words
from sotprobe.report import words as phrases
from sotprobe.report.graph_dot import EDGES, LOOKS
from sotprobe.report.text import count, figure, one_line, visible
from sotprobe.report.words import measures

# Shapes, values and statements beyond that are counted, not listed; the JSON has all of them.
MOST_SHAPES = 24
MOST_STATEMENTS = 400
_TEXT = 2000

Item = dict[str, Any]


def render(picture: Picture, context: words.Context, svg: str) -> str:
    """The page with ``svg``, which was drawn of the same picture (``graph_dot.render(…, page=True)``)."""
    facts = picture.graph.summary
    lines = (", ".join(words.summary(facts)), ", ".join(measures(facts)), words.folding(picture))
    legend = [(state, words.STATE_WORDS[state]) for state in LOOKS]
    return page(words.title(picture.graph), lines, legend, EDGES, svg, PageData(picture, context).all())


def page(
    title: str, lines: Iterable[str], legend: Sequence[tuple[str, str]], edges: str, svg: str, data: Mapping[str, Any]
) -> str:
    """The page around a picture. ``legend`` are classes with what they mean, ``edges`` says what edges are."""
    import jinja2
    from markupsafe import Markup

    files = resources.files("sotprobe.report")
    template, style, script = (files.joinpath(f"graph_page.{end}").read_text("utf-8") for end in ("html", "css", "js"))
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, keep_trailing_newline=True)
    return environment.from_string(template).render(
        title=title,
        lines=[line for line in lines if line],
        legend=legend,
        edges=edges,
        svg=Markup(svg),
        data=Markup(_script_json(data)),
        style=Markup(style),
        script=Markup(script),
        style_hash=_hash(style),
        script_hash=_hash(script),
    )


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _script_json(data: object) -> str:
    """JSON that no HTML parser sees anything in, in ASCII: no ``<`` that could end the script element."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


class PageData:
    """What the page's script shows, all of it as text that is ready to be read."""

    figures_head: Sequence[str] = ()

    def __init__(self, picture: Picture, context: words.Context) -> None:
        self.picture = picture
        self.context = context
        self.keys = {node.id: f"n{index}" for index, node in enumerate(picture.nodes)}
        self.labels = {node.id: self.label(node) for node in picture.nodes}
        self._around: dict[str, tuple[list[list[str]], list[list[str]]]] = defaultdict(lambda: ([], []))
        for link in picture.links:
            text = ", ".join(self.link_lines(link))
            self._around[link.target][0].append([self.keys[link.source], _join(self.labels[link.source], text)])
            self._around[link.source][1].append([self.keys[link.target], _join(self.labels[link.target], text)])

    def all(self) -> Mapping[str, Any]:
        items = [*self._nodes(), *(self._edge(number, link) for number, link in enumerate(self.picture.links))]
        return {
            "items": [{name: value for name, value in item.items() if value not in (None, "", [])} for item in items],
            "order": list(self.keys.values()),
            "figures_head": list(self.figures_head),
            "nodes": [item["key"] for item in items if not item["key"].startswith("e")],
            "edges": [
                {"key": f"e{number}", "source": self.keys[link.source], "target": self.keys[link.target]}
                for number, link in enumerate(self.picture.links)
            ],
        }

    def _nodes(self) -> Iterator[Item]:
        number = 0
        for node in self.picture.nodes:
            key = self.keys[node.id]
            comes, goes = self._around[node.id]
            around = {"from": comes, "to": goes}
            if isinstance(node, GraphNode):
                yield {**self.node(node, key, key), **around}
                continue
            members = [(f"m{number + index}", member) for index, member in enumerate(node.members)]
            number += len(members)
            yield {**self.group(node, key, [[name, self.label(member)] for name, member in members]), **around}
            yield from (self.node(member, name, key) for name, member in members)

    def label(self, node: GraphNode | Group) -> str:
        """A node in a list."""
        return _label(node)

    def link_lines(self, link: Link) -> Sequence[str]:
        """What passes from a node to another."""
        return words.link_lines(link)

    def node(self, node: GraphNode, key: str, drawn: str) -> Item:
        """What is shown of a node that was clicked. ``drawn`` is the key of the node of the picture that it is in."""
        line = self._line(node.site) if node.kind == kinds.DYNAMIC_REGION else ""
        return {
            "key": key,
            "drawn": drawn,
            "id": visible(node.id[:_TEXT]),
            "label": self.label(node),
            "title": one_line(node.name),
            "place": "" if node.site is None else f"{words.place(node)}, {words.lines(node)}",
            "url": self._url(node.site),
            "state": node.state if node.state in LOOKS else "",
            "state_text": words.why(node),
            "line": line,
            "notes": list(filter(None, (words.recompiles(node),))),
            "findings": [_finding(found) for found in self.context.findings.get(node.id, ())],
            "figures": list(_figures(node)),
            "versions": [_version(version) for version in node.versions],
            "inputs": [_tensor(tensor) for tensor in node.inputs],
            "outputs": [_tensor(tensor) for tensor in node.outputs],
            "statements": list(self.statements(node.statements)),
        }

    def group(self, group: Group, key: str, members: list[list[str]]) -> Item:
        """What is shown of a folded node."""
        return {
            "key": key,
            "drawn": key,
            "id": visible(group.id[:_TEXT]),
            "label": self.label(group),
            "title": one_line(group.name),
            "place": one_line(group.path or ""),
            "state": group.state if group.state in LOOKS else "",
            "notes": list(words.group_facts(group)),
            "members": members,
        }

    def edge_notes(self, link: Link) -> Iterator[str]:
        """The tensors that pass, and whether the target runs next."""
        passing = [edge for edge in link.edges if edge.kind == kinds.PASSES]
        yield from (words.edge_text(edge) for edge in passing)
        if passing and len(passing) < len(link.edges):
            yield "the target runs next"

    def _edge(self, number: int, link: Link) -> Item:
        passing = [edge for edge in link.edges if edge.kind == kinds.PASSES]
        return {
            "key": f"e{number}",
            "drawn": f"e{number}",
            "title": f"{len(passing)} tensors" if len(passing) > 1 else "a tensor" if passing else "what runs next",
            "label": "",
            "notes": list(self.edge_notes(link)),
            "from": [[self.keys[link.source], self.labels[link.source]]],
            "to": [[self.keys[link.target], self.labels[link.target]]],
        }

    def statements(self, statements: Sequence[Statement]) -> Iterator[Mapping[str, Any]]:
        """Statements under the line they came from, as long as it stays the same."""
        site, texts = None, []
        for statement in statements[:MOST_STATEMENTS]:
            if texts and statement.site != site:
                yield self._lines(site, texts)
                texts = []
            site = statement.site
            texts.append(one_line(statement.text))
        if texts:
            yield self._lines(site, texts)
        if len(statements) > MOST_STATEMENTS:
            yield self._lines(None, [f"and {len(statements) - MOST_STATEMENTS} more"])

    def _lines(self, site: SourceSite | None, texts: list[str]) -> Mapping[str, Any]:
        place = "" if site is None else phrases.place(SourceSite(site.path[:_TEXT], site.line, site.function[:_TEXT]))
        return {"place": place, "url": self._url(site), "line": self._line(site), "texts": texts}

    def _line(self, site: SourceSite | None) -> str:
        return one_line((site and self.context.source_line(site)) or "")

    def _url(self, site: SourceSite | None) -> str | None:
        return None if site is None else self.context.source_url(site)


def _label(node: GraphNode | Group) -> str:
    """A node in a list."""
    name = words.cut(node.name, 60)
    if isinstance(node, Group):
        return _join(name, ", ".join(words.group_facts(node)))
    if node.kind == kinds.TENSOR:
        return f"tensor {name}"
    side = f" ({words.side(node)})" if words.side(node) else ""
    return _join(f"{name} {words.lines(node)}{side}", words.recompiles(node) or words.why(node))


def _join(head: str, text: str) -> str:
    return f"{head}: {text}" if text else head


def _figures(node: GraphNode) -> Iterator[list[str]]:
    values = (
        ("ops per step" if node.kind == kinds.DYNAMIC_REGION else "ops", node.ops, count),
        ("runs per step", node.runs_per_step, count),
        ("compiles", node.compiles, count),
        ("compile ms, all of them", node.compile_ms, figure),
        ("forward ms per run", node.forward_ms, figure),
        ("backward ms per run", node.backward_ms, figure),
        ("ms per step, forward", node.ms_per_step, figure),
    )
    yield from ([name, write(value)] for name, value, write in values if value is not None)


def _version(version: GraphVersion) -> list[str]:
    cells = [_or_blank(value, count) for value in (version.step, version.ops, version.runs)]
    return [words.cut(version.name, 20), *cells, _or_blank(version.compile_ms, figure), words.guards(version)]


def _or_blank(value: float | None, write: Any) -> str:
    return "" if value is None else write(value)


def _tensor(tensor: TensorMeta) -> list[str]:
    shape = "" if tensor.ir_shape is None else words.dims(tensor.ir_shape)
    return [words.cut(tensor.name, 20), words.cut(tensor.dtype, 16), shape, _shapes(tensor.real_shapes)]


def _shapes(shapes: Iterable[Sequence[int]]) -> str:
    texts = [words.dims(shape) for shape in shapes]
    more = f" and {len(texts) - MOST_SHAPES} more" if len(texts) > MOST_SHAPES else ""
    return f"{', '.join(texts[:MOST_SHAPES])}{more}"


def _finding(found: words.FindingAt) -> Mapping[str, Any]:
    finding = found.finding
    cost, more = phrases.cost(finding)
    return {
        "head": f"finding {found.number}: {visible(finding.severity)} {phrases.name(finding)}",
        "title": one_line(finding.title),
        "url": found.url,
        "texts": [f"cost: {cost}{more}", *([one_line(finding.advice, _TEXT)] if finding.advice else [])],
    }
