"""Files to pieces of whole lines: gzip, streams, holes, marks, lines without end, and what is no log."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import random
import sys
import threading
import time
from types import SimpleNamespace

import pytest

from sotprobe.errors import InputError
from sotprobe.readers import text
from sotprobe.readers.text import LONGEST_LINE, Source, check_readable, whole_lines


@pytest.fixture
def put(tmp_path):
    """put(bytes) -> the path of a file with them."""

    def write(data: bytes, name: str = "a.log") -> str:
        path = tmp_path / name
        path.write_bytes(data)
        return str(path)

    return write


def lines_of(name: str) -> tuple[list[bytes], Source]:
    source = Source(name)
    return [line for piece in whole_lines(source) for line in piece.split(b"\n")], source


def lines(name: str) -> list[bytes]:
    return lines_of(name)[0]


TEXTS = {
    "empty": (b"", []),
    "one line": (b"a\n", [b"a"]),
    "no newline at the end": (b"a\nb", [b"a", b"b"]),
    "blank lines": (b"\n\na\n\n", [b"", b"", b"a", b""]),
    "hole": (b"\0" * 3000 + b"a\nb\n", [b"a", b"b"]),
    "UTF-8 mark": (b"\xef\xbb\xbfa\nb\n", [b"a", b"b"]),
    "UTF-16": ("a[1]\nb\n".encode("utf-16"), [b"a[1]", b"b"]),
    "UTF-16 of big ends": (b"\xfe\xff" + "a\nb\n".encode("utf-16-be"), [b"a", b"b"]),
    "GBK": ("训练完成\n".encode("gbk") * 50, ["训练完成".encode("gbk")] * 50),
    "colours": (b"\x1b[31mred\x1b[0m\n", [b"\x1b[31mred\x1b[0m"]),
}


@pytest.mark.parametrize("block", [7, 64, 1 << 20])
@pytest.mark.parametrize(("data", "expected"), TEXTS.values(), ids=TEXTS)
def test_lines(put, monkeypatch, data, expected, block):
    monkeypatch.setattr(text, "BLOCK", block)
    assert lines(put(data)) == expected


# --- gzip

PLAIN = b"".join(b"line %d of the log\n" % number for number in range(20_000))
PACKED = gzip.compress(PLAIN)


def test_gzip(put):
    found, source = lines_of(put(PACKED))
    assert b"\n".join(found) + b"\n" == PLAIN
    assert source.broken is None


def test_gzip_files_that_were_put_together(put):
    assert lines(put(gzip.compress(b"a\n") + gzip.compress(b"b\n"))) == [b"a", b"b"]


def test_gzip_that_was_cut_off_gives_what_it_held(put):
    found, source = lines_of(put(PACKED[: len(PACKED) // 2]))
    assert PLAIN.startswith(b"\n".join(found))
    assert len(found) > 5_000
    assert "damaged or cut off" in source.broken


def test_gzip_that_is_damaged_says_so(put):
    damaged = bytearray(gzip.compress(PLAIN, 0))  # stored: all of it can be read, but the checksum differs
    damaged[5000] ^= 1
    found, source = lines_of(put(bytes(damaged)))
    assert len(found) > 10_000
    assert "damaged or cut off" in source.broken


@pytest.mark.parametrize("data", [b"\x1f\x8b", b"\x1f\x8b\x08\x00", b"\x1f\x8b\xff" + b"x" * 50, PACKED + b"no gzip at all"])
def test_what_only_begins_or_ends_as_gzip_is_no_crash(put, data):
    _, source = lines_of(put(data))
    assert "damaged or cut off" in source.broken


def test_gzip_of_a_binary_file_is_refused(put):
    with pytest.raises(InputError, match="is a binary file, not a log"):
        lines(put(gzip.compress(b"\x7fELF\x02\x01\x01" + bytes(500))))


# --- standard input


@pytest.mark.parametrize("data", [PLAIN, PACKED], ids=["plain", "gzip"])
def test_standard_input(monkeypatch, data):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BufferedReader(io.BytesIO(data))))
    assert b"\n".join(lines("-")) + b"\n" == PLAIN


def test_no_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(InputError, match="standard input is closed"):
        lines("-")


def test_a_named_pipe_is_read_to_its_end(tmp_path):
    name = str(tmp_path / "pipe")
    os.mkfifo(name)

    def write() -> None:
        with open(name, "wb") as pipe:
            pipe.write(b"a\nhalf")
            pipe.flush()
            time.sleep(0.05)
            pipe.write(b" line\nend")

    writer = threading.Thread(target=write)
    writer.start()
    check_readable(name)
    assert lines(name) == [b"a", b"half line", b"end"]
    writer.join()


# --- a file that changes


@pytest.mark.parametrize("size", [0, 100, 400_000])
def test_a_file_that_changes_its_size_meanwhile(put, monkeypatch, size):
    monkeypatch.setattr(text, "BLOCK", 10_000)
    name = put(PLAIN)
    source = Source(name)
    pieces = whole_lines(source)
    first = next(pieces)
    os.truncate(name, size)
    found = [line for piece in (first, *pieces) for line in piece.split(b"\n")]
    assert found[0] == b"line 0 of the log"
    assert source.broken is None
    assert sum(map(len, found)) <= max(size, 200_000)


# --- long lines


def test_a_line_is_cut_wherever_the_blocks_end(put, monkeypatch):
    name = put(b"a\n" + b"x" * (LONGEST_LINE + 12345) + b"\nb\n" + b"y" * (LONGEST_LINE * 2))
    expected = [b"a", b"x" * (LONGEST_LINE + 1), b"b", b"y" * (LONGEST_LINE + 1)]
    for block in (LONGEST_LINE // 5, 1 << 20, LONGEST_LINE):
        monkeypatch.setattr(text, "BLOCK", block)
        assert lines(name) == expected


def test_a_line_of_200_megabytes_takes_little_time_and_memory(put):
    path = put(b"")
    with open(path, "wb") as stream:
        stream.truncate(200 << 20)  # a hole: no disk space
        stream.seek(0, os.SEEK_END)
        stream.write(b"x" * (LONGEST_LINE * 3) + b"\nend\n")
    start = time.process_time()
    assert lines(path) == [b"x" * (LONGEST_LINE + 1), b"end"]
    assert time.process_time() - start < 5


# --- what is no log


def _random(size: int) -> bytes:
    return random.Random(7).randbytes(size)


BINARY = {
    "program": (b"\x7fELF\x02\x01\x01\0" + bytes(range(256)), "give a text log"),
    "numpy": (b"\x93NUMPY\x01\0v\0{'descr': '<f4'}", "give a text log"),
    "zip": (b"PK\x03\x04" + b"a" * 100, "give a text log"),
    "random": (_random(5000), "give a text log"),
    "xz": (lzma.compress(_random(5000)), "unpack it with xz first"),
    "bzip2": (bz2.compress(_random(5000)), "unpack it with bzip2 first"),
    "zstd": (b"\x28\xb5\x2f\xfd" + _random(5000), "unpack it with zstd first"),
}


@pytest.mark.parametrize(("data", "hint"), BINARY.values(), ids=BINARY)
def test_a_binary_file_is_refused(put, data, hint):
    with pytest.raises(InputError, match="is a binary file, not a log") as caught:
        lines(put(data))
    assert hint in caught.value.hint


@pytest.mark.parametrize("name", ["gone.log", "a.log/below"])
def test_a_missing_file(put, tmp_path, name):
    put(b"")
    with pytest.raises(InputError, match="cannot read") as caught:
        check_readable(str(tmp_path / name))
    assert "give the path of a log file, or - for standard input" in caught.value.hint


def test_a_file_that_went_away_since_it_was_checked(tmp_path):
    with pytest.raises(InputError, match=r"cannot read .*: No such file"):
        lines(str(tmp_path / "gone.log"))


def test_a_file_without_permission(put, monkeypatch):
    name = put(b"a\n")
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(InputError, match="permission denied"):
        check_readable(name)


def test_a_directory_names_the_logs_in_it(put, tmp_path):
    for name in ("workerlog.1", "workerlog.0", "model.py"):
        put(b"", name)
    with pytest.raises(InputError, match="is a directory") as caught:
        check_readable(str(tmp_path))
    assert caught.value.hint == f"give the log files in it, e.g. {tmp_path}/workerlog.0 and 1 more"


def test_a_directory_that_cannot_be_listed(tmp_path, monkeypatch):
    def denied(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "listdir", denied)
    with pytest.raises(InputError, match="is a directory") as caught:
        check_readable(str(tmp_path))
    assert caught.value.hint == "give the log files in it"


def test_a_file_that_cannot_be_read_at_all():
    """The kernel gives the memory of a process as a file, but nothing is at its beginning."""
    if not os.path.exists("/proc/self/mem"):
        pytest.skip("no /proc here")
    with pytest.raises(InputError, match="cannot read /proc/self/mem: Input/output error"):
        lines("/proc/self/mem")


class _Failing(io.RawIOBase):
    """Gives a few lines, then an error, as a network file system does."""

    def __init__(self) -> None:
        self._left = [b"a\nb\n", b"c\n"]

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        if not self._left:
            raise OSError(116, "Stale file handle")
        data = self._left.pop(0)
        buffer[: len(data)] = data
        return len(data)


def test_an_error_in_the_middle_keeps_what_was_read(monkeypatch):
    monkeypatch.setattr(text, "BLOCK", 4)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BufferedReader(_Failing(), 4)))
    found, source = lines_of("-")
    assert found[:2] == [b"a", b"b"]
    assert source.broken == "reading failed: Stale file handle"
