"""Bytes through the engine of ``log``, without a file."""

from __future__ import annotations

import gzip
import io
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from sotprobe.readers import text
from sotprobe.readers.log import READERS
from sotprobe.readers.logfile import LogFile
from sotprobe.readers.parts import Origin
from sotprobe.readers.passages import PassageBook
from sotprobe.readers.tokens import Tokenizer

ROOT = Path(__file__).resolve().parents[3]
SHARED = Path(os.environ.get("SOTPROBE_SHARED", ROOT.parent / "shared"))


def real_logs() -> list[Path]:
    """The logs that come with the project and, where they are there, those of the shared cases."""
    found = [*(ROOT / "tests" / "golden" / "logs").rglob("*"), *(SHARED / "cases").glob("*/log*.txt")]
    return sorted(path for path in found if path.is_file() and path.name.endswith((".txt", ".log", ".txt.gz")))


def load(path: Path) -> bytes:
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


@contextmanager
def as_stdin(data: bytes) -> Iterator[None]:
    with mock.patch.object(sys, "stdin", SimpleNamespace(buffer=io.BufferedReader(io.BytesIO(data)))):
        yield


def read(data: bytes, *, block: int = text.BLOCK, grammars: Sequence | None = None) -> LogFile:
    with as_stdin(data), mock.patch.object(text, "BLOCK", block):
        return LogFile(Origin("-"), grammars or [make() for make in READERS])


def read_line_by_line(data: bytes) -> LogFile:
    """As ``read``, but nothing is remembered."""
    with (
        mock.patch.object(PassageBook, "wants", return_value=False),
        mock.patch.object(Tokenizer, "_remember"),
    ):
        return read(data)


def counted(log: LogFile) -> int:
    """How many lines the readers say they counted."""
    return sum(stats.matched + stats.ignored + stats.unrecognised + stats.malformed for stats in log.stats.values())


def totals(log: LogFile) -> dict[str, tuple[int, int, int, int]]:
    """Lines of each reader: matched, ignored, unrecognised, malformed."""
    return {
        name: (stats.matched, stats.ignored, stats.unrecognised, stats.malformed)
        for name, stats in log.stats.items()
        if stats.matched or stats.ignored or stats.unrecognised or stats.malformed
    }
