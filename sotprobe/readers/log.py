"""Log files to Runs: one for every process that wrote to one of them. Needs no Paddle."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sotprobe.errors import InputError
from sotprobe.model import ExitStatus, ProgramInfo, ReadStats, Run
from sotprobe.model.run import DIAGNOSIS, LOG, LOG_ENDED, STATIC
from sotprobe.readers import relation
from sotprobe.readers.benchlog import BenchGrammar
from sotprobe.readers.crash import CrashGrammar
from sotprobe.readers.glog import GlogGrammar
from sotprobe.readers.grammar import Grammar
from sotprobe.readers.logfile import LogFile, Progress
from sotprobe.readers.machine import MachineGrammar
from sotprobe.readers.parts import Origin, Parts
from sotprobe.readers.pytrace import PyTraceGrammar
from sotprobe.readers.sotinfo import InfoGrammar
from sotprobe.readers.sotlog import SotGrammar
from sotprobe.readers.sources import SourceTree
from sotprobe.readers.stacks import is_program
from sotprobe.readers.text import check_readable
from sotprobe.readers.versions_seen import VersionGrammar
from sotprobe.readers.workers import distinct, file_ranks

# A log format is one file and one line here. The first is the one whose lines come most. They finish in this order: a crash must
# know the traceback before it, and GLOG the crash.
READERS: tuple[Callable[[], Grammar], ...] = (
    SotGrammar,
    InfoGrammar,
    MachineGrammar,
    PyTraceGrammar,
    BenchGrammar,
    CrashGrammar,
    GlogGrammar,
    VersionGrammar,
)


_TOTALS = ("calls", "steps")


@dataclass(frozen=True)
class Reading:
    """``runs`` in the order of the files' names; ``refused`` are files that are no logs."""

    runs: tuple[Run, ...]
    stats: Mapping[str, ReadStats]
    refused: tuple[InputError, ...] = ()


@dataclass(frozen=True)
class LogOptions:
    """``sources`` has the program's code, ``paddle`` and ``python`` its versions, where the user knows them."""

    sources: SourceTree = field(default_factory=SourceTree)
    paddle: str | None = None
    python: str | None = None


def read_logs(files: Sequence[str], options: LogOptions, progress: Progress | None = None) -> Reading:
    """Read every file once; each line is counted by exactly one reader.

    Raises InputError when none of them can be read; one that is no log does not keep the others from being read.
    """
    runs: list[Run] = []
    stats: dict[str, ReadStats] = {}
    refused: list[InputError] = []
    names = distinct(files)
    ranks = file_ranks(names)
    for name in names:
        try:
            check_readable(name)
            if relation.is_drawing(name):
                drawing = relation.read(name)
                runs.append(_run(drawing.parts(), ranks.get(name), options))
                stats[relation.NAME] = stats.get(relation.NAME, ReadStats()) + drawing.stats
                continue
            log = LogFile(Origin(name, options.sources.line), [make() for make in READERS], progress)
        except InputError as error:
            refused.append(error)
            continue
        runs.extend(_run(parts, ranks.get(name), options) for parts in log.parts)
        for reader, found in log.stats.items():
            stats[reader] = stats.get(reader, ReadStats()) + found
    if not runs:
        raise refused[0]
    sources = options.sources.used  # when all files have named theirs
    return Reading(tuple(replace(run, sources=sources) for run in _with_totals(runs)), stats, tuple(refused))


def _with_totals(runs: Sequence[Run]) -> tuple[Run, ...]:
    """Every run with the calls and steps of all files of its process: errors may be in one file and steps in the other.

    A process that tells none has those of the one that tells most: often only rank 0 logs its steps.
    """
    totals: dict[object, Counter[str]] = defaultdict(Counter)
    for run in runs:
        totals[run.environment.get("rank")].update({name: int(run.counts[f"log.{name}"]) for name in _TOTALS})
    most = {name: max(total[name] for total in totals.values()) for name in _TOTALS}
    return tuple(_with_total(run, totals[run.environment.get("rank")], most) for run in runs)


def _with_total(run: Run, own: Mapping[str, int], most: Mapping[str, int]) -> Run:
    return replace(run, counts={**run.counts, **{f"log.all_{name}": own[name] or most[name] for name in _TOTALS}})


def _paths(parts: Parts) -> set[str]:
    """The files of the program that a process names."""
    sites = [*(site for site, _ in parts.entries), *(site for event in parts.events for site in (event.frame, event.site))]
    return {site.path for site in sites if site is not None and is_program(site.path)}


def _run(parts: Parts, file_rank: str | None, options: LogOptions) -> Run:
    """``file_rank`` is the process of all lines that name none themselves."""
    rank = parts.rank if parts.rank is not None else file_rank
    environment: dict[str, object] = dict(parts.environment)
    environment.update({name: value for name in ("paddle", "python") if (value := getattr(options, name))})
    if parts.level is not None:
        environment["log_level"] = parts.level
    if rank is not None:
        environment["rank"] = rank
    options.sources.look_up(_paths(parts))
    return Run(
        directory=parts.file,
        mode=STATIC,
        purpose=DIAGNOSIS,
        round=0,
        program=ProgramInfo(parts.file, LOG),
        environment=environment,
        exit=parts.exit or ExitStatus(LOG_ENDED),
        events=tuple(sorted(parts.events, key=lambda event: event.order)),
        subgraphs=tuple(parts.subgraphs),
        entries=parts.entries,
        coverage={0: frozenset(parts.simulated)} if parts.simulated else {},
        notes=tuple(parts.notes),
        counts={
            "log.calls": parts.calls,
            "log.static_calls": parts.static_calls,
            "log.steps": parts.steps,
            "log.lines": parts.lines,
            **{f"log.{name}": number for name, number in parts.counts.items()},
        },
    )
