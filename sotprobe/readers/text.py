"""Text files to raw lines, in batches, in one pass and constant memory: plain, gzip or standard input."""

from __future__ import annotations

import gzip
import os
import stat
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from sotprobe.errors import InputError

STDIN = "-"
BLOCK = 1 << 20
# A longer line is cut: what follows says nothing that a log line of Paddle says. The largest seen are base64 blocks of a few MB.
LONGEST_LINE = 4 << 20
_GZIP = b"\x1f\x8b"
# Share of control bytes in the first block from which a file is no text. NUL does not count: logs have holes full of them.
_BINARY_SHARE = 0.10
_MAGIC = (b"\x7fELF", b"PK\x03\x04", b"SQLite format 3\0", b"\x89PNG", b"\x93NUMPY", b"\xca\xfe\xba\xbe")
_CONTROL = bytes(byte for byte in range(32) if byte not in b"\0\t\n\x0b\x0c\r\x1b\b\a") + b"\x7f"


@dataclass
class Source:
    """What was found out about a file while it was read: ``lines`` read, ``cut`` numbers of lines that were too long, and
    ``broken``: why reading ended early, None when it did not."""

    name: str
    lines: int = 0
    bytes: int = 0
    cut: list[int] = field(default_factory=list)
    broken: str | None = None


def check_readable(path: str) -> None:
    """Raise InputError for what cannot be a log: a missing file, a directory, a file without read permission."""
    if path == STDIN:
        return
    try:
        mode = os.stat(path).st_mode
    except OSError as error:
        raise InputError(
            f"cannot read {path}: {error.strerror}", "give the path of a log file, or - for standard input"
        ) from error
    if stat.S_ISDIR(mode):
        raise InputError(f"{path} is a directory", _directory_hint(Path(path)))
    if not os.access(path, os.R_OK):
        raise InputError(f"cannot read {path}: permission denied", "make the file readable")


def _directory_hint(path: Path) -> str:
    logs = sorted(
        item.name for item in path.iterdir() if item.suffix in (".log", ".txt", ".gz") or item.name.startswith("workerlog.")
    )
    if not logs:
        return "give the log files in it"
    return f"give the log files in it, e.g. {path / logs[0]}" + (f" and {len(logs) - 1} more" if len(logs) > 1 else "")


def batches(source: Source) -> Iterator[list[bytes]]:
    """The lines of a file, some thousand at a time, without their newline.

    Raises InputError when it is no text at all. A gzip file that ends early gives what it held, and ``source.broken`` says so.
    """
    with _open(source.name) as stream:
        yield from _split(stream, source)


def _split(stream: IO[bytes], source: Source) -> Iterator[list[bytes]]:
    rest = b""
    skipping = False
    for block in _blocks(stream, source):
        if source.bytes == len(block):
            _refuse_binary(block, source.name)
        lines = block.split(b"\n")
        if skipping:  # the start of this line was given out already
            if len(lines) == 1:
                continue
            del lines[0]
            skipping = False
        elif rest:
            lines[0] = rest + lines[0]
        rest = lines.pop()
        source.lines += len(lines)
        if lines:
            yield lines
        if len(rest) > LONGEST_LINE:
            source.lines += 1
            source.cut.append(source.lines)
            yield [rest[:LONGEST_LINE]]
            rest, skipping = b"", True
    if rest:
        source.lines += 1
        yield [rest]


def _blocks(stream: IO[bytes], source: Source) -> Iterator[bytes]:
    while True:
        try:
            block = stream.read(BLOCK)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            source.broken = f"the gzip data is damaged or cut off: {error}"
            return
        except OSError as error:
            source.broken = f"reading failed: {error.strerror or error}"
            return
        if not block:
            return
        source.bytes += len(block)
        yield block


@contextmanager
def _open(name: str) -> Iterator[IO[bytes]]:
    if name == STDIN:
        yield _plain(sys.stdin.buffer)
        return
    with open(name, "rb") as stream:
        yield _plain(stream)


def _plain(stream: IO[bytes]) -> IO[bytes]:
    """gzip is told by its first bytes, not by the name of the file: CI archives rename."""
    if stream.peek(2)[:2] == _GZIP:  # type: ignore[attr-defined]
        return gzip.GzipFile(fileobj=stream)
    return stream


def _refuse_binary(block: bytes, name: str) -> None:
    sample = block[:65536]
    control = len(sample) - len(sample.translate(None, _CONTROL))
    if sample.startswith(_MAGIC) or control > _BINARY_SHARE * len(sample):
        raise InputError(f"{name} is a binary file, not a log", "give a text log, or one that gzip compressed")
