"""Which findings a node of the graph is about."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from sotprobe.model import Finding, GraphNode, SubgraphGraph
from sotprobe.model.graph import DROPPED, SUBGRAPH, TENSOR

# Findings about subgraphs; all others are about code that is in none.
_OF_SUBGRAPHS = frozenset({"recompile", "cache-limit", "compile-limit", "guard-cost", "compile-cost", "accuracy-mismatch"})


def findings_of(graph: SubgraphGraph, findings: Sequence[Finding]) -> dict[str, tuple[int, ...]]:
    """Node id to the positions of its findings: each is at the node whose lines hold it most closely, if one does."""
    by_path: Mapping[str, list[GraphNode]] = defaultdict(list)
    for node in graph.nodes:
        if node.kind != TENSOR and node.site is not None:
            by_path[node.site.path].append(node)
    found: dict[str, list[int]] = defaultdict(list)
    for position, finding in enumerate(findings):
        if finding.site is None:
            continue
        nearest = [(_distance(node, finding), node.id) for node in by_path[finding.site.path] if _holds(node, finding.site.line)]
        if nearest:
            found[min(nearest)[1]].append(position)
    return {node: tuple(positions) for node, positions in found.items()}


def _lines(node: GraphNode) -> tuple[int, int]:
    first = node.site.line if node.site is not None else 0
    return first, node.last_line or first


def _holds(node: GraphNode, line: int) -> bool:
    first, last = _lines(node)
    return first <= line <= last


def _distance(node: GraphNode, finding: Finding) -> tuple[bool, bool, int]:
    """The kind of node that the finding is about first, then the same cause, then the fewest lines."""
    captured = node.kind == SUBGRAPH and node.state != DROPPED
    first, last = _lines(node)
    return captured != (finding.slug in _OF_SUBGRAPHS), node.cause != finding.cause, last - first
