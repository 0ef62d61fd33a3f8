"""``log``: the same causes from logs that somebody else recorded."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sotprobe.analyze.logs import diagnose_logs
from sotprobe.errors import InputError, UsageError
from sotprobe.model import Diagnosis
from sotprobe.readers.log import LogOptions, read_logs
from sotprobe.readers.sources import SourceTree
from sotprobe.readers.text import STDIN, Source
from sotprobe.readers.workers import distinct, file_ranks, with_siblings

Progress = Callable[[str, float], None]
"""Called some times a second with how much was read and for how many seconds."""

_MB = 1e6
_TICK_S = 0.2


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
    files = distinct(_followed(request.files) if request.follow_ranks else request.files)
    reading = read_logs(files, options, None if progress is None else _Meter(files, progress))
    refused = [error.message for error in reading.refused]
    diagnosis = diagnose_logs(reading.runs, reading.stats, refused, with_source=request.source is not None)
    return LogResult(diagnosis, reading.refused)


def _followed(files: Sequence[str]) -> list[str]:
    found = with_siblings(files)
    if found == list(files) and not file_ranks(files):
        hint = "give one of the workerlog.N files that paddle.distributed.launch writes, or leave --follow-ranks out"
        raise UsageError("--follow-ranks: none of the files is a workerlog", hint)
    return found


class _Meter:
    """Turns how far one file was read into how far all of them were."""

    def __init__(self, files: Sequence[str], progress: Progress):
        self._progress = progress
        self._total = _total_bytes(files)
        self._started = self._last = time.monotonic()
        self._name = ""
        self._file = self._before = 0  # bytes of this file, and of those before it

    def __call__(self, source: Source) -> None:
        if source.name != self._name:
            self._name, self._before = source.name, self._before + self._file
        self._file = source.bytes
        now = time.monotonic()
        if now - self._last >= _TICK_S:
            self._last = now
            self._show(self._before + self._file, now - self._started)

    def _show(self, done: int, seconds: float) -> None:
        total = "" if self._total is None or done > self._total else f" of {self._total / _MB:.0f}"
        self._progress(f"reading {self._name}: {done / _MB:.0f}{total} MB, {done / _MB / seconds:.0f} MB/s", seconds)


def _total_bytes(files: Sequence[str]) -> int | None:
    """None when it cannot be known: standard input, or a file that is compressed by its name."""
    if any(name == STDIN or name.endswith(".gz") for name in files):
        return None
    return sum(os.path.getsize(name) for name in files if os.path.isfile(name))
