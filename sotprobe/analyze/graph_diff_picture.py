"""The union of two compared graphs as one graph that can be folded, laid out and drawn like that of one run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from sotprobe.analyze.graph_diff_files import Function, function_of
from sotprobe.analyze.graph_fold import Group, Link, Picture, picture
from sotprobe.model import GraphEdge, GraphNode, SubgraphGraph
from sotprobe.model.graph import TENSOR
from sotprobe.model.graph_diff import CHANGED, GONE, KEPT, EdgeDiff, GraphDiff, Move, NodeDiff


@dataclass(frozen=True)
class DiffPicture:
    """What is drawn of a comparison. The nodes of the picture's graph have the ids of ``diff``; its edges are those, in order."""

    diff: GraphDiff
    picture: Picture

    def edge(self, drawn: GraphEdge) -> EdgeDiff:
        """The comparison of an edge of the picture."""
        return self._edges[id(drawn)]

    @cached_property
    def _edges(self) -> Mapping[int, EdgeDiff]:
        # by object: two tensors between the same nodes may be alike in all that is known
        return {id(drawn): item for drawn, item in zip(self.picture.graph.edges, self.diff.edges, strict=True)}

    @cached_property
    def items(self) -> Mapping[str, NodeDiff]:
        """The comparison of each node by id."""
        return {item.id: item for item in self.diff.nodes}

    @cached_property
    def moves(self) -> Mapping[str, Sequence[Move]]:
        """The moves from and to each node."""
        found: dict[str, list[Move]] = defaultdict(list)
        for move in self.diff.moves:
            for node in dict.fromkeys((*move.before, *move.after)):
                found[node].append(move)
        return found

    def status(self, node: GraphNode | Group) -> str:
        """Of a folded node: that of its members when they agree."""
        members = node.members if isinstance(node, Group) else (node,)
        return _common(self.items[member.id].status for member in members)

    def link_status(self, link: Link) -> str:
        """An edge that says what runs next is kept while anything keeps running next."""
        statuses = {self.edge(edge).status for edge in link.edges}
        return KEPT if not link.passes and KEPT in statuses else _common(statuses)


def diff_picture(diff: GraphDiff, *, full: bool = False, depth: int | None = None) -> DiffPicture:
    """What to draw; large graphs are folded as ``graph_fold.picture`` does."""
    homes = _Homes(diff)
    nodes = tuple(homes.placed(item) for item in diff.nodes)
    edges = tuple(replace(item.edge, source=item.source, target=item.target) for item in diff.edges)
    after = diff.after
    union = SubgraphGraph(nodes, edges, after.summary, after.program, after.environment, after.step)
    status = {item.id: item.status for item in diff.nodes if item.status != KEPT}
    return DiffPicture(diff, picture(union, full=full, depth=depth, status=status))


class _Homes:
    """Where gone nodes are drawn: with what is left of their function."""

    def __init__(self, diff: GraphDiff):
        self._functions: dict[Function, tuple[str, str]] = {}
        for item in diff.nodes:
            if item.before is None or item.after is None or item.node.kind == TENSOR:
                continue
            old, new = function_of(item.before), function_of(item.after)
            if item.after.site is not None:
                self._functions.setdefault(old, (new.name, item.after.site.path))

    def placed(self, item: NodeDiff) -> GraphNode:
        """The node as it is drawn."""
        node, site = item.node, item.node.site
        if item.status != GONE or site is None:
            return replace(node, id=item.id)
        name, path = self._functions.get(function_of(node), (node.name, site.path))
        return replace(node, id=item.id, name=name, site=replace(site, path=path))


def _common(statuses: Iterable[str]) -> str:
    found = set(statuses)
    return found.pop() if len(found) == 1 else CHANGED
