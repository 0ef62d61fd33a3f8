"""Text files to raw lines, in one pass and constant memory: plain, gzip or standard input."""

from __future__ import annotations

import codecs
import os
import stat
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

from sotprobe.errors import InputError

STDIN = "-"
BLOCK = 1 << 20
# A longer line is cut: what follows says nothing that a log line of Paddle says. The largest seen are base64 blocks of a few MB.
LONGEST_LINE = 4 << 20
_GZIP = b"\x1f\x8b"
_GZIP_HEADER = 16 + zlib.MAX_WBITS  # tells zlib that the data has one
_UNPACKED = 128 << 10  # at a time: as much is lost before an error
# Share of control bytes in the first block from which a file is no text; of random bytes they are 9%, of compressed ones too.
# NUL does not count: logs have holes full of them.
_BINARY_SHARE = 0.04
_MAGIC = (b"\x7fELF", b"PK\x03\x04", b"SQLite format 3\0", b"\x89PNG", b"\x93NUMPY", b"\xca\xfe\xba\xbe")
_COMPRESSED = {b"\xfd7zXZ\0": "xz", b"BZh": "bzip2", b"\x28\xb5\x2f\xfd": "zstd"}
_MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_CONTROL = bytes(byte for byte in range(32) if byte not in b"\0\t\n\x0b\x0c\r\x1b\b\a") + b"\x7f"


@dataclass
class Source:
    """What was found out about a file while it was read: ``lines`` and ``bytes`` so far, and ``broken``: why reading ended
    early, None when it did not. ``cut`` counts lines that were too long, ``first_cut`` is the number of the first."""

    name: str
    lines: int = 0
    bytes: int = 0
    cut: int = 0
    first_cut: int | None = None
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
    try:
        names = sorted(os.listdir(path))
    except OSError:
        names = []
    logs = [name for name in names if name.endswith((".log", ".txt", ".gz")) or name.startswith("workerlog.")]
    if not logs:
        return "give the log files in it"
    return f"give the log files in it, e.g. {path / logs[0]}" + (f" and {len(logs) - 1} more" if len(logs) > 1 else "")


def whole_lines(source: Source) -> Iterator[bytes]:
    """The file in pieces of whole lines, about ``BLOCK`` bytes each, without the newline at the end of a piece.

    A line that is longer than ``LONGEST_LINE`` comes cut, but still longer than that. Raises InputError when the file is no text
    at all. A gzip file that ends early gives what it held, and ``source.broken`` says so.
    """
    with _open(source.name) as stream:
        yield from _whole_lines(stream, source)


def _whole_lines(stream: _Stream, source: Source) -> Iterator[bytes]:
    begun = b""  # the line that has not ended yet
    for block in _blocks(stream, source):
        end = block.rfind(b"\n")
        if end < 0:
            begun = _longer(begun, block)
            continue
        if begun:
            first = block.find(b"\n")
            yield _longer(begun, block[:first]) + block[first:end]
        else:
            yield block[:end]
        begun = block[end + 1 :]
    if begun:
        yield begun


def _longer(begun: bytes, more: bytes) -> bytes:
    return begun + more[: max(0, LONGEST_LINE + 1 - len(begun))]


def _blocks(stream: _Stream, source: Source) -> Iterator[bytes]:
    """The file in blocks, without NUL: a log that was emptied while it was written begins with a hole of them, and every second
    byte of UTF-16 (what PowerShell writes) is one."""
    while True:
        try:
            block = stream.read(BLOCK)
        except (EOFError, zlib.error) as error:
            source.broken = f"the gzip data is damaged or cut off: {error}"
            return
        except OSError as error:
            source.broken = f"reading failed: {error.strerror or error}"
            return
        if not block:
            return
        if not source.bytes:
            _refuse_binary(block, source.name)
            block = _without_mark(block)
        source.bytes += len(block)
        yield block.translate(None, b"\0") if b"\0" in block else block


@contextmanager
def _open(name: str) -> Iterator[_Stream]:
    if name == STDIN:
        if sys.stdin is None:
            raise InputError("standard input is closed", "give the path of a log file")
        yield _plain(sys.stdin.buffer, name)
        return
    try:
        descriptor = os.open(name, os.O_RDONLY)
    except OSError as error:
        raise InputError(f"cannot read {name}: {error.strerror}", "give the path of a log file") from error
    with open(descriptor, "rb") as stream:
        yield _plain(stream, name)


def _plain(stream: IO[bytes], name: str) -> _Stream:
    """gzip is told by its first bytes, not by the name of the file: CI archives rename."""
    try:
        packed = stream.peek(2)[:2] == _GZIP  # type: ignore[attr-defined]
    except OSError as error:
        raise InputError(f"cannot read {name}: {error.strerror}", "give the path of a log file") from error
    return _Unpacked(stream) if packed else stream


class _Stream(Protocol):
    def read(self, size: int) -> bytes: ...


class _Unpacked:
    """What gzip compressed, also when several files were put together. Python's own ``gzip`` drops what comes before an error."""

    def __init__(self, stream: IO[bytes]):
        self._stream = stream
        self._packed = b""
        self._member = zlib.decompressobj(_GZIP_HEADER)

    def read(self, size: int) -> bytes:
        """At most so much, empty at the end. Raises zlib.error for damaged data, EOFError for data that is cut off."""
        while True:
            if not self._packed:
                self._packed = self._stream.read(_UNPACKED)
            if self._member.eof:
                self._packed = self._packed.lstrip(b"\0")  # padding
                if not self._packed:
                    return b""
                self._member = zlib.decompressobj(_GZIP_HEADER)
            elif not self._packed:
                raise EOFError("there is no end mark")
            data = self._member.decompress(self._packed, min(size, _UNPACKED))
            self._packed = self._member.unused_data if self._member.eof else self._member.unconsumed_tail
            if data:
                return data


def _refuse_binary(block: bytes, name: str) -> None:
    sample = block[:65536]
    if sample.startswith(_MARKS):
        return
    packed = next((tool for magic, tool in _COMPRESSED.items() if sample.startswith(magic)), None)
    control = len(sample) - len(sample.translate(None, _CONTROL))
    if sample.startswith(_MAGIC) or control > _BINARY_SHARE * len(sample):
        hint = f"unpack it with {packed} first" if packed else "give a text log, or one that gzip compressed"
        raise InputError(f"{name} is a binary file, not a log", hint)


def _without_mark(block: bytes) -> bytes:
    """Without the byte order mark of UTF-8 or UTF-16."""
    return next((block[len(mark) :] for mark in _MARKS if block.startswith(mark)), block)
