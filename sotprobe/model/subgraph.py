"""One compiled piece of the user's program (Paddle calls it a SIR)."""

from __future__ import annotations

from dataclasses import dataclass

from sotprobe.model.site import SourceSite


@dataclass(frozen=True)
class TensorMeta:
    """A tensor at a subgraph's border. -1 in ``ir_shape`` is a dynamic dimension; ``real_shapes`` are those seen at run time.

    ``at_break`` marks outputs that the statement which breaks the graph takes.
    """

    name: str
    dtype: str
    ir_shape: tuple[int, ...] | None
    real_shapes: tuple[tuple[int, ...], ...] = ()
    at_break: bool = False


@dataclass(frozen=True)
class Statement:
    """One statement of a subgraph and the user line it came from."""

    text: str
    site: SourceSite | None


@dataclass(frozen=True)
class Subgraph:
    """``ops`` counts PIR operators; ``site`` is where its first statement came from (None for an empty one).

    ``dropped`` is ``too-small`` or ``forced`` when SOT built it and threw it away, ``unused`` when a log shows that it never
    ran and not why. ``runs`` counts runs by step.
    Times are wall nanoseconds: ``compile_ns`` of building and first run, ``forward_ns``/``backward_ns`` per run in the
    attribution window, None when not measured. ``break_lines`` and ``break_sides`` are those of Event.
    """

    name: str
    frame: SourceSite | None
    site: SourceSite | None
    ops: int | None
    statements: tuple[Statement, ...] = ()
    inputs: tuple[TensorMeta, ...] = ()
    outputs: tuple[TensorMeta, ...] = ()
    dropped: str | None = None
    built_at_step: int | None = None
    compile_ns: int | None = None
    runs: tuple[tuple[int, int], ...] = ()
    forward_ns: float | None = None
    backward_ns: float | None = None
    break_lines: tuple[int, ...] = ()
    break_sides: tuple[str, ...] = ()


# TensorFlow.origin is one of these.
FROM_SUBGRAPH = "subgraph"
FROM_DYNAMIC = "dynamic"
FROM_CALLER = "input"


@dataclass(frozen=True)
class TensorFlow:
    """A tensor that passed a subgraph's border in a step, ``count`` times. Subgraphs are named as in this run.

    ``origin`` says where the tensor came from: output ``output`` of subgraph ``source``; dynamic code; or what the to_static
    call was given, parameters, and what outlives a step. For the last two, ``source`` and ``output`` are the subgraph
    that took it first in the step and its input there: what tells one such tensor from another. ``target`` and ``input`` are
    None for an output that no subgraph took. ``bytes`` is the size of one.
    """

    step: int
    origin: str
    source: str
    output: int
    target: str | None = None
    input: int | None = None
    count: int = 1
    shape: tuple[int, ...] | None = None
    dtype: str | None = None
    bytes: int | None = None
