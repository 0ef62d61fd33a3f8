"""``paddle.profiler.utils._nvprof_range`` that works on every build.

Paddle's own (2.6.2-3.3.1) calls ``core.nvprof_*``, which a CPU build does not have: the first iteration dies in its
``finally`` with AttributeError. It also pops for iterations before ``start``, which never pushed, and pushes from ``end`` on
without popping. This one marks every entry as a step, opens a range only inside [start, end), and leaves the profiler
calls to Paddle's own on a GPU build.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

from sotprobe.capture.child.emit import Emitter
from sotprobe.capture.child.steps import Steps


def install(steps: Steps, emit: Emitter, plan: Any, *, window: tuple[int, int] | None, gpu_build: bool) -> None:
    """Replace Paddle's ``_nvprof_range``; ``window`` (from the command line) overrides the program's own."""
    import paddle.profiler.utils as utils

    real = utils._nvprof_range
    seen: set[tuple[int, int]] = set()

    @contextlib.contextmanager
    def _nvprof_range(iter_id: int, start: int, end: int, exit_after_prof: bool = True) -> Iterator[None]:
        steps.check_finished()
        if window is not None:
            start, end = window
        if start < end and (start, end) not in seen:
            seen.add((start, end))
            plan.program_window(end)
            emit("window", start=start, end=end)
        profiler = real(iter_id, start, end, False) if gpu_build else _nvtx_range(iter_id, start, end)
        with profiler:
            steps.open("nvprof")
            yield
            steps.close("nvprof")
        if exit_after_prof and start < end and iter_id == end - 1:
            steps.finished = True
            emit.flush()
            sys.exit()

    utils._nvprof_range = _nvprof_range


@contextlib.contextmanager
def _nvtx_range(iter_id: int, start: int, end: int) -> Iterator[None]:
    """An NVTX range around a step of the window: harmless without a GPU, visible to any tool that listens."""
    if not start <= iter_id < end:
        yield
        return
    import nvtx

    with nvtx.annotate(str(iter_id)):
        yield
