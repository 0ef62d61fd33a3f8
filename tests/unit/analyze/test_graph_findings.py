"""Which node of the graph a finding is shown at."""

from __future__ import annotations

import pytest

from sotprobe.analyze.graph_findings import findings_of
from sotprobe.model import Finding, GraphNode, GraphSummary, GraphVersion, ProgramInfo, SourceSite, SubgraphGraph
from sotprobe.model.graph import CACHE_FULL, COMPILED, DROPPED, DYNAMIC_REGION, RECOMPILED, SUBGRAPH, TENSOR


def node(name: str, first: int, last: int | None = None, state: str = COMPILED, function: str = "f", **more: object) -> GraphNode:
    kind = DYNAMIC_REGION if state == DYNAMIC_REGION else SUBGRAPH
    return GraphNode(name, kind, function, state, SourceSite("m.py", first, function), last, **more)


HEAD = node("head", 10, 20)
BREAK = node("break", 20, state=DYNAMIC_REGION, cause="item")
REST = node("rest", 21, 30, RECOMPILED, cause="value-guard")
FULL = node("full", 40, 50, CACHE_FULL, "g", cause="float-guard", versions=(GraphVersion("S", 1, cause="shape-churn"),))
MISSES = node("misses", 39, 52, DYNAMIC_REGION, "g")
SMALL = node("small", 60, 64, DROPPED, "h")
LOOP = node("loop", 70, 90, DYNAMIC_REGION, "h")
INNER = node("inner", 80, 82, DYNAMIC_REGION, "h", cause="eager-loop")
NODES = (HEAD, BREAK, REST, FULL, MISSES, SMALL, LOOP, INNER, GraphNode("t", TENSOR, "var_1", TENSOR))


def finding(slug: str, line: int | None, function: str = "f", cause: str | None = None, path: str = "m.py") -> Finding:
    site = None if line is None else SourceSite(path, line, function)
    return Finding(slug, "warning", "a title", site, "", (), cause=cause)


def at(found: Finding) -> list[str]:
    graph = SubgraphGraph(NODES, (), GraphSummary(0, 0, 0, 0), ProgramInfo("m.py", "case"))
    nodes = findings_of(graph, [finding("environment", None), found])
    assert all(positions == (1,) for positions in nodes.values())
    return sorted(nodes)


@pytest.mark.parametrize(
    ("found", "nodes"),
    [
        (finding("graph-break", 20), ["break"]),  # though the subgraph before it holds the line too
        (finding("host-sync", 15), ["head"]),  # there is nothing else at that line
        (finding("small-graph", 62, "h"), ["small"]),
        (finding("eager-loop", 81, "h"), ["inner"]),  # the closest
        (finding("eager-loop", 75, "h"), ["loop"]),
        (finding("graph-break", 5), []),
        (finding("graph-break", 20, path="other.py"), []),
        (finding("no-finding", None), []),
        # the value of line 20 is guarded in the rest: there it is translated again, and here something can be changed
        (finding("recompile", 20, cause="value-guard"), ["break", "rest"]),
        (finding("recompile", 25, cause="unknown"), ["rest"]),
        (finding("recompile", 12, cause="shape-churn"), ["head"]),  # the rest was made again for another cause
        (finding("recompile", 45, "g", "shape-churn"), ["full"]),  # the cause of one of its versions
        (finding("cache-limit", 39, "g", "cache-full"), ["full"]),
        (finding("compile-limit", 38, "g", "compile-time"), ["full"]),
        (finding("guard-cost", 20), ["head"]),
    ],
)
def test_the_node_of_a_finding(found, nodes):
    assert at(found) == nodes
