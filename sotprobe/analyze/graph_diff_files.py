"""Two sides of a comparison, their functions, and which of their files belong together."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from os import path as paths
from typing import NamedTuple

from sotprobe.model import GraphNode, SubgraphGraph
from sotprobe.model.graph import TENSOR

BEFORE, AFTER = 0, 1


@dataclass(frozen=True)
class Side:
    """A graph and the text of the program's files, as far as it is known: without it, there still are the lines in the graph."""

    graph: SubgraphGraph
    sources: Mapping[str, str] = field(default_factory=dict)

    def code(self, path: str) -> dict[int, str]:
        """The lines of a file with code on them that are known, without indentation and comments behind it."""
        known: Iterable[tuple[int, str]] = self.graph.lines.get(path, {}).items()
        if path in self.sources:
            known = enumerate(self.sources[path].splitlines(), 1)
        stripped = ((number, line.partition("  #")[0].strip()) for number, line in known)
        return {number: line for number, line in stripped if line and not line.startswith("#")}


class Function(NamedTuple):
    """A function of one side: its file, its name and where it is defined (0 when not known)."""

    path: str
    name: str
    line: int


def function_of(node: GraphNode) -> Function:
    """The function that a node is a piece of."""
    at = node.frame or node.site
    if at is None:
        return Function("", node.name, 0)
    return Function(at.path, node.name, node.frame.line if node.frame else 0)


def pair_files(before: Side, after: Side) -> dict[str, str]:
    """File before to file after. The safest reasons come first; what is left at last has functions in common."""
    names = [_functions_by_file(side.graph) for side in (before, after)]
    left = [sorted(found) for found in names]
    pairs: dict[str, str] = {}

    def take(one: str, two: str) -> None:
        pairs[one] = two
        left[BEFORE].remove(one)
        left[AFTER].remove(two)

    def take_equal(key: Callable[[Side, str], Hashable]) -> None:
        others: dict[Hashable, list[str]] = defaultdict(list)
        for path in left[AFTER]:
            others[key(after, path)].append(path)
        for path in list(left[BEFORE]):
            same = others.get(key(before, path), [])
            if len(same) == 1 and key(before, path) is not None and same[0] in left[AFTER]:
                take(path, same[0])

    take_equal(lambda _, path: path)
    take_equal(lambda side, path: path == side.graph.program.path or None)
    take_equal(lambda side, path: _below_program(side.graph, path))
    by_tail = [(_tail(one, two), one, two) for one in left[BEFORE] for two in left[AFTER]]
    _take_best([item for item in by_tail if item[0]], left, take)
    by_names = [
        (len(names[BEFORE][one] & names[AFTER][two]) + _stem_likeness(one, two), one, two)
        for one in left[BEFORE]
        for two in left[AFTER]
        if names[BEFORE][one] & names[AFTER][two]
    ]
    _take_best(by_names, left, take)
    return pairs


def _take_best(scored: Sequence[tuple[float, str, str]], left: Sequence[Sequence[str]], take: Callable[[str, str], None]) -> None:
    for _, one, two in sorted(scored, key=lambda item: (-item[0], item[1], item[2])):
        if one in left[BEFORE] and two in left[AFTER]:
            take(one, two)


def _functions_by_file(graph: SubgraphGraph) -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for node in graph.nodes:
        if node.kind != TENSOR:
            found[function_of(node).path].add(last_part(node.name))
        for statement in node.statements:
            if statement.site is not None:
                found[statement.site.path].add(statement.site.function)
        if node.site is not None:
            found[node.site.path].add(node.site.function)
    return found


def _below_program(graph: SubgraphGraph, path: str) -> str | None:
    """A path relative to where the program is; None when it is not below."""
    folder = paths.dirname(graph.program.path)
    if not folder or not path.startswith(folder + "/"):
        return None
    return path[len(folder) + 1 :]


def _tail(one: str, two: str) -> int:
    """How many parts of two paths are the same, from the end."""
    parts = (re.split(r"[/\\]", path)[::-1] for path in (one, two))
    alike = 0
    for mine, other in zip(*parts, strict=False):
        if mine != other:
            break
        alike += 1
    return alike


def _stem_likeness(one: str, two: str) -> float:
    return SequenceMatcher(None, paths.basename(one), paths.basename(two), autojunk=False).ratio() * 0.99


def last_part(name: str) -> str:
    """A function's name without its class."""
    return name.rpartition(".")[2]
