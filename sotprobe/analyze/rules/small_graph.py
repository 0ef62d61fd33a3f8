"""``small-graph``: subgraphs that were built and thrown away because they have fewer operators than MIN_GRAPH_SIZE."""

from __future__ import annotations

from collections.abc import Iterator

from sotprobe.analyze.facts import Facts
from sotprobe.analyze.rules.base import INFO, Draft, make, plural
from sotprobe.model import Evidence, Subgraph


def small_graph(facts: Facts) -> Iterator[Draft]:
    """One finding for all of them: they have one cause."""
    if facts.static is None:
        return
    dropped = [graph for graph in facts.static.subgraphs if graph.statements and graph.dropped == "too-small"]
    if not dropped:
        return
    largest = max(dropped, key=lambda graph: graph.ops or 0)
    nothing = facts.nothing_captured
    title = f"{plural(len(dropped), 'subgraph')} below MIN_GRAPH_SIZE {'was' if len(dropped) == 1 else 'were'} thrown away"
    if nothing:
        title += ": nothing ran statically"
    evidence = [Evidence("hooks", _text(graph)) for graph in dropped[:5]]
    finding = make(facts, "small-graph", INFO, title, largest.site, evidence, cause="too-small")
    yield Draft(finding)


def _text(graph: Subgraph) -> str:
    where = f" of {graph.frame.function}" if graph.frame else ""
    count = "an unknown number of operators" if graph.ops is None else plural(graph.ops, "operator")
    return f"{graph.name}{where}: {count}"
