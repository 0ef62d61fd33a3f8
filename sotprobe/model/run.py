"""Everything recorded from one mode of one program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sotprobe.model.event import Event
from sotprobe.model.site import Evidence, SourceSite
from sotprobe.model.stats import ReadStats
from sotprobe.model.subgraph import Subgraph, TensorFlow

DYNAMIC = "dynamic"
STATIC = "static"

TIMING = "timing"
DIAGNOSIS = "diagnosis"
PARITY = "parity"

# ProgramInfo.kind of what is only known from logs, and how such a run ends when the log does not say.
LOG = "log"
LOG_ENDED = "log-ended"

# A frame that SOT sees: its definition site, and the chain of break lines that leads to it when it is a resume function.
FrameKey = tuple[SourceSite, tuple[int, ...]]


@dataclass(frozen=True)
class ProgramInfo:
    """The user's program: ``path`` as given, ``kind`` is ``case``, ``script`` or ``log`` (``path`` is the log's then)."""

    path: str
    kind: str
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True)
class Step:
    """One iteration. ``translations`` is how many frames SOT translated during it (None when it cannot be told).

    ``kind`` is ``compile`` or ``steady``. ``wall_ns`` is perf_counter time. ``source`` says what marked the step:
    case, nvprof, optimizer, call or function.
    """

    index: int
    kind: str
    wall_ns: int
    source: str
    translations: int | None = None
    loss: float | None = None


@dataclass(frozen=True)
class LineTotal:
    """What one source line did per step in an attribution window, outside compiled subgraphs.

    ``hits`` are executions per step; ``wall_ns`` is wall time per step, already corrected for the tracing overhead of the
    window; ``operators`` maps an operator's name to (count per step, nanoseconds per step). ``inside`` is True when the
    line ran during a to_static call.
    """

    site: SourceSite
    hits: float
    wall_ns: float
    inside: bool
    operators: Mapping[str, tuple[float, float]] = field(default_factory=dict)


@dataclass(frozen=True)
class ParityFact:
    """A comparison of this run with the reference run (dynamic, same seed).

    ``what`` is ``output``, ``input``, ``loss``, ``gradient`` or ``state``; ``name`` tells which one (``outputs[0]``,
    parameter name). Errors are None when shapes or dtypes differ (then ``mismatch`` says how).
    """

    what: str
    name: str
    step: int
    equal: bool
    max_abs_error: float | None = None
    max_rel_error: float | None = None
    mismatch: str | None = None


@dataclass(frozen=True)
class ExitStatus:
    """How the child ended.

    ``reason``: returned, system-exit, step-limit, error (Python exception), signal, timeout, no-start,
    log-ended (a log, with nothing wrong at its end), unknown (nothing says). ``code`` is the exit
    code, ``signal`` its name. For ``error`` the exception's type and message; ``site`` is the innermost user line, for an
    error in simulation that of the simulated stack. ``stacks`` is the text of every thread's Python stack at a timeout or
    a fatal signal. ``evidence`` are the lines of a log that say so; ``sender`` is who sent the signal, in words, where they tell.
    """

    reason: str
    code: int | None = None
    signal: str | None = None
    error_type: str | None = None
    error_message: str | None = None
    site: SourceSite | None = None
    stack: tuple[SourceSite, ...] = ()
    stacks: str | None = None
    traceback: str | None = None
    wall_ns: int | None = None
    simulated: bool = False
    evidence: tuple[Evidence, ...] = ()
    sender: str | None = None


@dataclass(frozen=True)
class Run:
    """``directory`` is where it was read from. ``lines`` is None when no attribution window was completed (not measured).

    ``coverage`` holds, for every step traced, the lines that ran or were simulated: {step: frozenset of SourceSite}.
    ``guard_ns`` is SOT's frame-callback time per steady step, by the frame's definition site and chain of break lines;
    ``entries`` is how often that frame reached SOT per steady step.
    ``flow`` is what passed between subgraphs in the steps that were looked at, empty when none was.
    ``batch_size`` is None unless the program says it.
    """

    directory: str
    mode: str
    purpose: str
    round: int
    program: ProgramInfo
    environment: Mapping[str, object]
    exit: ExitStatus
    steps: tuple[Step, ...] = ()
    events: tuple[Event, ...] = ()
    subgraphs: tuple[Subgraph, ...] = ()
    flow: tuple[TensorFlow, ...] = ()
    lines: tuple[LineTotal, ...] | None = None
    coverage: Mapping[int, frozenset[SourceSite]] = field(default_factory=dict)
    guard_ns: Mapping[FrameKey, float] = field(default_factory=dict)
    entries: Mapping[FrameKey, float] = field(default_factory=dict)
    parity: tuple[ParityFact, ...] = ()
    batch_size: int | None = None
    sources: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[Evidence, ...] = ()
    read_stats: Mapping[str, ReadStats] = field(default_factory=dict)
    counts: Mapping[str, float] = field(default_factory=dict)
