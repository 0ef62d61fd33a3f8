"""Medians and a ratio with an interval: standard library, the same result every time."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Sequence
from statistics import median

from sotprobe.model import Ratio

MIN_PAIRS = 3
_SEED = 20261129
_RESAMPLES = 2000
_CONFIDENCE = 0.95
_NORMAL_QUANTILE = 1.959964
# Student's t, two-sided 95%, by degrees of freedom.
_T_QUANTILES = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131)


def middle(values: Iterable[float]) -> float | None:
    """The median, None of nothing."""
    found = list(values)
    return float(median(found)) if found else None


def mean(values: Iterable[float]) -> float | None:
    found = list(values)
    return sum(found) / len(found) if found else None


def paired_ratio(pairs: Sequence[tuple[float, float]]) -> Ratio | None:
    """The median of ``first / second`` over paired rounds, with a 95% interval; None without pairs.

    The interval is a percentile bootstrap over the pairs on the log scale. With few pairs it is too narrow, so it is widened
    by sqrt(n / (n - 1)) * t / z, as is usual for small samples. Fewer than three pairs have no interval and are never
    ``confident``: two rounds of one mode fall on the same side of the other by chance half of the time.
    """
    logs = [math.log(first / second) for first, second in pairs if first > 0 and second > 0]
    if not logs:
        return None
    centre = median(logs)
    if len(logs) < MIN_PAIRS:
        return Ratio(math.exp(centre), None, None, False, len(logs))
    low, high = _bootstrap(logs)
    widen = _small_sample_factor(len(logs))
    low, high = math.exp(centre - (centre - low) * widen), math.exp(centre + (high - centre) * widen)
    return Ratio(math.exp(centre), low, high, not low <= 1.0 <= high, len(logs))


def _bootstrap(values: Sequence[float]) -> tuple[float, float]:
    source = random.Random(_SEED)
    medians = sorted(median(source.choices(values, k=len(values))) for _ in range(_RESAMPLES))
    tail = (1 - _CONFIDENCE) / 2
    return medians[int(tail * _RESAMPLES)], medians[int((1 - tail) * _RESAMPLES) - 1]


def _small_sample_factor(count: int) -> float:
    freedom = count - 1
    t = _T_QUANTILES[freedom - 1] if freedom <= len(_T_QUANTILES) else _NORMAL_QUANTILE
    return math.sqrt(count / freedom) * t / _NORMAL_QUANTILE
