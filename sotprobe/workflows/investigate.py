"""``log``: the same causes from logs that somebody else recorded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sotprobe.analyze.logs import diagnose_logs
from sotprobe.errors import InputError
from sotprobe.model import Diagnosis
from sotprobe.readers.log import LogOptions, read_logs
from sotprobe.readers.sources import SourceTree

Progress = Callable[[str, float], None]


@dataclass(frozen=True)
class LogRequest:
    """What the user asked of ``log``; ``source`` is a directory with the program's code."""

    files: Sequence[str]
    source: str | None = None
    paddle: str | None = None
    python: str | None = None
    follow_ranks: bool = False


@dataclass(frozen=True)
class LogResult:
    """``refused`` are the files that could not be read; the diagnosis is about the others."""

    diagnosis: Diagnosis
    refused: tuple[InputError, ...]


def investigate(request: LogRequest, progress: Progress | None = None) -> LogResult:
    """Read the files and conclude. Raises InputError when none of them is a log."""
    options = LogOptions(SourceTree(request.source), request.paddle, request.python)
    reading = read_logs(request.files, options)
    return LogResult(diagnose_logs(reading.runs, reading.stats), reading.refused)
