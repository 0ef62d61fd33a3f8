"""Medians and the ratio's interval."""

from __future__ import annotations

import random

import pytest

from sotprobe.analyze.statistics import mean, middle, paired_ratio


def test_of_nothing_there_is_nothing():
    assert middle([]) is None
    assert mean([]) is None
    assert paired_ratio([]) is None
    assert paired_ratio([(0.0, 1.0)]) is None


def test_the_ratio_is_the_median_of_the_pairs():
    ratio = paired_ratio([(2.0, 1.0), (3.0, 1.0), (30.0, 1.0)])
    assert ratio.static_over_dynamic == pytest.approx(3.0)
    assert ratio.pairs == 3


@pytest.mark.parametrize("pairs", [[(2.0, 1.0)], [(2.0, 1.0), (2.0, 1.0)]])
def test_one_or_two_rounds_never_give_a_verdict(pairs):
    ratio = paired_ratio(pairs)
    assert (ratio.static_over_dynamic, ratio.low, ratio.high, ratio.confident) == (pytest.approx(2.0), None, None, False)


def test_a_clear_difference_is_one():
    ratio = paired_ratio([(1.50, 1.0), (1.52, 1.0), (1.49, 1.0), (1.51, 1.0), (1.50, 1.0)])
    assert ratio.confident
    assert 1.4 < ratio.low <= ratio.static_over_dynamic <= ratio.high < 1.6


def test_rounds_on_both_sides_of_one_are_no_difference():
    ratio = paired_ratio([(1.02, 1.0), (0.98, 1.0), (1.01, 1.0), (0.99, 1.0), (1.0, 1.0)])
    assert not ratio.confident
    assert ratio.low < 1.0 < ratio.high


def test_the_same_rounds_give_the_same_interval():
    pairs = [(1.1, 1.0), (1.2, 1.0), (0.9, 1.0), (1.3, 1.0)]
    assert paired_ratio(pairs) == paired_ratio(pairs)


def test_few_rounds_have_a_wider_interval_than_many_of_the_same_spread():
    few = paired_ratio([(1.1, 1.0), (1.2, 1.0), (1.15, 1.0)])
    many = paired_ratio([(1.1, 1.0), (1.2, 1.0), (1.15, 1.0)] * 6)
    assert few.high - few.low > many.high - many.low


@pytest.mark.parametrize("rounds", [3, 5, 8])
def test_equal_modes_are_seldom_called_different(rounds):
    """Both modes the same, 3% noise between rounds: at most one in ten comparisons may find a difference."""
    source = random.Random(rounds)
    wrong = 0
    for _ in range(200):
        pairs = [(source.lognormvariate(0, 0.03), source.lognormvariate(0, 0.03)) for _ in range(rounds)]
        wrong += paired_ratio(pairs).confident
    assert wrong <= 20, f"{wrong} of 200"
