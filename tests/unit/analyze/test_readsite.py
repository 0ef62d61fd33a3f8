"""The line that reads a guarded value, as the hooks would tell it, from the guard and the source alone."""

from __future__ import annotations

import textwrap

import pytest

from sotprobe.analyze.callgraph import Program
from sotprobe.analyze.readsite import read_site
from sotprobe.analyze.source import Sources
from sotprobe.model import SourceSite

MODEL = """
import helpers
from helpers import scaled, Block

FACTOR = 2


class Net:
    def __init__(self):
        self.block = Block()
        self.blocks = [Block() for _ in range(3)]
        self.temperature = 1.0

    def forward(self, x, boxes, k):
        x = self.block(x)
        x = self.warm(x)
        for index, box in enumerate(boxes):
            x = x + index
            x = x + box.sum()
        x = scaled(x, k)
        print(x)
        y = x * k
        return helpers.by_factor(y)

    def warm(self, x):
        return x * self.temperature


def func(x):
    x = scaled(x, 2)
    x.n += 1
    return x * FACTOR
"""
HELPERS = """
SHIFT = 1


def scaled(tensor, by):
    text = "no use"
    return tensor * by


def by_factor(y):
    return y + SHIFT


class Block:
    def __init__(self):
        self.width = 3

    def forward(self, value):
        wide = self.width
        return value * wide
"""


def _line(text: str, words: str) -> int:
    return next(number for number, line in enumerate(text.splitlines(), start=1) if words in line)


def _site(guard: str, function: str = "forward", after: int = 0) -> tuple[str, int] | None:
    program = Program(Sources({"proj/model.py": textwrap.dedent(MODEL), "proj/helpers.py": textwrap.dedent(HELPERS)}))
    frame = SourceSite("proj/model.py", _line(MODEL, f"def {function}("), function)
    site = read_site(program, frame, (after,) if after else (), [guard])
    return (site.path, site.line) if site else None


@pytest.mark.parametrize(
    ("guard", "path", "words"),
    [
        ("frame.f_locals['x'].shape[0] == 2", "proj/helpers.py", "return value * wide"),
        ("frame.f_locals['self'].temperature == 0.9", "proj/model.py", "x * self.temperature"),
        ("frame.f_locals['self'].block.width == 3", "proj/helpers.py", "wide = self.width"),
        ("frame.f_locals['self'].block.training == True", "proj/model.py", "x = self.block(x)"),
        ("frame.f_locals['boxes'][1].shape[0] == 3", "proj/model.py", "x = x + box.sum()"),
        ("len(frame.f_locals['boxes']) == 3", "proj/model.py", "in enumerate(boxes)"),
        ("frame.f_locals['k'] == 0.5", "proj/helpers.py", "return tensor * by"),
        ("frame.f_globals['helpers'].__globals__['SHIFT'] == 1", "proj/helpers.py", "return y + SHIFT"),
        ("MetaInfo.from_tensor(frame.f_locals['x']).guard_str() == '([2], paddle.float32)'", "proj/helpers.py", "return value"),
    ],
)
def test_the_first_line_that_uses_the_value(guard: str, path: str, words: str) -> None:
    assert _site(guard) == (path, _line(HELPERS if "helpers" in path else MODEL, words))


def test_behind_a_break_what_comes_before_it_does_not_count() -> None:
    after = _line(MODEL, "print(x)")
    assert _site("frame.f_locals['k'] == 0.5", after=after) == ("proj/model.py", _line(MODEL, "y = x * k"))


def test_an_assignment_that_reads_counts() -> None:
    assert _site("frame.f_locals['x'].n == 1", "func") == ("proj/model.py", _line(MODEL, "x.n += 1"))
    assert _site("frame.f_globals['FACTOR'] == 2", "func") == ("proj/model.py", _line(MODEL, "x * FACTOR"))


@pytest.mark.parametrize(
    "guard",
    ["frame.f_locals['resume_0_stack_0'] == 0.5", "frame.f_locals['nowhere'] == 1", "something else", "id(self) == 14"],
)
def test_nothing_is_made_up(guard: str) -> None:
    assert _site(guard) is None


def test_without_the_source_there_is_no_line() -> None:
    frame = SourceSite("other.py", 3, "forward")
    assert read_site(Program(Sources({})), frame, (), ["frame.f_locals['x'].shape[0] == 2"]) is None


def test_a_function_that_calls_itself_ends() -> None:
    text = "def f(x):\n    return f(x)\n"
    program = Program(Sources({"m.py": text}))
    assert read_site(program, SourceSite("m.py", 1, "f"), (), ["frame.f_locals['x'].shape[0] == 2"]) is None
