"""The subgraph relation graph of one run: what SOT compiled, what runs dynamically in between, and what passes between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sotprobe.model.event import Guard
from sotprobe.model.run import ProgramInfo
from sotprobe.model.site import SourceSite
from sotprobe.model.subgraph import Statement, TensorMeta

# GraphNode.kind is one of these.
SUBGRAPH = "subgraph"
DYNAMIC_REGION = "dynamic"
TENSOR = "tensor"

# GraphNode.state is one of these.
COMPILED = "compiled"  # translated once
RECOMPILED = "recompiled"  # several translations are kept: one for each version
DROPPED = "dropped"  # built and thrown away (`why` says why): its code runs dynamically
CACHE_FULL = "cache-full"  # its translations are all in use, or its compile time is: what misses them runs dynamically
STATES = (COMPILED, RECOMPILED, DROPPED, CACHE_FULL, DYNAMIC_REGION, TENSOR)

# GraphNode.why of a dynamic region is one of these; a dropped subgraph has `too-small` or `forced`.
BREAK = "break"
FALLBACK = "fallback"
NOT_CAPTURED = "not-captured"
TOO_SMALL = "too-small"
FORCED = "forced"
COMPILE_LIMIT = "compile-limit"
WHYS = (BREAK, FALLBACK, NOT_CAPTURED, TOO_SMALL, FORCED, CACHE_FULL, COMPILE_LIMIT)

# GraphEdge.kind is one of these.
CONTROL = "control"  # what runs after what; nothing is known to pass
PASSES = "tensor"  # a tensor passes


@dataclass(frozen=True)
class GraphVersion:
    """One translation of a subgraph. ``name`` is what SOT calls it in this run (``SIR_3``): no identity across runs.

    ``guards`` are those that failed and so led to this version, none for the first. ``step`` is where it was built, ``runs``
    how often it ran in the run or step that the graph shows (None when not known). ``compile_ms`` is building plus first run.
    """

    name: str
    step: int | None
    guards: tuple[Guard, ...] = ()
    ops: int | None = None
    runs: int | None = None
    compile_ms: float | None = None
    cause: str | None = None


@dataclass(frozen=True)
class GraphNode:
    """A subgraph with all its versions, a dynamic region, or a tensor that has several consumers or crosses to dynamic code.

    ``id`` is the identity across runs: ``path:function@chain``, where the chain is the break lines that lead to it
    (``model.py:Net.forward@20,35``). ``@20then`` and ``@20else`` are the sides of a branch, ``@20body`` and ``@20after`` those
    of a loop, ``@20x3`` is one line three times in a row, ``@?`` one that a log does not tell. A dynamic region ends in
    ``!why:line``, a tensor in ``.out0`` of what makes it or ``.in0`` of what takes it. ``name`` is the function, with its
    class where the source is known; of a tensor its name in the IR.

    ``site`` is the first line and ``last_line`` the last, in the file of the function itself: calls inlined from elsewhere keep
    their lines in ``statements``. ``frame`` is where the function is defined, ``chain`` are the break lines in it and ``sides``
    says of each whether it is the ``then`` or ``else`` of a branch, ``body`` of a loop or ``after`` it (empty text: neither).
    ``spans`` are the lines that a dynamic region holds, as (path, first, last), those of other functions too that run in it;
    empty when not known.

    Of a subgraph, ``ops`` counts the operators of its newest version, ``compiles`` its versions, ``compile_ms`` is spent on all
    of them; ``forward_ms`` and ``backward_ms`` are per run. Of a dynamic region, ``ops`` are operators per step.
    ``runs_per_step`` and ``ms_per_step`` (forward) are of both. What was not measured is None. ``cause`` is an id of
    ``paddle_compat.causes``: of a region why it is dynamic, of a subgraph why it was recompiled most.
    """

    id: str
    kind: str
    name: str
    state: str
    site: SourceSite | None = None
    last_line: int | None = None
    chain: tuple[int, ...] = ()
    ops: float | None = None
    compiles: int | None = None
    runs_per_step: float | None = None
    compile_ms: float | None = None
    forward_ms: float | None = None
    backward_ms: float | None = None
    ms_per_step: float | None = None
    why: str | None = None
    cause: str | None = None
    versions: tuple[GraphVersion, ...] = ()
    statements: tuple[Statement, ...] = ()
    inputs: tuple[TensorMeta, ...] = ()
    outputs: tuple[TensorMeta, ...] = ()
    frame: SourceSite | None = None
    sides: tuple[str, ...] = ()
    spans: tuple[tuple[str, int, int], ...] = ()


@dataclass(frozen=True)
class GraphEdge:
    """``source`` and ``target`` are node ids. A control edge says only what runs after what and has no tensor.

    ``name`` is the tensor's name in the IR. -1 in ``ir_shape`` is a dynamic dimension; ``real_shapes`` are those seen. ``bytes``
    is the size of one such tensor as last seen, ``per_step`` how often it passes in a step.
    """

    source: str
    target: str
    kind: str
    name: str | None = None
    ir_shape: tuple[int, ...] | None = None
    real_shapes: tuple[tuple[int, ...], ...] = ()
    dtype: str | None = None
    bytes: int | None = None
    per_step: float | None = None


@dataclass(frozen=True)
class GraphSummary:
    """``subgraphs`` are places, ``subgraph_versions`` all translations that were kept: what ``compare`` calls subgraphs.

    ``recompiles`` is compare's too. ``dynamic_regions`` counts dynamic nodes and dropped subgraphs. ``runs_per_step`` are runs of
    all subgraphs. The shares are of what ran below to_static calls in a step, forward: operators inside subgraphs, and time
    inside subgraphs. ``min_ops`` and ``median_ops`` are of the subgraphs' newest versions. The bytes are those of a step that
    leave subgraphs for dynamic code, and come from it. What was not measured is None.
    """

    subgraphs: int
    subgraph_versions: int
    recompiles: int | None
    dynamic_regions: int | None
    runs_per_step: float | None = None
    captured_op_share: float | None = None
    captured_time_share: float | None = None
    min_ops: int | None = None
    median_ops: float | None = None
    bytes_to_dynamic: float | None = None
    bytes_from_dynamic: float | None = None


@dataclass(frozen=True)
class SubgraphGraph:
    """``step`` is the step that is shown, None for a whole run: figures per step are then those of its steady steps.

    ``lines`` is the text of the program's lines that nodes tell of, by path and number, as far as it is known.
    """

    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
    summary: GraphSummary
    program: ProgramInfo
    environment: Mapping[str, object] = field(default_factory=dict)
    step: int | None = None
    lines: Mapping[str, Mapping[int, str]] = field(default_factory=dict)
