"""Where the nodes of a picture go: those of a function in one frame, frames below each other, and in columns when there are many.

The order is the program's: down a column, then the next column to the right.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from sotprobe.analyze.graph_fold import Group, Picture
from sotprobe.model import GraphNode
from sotprobe.model.graph import TENSOR

Node = GraphNode | Group

# A column of that many nodes still fits a page; more are spread over columns about as wide as they are high.
ONE_COLUMN = 16


@dataclass(frozen=True)
class Frame:
    """Nodes with one line drawn around them. ``name`` and ``path`` say what they have in common; None: no line.

    ``part`` and ``parts`` number the frames of a function that fills several columns.
    """

    name: str | None
    path: str | None
    nodes: tuple[Node, ...]
    part: int = 1
    parts: int = 1


@dataclass(frozen=True)
class Layout:
    """``loose`` are tensors between nodes of several frames, with their column when those are in one."""

    columns: tuple[tuple[Frame, ...], ...]
    loose: tuple[tuple[Node, int | None], ...]

    @cached_property
    def order(self) -> Mapping[str, int]:
        """Node id to its place in reading order; tensors come last, they have none."""
        nodes = [node for column in self.columns for frame in column for node in frame.nodes]
        ranked = sorted([*nodes, *(node for node, _ in self.loose)], key=lambda node: node.state == TENSOR)
        return {node.id: index for index, node in enumerate(ranked)}

    @cached_property
    def column(self) -> Mapping[str, int | None]:
        """Node id to the number of its column; a tensor between columns has none."""
        framed = {node.id: number for number, column in enumerate(self.columns) for frame in column for node in frame.nodes}
        return {**framed, **{node.id: column for node, column in self.loose}}

    def rows(self, column: Sequence[Frame]) -> list[Node]:
        """The nodes of a column from top to bottom, without tensors."""
        return [node for frame in column for node in frame.nodes if node.state != TENSOR]


def layout(picture: Picture) -> Layout:
    """The places of all nodes of a picture."""
    runs: dict[tuple[str | None, str | None], list[Node]] = defaultdict(list)
    for node in picture.nodes:
        if node.state != TENSOR:
            runs[_common(picture, node)].append(node)
    columns = [list(column) for column in _columns([Frame(*what, tuple(nodes)) for what, nodes in runs.items()])]
    return _with_tensors(picture, columns)


def _common(picture: Picture, node: Node) -> tuple[str | None, str | None]:
    """What a node shares with those in its frame: the function and its file; when functions are folded, the file."""
    path = node.path if isinstance(node, Group) else node.site.path if node.site is not None else None
    if picture.folded_by == "module" or path is None:
        return None, None
    return (node.name, path) if picture.folded_by is None else (None, path)


def _columns(frames: Sequence[Frame]) -> Iterator[list[Frame]]:
    number = sum(len(frame.nodes) for frame in frames)
    if number <= ONE_COLUMN:
        yield list(frames)
        return
    rows = max(12, math.ceil(math.sqrt(3 * number)))
    most = rows * 5 // 4
    column: list[Frame] = []
    for frame in frames:
        if column and sum(len(other.nodes) for other in column) + len(frame.nodes) > most:
            yield column
            column = []
        *full, rest = _split(frame, rows) if len(frame.nodes) > most else [frame]
        yield from ([part] for part in full)
        column.append(rest)
    yield column


def _split(frame: Frame, rows: int) -> list[Frame]:
    parts = math.ceil(len(frame.nodes) / rows)
    height = math.ceil(len(frame.nodes) / parts)
    chunks = [frame.nodes[start : start + height] for start in range(0, len(frame.nodes), height)]
    return [Frame(frame.name, frame.path, chunk, number, len(chunks)) for number, chunk in enumerate(chunks, 1)]


def _with_tensors(picture: Picture, columns: list[list[Frame]]) -> Layout:
    """A tensor goes where the nodes are that it joins, when all of them are in one frame."""
    place = {
        node.id: (number, position)
        for number, column in enumerate(columns)
        for position, frame in enumerate(column)
        for node in frame.nodes
    }
    around: dict[str, set[tuple[int, int]]] = defaultdict(set)
    for link in picture.links:
        if link.source in place:
            around[link.target].add(place[link.source])
        if link.target in place:
            around[link.source].add(place[link.target])
    loose = []
    for node in picture.nodes:
        if node.state != TENSOR:
            continue
        if len(around[node.id]) != 1:
            numbers = {number for number, _ in around[node.id]}
            loose.append((node, numbers.pop() if len(numbers) == 1 else None))
            continue
        number, position = around[node.id].pop()
        frame = columns[number][position]
        columns[number][position] = Frame(frame.name, frame.path, (*frame.nodes, node), frame.part, frame.parts)
    return Layout(tuple(map(tuple, columns)), tuple(loose))
