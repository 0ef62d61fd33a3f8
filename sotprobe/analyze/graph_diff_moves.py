"""Where code went between two graphs: subgraphs that were merged or split, statements that were lost to dynamic code or gained.

A statement is known by its line (a slot of the alignment), its operator and how many of these the piece has on that line: names
in the IR are no identity.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import NamedTuple

from sotprobe.analyze.graph_diff_files import AFTER, BEFORE, Side
from sotprobe.analyze.graph_diff_lines import Alignment, operator_of
from sotprobe.analyze.graph_diff_pairs import Pairs
from sotprobe.model import GraphNode
from sotprobe.model.graph import CACHE_FULL, COMPILE_LIMIT, DROPPED, DYNAMIC_REGION, FALLBACK, NOT_CAPTURED, SUBGRAPH
from sotprobe.model.graph_diff import GAINED, LOST, MERGED, SPLIT, Move

# A piece is in another one when at least this share is of its statements on lines that are still there, and some of all; or in
# several that have some each, and this together.
_MOST_OF_IT = 0.5
_SOME_OF_IT = 0.15


class _NoLine(NamedTuple):
    """The slot of statements when a side is a log: all that is known is the function they were compiled for."""

    function: Hashable


# A statement: its slot, its operator, and the how manieth of these it is.
Key = tuple[Hashable, str, int]


class Moves:
    """The moves between two graphs, in program order, by ids of ``before`` and ``after``."""

    def __init__(self, before: Side, after: Side, alignment: Alignment, pairs: Pairs):
        self._alignment = alignment
        self._pairs = (pairs.after, pairs.before)
        self._nodes = tuple({node.id: node for node in side.graph.nodes} for side in (before, after))
        self._located = all(_has_lines(side.graph.nodes) for side in (before, after))
        self._captured = tuple([node for node in nodes.values() if is_captured(node)] for nodes in self._nodes)
        self._keys = tuple(
            {node.id: self._statements(side, node) for node in self._captured[side] if node.statements}
            for side in (BEFORE, AFTER)
        )
        self._holders = tuple(_holders(keys) for keys in self._keys)
        self._places = tuple({node: at for at, node in enumerate(nodes)} for nodes in self._nodes)
        self._regions = tuple([node for node in nodes.values() if _is_dynamic(node)] for nodes in self._nodes)
        self._region_at = tuple(self._by_line(side) for side in (BEFORE, AFTER))
        self._lost_functions = tuple(self._by_function(side) for side in (BEFORE, AFTER))

    def all(self) -> tuple[Move, ...]:
        """Merged, split, lost, gained."""
        merged = list(self._regrouped(BEFORE, MERGED, lambda one, many: (many, one)))
        split = list(self._regrouped(AFTER, SPLIT, lambda one, many: (one, many)))
        lost = list(self._crossed(BEFORE, LOST, lambda subgraph, region: (subgraph, region)))
        gained = list(self._crossed(AFTER, GAINED, lambda subgraph, region: (region, subgraph)))
        return (*merged, *split, *lost, *gained)

    # Merged and split

    def _regrouped(self, many: int, kind: str, order: Callable[..., tuple[tuple[str, ...], tuple[str, ...]]]) -> Iterator[Move]:
        """Several pieces of side ``many`` whose statements are in one piece of the other side."""
        inside: dict[str, list[str]] = defaultdict(list)
        for node in self._keys[many]:
            for home in self._homes(many, node):
                inside[home].append(node)
        one_side = self._keys[1 - many]
        for home in (node for node in one_side if len(inside[node]) > 1):
            pieces = inside[home]
            held = [len(self._keys[many][piece] & one_side[home]) for piece in pieces]
            of = sum(len(self._keys[many][piece]) for piece in pieces)
            yield Move(kind, *order((home,), tuple(pieces)), sum(held), of)

    def _homes(self, side: int, node: str) -> list[str]:
        """The pieces of the other side that hold a piece: its own other half, when that does."""
        keys = self._keys[side][node]
        held = Counter(home for key in keys for home in self._holders[1 - side].get(key, ()))
        left = sum(isinstance(key[0], _NoLine) or self._alignment.is_shared(key[0]) for key in keys)  # the rest was deleted
        enough = max(_MOST_OF_IT * left, _SOME_OF_IT * len(keys))
        own = self._pairs[side].get(node)
        if own is not None and held[own] >= enough:
            return [own]
        homes = sorted(held, key=self._places[1 - side].__getitem__)
        holding = [home for home in homes if held[home] >= enough]
        if holding:
            return holding
        parts = [home for home in homes if held[home] >= _SOME_OF_IT * len(keys)]
        held_by_them = sum(any(part in self._holders[1 - side].get(key, ()) for part in parts) for key in keys)
        return parts if held_by_them >= enough else []

    # Lost and gained

    def _crossed(self, side: int, kind: str, order: Callable[[str, str], tuple[str, str]]) -> Iterator[Move]:
        """Statements of captured pieces of a side that no subgraph of the other side holds, but a region does."""
        for node in self._captured[side]:
            keys = self._keys[side].get(node.id, set())
            found: Counter[str] = Counter()
            for slot, operator, _ in keys:
                if (slot, operator, 1) not in self._holders[1 - side]:
                    region = self._region(side, node, slot)
                    found.update(() if region is None else (region,))
            found.update(self._full(side, node, len(keys)))
            for region in sorted(found, key=self._places[1 - side].__getitem__):
                one, two = order(node.id, region)
                yield Move(kind, (one,), (two,), min(found[region], len(keys)), len(keys))

    def _region(self, side: int, node: GraphNode, slot: Hashable) -> str | None:
        """The region of the other side that holds a line."""
        if isinstance(slot, _NoLine):
            return self._lost_functions[1 - side].get(slot.function)
        return self._region_at[1 - side].get(slot)

    def _by_line(self, side: int) -> Mapping[Hashable, str]:
        """The smallest region on each line."""
        found: dict[Hashable, str] = {}
        lines = [(node, self._lines(side, node)) for node in self._regions[side]]
        for node, slots in sorted(lines, key=lambda item: len(item[1])):
            for slot in slots:
                found.setdefault(slot, node.id)
        return found

    def _by_function(self, side: int) -> Mapping[Hashable, str]:
        """Functions that run dynamically as a whole."""
        found: dict[Hashable, str] = {}
        for node in self._regions[side]:
            if node.why in (FALLBACK, NOT_CAPTURED):
                found.setdefault(self._alignment.function(side, node), node.id)
        return found

    def _full(self, side: int, node: GraphNode, number: int) -> Mapping[str, int]:
        """Where the piece itself is full on the other side, what misses its translations runs as a region of its own."""
        other = self._nodes[1 - side].get(self._pairs[side].get(node.id, ""))
        if other is None or other.state != CACHE_FULL or node.state == CACHE_FULL:
            return {}
        found = {}
        for region in self._regions[1 - side]:
            if region.why in (CACHE_FULL, COMPILE_LIMIT) and (region.frame, region.chain) == (other.frame, other.chain):
                found[region.id] = number
        return found

    # Statements

    def _statements(self, side: int, node: GraphNode) -> set[Key]:
        seen: Counter[tuple[Hashable, str]] = Counter()
        found: set[Key] = set()
        for statement in node.statements:
            site = statement.site
            if self._located and site is not None:
                slot = self._alignment.slot(side, site.path, site.line)
            else:
                slot = _NoLine(self._alignment.function(side, node))
            operator = operator_of(statement.text)
            seen[slot, operator] += 1
            found.add((slot, operator, seen[slot, operator]))
        return found

    def _lines(self, side: int, node: GraphNode) -> frozenset[Hashable]:
        spans = ((path, line) for path, first, last in node.spans for line in range(first, last + 1))
        return frozenset(self._alignment.slot(side, path, line) for path, line in spans)


def is_captured(node: GraphNode) -> bool:
    """Whether what a node holds runs compiled, at least some of the time."""
    return node.kind == SUBGRAPH and node.state != DROPPED and not (node.state == CACHE_FULL and node.runs_per_step == 0)


def _has_lines(nodes: Iterable[GraphNode]) -> bool:
    return any(statement.site is not None for node in nodes for statement in node.statements[:1])


def _is_dynamic(node: GraphNode) -> bool:
    return node.kind == DYNAMIC_REGION or node.state == DROPPED


def _holders(pieces: Mapping[str, set[Key]]) -> Mapping[Key, list[str]]:
    found: dict[Key, list[str]] = defaultdict(list)
    for node, keys in pieces.items():
        for key in keys:
            found[key].append(node)
    return dict(found)
