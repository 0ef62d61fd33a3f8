"""When to stop timing."""

from __future__ import annotations

import pytest

from sotprobe.analyze.statistics import paired_ratio
from sotprobe.model import ExitStatus, ProgramInfo, Run, Step
from sotprobe.workflows.rounds import is_clear, settled

BOTH = ("dynamic", "static")


def run(mode: str, round_: int, step_ms: float, *, steps: int = 30, signal: str | None = None) -> Run:
    taken = tuple(Step(index, "steady", int(step_ms * 1e6), "case", 0) for index in range(steps))
    ended = ExitStatus("signal", signal=signal) if signal else ExitStatus("returned", 0)
    return Run("d", mode, "timing", round_, ProgramInfo("p.py", "case"), {}, ended, taken)


def rounds(*pairs: tuple[float, float], steps: int = 30) -> list[Run]:
    return [run(mode, i, ms, steps=steps) for i, pair in enumerate(pairs) for mode, ms in zip(BOTH, pair, strict=True)]


def test_three_rounds_are_enough_for_a_clear_difference():
    runs = rounds((1.0, 2.0), (1.1, 2.1), (1.0, 2.1))
    assert not settled(runs[:4], BOTH, 2)
    assert settled(runs, BOTH, 3)


@pytest.mark.parametrize("static", [(1.0, 1.01, 0.99), (1.02, 1.05, 1.03), (2.0, 1.0, 3.0)])
def test_a_small_or_noisy_difference_takes_all_rounds(static):
    runs = rounds(*((1.0, ms) for ms in static))
    assert not settled(runs, BOTH, 3)
    assert not settled(runs, BOTH, 4)
    assert settled(runs, BOTH, 5)


def test_clear_is_the_same_for_faster_and_slower():
    slower, faster = paired_ratio([(1.0, 2.0), (1.1, 2.1), (1.0, 2.1)]), paired_ratio([(2.0, 1.0), (2.1, 1.1), (2.1, 1.0)])
    assert is_clear(slower)
    assert is_clear(faster)
    assert not is_clear(paired_ratio([(1.0, 2.0)]))


def test_too_few_steps_are_not_timed_again():
    assert settled(rounds((1.0, 2.0), steps=3), BOTH, 1)
    assert not settled(rounds((1.0, 2.0), steps=4), BOTH, 1)


def test_a_crash_is_tried_again_before_the_steps_are_counted():
    assert not settled([run("dynamic", 0, 1.0), run("static", 0, 1.0, steps=2, signal="SIGSEGV")], BOTH, 1)


def test_a_mode_alone_gets_the_fewest_rounds():
    runs = [run("static", i, 1.0) for i in range(3)]
    assert not settled(runs[:2], ("static",), 2)
    assert settled(runs, ("static",), 3)
    assert settled([], (), 1)
