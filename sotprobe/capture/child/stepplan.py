"""How many steps are enough."""

from __future__ import annotations

from sotprobe.capture.child.job import Job

# SOT changes its mind until the 20th step (StepInfo in eval_frame.c, Paddle 2.6-3.3) and keeps 20 cache entries a code
# object, so the steps after that must be seen: 40 leaves as many behind them as before.
ENOUGH_STEPS = 40
FEW_STEPS = 12
MOST_STEPS = 1000
TIMING_NS = 500_000_000
LONG_NS = {"timing": 20_000_000_000, "diagnosis": 60_000_000_000, "parity": 60_000_000_000}


class StepPlan:
    """Says after each step whether the program has done enough.

    ``--steps`` and ``--window`` are obeyed exactly, as is the end of the program's own ``_nvprof_range``. Otherwise: 40
    steps, and for timing at least half a second of them; slow programs stop earlier, after 20 s (timing) or 60 s.
    """

    def __init__(self, job: Job):
        self._exact = job.steps if job.steps is not None else (job.window[1] if job.window else None)
        self._timing = job.purpose == "timing"
        self._long_ns = LONG_NS[job.purpose]
        self._own_end: int | None = None
        self._total_ns = 0

    def program_window(self, end: int) -> None:
        """The program profiles steps up to ``end`` itself: do not stop before."""
        self._own_end = end

    def done(self, index: int, wall_ns: int) -> bool:
        count = index + 1
        self._total_ns += wall_ns
        if self._exact is not None:
            return count >= self._exact
        if self._own_end is not None and count < self._own_end:
            return False
        if self._total_ns >= self._long_ns and count >= FEW_STEPS:
            return True
        if count < ENOUGH_STEPS:
            return False
        return not self._timing or self._total_ns >= TIMING_NS or count >= MOST_STEPS
