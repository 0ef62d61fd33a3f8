"""The phrases and figures of a subgraph graph that the picture, the page and the table share. No judgement, no layout."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from sotprobe.analyze.graph_fold import Group, Link, Picture
from sotprobe.model import Finding, GraphEdge, GraphNode, GraphSummary, GraphVersion, SourceSite, SubgraphGraph
from sotprobe.model import graph as kinds
from sotprobe.model.graph_diff import GraphSide
from sotprobe.model.site import FUNCTION
from sotprobe.paddle_compat import vocabulary
from sotprobe.report import words
from sotprobe.report.text import count, figure, one_line, plural, size, visible

# How much of other people's text a picture shows; tooltips and the page have more.
NAME_LIMIT = 48
LINE_LIMIT = 56
MOST_VALUES = 3

_LONG_FLOAT = re.compile(r"-?\d+\.\d{4,}(e[+-]?\d+)?")

# The same guards come with every version, and a page tells of a node several times.
_readable = lru_cache(maxsize=1 << 16)(vocabulary.readable)

STATE_WORDS = {
    kinds.COMPILED: "compiled once",
    kinds.RECOMPILED: "recompiled",
    kinds.DROPPED: "built and dropped",
    kinds.CACHE_FULL: "cache full",
    kinds.DYNAMIC_REGION: "runs dynamically",
    kinds.TENSOR: "tensor",
}
WHY_WORDS = {
    kinds.BREAK: "graph break",
    kinds.FALLBACK: "fallback",
    kinds.NOT_CAPTURED: "not captured",
    kinds.TOO_SMALL: "too small, runs dynamically",
    kinds.FORCED: "forced to run dynamically",
    kinds.CACHE_FULL: "cache full, runs dynamically",
    kinds.COMPILE_LIMIT: "compile-time limit, runs dynamically",
}


@dataclass(frozen=True)
class FindingAt:
    """A finding that a node is about: its number in the report, and where that is (None: nowhere)."""

    number: int
    finding: Finding
    url: str | None = None


@dataclass(frozen=True)
class Context:
    """What a picture quotes and links beyond the graph: lines of the program, where they are, findings by node id."""

    source_line: Callable[[SourceSite], str | None] = lambda site: None
    source_url: Callable[[SourceSite], str | None] = lambda site: None
    findings: Mapping[str, tuple[FindingAt, ...]] = field(default_factory=dict)


def cut(text: str, limit: int) -> str:
    """Other people's text as one visible line of at most ``limit`` characters."""
    line = visible(" ".join(text[: 4 * limit + 16].split()))
    return line if len(line) <= limit else f"{line[: limit - 1].rstrip()}…"


# --- nodes -----------------------------------------------------------------------------------------------------------


def lines(node: GraphNode) -> str:
    """``line 16``, ``lines 14-34``, ``def in line 12`` of a function whose lines are not known.

    A piece that only holds what it calls says so: ``lines 22-25 of work, after line 30``.
    """
    site = node.site
    if site is None:
        return "line not known"
    after = "" if not node.chain else f", after line {node.chain[-1]}" if node.chain[-1] else ", after a break"
    if site.precision == FUNCTION:
        return f"def in line {site.line}{after}"
    first, last = site.line, node.last_line or site.line
    text = f"line {first}" if first == last else f"lines {first}-{last}"
    inlined = site.function != node.name.rpartition(".")[2]
    return f"{text} of {cut(site.function, NAME_LIMIT)}{after}" if inlined else text


def place(node: GraphNode) -> str:
    """``cases/net.py:14-34``, for a table or a tooltip."""
    site = node.site
    if site is None:
        return "?"
    last = f"-{node.last_line}" if node.last_line not in (None, site.line) and site.precision != FUNCTION else ""
    return f"{visible(site.path)}:{site.line}{last}"


_SIDE = re.compile(r"@(?:\d+(?:then|else)?,)*\d+(then|else)$")


def side(node: GraphNode) -> str:
    """``then`` or ``else`` of a piece that follows an if, else nothing."""
    found = _SIDE.search(node.id)
    return found[1] if found else ""


def state(node: GraphNode | Group) -> str:
    """What became of it, in words."""
    if isinstance(node, GraphNode):
        if node.why is not None and node.state in (kinds.DYNAMIC_REGION, kinds.DROPPED):
            return WHY_WORDS.get(node.why, cut(node.why, NAME_LIMIT))
        if node.state == kinds.CACHE_FULL and node.why == kinds.COMPILE_LIMIT:
            return "compile-time limit"
        if node.state == kinds.COMPILED and (node.compiles or 0) > 1:
            return "compiled"  # a log does not tell the two sides of a branch apart
    return STATE_WORDS.get(node.state, cut(node.state, NAME_LIMIT))


def why(node: GraphNode) -> str:
    """``graph break: tensor-if``."""
    known = node.cause is None or node.why in (node.cause, kinds.COMPILE_LIMIT)
    return state(node) if known else f"{state(node)}: {cut(node.cause or '', NAME_LIMIT)}"


def per_step(node: GraphNode | Group) -> str:
    """``12 ops, 2.5 runs per step``; of a dynamic region ``3 ops per step``."""
    if isinstance(node, GraphNode) and node.kind == kinds.DYNAMIC_REGION:
        return "" if node.ops is None else f"{_number(node.ops, 'op')} per step"
    facts = [] if node.ops is None else [_number(node.ops, "op")]
    facts += [] if node.runs_per_step is None else [f"{_number(node.runs_per_step, 'run')} per step"]
    return ", ".join(facts)


def times(node: GraphNode) -> str:
    """``fwd 0.412, bwd 0.833 ms`` of a run, or of a dynamic region what it takes in a step."""
    if node.kind == kinds.DYNAMIC_REGION or node.state == kinds.DROPPED:
        return "" if node.ms_per_step is None else f"{figure(node.ms_per_step)} ms per step"
    passed = (("fwd", node.forward_ms), ("bwd", node.backward_ms))
    known = [f"{name} {figure(value)}" for name, value in passed if value is not None]
    return f"{', '.join(known)} ms" if known else ""


def compiles(node: GraphNode) -> str:
    """``compiled in 31 ms``, ``x20 compiled in 1292 ms``."""
    number = node.compiles or 0
    if not number and node.compile_ms is None:
        return ""
    times_ = f"x{number} " if number > 1 else ""
    spent = "" if node.compile_ms is None else f" in {figure(node.compile_ms)} ms"
    return f"{times_}compiled{spent}" if times_ or spent else ""


def sir_names(node: GraphNode) -> str:
    """``SIR_0``, ``SIR_0 … SIR_39``."""
    names = [cut(version.name, 16) for version in node.versions]
    return " … ".join((names[0], names[-1])) if len(names) > 1 else "".join(names)


def recompiles(node: GraphNode) -> str:
    """``x20 recompiled: x.shape[0] 2, 3, 4…``; nothing when that is not known of it."""
    number = node.compiles or len(node.versions)
    if node.state not in (kinds.RECOMPILED, kinds.CACHE_FULL) or number < 2:
        return ""
    guard = guard_values(node.versions)
    return f"x{number} recompiled{': ' if guard else ''}{guard}"


def guard_values(versions: Sequence[GraphVersion]) -> str:
    """What the guards that failed compared and the values they met: ``x.shape[0] 2, 3, 4…``, the one with most values."""
    met: dict[str, dict[str, None]] = {}
    for version in versions:
        missed = [(_readable(guard.expression).partition(" == "), guard) for guard in reversed(version.guards)]  # oldest first
        for (subject, _, compared), guard in missed:
            met.setdefault(subject, {}).setdefault(guard.expected or compared)
        for (subject, _, _), guard in missed:
            met[subject].setdefault(guard.seen or "")
    if not met:
        return ""
    subject, values = max(
        ((name, [value for value in found if value]) for name, found in met.items()), key=lambda item: len(item[1])
    )
    shown = ", ".join(map(_value, values[:MOST_VALUES]))
    more = "…" if len(values) > MOST_VALUES else ""
    others = f" and {plural(len(met) - 1, 'more guard')}" if len(met) > 1 else ""
    return f"{cut(subject, 40)} {shown}{more}{others}".replace("  ", " ")


def _value(text: str) -> str:
    """A value as short as it can be told from others."""
    if _LONG_FLOAT.fullmatch(text):
        return f"{float(text):.4g}"
    return cut(text, 20)


def guards(version: GraphVersion) -> str:
    """Why a version was made, in a line."""
    return one_line(vocabulary.describe_guards(version.guards)) if version.guards else ""


def finding(found: FindingAt) -> str:
    """``finding 2: a title: 3.10 ms per step; 1 per step``."""
    cost, more = words.cost(found.finding)
    return f"finding {found.number}: {one_line(found.finding.title)}: {cost}{more}"


def group_facts(group: Group) -> Iterator[str]:
    """The lines of a folded node."""
    if group.subgraphs:
        versions = f", {plural(group.versions, 'version')}" if group.versions != group.subgraphs else ""
        yield f"{plural(group.subgraphs, 'subgraph')}{versions}"
    if group.dynamic:
        yield plural(group.dynamic, "dynamic region")
    if per_step(group):
        yield per_step(group)
    if group.ms_per_step is not None:
        yield f"{figure(group.ms_per_step)} ms per step"


# --- tensors ---------------------------------------------------------------------------------------------------------


def shape(edge: GraphEdge) -> str:
    """``[?, 128] float32``: the shape in the IR, else the one seen."""
    sizes = edge.ir_shape
    if sizes is None:
        sizes = edge.real_shapes[0] if len(edge.real_shapes) == 1 else None
    return " ".join(filter(None, ("" if sizes is None else dims(sizes), "" if edge.dtype is None else cut(edge.dtype, 16))))


def dims(sizes: Sequence[int]) -> str:
    """``[?, 128]``."""
    return f"[{', '.join('?' if size == -1 else str(size) for size in sizes)}]"


def seen(edge: GraphEdge) -> str:
    """``? = 2, 3, 4…``: what the dynamic dimensions were, or all shapes where there is no IR shape to compare with."""
    shapes = edge.real_shapes
    if edge.ir_shape is not None:
        dynamic = [index for index, size in enumerate(edge.ir_shape) if size == -1]
        if not dynamic or any(len(real) != len(edge.ir_shape) for real in shapes):
            return ""
        values = list(dict.fromkeys(_few_dims([real[index] for index in dynamic]) for real in shapes))
        return f"? = {_some(values)}" if values else ""
    return f"seen {_some([dims(real) for real in shapes])}" if len(shapes) > 1 else ""


def _few_dims(sizes: Sequence[int]) -> str:
    text = ", ".join(map(str, sizes))
    return text if len(sizes) == 1 else f"({text})"


def _some(values: Sequence[str]) -> str:
    return f"{', '.join(values[:MOST_VALUES])}{'…' if len(values) > MOST_VALUES else ''}"


def link_lines(link: Link, most: int = 3) -> list[str]:
    """The label of a link: every tensor while they are few, else how many there are."""
    tensors = [edge for edge in link.edges if edge.kind == kinds.PASSES]
    if len(tensors) > most:
        known = [edge.bytes * (1.0 if edge.per_step is None else edge.per_step) for edge in tensors if edge.bytes is not None]
        return [f"{len(tensors)} tensors"] + ([f"{size(sum(known))} per step"] if known else [])
    return list(dict.fromkeys(line for edge in tensors for line in (shape(edge), seen(edge)) if line))


def edge_text(edge: GraphEdge) -> str:
    """A tensor in one line, with everything known of it."""
    name = cut(edge.name or "", NAME_LIMIT)
    real = ", ".join(dims(seen_) for seen_ in edge.real_shapes[:8])
    more = f" and {len(edge.real_shapes) - 8} more" if len(edge.real_shapes) > 8 else ""
    facts = (
        " ".join(filter(None, (name, shape(edge)))),
        f"seen {real}{more}" if real else "",
        "" if edge.bytes is None else size(edge.bytes),
        "" if edge.per_step is None else f"{count(edge.per_step)} per step",
    )
    return ", ".join(filter(None, facts)) or "a tensor"


# --- the whole graph -------------------------------------------------------------------------------------------------


def title(graph: SubgraphGraph | GraphSide) -> str:
    """``cases/net.py, Paddle 3.3.1, Python 3.11.7, step 3``."""
    program = one_line(" ".join((graph.program.path, *graph.program.arguments)), 80)
    step = "" if graph.step is None else f"step {graph.step}"
    return ", ".join(filter(None, (program, one_line(words.versions(graph.environment), 80), step)))


def summary(facts: GraphSummary) -> list[str]:
    """What was counted, in a few phrases."""
    versions = f" ({plural(facts.subgraph_versions, 'version')})" if facts.subgraph_versions != facts.subgraphs else ""
    numbers = ((facts.recompiles, "recompile"), (facts.dynamic_regions, "dynamic region"))
    known = [plural(number, noun) for number, noun in numbers if number is not None]
    runs = [] if facts.runs_per_step is None else [f"{_number(facts.runs_per_step, 'run')} per step"]
    return [f"{plural(facts.subgraphs, 'subgraph')}{versions}", *known, *runs]


def folding(picture: Picture) -> str:
    """How much the picture leaves out; empty when it shows every node."""
    if picture.folded_by is None:
        return ""
    by = "function" if picture.folded_by == "function" else f"the first {plural(picture.depth or 0, 'part')} of the module path"
    return f"folded by {by}: {plural(len(picture.graph.nodes), 'node')} drawn as {len(picture.nodes)}"


def caption(picture: Picture) -> str:
    """The counts and the folding in one line."""
    return "; ".join(filter(None, (", ".join(summary(picture.graph.summary)), folding(picture))))


def _number(value: float, noun: str) -> str:
    """``1 op``, ``2.5 ops``."""
    return f"{count(value)} {noun}{'' if value == 1 else 's'}"
