"""The subgraph relation graph of a run: what was compiled, what runs dynamically in between, what passes.

Built from what the hooks or a log recorded, not from Paddle's own picture of it. A graph is a networkx MultiDiGraph: each node
has its GraphNode as attribute ``node``, each edge its GraphEdge as ``edge``; ``summary``, ``program``, ``environment`` and
``step`` are attributes of the graph.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING

from sotprobe.analyze.assemble import assemble
from sotprobe.analyze.compare import full_graph
from sotprobe.analyze.facts import Facts
from sotprobe.analyze.graph_order import Order
from sotprobe.analyze.graph_places import Names, Places, Scope, scope
from sotprobe.analyze.graph_regions import Regions
from sotprobe.analyze.graph_tensors import Tensors
from sotprobe.errors import InputError
from sotprobe.model import GraphEdge, GraphNode, GraphSummary, Run, SourceSite, SubgraphGraph
from sotprobe.model.graph import BREAK, CONTROL, DROPPED, DYNAMIC_REGION, SUBGRAPH
from sotprobe.model.run import DIAGNOSIS, STATIC

if TYPE_CHECKING:
    import networkx


def build_graph(run: Run, step: int | None = None) -> networkx.MultiDiGraph:
    """The graph of a static diagnosing run or of a log; with ``step``, of that step alone.

    Figures per step are those of the steady steps, or of the one step. Raises InputError for a run that was not
    diagnosed in static mode by SOT, and for a step that it does not have.
    """
    return from_records(graph_records(run, step))


def graph_records(run: Run, step: int | None = None) -> SubgraphGraph:
    """The same as records, for those who need no graph to walk on. Raises InputError as ``build_graph`` does."""
    _check(run)
    facts = Facts((assemble(run),))
    within = scope(run, step)
    names = Names(facts, _frames(run))
    places = Places(facts, within, names)
    subgraphs = places.nodes()
    regions = Regions(facts, within, names, places)
    sequence = Order(facts, names, subgraphs, regions)
    order = sequence.edges()
    nodes = _shown({node.id: node for node in (*subgraphs.values(), *regions.nodes())}, order, within)
    order = [(source, target) for source, target in order if source in nodes and target in nodes]
    nodes = _reached(nodes, order)
    tensors = Tensors(run, within, nodes, order, sequence.returns)
    summary = _summary(run, facts, within, nodes.values(), tensors)
    edges = [*(GraphEdge(source, target, CONTROL) for source, target in order), *tensors.edges]
    lines = told_lines(nodes.values(), facts)
    every = (*nodes.values(), *tensors.nodes.values())
    return SubgraphGraph(every, tuple(edges), summary, run.program, run.environment, step, lines)


def from_records(records: SubgraphGraph) -> networkx.MultiDiGraph:
    """The networkx graph of records, as ``build_graph`` gives it."""
    import networkx

    graph = networkx.MultiDiGraph(
        summary=records.summary,
        program=records.program,
        environment=records.environment,
        step=records.step,
        lines=records.lines,
    )
    for node in records.nodes:
        graph.add_node(node.id, node=node)
    for edge in records.edges:
        graph.add_edge(edge.source, edge.target, edge=edge)
    return graph


def to_records(graph: networkx.MultiDiGraph) -> SubgraphGraph:
    """What reporters read, nodes in program order."""
    return SubgraphGraph(
        nodes=tuple(node for _, node in graph.nodes(data="node")),
        edges=tuple(edge for _, _, edge in graph.edges(data="edge")),
        summary=graph.graph["summary"],
        program=graph.graph["program"],
        environment=graph.graph["environment"],
        step=graph.graph["step"],
        lines=graph.graph["lines"],
    )


def told_lines(nodes: Iterable[GraphNode], facts: Facts) -> Mapping[str, Mapping[int, str]]:
    """The text of the lines that nodes tell of: of the function, its breaks, the statements, the code that is dynamic."""
    wanted: set[tuple[str, int]] = set()
    for node in nodes:
        sites = [node.site, node.frame, *(statement.site for statement in node.statements)]
        wanted.update((site.path, site.line) for site in sites if site is not None)
        wanted.update((node.frame.path, line) for line in node.chain if node.frame is not None)
        wanted.update((path, line) for path, first, last in node.spans for line in range(first, last + 1))
    found: dict[str, dict[int, str]] = defaultdict(dict)
    for path, line in sorted(wanted):
        text = facts.sources.line(path, line)
        if text:
            found[path][line] = text
    return dict(found)


def _check(run: Run) -> None:
    if run.mode != STATIC or run.purpose != DIAGNOSIS:
        raise InputError(
            f"a {run.mode} {run.purpose} run has no subgraphs recorded",
            "give the static-diagnosis run of a session, a directory that record wrote, or a log",
        )
    if full_graph(run):
        raise InputError("full_graph=True compiles one program and no subgraphs", "run without --full-graph")


def _frames(run: Run) -> set[SourceSite]:
    frames = {graph.frame for graph in run.subgraphs if graph.frame is not None}
    frames.update(event.frame for event in run.events if event.frame is not None)
    return frames


def _shown(nodes: dict[str, GraphNode], order: Sequence[tuple[str, str]], within: Scope) -> dict[str, GraphNode]:
    """Nodes in program order. Of one step, regions that it is not known to have come through are left out."""
    ids = [node for node in _in_order(nodes, order) if node in nodes]
    if within.step is None:
        return {node: nodes[node] for node in ids}
    ran = {node.id for node in nodes.values() if node.kind == SUBGRAPH and node.state != DROPPED}
    _, before = _neighbours(order)
    kept: dict[str, GraphNode] = {}
    for node in ids:
        if node in ran or not before.get(node) or not kept.keys().isdisjoint(before[node]):
            kept[node] = nodes[node]
    return kept


def _reached(nodes: Mapping[str, GraphNode], order: Sequence[tuple[str, str]]) -> dict[str, GraphNode]:
    """A break whose entries were not counted comes as often as the subgraphs that it alone leads to, or alone follows."""
    after, before = _neighbours(order)
    found = dict(nodes)
    for node in nodes.values():
        if node.why != BREAK or node.runs_per_step is not None:
            continue
        for beside, back in ((after.get(node.id, []), before), (before.get(node.id, []), after)):
            alone = all(back[name] == [node.id] and nodes[name].kind == SUBGRAPH for name in beside)
            known = [runs for name in beside if (runs := nodes[name].runs_per_step) is not None]
            if alone and beside and len(known) == len(beside):
                found[node.id] = replace(node, runs_per_step=sum(known))
                break
    return found


def _neighbours(order: Sequence[tuple[str, str]]) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """What comes after each node, and what before."""
    after: dict[str, list[str]] = defaultdict(list)
    before: dict[str, list[str]] = defaultdict(list)
    for source, target in order:
        after[source].append(target)
        before[target].append(source)
    return dict(after), dict(before)


def _in_order(nodes: dict[str, GraphNode], order: Sequence[tuple[str, str]]) -> Iterable[str]:
    """Depth first from what nothing leads to; the rest, where all is in a circle, as it comes."""
    after, before = _neighbours(order)
    seen: dict[str, None] = {}
    for root in (*(node for node in nodes if node not in before), *nodes):
        waiting = [root]
        while waiting:
            node = waiting.pop()
            if node not in seen:
                seen[node] = None
                waiting.extend(reversed(after.get(node, ())))
    return seen


def _summary(run: Run, facts: Facts, within: Scope, nodes: Iterable[GraphNode], tensors: Tensors) -> GraphSummary:
    every = list(nodes)
    kept = [node for node in every if node.kind == SUBGRAPH and node.state != DROPPED]
    per_step = [node.runs_per_step for node in kept if node.runs_per_step is not None]
    ops = [int(node.ops) for node in kept if node.ops is not None]
    recompiles = [event for event in facts.events("recompile") if within.step is None or event.step == within.step]
    return GraphSummary(
        subgraphs=len(kept),
        subgraph_versions=sum(node.compiles or 0 for node in kept),
        recompiles=sum(event.count for event in recompiles),
        dynamic_regions=sum(node.kind == DYNAMIC_REGION or node.state == DROPPED for node in every),
        runs_per_step=float(sum(per_step)) if per_step or (not kept and within.divisor) else None,
        captured_op_share=_op_share(run) if within.measured(run) else None,
        captured_time_share=_time_share(run) if within.measured(run) else None,
        min_ops=min(ops, default=None),
        median_ops=median(ops) if ops else None,
        bytes_to_dynamic=tensors.to_dynamic,
        bytes_from_dynamic=tensors.from_dynamic,
    )


def _op_share(run: Run) -> float | None:
    """Of the operators that ran below to_static calls, the share in subgraphs: both as the profiler counted them."""
    inside, steps = run.counts.get("lines.compiled_forward"), run.counts.get("lines.steps")
    if run.lines is None or inside is None or not steps:
        return None
    eager = sum(count for line in run.lines if line.inside for count, _ in line.operators.values())
    total = inside / steps + eager
    return inside / steps / total if total else None


def _time_share(run: Run) -> float | None:
    """Of the time below to_static calls, the share in subgraphs, in the window that lines were measured in."""
    first, steps = run.counts.get("lines.from"), run.counts.get("lines.steps")
    if run.lines is None or first is None or not steps:
        return None
    window = range(int(first), int(first + steps))
    inside = 0.0
    for graph in run.subgraphs:
        runs = sum(count for step, count in graph.runs if step in window)
        if runs and graph.forward_ns is not None:
            inside += graph.forward_ns * runs / steps
    total = inside + sum(line.wall_ns for line in run.lines if line.inside)
    return inside / total if total else None
