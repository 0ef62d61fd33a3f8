"""Two subgraph graphs compared: before and after a fix, two versions of Paddle or Python, two ranks, two logs.

What a node is across runs is its function and the breaks that lead to it, never the SIR's number and never a bare line number:
programs are edited. ``graph_diff_lines`` says which lines are the same, ``graph_diff_pairs`` which nodes are, and
``graph_diff_moves`` where code went.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields

from sotprobe.analyze.graph_diff_files import Side
from sotprobe.analyze.graph_diff_lines import Alignment, operator_of
from sotprobe.analyze.graph_diff_moves import Moves
from sotprobe.analyze.graph_diff_pairs import Pairs
from sotprobe.model import GraphEdge, GraphNode, GraphSummary, SubgraphGraph, TensorMeta
from sotprobe.model.graph import DYNAMIC_REGION, PASSES, SUBGRAPH
from sotprobe.model.graph_diff import (
    CHANGED,
    GONE,
    KEPT,
    NEW,
    TIMES,
    Change,
    EdgeDiff,
    Figure,
    GraphDiff,
    GraphSide,
    Move,
    NodeDiff,
)
from sotprobe.paddle_compat.names import ANY_LAYER

__all__ = ["Side", "diff_graphs"]

# Operators per step are an average of what a profiler counted: a difference below half a per cent is none.
_TOLERANCE = 5e-3

# (dtype, shape in the IR) of each tensor.
Border = tuple[tuple[str, tuple[int, ...] | None], ...]

_FACTS = ("state", "why", "cause", "ops", "runs_per_step", "compiles")
_GONE_TOO = "!gone"


def diff_graphs(before: Side, after: Side) -> GraphDiff:
    """What became of the graph before. Nothing but the two sides decides, so the result is the same every time."""
    alignment = Alignment(before, after)
    pairs = Pairs(before, after, alignment)
    nodes = _nodes(before.graph, after.graph, pairs)
    gone = {item.before.id: item.id for item in nodes if item.before is not None}
    edges = tuple(_edges(before.graph, after.graph, gone, pairs))
    common = bool(pairs.after) or alignment.functions > 0
    # Of two programs that share nothing, equal operators are a coincidence.
    moves = Moves(before, after, alignment, pairs).all() if common else ()
    return GraphDiff(
        before=_side(before.graph),
        after=_side(after.graph),
        nodes=_with_tensors(nodes, edges),
        edges=edges,
        moves=tuple(_named(move, gone) for move in moves),
        figures=tuple(_figures(before.graph.summary, after.graph.summary)),
        common=common,
    )


def _side(graph: SubgraphGraph) -> GraphSide:
    return GraphSide(graph.program, graph.environment, graph.step, graph.summary)


def _figures(before: GraphSummary, after: GraphSummary) -> Iterator[Figure]:
    for item in fields(GraphSummary):
        one, two = getattr(before, item.name), getattr(after, item.name)
        yield Figure(item.name, one, two, None if one is None or two is None else two - one)


# --- nodes -----------------------------------------------------------------------------------------------------------


def _nodes(before: SubgraphGraph, after: SubgraphGraph, pairs: Pairs) -> list[NodeDiff]:
    """Every node once: in the order of the graph after, and what is gone behind what it followed."""
    olds = {node.id: node for node in before.nodes}
    ids = {node.id for node in after.nodes}
    gone: dict[str | None, list[NodeDiff]] = defaultdict(list)
    last: str | None = None
    for node in before.nodes:
        last = pairs.after.get(node.id, last)
        if node.id not in pairs.after:
            own = _unused(node.id, ids)
            ids.add(own)
            gone[last].append(NodeDiff(own, GONE, before=node))
    found = [*gone[None]]
    for node in after.nodes:
        found.append(_node(olds.get(pairs.before.get(node.id, "")), node, pairs))
        found.extend(gone[node.id])
    return found


def _unused(wanted: str, used: set[str]) -> str:
    """A gone node may have the id of a new one: what is on its line now is something else."""
    while wanted in used:
        wanted += _GONE_TOO
    return wanted


def _node(old: GraphNode | None, new: GraphNode, pairs: Pairs) -> NodeDiff:
    if old is None:
        return NodeDiff(new.id, NEW, after=new)
    changes = tuple(_changes(old, new))
    status = CHANGED if any(change.what not in TIMES for change in changes) else KEPT
    return NodeDiff(new.id, status, old, new, pairs.how[old.id], changes)


def _changes(old: GraphNode, new: GraphNode) -> Iterator[Change]:
    """What both sides know and what differs."""
    for name in _FACTS:
        yield from _change(name, getattr(old, name), getattr(new, name))
    if old.kind == SUBGRAPH:
        if old.ops is None or new.ops is None:
            yield from _change("statements", len(old.statements) or None, len(new.statements) or None)
        yield from _operators(old, new)
        for name in ("inputs", "outputs") if _has_borders(old) and _has_borders(new) else ():
            one, two = _border(getattr(old, name)), _border(getattr(new, name))
            if not _same_tensors(one, two):
                yield Change(name, one, two)
    for name in TIMES:
        yield from _change(name, getattr(old, name), getattr(new, name))


def _operators(old: GraphNode, new: GraphNode) -> Iterator[Change]:
    """What is computed on one side only."""
    one, two = (Counter(operator_of(statement.text) for statement in node.statements) for node in (old, new))
    if one and two and one != two and ANY_LAYER not in one | two:
        yield Change("operators", tuple((one - two).elements()), tuple((two - one).elements()))


def _change(what: str, one: object, two: object) -> Iterator[Change]:
    if one is None or two is None or one == two:
        return
    if isinstance(one, (int, float)) and isinstance(two, (int, float)) and math.isclose(one, two, rel_tol=_TOLERANCE):
        return
    yield Change(what, one, two)


def _has_borders(node: GraphNode) -> bool:
    """A log below level 3 tells of no tensor."""
    return bool(node.inputs or node.outputs)


def _border(tensors: Iterable[TensorMeta]) -> Border:
    return tuple((meta.dtype, meta.ir_shape) for meta in tensors)


def _same_tensors(one: Border, two: Border) -> bool:
    """In any order: it says nothing. Shapes that a side does not know are like any other."""
    if any(shape is None for _, shape in (*one, *two)):
        one, two = (tuple((dtype, None) for dtype, _ in border) for border in (one, two))
    return Counter(one) == Counter(two)


# --- edges -----------------------------------------------------------------------------------------------------------


def _edges(before: SubgraphGraph, after: SubgraphGraph, ids: Mapping[str, str], pairs: Pairs) -> Iterator[EdgeDiff]:
    """Edges between the same nodes, one by one in order."""
    olds: dict[tuple[str, str, str], list[GraphEdge]] = defaultdict(list)
    for edge in before.edges:
        olds[ids[edge.source], ids[edge.target], edge.kind].append(edge)
    for edge in after.edges:
        same = olds.get((edge.source, edge.target, edge.kind))
        if same:
            yield _edge(edge.source, edge.target, same.pop(0), edge)
        else:
            yield EdgeDiff(edge.source, edge.target, NEW, after=edge)
    for (source, target, _), left in olds.items():
        yield from (EdgeDiff(source, target, GONE, before=edge) for edge in left)


def _edge(source: str, target: str, old: GraphEdge, new: GraphEdge) -> EdgeDiff:
    changes = [*_change("ir_shape", old.ir_shape, new.ir_shape), *_change("dtype", old.dtype, new.dtype)]
    changes += _change("bytes", old.bytes, new.bytes)
    changes += _change("per_step", old.per_step, new.per_step)
    return EdgeDiff(source, target, CHANGED if changes else KEPT, old, new, tuple(changes))


def _with_tensors(nodes: Iterable[NodeDiff], edges: Iterable[EdgeDiff]) -> tuple[NodeDiff, ...]:
    """A tensor changes with what is known of it: its edges."""
    changed: dict[str, list[Change]] = defaultdict(list)
    for edge in edges:
        if edge.status == CHANGED and edge.before is not None and edge.before.kind == PASSES:
            for end in (edge.source, edge.target):
                changed[end] += [change for change in edge.changes if change not in changed[end]]
    return tuple(
        NodeDiff(item.id, CHANGED, item.before, item.after, item.how, tuple(changed[item.id]))
        if item.status == KEPT and item.node.kind not in (SUBGRAPH, DYNAMIC_REGION) and changed[item.id]
        else item
        for item in nodes
    )


def _named(move: Move, gone: Mapping[str, str]) -> Move:
    return Move(move.kind, tuple(gone[node] for node in move.before), move.after, move.statements, move.of)
