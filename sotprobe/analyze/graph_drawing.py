"""Paddle 3.0's own drawing of a step as the same graph: it has subgraphs, sizes and tensors, but no place in the program."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise
from statistics import median

from sotprobe.model import GraphEdge, GraphNode, GraphSummary, GraphVersion, ProgramInfo, SubgraphGraph
from sotprobe.model.graph import COMPILED, CONTROL, PASSES, SUBGRAPH, TENSOR
from sotprobe.model.run import LOG
from sotprobe.readers.relation import DrawnEdge, DrawnTensor, Relation


def drawn_graph(drawing: Relation) -> SubgraphGraph:
    """Nodes are known by Paddle's number of the subgraph, which says nothing in another run.

    A subgraph that ran several times in the step is one node. Dynamic code and recompiles are not in the drawing.
    """
    nodes = {node.id: node for node in _subgraphs(drawing)}
    tensors, edges = _tensors(drawing)
    sizes = [node.ops for node in nodes.values() if node.ops is not None]
    summary = GraphSummary(
        subgraphs=len(nodes),
        subgraph_versions=len(nodes),
        recompiles=None,
        dynamic_regions=None,
        runs_per_step=float(len(drawing.subgraphs)),
        min_ops=int(min(sizes)),
        median_ops=median(sizes),
    )
    program = ProgramInfo(drawing.file, LOG)
    return SubgraphGraph((*nodes.values(), *tensors), (*_order(drawing), *edges), summary, program)


def _id(drawing: Relation, index: int) -> str:
    return f"!{next(graph.name for graph in drawing.subgraphs if graph.index == index)}"


def _subgraphs(drawing: Relation) -> Iterator[GraphNode]:
    runs = Counter(graph.name for graph in drawing.subgraphs)
    for graph in {graph.name: graph for graph in drawing.subgraphs}.values():
        yield GraphNode(
            id=f"!{graph.name}",
            kind=SUBGRAPH,
            name=graph.name,
            state=COMPILED,
            ops=graph.operators,
            runs_per_step=float(runs[graph.name]),
            versions=(GraphVersion(graph.name, None, ops=graph.operators, runs=runs[graph.name]),),
        )


def _order(drawing: Relation) -> Iterator[GraphEdge]:
    """What ran after what."""
    ids = [f"!{graph.name}" for graph in drawing.subgraphs]
    for source, target in dict.fromkeys(pairwise(ids)):
        yield GraphEdge(source, target, CONTROL)


def _tensors(drawing: Relation) -> tuple[list[GraphNode], list[GraphEdge]]:
    """A tensor from one subgraph to one other is an edge between them, any other a node of its own."""
    borders: dict[int, list[DrawnEdge]] = defaultdict(list)
    for edge in drawing.edges:
        borders[edge.tensor].append(edge)
    nodes, edges = [], []
    for tensor in drawing.tensors:
        made = [edge for edge in borders[tensor.id] if edge.output]
        taken = [edge for edge in borders[tensor.id] if not edge.output]
        if len(made) == len(taken) == 1:
            edges.append(_passes(_id(drawing, made[0].subgraph), _id(drawing, taken[0].subgraph), taken[0], tensor))
            continue
        node = GraphNode(f"!tensor_{tensor.id}", TENSOR, f"tensor {tensor.id}", TENSOR)
        nodes.append(node)
        edges.extend(_passes(_id(drawing, edge.subgraph), node.id, edge, tensor) for edge in made)
        edges.extend(_passes(node.id, _id(drawing, edge.subgraph), edge, tensor) for edge in taken)
    return nodes, edges


def _passes(source: str, target: str, edge: DrawnEdge, tensor: DrawnTensor) -> GraphEdge:
    return GraphEdge(source, target, PASSES, f"tensor {tensor.id}", edge.ir_shape, (tensor.shape,))
