"""Drawings of the subgraphs of a step, as SOT_COLLECT_INFO=subgraph_relation leaves them (SVG, Paddle 3.0)."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from sotprobe.errors import InputError
from sotprobe.model import Evidence, ReadStats, Subgraph
from sotprobe.paddle_compat.log_lines import relation
from sotprobe.readers.base import LineCounter
from sotprobe.readers.parts import Parts
from sotprobe.readers.sotsubgraphs import NO_STEP

NAME = "relation"
_HEAD = 1024
# The largest step seen drew 40 kB; this is some ten thousand subgraphs.
MOST_BYTES = 32 << 20
_SHOWN = 8
_SVG = "{http://www.w3.org/2000/svg}"


@dataclass(frozen=True)
class DrawnSubgraph:
    """A subgraph in one step: ``index`` is its place in the step, ``first_call`` whether it was compiled in it."""

    index: int
    name: str
    operators: int
    first_call: bool


@dataclass(frozen=True)
class DrawnTensor:
    """A tensor that goes into or comes out of a subgraph, with the shape it had. Its id is unique in the process."""

    id: int
    shape: tuple[int, ...]


@dataclass(frozen=True)
class DrawnEdge:
    """A tensor that a subgraph takes in (``output`` is False) or gives out. In ``ir_shape`` -1 is a dynamic dimension."""

    subgraph: int
    tensor: int
    output: bool
    ir_shape: tuple[int, ...]


@dataclass(frozen=True)
class Relation:
    """A step: its subgraphs in the order they ran, the tensors at their borders, and the edges of each subgraph, inputs first."""

    file: str
    subgraphs: tuple[DrawnSubgraph, ...]
    tensors: tuple[DrawnTensor, ...]
    edges: tuple[DrawnEdge, ...]
    stats: ReadStats

    def parts(self) -> Parts:
        """What a Run takes from it. The subgraphs have no statements, so nothing is concluded from them but what they are."""
        parts = Parts(self.file, lines=self.stats.matched + self.stats.malformed)
        sizes = {graph.name: graph.operators for graph in self.subgraphs}
        runs = Counter(graph.name for graph in self.subgraphs)
        parts.subgraphs = [Subgraph(name, None, None, sizes[name], runs=((NO_STEP, count),)) for name, count in runs.items()]
        shown = ", ".join(f"{graph.name} of size {graph.operators}" for graph in self.subgraphs[:_SHOWN])
        more = f" and {len(self.subgraphs) - _SHOWN} more" if len(self.subgraphs) > _SHOWN else ""
        text = f"the drawing of a step: {shown}{more}; tensors at their borders: {len(self.tensors)}"
        parts.notes.append(Evidence(NAME, text, self.file))
        return parts


def is_drawing(path: str) -> bool:
    """Whether a file is an SVG, whatever its name says. A pipe is none: what is read from it is gone."""
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as stream:
        head = stream.read(_HEAD).lstrip(b"\xef\xbb\xbf \t\r\n")
    return head.startswith((b"<?xml", b"<!DOCTYPE svg", b"<svg")) and b"<svg" in head


def read(path: str) -> Relation:
    """Read a drawing. Raises InputError when it is too large, no XML, or drawn by somebody else."""
    if os.path.getsize(path) > MOST_BYTES:
        raise InputError(f"{path} is larger than {MOST_BYTES >> 20} MiB", "give the log instead")
    data = Path(path).read_bytes()
    root = _root(data, path)
    counter = LineCounter()
    subgraphs, tensors, edges = [], [], []
    for group in root.iter(f"{_SVG}g"):
        kind, title, text = group.get("class"), _said(group, "title"), _said(group, "text")
        if kind == "node" and (found := relation.SUBGRAPH.match(title)):
            said = relation.SUBGRAPH_TEXT.match(text)
            if said is None:
                counter.malformed(f"{title}: {text}")
                continue
            filled = any(shape.get("fill") == relation.FIRST_CALL for shape in group)
            subgraphs.append(DrawnSubgraph(int(found["index"]), said["name"], int(said["operators"]), filled))
        elif kind == "node" and (found := relation.TENSOR.match(title)):
            said = relation.TENSOR_TEXT.match(text)
            tensors.append(DrawnTensor(int(found["id"]), _shape(said["shape"]) if said else ()))
        elif kind == "edge" and (found := relation.EDGE.match(title)):
            edges.extend(_edge(found["from"], found["to"], text))
    if not subgraphs:
        raise InputError(f"{path} is a drawing, but not one of SOT's subgraphs", "give a log or a subgraph_relation_N.svg")
    counter.matched(len(data.splitlines()) - counter.stats().malformed)
    subgraphs.sort(key=lambda graph: graph.index)
    edges.sort(key=lambda edge: (edge.subgraph, edge.output, edge.tensor))
    return Relation(path, tuple(subgraphs), tuple(tensors), tuple(edges), counter.stats())


def _root(data: bytes, path: str) -> ElementTree.Element:
    """Entities of the file's own are refused: graphviz writes none, and they can be made to grow without end."""
    if b"<!ENTITY" in data:
        raise InputError(f"{path} defines XML entities, which no drawing of SOT does", "give the file as Paddle wrote it")
    try:
        return ElementTree.fromstring(data)
    except ElementTree.ParseError as error:
        raise InputError(f"{path} is no complete SVG: {error}", "give the file as Paddle wrote it") from error


def _said(group: ElementTree.Element, tag: str) -> str:
    return (group.findtext(f"{_SVG}{tag}") or "").strip()


def _edge(start: str, end: str, text: str) -> list[DrawnEdge]:
    label = relation.SHAPE_TEXT.match(text)
    shape = _shape(label["shape"]) if label else ()
    for subgraph, tensor, output in ((end, start, False), (start, end, True)):
        graph, other = relation.SUBGRAPH.match(subgraph), relation.TENSOR.match(tensor)
        if graph and other:
            return [DrawnEdge(int(graph["index"]), int(other["id"]), output, shape)]
    return []


def _shape(text: str) -> tuple[int, ...]:
    return tuple(int(size) for size in text.split(",") if size.strip())
