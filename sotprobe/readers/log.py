"""Log files to Runs: one for every process that wrote to one of them. Needs no Paddle."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from sotprobe.errors import InputError
from sotprobe.model import ExitStatus, ProgramInfo, ReadStats, Run
from sotprobe.model.run import DIAGNOSIS, LOG, LOG_ENDED, STATIC
from sotprobe.readers.grammar import Grammar
from sotprobe.readers.logfile import LogFile, Progress
from sotprobe.readers.parts import Origin, Parts
from sotprobe.readers.sotlog import SotGrammar
from sotprobe.readers.sources import SourceTree
from sotprobe.readers.text import check_readable

# A log format is one file and one line here. The first is the one whose lines come most.
READERS: tuple[Callable[[], Grammar], ...] = (SotGrammar,)


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
    for name in sorted(set(files)):
        try:
            check_readable(name)
            log = LogFile(Origin(name, options.sources.line), [make() for make in READERS], progress)
        except InputError as error:
            refused.append(error)
            continue
        runs.extend(_run(parts, options) for parts in log.parts)
        for reader, found in log.stats.items():
            stats[reader] = stats.get(reader, ReadStats()) + found
    if not runs:
        raise refused[0]
    return Reading(tuple(runs), stats, tuple(refused))


def _run(parts: Parts, options: LogOptions) -> Run:
    environment: dict[str, object] = dict(parts.environment)
    environment.update({name: value for name in ("paddle", "python") if (value := getattr(options, name))})
    if parts.level is not None:
        environment["log_level"] = parts.level
    if parts.rank is not None:
        environment["rank"] = parts.rank
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
        sources=options.sources.used,
        notes=tuple(parts.notes),
        counts={
            "log.calls": parts.calls,
            "log.steps": parts.steps,
            "log.lines": parts.lines,
            **{f"log.{name}": number for name, number in parts.counts.items()},
        },
    )
