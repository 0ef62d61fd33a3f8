"""Which nodes of two graphs are one: the same piece of the program, although lines moved and breaks came or went.

Passes go from the safest to the weakest and each takes nodes in program order, so the result is the same every time.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator

from sotprobe.analyze.graph_diff_files import AFTER, BEFORE, Side
from sotprobe.analyze.graph_diff_lines import Alignment, operator_of
from sotprobe.model import GraphNode, SubgraphGraph
from sotprobe.model.graph import DROPPED, DYNAMIC_REGION, FALLBACK, NOT_CAPTURED, PASSES, SUBGRAPH, TENSOR
from sotprobe.model.graph_diff import MOVED, OWNER, SAME_BREAKS, SAME_FUNCTION, SAME_PLACE, STATEMENTS

# How alike what two pieces compute must be: behind as many breaks, elsewhere in the function, and anywhere.
_BEHIND_AS_MANY, _IN_FUNCTION, _ANYWHERE = 0.5, 0.6, 0.8
_FEWEST_ANYWHERE = 6  # a few multiplications and additions are in every program
# Of more pairs than that only those that compute the very same are found.
_MOST_COMPARED = 250_000

_SLOT = re.compile(r"(.*)\.(in|out)(\d+)", re.DOTALL)

Key = Callable[[int, GraphNode], Hashable]


class Pairs:
    """``after`` and ``how`` by id of the node before; ``before`` by id of the node after."""

    def __init__(self, before: Side, after: Side, alignment: Alignment):
        self._alignment = alignment
        self._graphs = (before.graph, after.graph)
        self._sides_known = all(any(any(node.sides) for node in graph.nodes) for graph in self._graphs)  # no log knows them
        self.after: dict[str, str] = {}
        self.before: dict[str, str] = {}
        self.how: dict[str, str] = {}
        self._counted: dict[int, Counter[str]] = {}
        self._same_places()
        self._regions()
        self._subgraphs()
        self._tensors()

    # Passes

    def _same_places(self) -> None:
        self._equal(self._place_and_state, self._how)
        self._equal(self._place, self._how)
        self._equal(self._region_line, self._how)

    def _regions(self) -> None:
        """A function that still is not captured, or a break with the same cause where lines cannot be compared."""
        self._equal(self._lost_function, lambda one, two: SAME_FUNCTION)
        self._equal(self._cause, lambda one, two: SAME_FUNCTION)

    def _subgraphs(self) -> None:
        def function(side: int, node: GraphNode) -> Hashable:
            return self._alignment.function(side, node) if node.kind == SUBGRAPH else None

        def behind_as_many(side: int, node: GraphNode) -> Hashable:
            return (function(side, node), len(node.chain)) if node.kind == SUBGRAPH else None

        self._likest(behind_as_many, _BEHIND_AS_MANY, SAME_BREAKS, unknown_too=True)
        self._likest(function, _IN_FUNCTION, STATEMENTS)
        self._anywhere()

    def _anywhere(self) -> None:
        """Code that was moved to a function of another name."""

        def enough(side: int, node: GraphNode) -> Hashable:
            return True if node.kind == SUBGRAPH and len(node.statements) >= _FEWEST_ANYWHERE else None

        def the_same(side: int, node: GraphNode) -> Hashable:
            return enough(side, node) and frozenset(self._operators(node).items())

        self._equal(the_same, lambda one, two: STATEMENTS)
        self._likest(enough, _ANYWHERE, STATEMENTS)

    def _tensors(self) -> None:
        """The same output or input of what was found to be one. Positions shift with what else passes; then its shape tells."""
        shapes = tuple(_shapes(graph) for graph in self._graphs)

        def owned(side: int, node: GraphNode) -> tuple[str, str, str] | None:
            """What makes or takes it, which of the two, and its position."""
            found = _SLOT.fullmatch(node.id) if node.kind == TENSOR else None
            owner = self.after.get(found[1]) if found and side == BEFORE else found and found[1]
            return (owner, found[2], found[3]) if found and owner else None

        def shaped(side: int, node: GraphNode) -> Hashable:
            own = owned(side, node)
            return own and (*own, shapes[side].get(node.id))

        def alike(side: int, node: GraphNode) -> Hashable:
            own = owned(side, node)
            return own and (*own[:2], shapes[side].get(node.id))

        def ranked(side: int, node: GraphNode) -> Hashable:
            own, shape = owned(side, node), shapes[side].get(node.id)
            return own and (*own[:2], shape and (shape[0], len(shape[1] or ())))

        for key in (shaped, alike, ranked):
            self._equal(key, lambda one, two: OWNER)

    # Keys: nodes of both sides with an equal one may be the same; None: not of this pass

    def _place(self, side: int, node: GraphNode) -> Hashable:
        if node.kind == TENSOR:
            return None
        sides = node.sides if self._sides_known and node.sides else ("",) * len(node.chain)
        key = (node.kind, self._alignment.function(side, node), self._chain(side, node), sides)
        return (*key, node.why, self._site(side, node)) if node.kind == DYNAMIC_REGION else key

    def _place_and_state(self, side: int, node: GraphNode) -> Hashable:
        """A place may have a subgraph that is kept and one that was dropped."""
        place = self._place(side, node)
        return None if place is None else (place, node.state == DROPPED)

    def _region_line(self, side: int, node: GraphNode) -> Hashable:
        return (self._alignment.function(side, node), self._site(side, node)) if node.kind == DYNAMIC_REGION else None

    def _lost_function(self, side: int, node: GraphNode) -> Hashable:
        if node.why not in (FALLBACK, NOT_CAPTURED) or node.chain:
            return None
        return self._alignment.function(side, node)

    def _cause(self, side: int, node: GraphNode) -> Hashable:
        site = node.frame or node.site
        if node.kind != DYNAMIC_REGION or site is None or (side, site.path) in self._alignment.has_sources:
            return None
        return self._alignment.function(side, node), node.why, node.cause, len(node.chain)

    def _site(self, side: int, node: GraphNode) -> Hashable:
        return None if node.site is None else self._alignment.slot(side, node.site.path, node.site.line)

    def _chain(self, side: int, node: GraphNode) -> tuple[Hashable, ...]:
        at = node.frame or node.site
        return tuple(line and at and self._alignment.slot(side, at.path, line) for line in node.chain)

    def _how(self, one: GraphNode, two: GraphNode) -> str:
        """Whether nothing at all moved."""
        places = [(node.frame or node.site, node.chain, node.kind == DYNAMIC_REGION and node.site) for node in (one, two)]
        return SAME_PLACE if places[0] == places[1] else MOVED

    # Taking

    def _left(self, side: int) -> Iterator[GraphNode]:
        taken = (self.after, self.before)[side]
        return (node for node in self._graphs[side].nodes if node.id not in taken)

    def _take(self, one: GraphNode, two: GraphNode, how: str) -> None:
        self.after[one.id], self.before[two.id], self.how[one.id] = two.id, one.id, how

    def _grouped(self, key: Key) -> Iterator[tuple[list[GraphNode], list[GraphNode]]]:
        groups: tuple[dict[Hashable, list[GraphNode]], ...] = (defaultdict(list), defaultdict(list))
        for side in (BEFORE, AFTER):
            for node in self._left(side):
                found = key(side, node)
                if found is not None:
                    groups[side][found].append(node)
        for name, ones in groups[BEFORE].items():
            if name in groups[AFTER]:
                yield ones, groups[AFTER][name]

    def _equal(self, key: Key, how: Callable[[GraphNode, GraphNode], str]) -> None:
        """Nodes with the same key, in order."""
        for ones, others in list(self._grouped(key)):
            for one, two in zip(ones, others, strict=False):
                self._take(one, two, how(one, two))

    def _likest(self, key: Key, least: float, how: str, *, unknown_too: bool = False) -> None:
        """Of nodes with the same key those that compute the most alike; of equally alike ones the first."""
        for ones, others in list(self._grouped(key)):
            if len(ones) * len(others) > _MOST_COMPARED:
                continue
            scored = [
                (-alike, first, second)
                for first, one in enumerate(ones)
                for second, two in enumerate(others)
                if (alike := self._alike(one, two, 1.0 if unknown_too else 0.0)) >= least
            ]
            for _, first, second in sorted(scored):
                if ones[first].id not in self.after and others[second].id not in self.before:
                    self._take(ones[first], others[second], how)

    def _alike(self, one: GraphNode, two: GraphNode, unknown: float) -> float:
        """The share of operators that two pieces have in common."""
        mine, other = self._operators(one), self._operators(two)
        number = mine.total() + other.total()
        if not mine or not other:
            return unknown
        return 2 * (mine & other).total() / number

    def _operators(self, node: GraphNode) -> Counter[str]:
        if id(node) not in self._counted:
            self._counted[id(node)] = Counter(operator_of(statement.text) for statement in node.statements)
        return self._counted[id(node)]


def _shapes(graph: SubgraphGraph) -> dict[str, tuple[str | None, tuple[int, ...] | None]]:
    """Type and shape of what passes each tensor node."""
    found: dict[str, tuple[str | None, tuple[int, ...] | None]] = {}
    for edge in graph.edges:
        if edge.kind == PASSES:
            shape = (edge.dtype, edge.ir_shape if edge.ir_shape is not None else next(iter(edge.real_shapes), None))
            found.setdefault(edge.source, shape)
            found.setdefault(edge.target, shape)
    return found
