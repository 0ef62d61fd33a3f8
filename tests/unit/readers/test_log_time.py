"""A line takes time in proportion to its length, whatever it repeats behind the beginning of a line that some reader knows."""

from __future__ import annotations

import time

import pytest
from log_engine import read

from sotprobe.readers.log import READERS

SIZE = 50_000
SECONDS = 0.25  # a linear reading takes a hundredth of it, a square one some seconds
REPEATED = (
    " ",
    "a",
    "1",
    "a ",
    "a.",
    ": ",
    ", ",
    "(",
    ")",
    "((",
    "[",
    "{",
    "'",
    "=",
    "-",
    "*",
    "||",
    " || ",
    "\t",
    "a: ",
    "1, ",
    "0x1 ",
    " in ",
    " at 0xf",
    ' at 0xf, file "',
    '<code object a at 0xf, file "a", line ',
    '<code object a at 0xf, file "a", line 1>',
    'File "',
    'File "a", line 1, in a',
    '", line 1',
    " raised while inline call",
    " with dynamic axes [",
    " with args: ",
    "SIR_0",
    "ips: 1 a/s ",
    "avg_batch_cost: ",
    "Error: ",
    "Warning: ",
    "[rank1]: ",
    "</sot><sot>",
    " received by PID 1 ",
    "CUDA 1",
    "/a",
    "a/",
    "x" * 50 + " ",
)
HEADS = sorted(
    {head for make in READERS for head in make().heads} | {"", "I1130 10:00:00.000001  4000 a.cc:1] ", "    ", "[rank0]: "}
)


def _seconds(line: str) -> float:
    """The least of two: another process may take the core meanwhile."""
    data = (line + "\n").encode() * 2
    spent = []
    for _ in range(2):
        start = time.process_time()
        read(data)
        spent.append(time.process_time() - start)
        if spent[-1] < SECONDS:
            break
    return min(spent)


@pytest.mark.parametrize("repeated", REPEATED, ids=repr)
def test_time_is_linear(repeated):
    slow = {}
    for head in HEADS:
        for end in ("", ")]>"):
            seconds = _seconds(head + repeated * (SIZE // len(repeated)) + end)
            if seconds > SECONDS:
                slow[head + end] = round(seconds, 1)
                break
    assert not slow
