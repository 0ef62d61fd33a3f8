"""Which call of the program something in a log belongs to."""

from __future__ import annotations

from sotprobe.model import SourceSite
from sotprobe.readers.sotcalls import Calls
from sotprobe.readers.sotframes import Frame


def _frame(name: str, depth: int = 0) -> Frame:
    return Frame(SourceSite("m.py", len(name), name), depth, 1)


class _Log:
    def __init__(self) -> None:
        self.calls = Calls()

    def enter(self, *frames: Frame) -> _Log:
        for frame in frames:
            frame.entries += 1
            self.calls.entered(frame)
        return self


def test_what_is_called_at_a_break_is_no_call_of_the_program() -> None:
    forward, rest, helper = _frame("forward"), _frame("forward", 1), _frame("helper")
    log = _Log()
    for _ in range(4):
        log.enter(forward, helper, helper, helper, rest)
    moment = log.calls.now
    log.enter(forward, helper)
    assert log.calls.number == 5
    assert log.calls.step(moment) == 3
    assert log.calls.step(log.calls.now) == 4


def test_a_function_called_once_before_training_is_not_what_is_counted() -> None:
    summary, forward = _frame("summary"), _frame("forward")
    log = _Log().enter(summary)
    before = log.calls.now
    for _ in range(10):
        log.enter(forward)
    assert log.calls.number == 10
    assert log.calls.step(before) == 0
    assert log.calls.step(log.calls.now) == 9


def test_of_two_functions_that_alternate_the_first_is_counted() -> None:
    generator, discriminator = _frame("generator"), _frame("discriminator")
    log = _Log()
    for _ in range(10):
        log.enter(generator, discriminator, discriminator)
    assert log.calls.number == 10


def test_calls_with_subgraphs() -> None:
    forward, rest = _frame("forward"), _frame("forward", 1)
    log = _Log()
    for step in range(6):
        log.enter(forward)
        if step >= 2:
            log.calls.ran()
        log.enter(rest)
        if step >= 4:
            log.calls.ran()
    assert log.calls.static == 4


def test_without_a_function_there_is_no_call() -> None:
    log = _Log().enter(_frame("forward", 1))
    assert log.calls.number == 0
    assert log.calls.step(log.calls.now) == -1
