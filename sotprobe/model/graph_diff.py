"""Two subgraph graphs beside each other: what is still there, what is gone, what is new, and where code went."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sotprobe.model.graph import GraphEdge, GraphNode, GraphSummary
from sotprobe.model.run import ProgramInfo

# NodeDiff.status and EdgeDiff.status are one of these.
KEPT = "kept"
CHANGED = "changed"
GONE = "gone"
NEW = "new"
STATUSES = (KEPT, CHANGED, GONE, NEW)

# NodeDiff.how, the safest first: how the two sides of a node were found to be one.
SAME_PLACE = "same place"  # file, function and break lines are the same
MOVED = "moved"  # the same function and breaks, in another file or on other lines
SAME_FUNCTION = "same function"  # of a region: the same function runs dynamically for another reason or from another line
SAME_BREAKS = "same breaks"  # behind as many breaks of the same function
STATEMENTS = "similar statements"  # what it computes is alike
OWNER = "same owner"  # of a tensor: the same output or input of the same subgraph
HOWS = (SAME_PLACE, MOVED, SAME_FUNCTION, SAME_BREAKS, STATEMENTS, OWNER)

# Move.kind is one of these.
MERGED = "merged"  # several subgraphs became one
SPLIT = "split"  # one subgraph became several
LOST = "lost"  # statements of a subgraph run dynamically now
GAINED = "gained"  # what ran dynamically is in a subgraph now
MOVES = (MERGED, SPLIT, LOST, GAINED)

# Change.what of times. One run of each side says nothing about speed: they are shown and change no status.
TIMES = ("compile_ms", "forward_ms", "backward_ms", "ms_per_step")


@dataclass(frozen=True)
class Change:
    """A fact of a node or edge that both sides know and that differs. ``what`` is the field of GraphNode or GraphEdge.

    ``statements`` are their number; ``operators`` are what statements of one side only call. ``inputs`` and ``outputs`` are
    (dtype, shape in the IR) of each tensor.
    """

    what: str
    before: object
    after: object


@dataclass(frozen=True)
class NodeDiff:
    """A node of either graph, or of both (then ``how`` says why they are taken for one).

    ``id`` is unique in the diff: the node's id after, or before where it is gone.
    """

    id: str
    status: str
    before: GraphNode | None = None
    after: GraphNode | None = None
    how: str | None = None
    changes: tuple[Change, ...] = ()

    @property
    def node(self) -> GraphNode:
        """As it is now, or as it was."""
        found = self.after or self.before
        assert found is not None
        return found


@dataclass(frozen=True)
class EdgeDiff:
    """``source`` and ``target`` are ids of NodeDiff."""

    source: str
    target: str
    status: str
    before: GraphEdge | None = None
    after: GraphEdge | None = None
    changes: tuple[Change, ...] = ()

    @property
    def edge(self) -> GraphEdge:
        """As it is now, or as it was."""
        found = self.after or self.before
        assert found is not None
        return found


@dataclass(frozen=True)
class Move:
    """Code that went from the nodes ``before`` to the nodes ``after`` (ids of NodeDiff).

    ``statements`` is how many of the subgraph's ``of`` statements are meant: all subgraphs' that were merged or came of a split.
    """

    kind: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    statements: int
    of: int


@dataclass(frozen=True)
class Figure:
    """A field of GraphSummary on both sides; ``difference`` is None when a side is not known."""

    name: str
    before: float | None
    after: float | None
    difference: float | None


@dataclass(frozen=True)
class GraphSide:
    """What is compared: the program, where it ran, and the summary of its graph."""

    program: ProgramInfo
    environment: Mapping[str, object]
    step: int | None
    summary: GraphSummary


@dataclass(frozen=True)
class GraphDiff:
    """Nodes are in program order of the graph after, gone ones where they stood. ``common`` is False when nothing matches."""

    before: GraphSide
    after: GraphSide
    nodes: tuple[NodeDiff, ...]
    edges: tuple[EdgeDiff, ...]
    moves: tuple[Move, ...]
    figures: tuple[Figure, ...]
    common: bool = field(default=True)

    @property
    def same(self) -> bool:
        """Whether nothing differs but times."""
        return all(item.status == KEPT for item in (*self.nodes, *self.edges))

    def count(self, status: str) -> int:
        """Subgraphs and dynamic regions of a status."""
        return sum(item.status == status and item.node.kind != "tensor" for item in self.nodes)
