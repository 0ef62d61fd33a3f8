"""What was concluded: the whole input of every report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sotprobe.model.graph import GraphSummary
from sotprobe.model.run import ExitStatus, ProgramInfo
from sotprobe.model.site import Evidence, SourceSite
from sotprobe.model.stats import ReadStats

SEVERITIES = ("error", "warning", "info")


@dataclass(frozen=True)
class Finding:
    """A rule's conclusion. ``slug`` names the rule, ``cause`` is a stable id of ``paddle_compat.causes``.

    ``cost_ns`` is nanoseconds per step, None when not measured; ``cost_note`` then says where it is counted instead, if it is.
    ``count_per_step`` likewise. ``source_line`` is the text of the site's line, for quoting. ``ranks`` are the processes of a
    distributed run whose logs show it, empty where there is only one. ``suspected`` marks what the source suggests and no
    log or run has shown.
    """

    slug: str
    severity: str
    title: str
    site: SourceSite | None
    advice: str
    evidence: tuple[Evidence, ...]
    cause: str | None = None
    count_per_step: float | None = None
    cost_ns: float | None = None
    cost_note: str | None = None
    cost_share: float | None = None
    source_line: str | None = None
    ranks: tuple[str, ...] = ()
    suspected: bool = False


@dataclass(frozen=True)
class ModeSummary:
    """One mode's figures; times are milliseconds per step. The counts are None for the dynamic mode, and so is ``graph``, how the
    program is split into subgraphs; it is None in logs too."""

    mode: str
    steps: int
    rounds: int
    ips: float | None = None
    ips_unit: str = "steps/s"
    step_ms_median: float | None = None
    step_ms_mean: float | None = None
    step_ms_min: float | None = None
    step_ms_max: float | None = None
    first_step_ms: float | None = None
    compile_ms: float | None = None
    loss: tuple[float, ...] = ()
    exit: ExitStatus | None = None
    subgraphs: int | None = None
    translations: int | None = None
    recompiles: int | None = None
    breaks: int | None = None
    fallbacks: int | None = None
    not_captured: int | None = None
    graph: GraphSummary | None = None


@dataclass(frozen=True)
class Ratio:
    """Static over dynamic speed (ips ratio, >1 means static is faster) with a bootstrap interval."""

    static_over_dynamic: float
    low: float | None
    high: float | None
    confident: bool
    pairs: int


@dataclass(frozen=True)
class ParityVerdict:
    """Whether both modes computed the same. None where it was not compared."""

    comparable: bool
    reasons: tuple[str, ...] = ()
    outputs_equal: bool | None = None
    max_abs_error: float | None = None
    max_rel_error: float | None = None
    noise_abs: float | None = None
    gradient_rel_error: float | None = None
    first_divergent_step: int | None = None
    text: str = ""


@dataclass(frozen=True)
class Verdict:
    """The first line of every report: a stable slug and a sentence."""

    slug: str
    text: str


@dataclass(frozen=True)
class LogSummary:
    """What logs were read, and how far the program got in them.

    ``files`` are named as given, ``refused`` says why some could not be read. ``ranks`` are the processes that wrote, empty where
    none is named. ``calls`` are entries of the outermost frame, ``static_calls`` those in which a subgraph ran; ``steps`` are
    lines of a benchmark. All are sums over the processes.
    """

    files: tuple[str, ...]
    lines: int
    calls: int
    static_calls: int
    steps: int
    ranks: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()


@dataclass(frozen=True)
class Diagnosis:
    """``saved_in`` is the run directory everything was written to. ``counts`` and ``log`` are what logs show, else None."""

    program: ProgramInfo
    environment: Mapping[str, object]
    modes: Mapping[str, ModeSummary]
    ratio: Ratio | None
    parity: ParityVerdict | None
    verdict: Verdict
    findings: tuple[Finding, ...]
    read_stats: Mapping[str, ReadStats] = field(default_factory=dict)
    notes: tuple[Evidence, ...] = ()
    saved_in: str | None = None
    counts: Mapping[str, int] | None = None
    log: LogSummary | None = None
