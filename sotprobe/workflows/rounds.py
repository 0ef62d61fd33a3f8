"""How many timing rounds are enough for a verdict."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from sotprobe.analyze.compare import speed_ratio
from sotprobe.model import Ratio, Run

FEWEST_ROUNDS = 3
MOST_ROUNDS = 5

# A ratio is clear when it lies this many half-widths of its interval away from 1. At one half-width the interval just
# excludes 1; asking for more keeps the look after every round from finding differences that are none.
CLEAR = 3.0


def settled(runs: Sequence[Run], modes: Collection[str], rounds: int) -> bool:
    """Whether another round of ``modes`` (those that still run) would not change the verdict of ``runs``.

    ``rounds`` is how many are done. A single mode has no ratio to settle, so it gets the fewest.
    """
    if rounds >= MOST_ROUNDS or not modes:
        return True
    if len(modes) == 1:
        return rounds >= FEWEST_ROUNDS
    ratio = speed_ratio(runs)
    if ratio is None:  # too few steady steps, which no further round changes; unless a crash is being tried again
        return all(run.exit.signal is None for run in runs)
    return rounds >= FEWEST_ROUNDS and is_clear(ratio)


def is_clear(ratio: Ratio) -> bool:
    if ratio.low is None or ratio.high is None:
        return False
    centre = math.log(ratio.static_over_dynamic)
    half_width = max(math.log(ratio.high) - centre, centre - math.log(ratio.low))
    return abs(centre) > CLEAR * half_width
