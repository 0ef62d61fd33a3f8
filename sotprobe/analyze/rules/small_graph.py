"""``small-graph``: subgraphs that were built and thrown away because they have fewer operators than MIN_GRAPH_SIZE.

A log shows what was built and what ran, and not why something never did. There it is told of subgraphs that may be too small,
and of those that never ran although others of their size did: SOT_FORCE_FALLBACK_SIR_IDS keeps them from it, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sotprobe.analyze.facts import Facts
from sotprobe.analyze.rules.base import INFO, Draft, make, plural
from sotprobe.model import Evidence, SourceSite, Subgraph
from sotprobe.paddle_compat.log_lines.sot import MIN_GRAPH_SIZE

TOO_SMALL = "too-small"
UNUSED = "unused"


def small_graph(facts: Facts) -> Iterator[Draft]:
    """One finding for all of them: they have one cause."""
    if facts.static is None:
        return
    graphs = facts.static.subgraphs
    dropped = [graph for graph in graphs if graph.statements and graph.dropped == TOO_SMALL]
    unused = [graph for graph in graphs if graph.dropped == UNUSED and not _replaced(facts, graph)]
    if dropped or unused:
        yield Draft(_finding(facts, dropped, unused))
    elif facts.is_log and not graphs and facts.nothing_captured:
        yield from _never_built(facts)


def _finding(facts: Facts, dropped: Sequence[Subgraph], unused: Sequence[Subgraph]):
    found = [*dropped, *unused]
    largest = max(found, key=lambda graph: (graph.ops or 0, len(graph.statements)))
    was = "was" if len(found) == 1 else "were"
    small_ones_ran = [graph for graph in facts.compiled if graph.runs and len(graph.statements) < MIN_GRAPH_SIZE]
    told = facts.is_log and (unused or small_ones_ran)
    title = f"{plural(len(found), 'subgraph')} below MIN_GRAPH_SIZE {was} thrown away"
    if told:
        title = f"{plural(len(found), 'subgraph')} {was} built and never run"
    if facts.nothing_captured:
        title += ": nothing ran statically"
    evidence = [Evidence("hooks", _text(graph)) for graph in found[:5]]
    if told:
        other = min(small_ones_ran or facts.compiled, key=lambda graph: len(graph.statements), default=None)
        ran = f"{other.name} with {plural(len(other.statements), 'statement')} ran: " if other else ""
        evidence.append(Evidence("hooks", f"{ran}SOT_FORCE_FALLBACK_SIR_IDS may name them, or MIN_GRAPH_SIZE lies between"))
    return make(facts, "small-graph", INFO, title, largest.site, evidence, cause=TOO_SMALL)


def _replaced(facts: Facts, graph: Subgraph) -> bool:
    """Whether its frame was translated again afterwards: a translation that is not kept is made anew at the next call."""
    later = (event.step for event in facts.events("recompile") if event.frame == graph.frame)
    return any(step is not None and step > (graph.built_at_step or 0) for step in later)


def _never_built(facts: Facts) -> Iterator[Draft]:
    """Frames that were translated and found again by their guards, without a subgraph: 2.6 does not even print small ones."""
    hits = int(facts.static.counts.get("log.cache_hits", 0)) if facts.static else 0
    site: SourceSite | None = next((event.frame for event in facts.events("translate")), None)
    if not hits or facts.events("fallback") or facts.events("eager-frame"):
        return
    title = "no subgraph was built: what was captured is below MIN_GRAPH_SIZE, nothing ran statically"
    evidence = [Evidence("hooks", f"{plural(hits, 'call')} found a translation, and no subgraph was built or run")]
    yield Draft(make(facts, "small-graph", INFO, title, site, evidence, cause=TOO_SMALL))


def _text(graph: Subgraph) -> str:
    where = f" of {graph.frame.function}" if graph.frame else ""
    if graph.ops is not None:
        return f"{graph.name}{where}: {plural(graph.ops, 'operator')}"
    count = plural(len(graph.statements), "statement") if graph.statements else "an unknown number of operators"
    return f"{graph.name}{where}: {count}"
