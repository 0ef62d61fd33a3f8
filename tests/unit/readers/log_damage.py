"""Real logs cut up, mixed and damaged, and what must hold of any log. For tests and for tools/fuzz_log.py."""

from __future__ import annotations

import json
import random
import re
import time
from collections.abc import Callable

from log_engine import ROOT, as_stdin, counted, load, read, read_line_by_line, real_logs

from sotprobe.errors import InputError
from sotprobe.report import json as json_report
from sotprobe.report import terminal
from sotprobe.workflows.investigate import LogRequest, investigate

# What a log may have between two bytes of its lines.
INSERTED = (
    b"\n",
    b"\r",
    b"\r\n",
    b"\0",
    b"\xff\xfe",
    b"\x1b[31m",
    b"\x1b[0m",
    b"\x1b[",
    b" 50%|#####     | 5/10\r",
    b"[rank1]: ",
    b"[default0]:",
    b"Traceback (most recent call last):\n",
    b"start subgraph compile and execution.\n",
    b"[BreakGraph] call function Break graph:",
    b"--------------------------------------\nC++ Traceback (most recent call last):\n",
    b"I1130 10:00:00.000001  4000 file.cc:1] text [",
    b"[eval_frame_callback] start to translate: ",
    b"<sot>",
    b"99999999999999999999",
    "训练".encode(),
)
LINES = 150
# The code of some of the real logs.
PROGRAMS = ROOT / "tests" / "golden" / "logs" / "programs"
_LOGS = [load(path).splitlines(keepends=True) for path in real_logs()]
# Reading, judging and printing some hundred lines takes milliseconds; more than this is a loop that should not be.
_SECONDS = 2.0
_SECONDS_A_BYTE = 4e-6

# Python reads no number of more than 4300 digits.
_NUMBER = re.compile(rb"\d+")

Check = Callable[[bytes], None]


def part(chance: random.Random) -> list[bytes]:
    """Some lines in a row of a real log."""
    lines = chance.choice(_LOGS)
    start = chance.randrange(len(lines))
    return lines[start : start + LINES]


def damaged(chance: random.Random) -> bytes:
    """Lines of a real log: swapped, dropped, doubled, cut, joined, with bytes in between, mixed with those of another log."""
    lines = part(chance)
    for _ in range(chance.randrange(12)):
        if lines:
            _damage(lines, chance)
    return b"".join(lines)


def _damage(lines: list[bytes], chance: random.Random) -> None:
    place = chance.randrange(len(lines))
    line = lines[place]
    cut = chance.randrange(len(line) + 1)
    match chance.randrange(10):
        case 0:
            other = chance.randrange(len(lines))
            lines[place], lines[other] = lines[other], line
        case 1:
            del lines[place]
        case 2:
            lines.insert(place, line)
        case 3:
            lines[place] = line[:cut] + line[-1:]
        case 4:
            lines[place] = line.rstrip(b"\n")
        case 5:
            lines[place] = line[:cut] + chance.choice(INSERTED) + line[cut:]
        case 6:
            lines[place:place] = lines[place : place + 30] * 3
        case 7:
            lines[place:place] = part(chance)[:20]
        case 8:
            lines[place] = line[:cut] + bytes([chance.randrange(256)]) + line[cut + 1 :]
        case 9:
            lines[place] = _NUMBER.sub(b"9" * 5000, line, count=chance.randrange(1, 4))


def endless(chance: random.Random, size: int) -> bytes:
    """A long line that begins like a real one and repeats parts of real ones."""
    line = chance.choice(part(chance))
    pieces = [_piece(chance) for _ in range(chance.randrange(1, 4))]
    middle = b"".join(pieces) or b"x"
    return line[: chance.randrange(len(line) + 1)].rstrip(b"\n") + middle * (size // len(middle)) + _piece(chance)


def _piece(chance: random.Random) -> bytes:
    line = chance.choice(part(chance)).rstrip(b"\n")
    start = chance.randrange(len(line) + 1)
    return line[start : start + chance.randrange(1, 40)]


def check(data: bytes) -> None:
    """Raises AssertionError, or what the readers raised, when something does not hold of a log with these bytes."""
    start = time.process_time()
    try:
        log = read(data)
    except InputError:
        return  # no text, and said so
    assert counted(log) == log.source.lines, f"{counted(log)} lines counted of {log.source.lines}"
    for source in (None, str(PROGRAMS)):
        with as_stdin(data):
            diagnosis = investigate(LogRequest(["-"], source)).diagnosis
        json.loads(json_report.render(diagnosis))
        terminal.render(diagnosis, width=100, color=False)
    seconds = time.process_time() - start
    assert seconds < _SECONDS + _SECONDS_A_BYTE * len(data), f"{seconds:.1f} s for {len(data)} bytes"


def check_memory(data: bytes) -> None:
    """Neither what is remembered nor where the blocks of the file end changes what is read."""
    data = (data + b"\n") * 6
    try:
        plain = read_line_by_line(data)
    except InputError:
        return
    for log in (read(data), read(data, block=7777)):
        assert log.stats == plain.stats
        assert log.parts == plain.parts


def smaller(data: bytes, fails: Callable[[bytes], bool]) -> bytes:
    """Without the lines that are not needed for it to fail."""
    lines = data.splitlines(keepends=True)
    size = max(1, len(lines) // 2)
    while size:
        place = 0
        while place < len(lines):
            rest = lines[:place] + lines[place + size :]
            if fails(b"".join(rest)):
                lines = rest
            else:
                place += size
        size //= 2
    return b"".join(lines)
