"""What the rules look at: the runs of a program, and questions about them that several rules ask."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from sotprobe.analyze import parity as parity_of
from sotprobe.analyze.callgraph import Program
from sotprobe.analyze.compare import full_graph, losses, speed_ratio, steady_steps, summarise
from sotprobe.analyze.likely import Likely
from sotprobe.analyze.source import Sources
from sotprobe.analyze.statistics import mean, middle
from sotprobe.model import Event, LineTotal, ModeSummary, Ratio, Run, SourceSite, Subgraph
from sotprobe.model.run import DIAGNOSIS, DYNAMIC, LOG, STATIC, TIMING, FrameKey
from sotprobe.paddle_compat import causes
from sotprobe.readers.stacks import is_program

Line = tuple[str, int]


@dataclass(frozen=True, eq=False)
class Facts:
    """All runs of one program, assembled. Everything is about the diagnosing runs unless it says otherwise.

    Compared by identity, so that what is derived from the facts can be kept for them.
    """

    runs: tuple[Run, ...]

    @cached_property
    def static(self) -> Run | None:
        return self._pick(STATIC)

    @cached_property
    def dynamic(self) -> Run | None:
        return self._pick(DYNAMIC)

    def _pick(self, mode: str) -> Run | None:
        return next((run for run in self.runs if run.mode == mode and run.purpose == DIAGNOSIS), None)

    @cached_property
    def modes(self) -> Mapping[str, ModeSummary]:
        summaries = {mode: summarise(mode, self.runs) for mode in (DYNAMIC, STATIC)}
        return {mode: summary for mode, summary in summaries.items() if summary is not None}

    @cached_property
    def ratio(self) -> Ratio | None:
        return speed_ratio(self.runs)

    @cached_property
    def parity(self) -> parity_of.Judgement:
        return parity_of.judge(self.runs)

    @cached_property
    def sources(self) -> Sources:
        texts: dict[str, str] = {}
        for run in self.runs:
            texts.update(run.sources)
        return _parsed_once(tuple(texts.items()))

    @cached_property
    def program(self) -> Program:
        """Who calls whom, as far as the source tells."""
        return _program_of(self.sources)

    @cached_property
    def environment(self) -> Mapping[str, object]:
        """What the runs say of where they ran; the diagnosing runs, the static one last, have the final word."""
        ranked = sorted(self.runs, key=lambda run: (run is self.static, run is self.dynamic))
        merged: dict[str, object] = {}
        for run in ranked:
            merged.update(run.environment)
        return merged

    @property
    def paddle(self) -> str | None:
        """The version of Paddle, or the range that a log's wording shows (``3.1+``)."""
        return self._version("paddle")

    @property
    def python(self) -> str | None:
        """The version of Python, or the range that a log shows."""
        return self._version("python")

    def _version(self, name: str) -> str | None:
        known = self.environment.get(name) or self.environment.get(f"{name}_seen")
        return known if isinstance(known, str) else None

    def advice(self, cause: str | None) -> str:
        """What to change for a cause, on these versions."""
        return causes.advice(cause, self.paddle, self.python)

    def events(self, kind: str) -> list[Event]:
        """Events of a kind in the static mode, in order."""
        return self._events.get(kind, [])

    @cached_property
    def _events(self) -> Mapping[str, list[Event]]:
        by_kind: dict[str, list[Event]] = defaultdict(list)
        events = self.static.events if self.static else ()
        for event in self._likely.placed(events) if self.is_log else events:
            by_kind[event.kind].append(event)
        return dict(by_kind)

    @cached_property
    def _likely(self) -> Likely:
        return Likely(self.program, self.sources, self.paddle, self.python)

    def is_inferred(self, cause: str | None, site: SourceSite | None) -> bool:
        """Whether a log says neither where nor why something happened, and the source has only this."""
        return self.is_log and self._events is not None and (cause, site) in self._likely.inferred

    @cached_property
    def compiled(self) -> tuple[Subgraph, ...]:
        """Subgraphs with statements that SOT kept: empty and dropped ones never run."""
        graphs = self.static.subgraphs if self.static else ()
        return tuple(graph for graph in graphs if graph.statements and graph.dropped is None)

    @cached_property
    def nothing_captured(self) -> bool:
        """True when a static run is known to have run no subgraph at all."""
        run = self.static
        if run is None or not self.step_count or full_graph(run):
            return False
        return not any(count for graph in self.compiled for _, count in graph.runs)

    @property
    def is_log(self) -> bool:
        """Whether the static mode is only known from a log: by calls instead of steps, without times."""
        return self.static is not None and self.static.program.kind == LOG

    @cached_property
    def last_step(self) -> int:
        """Index of the static run's last step, -1 without steps. A log has no steps: calls of its outermost function do."""
        if self.static is None:
            return -1
        return self.static.steps[-1].index if self.static.steps else int(self.static.counts.get("log.calls", 0)) - 1

    @cached_property
    def step_count(self) -> int:
        """How many steps the static run has, or calls of its outermost function where only a log is known."""
        return 0 if self.static is None else len(self.static.steps) or self.last_step + 1

    @cached_property
    def step_ns(self) -> float | None:
        """What a static step takes: the timed median, else that of the untraced steps of the diagnosing run."""
        return self.timed_step_ns or self.diagnosed_step_ns

    @cached_property
    def timed_step_ns(self) -> float | None:
        """The median steady step of the static timing runs; None when it was not timed."""
        timing = [run for run in self.runs if (run.mode, run.purpose) == (STATIC, TIMING)]
        return middle(step.wall_ns for run in timing for step in steady_steps(run))

    @property
    def to_timed(self) -> float:
        """What turns the times of the static diagnosing run into those of a timed step; 1 when either is unknown."""
        diagnosed, timed = self.diagnosed_step_ns or self.step_ns, self.timed_step_ns
        return timed / diagnosed if timed and diagnosed else 1.0

    @property
    def diagnosed_step_ns(self) -> float | None:
        """The median untraced steady step of the static diagnosing run: what its line times add up to."""
        return self.static.counts.get("untraced.step_ns") if self.static else None

    @cached_property
    def mean_step_ns(self) -> float | None:
        """A static step on average with recompiles in it, without the first."""
        return mean(step.wall_ns for step in self.static.steps[1:]) if self.static else None

    def lines_of(self, run: Run | None) -> Mapping[Line, LineTotal] | None:
        """Totals below to_static calls by line; None when they were not measured."""
        if run is None or run.lines is None:
            return None
        return _by_line(total for total in run.lines if total.inside)

    def all_lines_of(self, run: Run | None) -> Mapping[Line, LineTotal] | None:
        """Totals by line, below to_static calls or not; None when they were not measured."""
        if run is None or run.lines is None:
            return None
        return _by_line(run.lines)

    @cached_property
    def static_lines(self) -> Mapping[Line, LineTotal] | None:
        return self.lines_of(self.static)

    @cached_property
    def dynamic_lines(self) -> Mapping[Line, LineTotal] | None:
        return self.lines_of(self.dynamic)

    def operators_at(self, lines: Sequence[Line] | frozenset[Line]) -> float | None:
        """Eager operators per static step on some lines; None when not measured."""
        if self.static_lines is None:
            return None
        totals = (self.static_lines[line] for line in lines if line in self.static_lines)
        return sum(count for total in totals for count, _ in total.operators.values())

    def own_lines(self, site: SourceSite) -> frozenset[Line]:
        """The lines of the function around a site, without functions inside it."""
        return frozenset((site.path, line) for line in self.sources.own_lines(site.path, site.line))

    def is_user(self, frame: SourceSite | None) -> bool:
        """Whether a frame is the user's, not a library's: the sources of all user files that records name are saved.

        Those of a log need not be at hand: then the path tells.
        """
        known = self.sources.paths
        if frame is None or frame.path in known:
            return True
        return is_program(frame.path) if self.is_log else not known

    def source_line(self, site: SourceSite | None) -> str | None:
        return self.sources.line(site.path, site.line) if site else None

    def entries(self, frame: FrameKey) -> float | None:
        """How often a frame reached SOT per steady step; None when not measured."""
        if self.static is None or not self.static.entries:
            return None
        return self.static.entries.get(frame, 0.0)

    def loss(self, mode: str) -> tuple[float, ...]:
        return losses([run for run in self.runs if run.mode == mode])


@lru_cache(maxsize=2)
def _parsed_once(texts: tuple[tuple[str, str], ...]) -> Sources:
    """The processes of a distributed program have the same source; it is parsed for the first of them."""
    return Sources(dict(texts))


@lru_cache(maxsize=2)
def _program_of(sources: Sources) -> Program:
    return Program(sources)


def _by_line(lines: Iterable[LineTotal]) -> dict[Line, LineTotal]:
    totals: dict[Line, LineTotal] = {}
    for total in lines:
        line = (total.site.path, total.site.line)
        totals[line] = _merged(totals[line], total) if line in totals else total
    return totals


def _merged(one: LineTotal, other: LineTotal) -> LineTotal:
    """Two totals of one line (of two functions that begin on it, say)."""
    operators = dict(one.operators)
    for name, (count, ns) in other.operators.items():
        known = operators.get(name, (0.0, 0.0))
        operators[name] = (known[0] + count, known[1] + ns)
    return LineTotal(one.site, one.hits + other.hits, one.wall_ns + other.wall_ns, one.inside, operators)
