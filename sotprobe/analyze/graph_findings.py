"""Which findings a node of the graph is about."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from sotprobe.model import Finding, GraphNode, SourceSite, SubgraphGraph
from sotprobe.model.graph import CACHE_FULL, DROPPED, RECOMPILED, SUBGRAPH, TENSOR

# Findings about translations: they are at the subgraphs that were made again, whatever line made that necessary.
_OF_TRANSLATIONS = frozenset({"recompile", "cache-limit", "compile-limit"})
# Other findings about subgraphs; the rest are about code that is in none.
_OF_SUBGRAPHS = frozenset({"guard-cost", "compile-cost", "accuracy-mismatch"})


def findings_of(graph: SubgraphGraph, findings: Sequence[Finding]) -> dict[str, tuple[int, ...]]:
    """Node id to the positions of its findings.

    A finding about a line is at the node whose lines hold it most closely. One about translations is at the subgraphs of that
    function which were translated again for its cause, and at the dynamic region that is at its very line, which is where to
    change something.
    """
    by_path: Mapping[str, list[GraphNode]] = defaultdict(list)
    for node in graph.nodes:
        if node.kind != TENSOR and node.site is not None:
            by_path[node.site.path].append(node)
    found: dict[str, list[int]] = defaultdict(list)
    for position, finding in enumerate(findings):
        if finding.site is not None:
            for node in _nodes_of(finding, finding.site, by_path[finding.site.path]):
                found[node.id].append(position)
    return {node: tuple(positions) for node, positions in found.items()}


def _nodes_of(finding: Finding, site: SourceSite, nodes: Sequence[GraphNode]) -> Iterator[GraphNode]:
    if finding.slug in _OF_TRANSLATIONS:
        again = [node for node in nodes if _made_again(node) and _is_of(node, finding, site)]
        if again:
            yield from again
            yield from (node for node in nodes if not _captured(node) and _lines(node) == (site.line, site.line))
            return
    holding = [node for node in nodes if _holds(node, site.line)]
    if holding:
        about_captured = finding.slug in _OF_TRANSLATIONS | _OF_SUBGRAPHS
        yield min(
            holding,
            key=lambda node: (
                _captured(node) != about_captured,
                finding.cause is None or node.cause != finding.cause,
                _height(node),
            ),
        )


def _made_again(node: GraphNode) -> bool:
    return node.state in (RECOMPILED, CACHE_FULL)


def _is_of(node: GraphNode, finding: Finding, site: SourceSite) -> bool:
    """Whether a subgraph was translated again for the finding's cause, or lies around its line."""
    function = node.site.function if node.site is not None else None
    if finding.slug != "recompile":
        return node.state == CACHE_FULL and function == site.function
    causes = {node.cause, *(version.cause for version in node.versions)}
    return (function == site.function and finding.cause in causes) or _holds(node, site.line)


def _captured(node: GraphNode) -> bool:
    return node.kind == SUBGRAPH and node.state != DROPPED


def _lines(node: GraphNode) -> tuple[int, int]:
    first = node.site.line if node.site is not None else 0
    return first, node.last_line or first


def _holds(node: GraphNode, line: int) -> bool:
    first, last = _lines(node)
    return first <= line <= last


def _height(node: GraphNode) -> int:
    first, last = _lines(node)
    return last - first
