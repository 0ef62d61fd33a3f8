"""What passes: tensors between subgraphs, to dynamic code and from it, as edges and nodes of the graph."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from sotprobe.analyze.graph_places import Scope, ranks
from sotprobe.model import GraphEdge, GraphNode, Run, Subgraph, TensorFlow, TensorMeta
from sotprobe.model.graph import BREAK, DROPPED, DYNAMIC_REGION, PASSES, SUBGRAPH, TENSOR
from sotprobe.model.subgraph import FROM_DYNAMIC, FROM_SUBGRAPH

_OUT, _IN = "out", "in"
_FARTHEST = 1000  # places to look back for where a tensor of dynamic code comes from


@dataclass(frozen=True, order=True)
class _Key:
    """A tensor: output ``position`` of a node, or (``side`` in) the input of the node that took it first."""

    node: str
    side: str
    position: int

    @property
    def id(self) -> str:
        return f"{self.node}.{self.side}{self.position}"


@dataclass
class _Passing:
    """How a tensor goes to one place, as far as the steps that were looked at tell."""

    per_step: float | None = None
    shapes: dict[tuple[int, ...], None] = field(default_factory=dict)
    dtype: str | None = None
    bytes: int | None = None

    def add(self, flow: TensorFlow, per_step: float | None) -> None:
        if flow.shape is not None:
            self.shapes[flow.shape] = None
        self.dtype, self.bytes = flow.dtype, flow.bytes
        if per_step is not None:
            self.per_step = (self.per_step or 0.0) + per_step


@dataclass
class _Tensor:
    """``consumers`` by (node, input); ``left`` when it left its subgraph for no other."""

    key: _Key
    origin: str
    consumers: dict[tuple[str, int], _Passing] = field(default_factory=dict)
    left: _Passing | None = None


class Tensors:
    """Tensor edges and tensor nodes of a run.

    ``order`` are the control edges, ``returns`` the regions that called the function of which a node is the last.
    """

    def __init__(
        self,
        run: Run,
        within: Scope,
        nodes: Mapping[str, GraphNode],
        order: Iterable[tuple[str, str]],
        returns: Mapping[str, str],
    ):
        self._run = run
        self._scope = within
        self._nodes = nodes
        self._returns = returns
        self._after: dict[str, list[str]] = defaultdict(list)
        self._before: dict[str, list[str]] = defaultdict(list)
        for source, target in order:
            self._after[source].append(target)
            self._before[target].append(source)
        self._node_of = {version.name: node.id for node in nodes.values() for version in node.versions}
        self._subgraphs = {graph.name: graph for graph in run.subgraphs}
        self._ranks: dict[str, list[int]] = {}
        self.nodes: dict[str, GraphNode] = {}
        self.edges: list[GraphEdge] = []
        self.to_dynamic: float | None = 0.0 if run.flow else None
        self.from_dynamic: float | None = 0.0 if run.flow else None
        for tensor in self._tensors():
            self._draw(tensor)

    # What was seen

    def _tensors(self) -> list[_Tensor]:
        found: dict[_Key, _Tensor] = {}
        for flow, per_step in self._flows():
            key = self._key(flow)
            if key is None:
                continue
            tensor = found.setdefault(key, _Tensor(key, flow.origin))
            if flow.target is None:
                tensor.left = tensor.left or _Passing()
                tensor.left.add(flow, per_step)
            elif flow.target in self._node_of:
                consumer = (self._node_of[flow.target], self._rank(flow.target, flow.input or 0))
                tensor.consumers.setdefault(consumer, _Passing()).add(flow, per_step)
        return list(found.values())

    def _key(self, flow: TensorFlow) -> _Key | None:
        node = self._node_of.get(flow.source)
        if node is None:
            return None
        if flow.origin == FROM_SUBGRAPH:
            return _Key(node, _OUT, flow.output)
        return _Key(node, _IN, self._rank(flow.source, flow.output))

    def _rank(self, name: str, position: int) -> int:
        """An input's place among those of its node."""
        if name not in self._ranks:
            graph = self._subgraphs.get(name)
            self._ranks[name] = ranks(graph.inputs) if graph is not None else []
        known = self._ranks[name]
        return known[position] if position < len(known) else position

    def _flows(self) -> Iterator[tuple[TensorFlow, float | None]]:
        """What counts, with how often it passes in a step that the graph shows.

        A subgraph's tensors are those of the steps that translated nothing, where it ran in any, else those of the last step it
        was seen in. They pass as often for each of its runs as they did there.
        """
        by_owner: dict[str, dict[int, list[TensorFlow]]] = defaultdict(lambda: defaultdict(list))
        for flow in self._run.flow:
            by_owner[flow.target or flow.source][flow.step].append(flow)
        for owner, by_step in by_owner.items():
            if owner not in self._node_of:
                continue
            chosen = self._chosen(by_step)
            ratio = self._ratio(self._subgraphs.get(owner), chosen)
            for step in chosen:
                for flow in by_step[step]:
                    yield flow, None if ratio is None else flow.count * ratio

    def _chosen(self, by_step: Mapping[int, object]) -> list[int]:
        if self._scope.step in by_step:
            return [self._scope.step]
        steady = [step for step in by_step if step in self._steady]
        return steady or [max(by_step)]

    @cached_property
    def _steady(self) -> frozenset[int]:
        return frozenset(step.index for step in self._run.steps if step.kind == "steady")

    def _ratio(self, graph: Subgraph | None, steps: list[int]) -> float | None:
        """What turns counts in these steps into those of a step that is shown."""
        if graph is None:
            return None
        runs = dict(graph.runs)
        there = sum(runs.get(step, 0) for step in steps)
        per_step = self._scope.per_step(graph.runs)
        return per_step / there if there and per_step is not None else None

    # What is drawn

    def _draw(self, tensor: _Tensor) -> None:
        producer = self._nodes[tensor.key.node] if tensor.origin == FROM_SUBGRAPH else None
        meta = self._meta(tensor.key)
        region = self._goes_to(tensor, producer, meta)
        leaves = region is not None or tensor.left is not None
        if producer is not None and not leaves and len(tensor.consumers) <= 1:
            for (node, position), passing in tensor.consumers.items():
                self.edges.append(self._edge(producer.id, node, meta, self._taken(node, position) or meta, passing))
            return
        self._draw_node(tensor, producer, region, meta)

    def _draw_node(self, tensor: _Tensor, producer: GraphNode | None, region: str | None, meta: TensorMeta | None) -> None:
        own = tensor.key.id
        name = meta.name if meta is not None else f"{tensor.key.side}{tensor.key.position}"
        self.nodes[own] = GraphNode(id=own, kind=TENSOR, name=name, state=TENSOR)
        into = self._made(tensor)
        if producer is not None:
            self.edges.append(self._edge(producer.id, own, meta, meta, into))
        elif tensor.origin == FROM_DYNAMIC:
            source = self._comes_from(tensor)
            if source is not None:
                self.edges.append(self._edge(source, own, meta, meta, into))
            self.from_dynamic = (self.from_dynamic or 0.0) + _bytes(into)
        for (node, position), passing in tensor.consumers.items():
            self.edges.append(self._edge(own, node, meta, self._taken(node, position) or meta, passing))
        if region is not None:
            out = tensor.left or into
            self.edges.append(self._edge(own, region, meta, meta, out))
            self.to_dynamic = (self.to_dynamic or 0.0) + _bytes(out)

    def _made(self, tensor: _Tensor) -> _Passing:
        """The tensor as it is made: as often as it goes to any one place, and to none."""
        all_of_it = _Passing()
        for passing in (*tensor.consumers.values(), tensor.left):
            if passing is not None:
                all_of_it.shapes.update(passing.shapes)
                all_of_it.dtype, all_of_it.bytes = passing.dtype, passing.bytes
        taken = max((passing.per_step for passing in tensor.consumers.values() if passing.per_step is not None), default=None)
        left = tensor.left.per_step if tensor.left is not None else None
        known = [value for value in (taken, left) if value is not None]
        all_of_it.per_step = sum(known) if known else None
        return all_of_it

    def _meta(self, key: _Key) -> TensorMeta | None:
        border = self._nodes[key.node].outputs if key.side == _OUT else self._nodes[key.node].inputs
        return border[key.position] if key.position < len(border) else None

    def _taken(self, node: str, position: int) -> TensorMeta | None:
        inputs = self._nodes[node].inputs
        return inputs[position] if position < len(inputs) else None

    def _edge(
        self, source: str, target: str, named: TensorMeta | None, shaped: TensorMeta | None, passing: _Passing
    ) -> GraphEdge:
        """``named`` gives the name, ``shaped`` the IR's shape and, with one source, all shapes that were seen."""
        shapes = dict(passing.shapes)
        if shaped is not None and self._only_source(target, shaped):
            shapes.update(dict.fromkeys(shaped.real_shapes))
        return GraphEdge(
            source=source,
            target=target,
            kind=PASSES,
            name=named.name if named is not None else None,
            ir_shape=shaped.ir_shape if shaped is not None else None,
            real_shapes=tuple(shapes),
            dtype=passing.dtype or (shaped.dtype if shaped is not None else None),
            bytes=passing.bytes,
            per_step=passing.per_step,
        )

    def _only_source(self, target: str, meta: TensorMeta) -> bool:
        """Whether the shapes that a border saw are all of one tensor."""
        node = self._nodes.get(target)
        if node is None or node.kind != SUBGRAPH or meta not in node.inputs:
            return True
        return len(self._sources.get((target, node.inputs.index(meta)), ())) <= 1

    @cached_property
    def _sources(self) -> Mapping[tuple[str, int], set[_Key]]:
        found: dict[tuple[str, int], set[_Key]] = defaultdict(set)
        for flow in self._run.flow:
            key = self._key(flow)
            if key is not None and flow.target in self._node_of:
                found[self._node_of[flow.target], self._rank(flow.target, flow.input or 0)].add(key)
        return found

    # Dynamic code on either side

    def _goes_to(self, tensor: _Tensor, producer: GraphNode | None, meta: TensorMeta | None) -> str | None:
        """The dynamic region that takes an output: the one behind, when a break there takes it or no subgraph does."""
        if producer is None:
            return None
        behind = [node for node in self._after.get(producer.id, ()) if self._is_dynamic(node)]
        taken = meta is not None and meta.at_break and any(self._nodes[node].why == BREAK for node in behind)
        if not behind and tensor.left is not None:
            caller = self._returns.get(producer.id)
            return caller if caller in self._nodes else None
        return behind[0] if behind and (taken or tensor.left is not None) else None

    def _comes_from(self, tensor: _Tensor) -> str | None:
        """The last dynamic region before the subgraph that takes a tensor first, in program order."""
        seen = {tensor.key.node}
        waiting = deque([tensor.key.node])
        while waiting and len(seen) < _FARTHEST:
            before = self._before.get(waiting.popleft(), [])
            chain = self._nodes[tensor.key.node].chain
            dynamic = [node for node in before if self._is_dynamic(node)]
            last = [node for node in dynamic if chain and (site := self._nodes[node].site) and site.line == chain[-1]]
            if dynamic:
                return (last or dynamic)[0]
            new = [node for node in before if node not in seen]
            seen.update(new)
            waiting.extend(new)
        return None

    def _is_dynamic(self, node: str) -> bool:
        found = self._nodes[node]
        return found.kind == DYNAMIC_REGION or found.state == DROPPED


def _bytes(passing: _Passing) -> float:
    return (passing.bytes or 0) * (passing.per_step or 0.0)
