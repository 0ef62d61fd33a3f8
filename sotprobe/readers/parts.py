"""What the readers of a log put together: the pieces of one Run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sotprobe.model import Event, Evidence, ExitStatus, SourceSite, Subgraph
from sotprobe.model.run import FrameKey
from sotprobe.paddle_compat.versions import Span

# Names in Run.counts of what a log shows are ``log.`` and one of these; all are numbers of lines or blocks, so never unknown.
COUNTS = (
    "frames_entered",
    "translations",
    "cache_hits",
    "cached_fallback_hits",
    "cache_misses",
    "cache_exceeded",
    "subgraphs_built",
    "subgraph_runs",
    "fallbacks",
    "breaks",
    "recompiles",
)


@dataclass(frozen=True)
class Origin:
    """Where lines come from: the file as the user gave it, and the text of a line of the user's code, where it is at hand."""

    file: str
    source_line: Callable[[str, int], str | None] = lambda path, line: None


@dataclass
class Parts:
    """One process of one log file.

    ``last_line`` is the last line of each reader, so that what came after what can be told. ``operators`` are operator counts
    by subgraph name. ``paddle_spans`` are the versions of Paddle that the wording may be of, ``opcodes`` those of Python that the
    lines name. ``simulated`` are functions of the user's that SOT simulated, as frames or inlined (level 3). ``calls`` are
    entries of the outermost frame, ``static_calls`` those in which a subgraph ran. ``steps`` counts benchmark lines. ``level``
    is the SOT_LOG_LEVEL that the lines prove, None without SOT lines. ``last_entry`` is the line where SOT last entered a frame,
    ``reached`` the user's line that it was simulating at the end of the log or else the frame that it entered last. ``exit`` is
    how the process ended, None when the log does not say.
    """

    file: str
    rank: str | None = None
    lines: int = 0
    last_line: Mapping[str, int] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    subgraphs: list[Subgraph] = field(default_factory=list)
    entries: dict[FrameKey, float] = field(default_factory=dict)
    calls: int = 0
    static_calls: int = 0
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTS, 0))
    operators: dict[str, int] = field(default_factory=dict)
    environment: dict[str, object] = field(default_factory=dict)
    paddle_spans: set[Span] = field(default_factory=set)
    opcodes: set[str] = field(default_factory=set)
    notes: list[Evidence] = field(default_factory=list)
    simulated: set[SourceSite] = field(default_factory=set)
    steps: int = 0
    level: int | None = None
    last_entry: int = 0
    reached: SourceSite | None = None
    exit: ExitStatus | None = None
