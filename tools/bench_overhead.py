"""What measuring costs: a case timed by a plain script, then by sotprobe's children, in alternating pairs.

    python tools/bench_overhead.py [--mode static] [--pairs 9] [--steps 400] [CASE]

Every run is a process of its own and gives two figures: the median of its steady steps, which is what sotprobe reports,
and their fastest tenth, which other work on the machine moves less. Steady are those from the 30th on (SOT changes its
mind until the 20th). A timing child carries no hook and should be within 2% of the plain script. Of a diagnosing child
only those steps count that carry the hooks alone, not those whose lines are traced or profiled.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SETTLED = 30


Figures = tuple[float, float]
"""Milliseconds of the fastest tenth and of the median step."""


def main() -> None:
    arguments = _arguments()
    sys.path.insert(0, str(ROOT))
    print(f"{arguments.case} {arguments.mode}, ms per step, {arguments.steps} steps")
    for purpose in arguments.purposes:
        compare(
            purpose,
            lambda: bare(arguments.case, arguments.mode, arguments.steps),
            lambda purpose=purpose: child(arguments.case, arguments.mode, arguments.steps, purpose),
            arguments.pairs,
        )


def compare(name: str, bare: Callable[[], Figures], measured: Callable[[], Figures], pairs: int) -> None:
    """Alternate which of a pair goes first, so that a machine that slows down or speeds up favours neither."""
    print(f"\n{'':4}{'fastest tenth':^29}  {'median':^29}")
    head = f"  {'bare':>8}  {name:>9}  {'ratio':>6}"
    print(f"pair{head}  {head}")
    plain: list[Figures] = []
    inside: list[Figures] = []
    for pair in range(pairs):
        first_plain = pair % 2 == 0
        for is_plain in (first_plain, not first_plain):
            (plain if is_plain else inside).append((bare if is_plain else measured)())
        print(f"{pair:>4}{_cells(plain[-1][0], inside[-1][0])}  {_cells(plain[-1][1], inside[-1][1])}", flush=True)
    for position, figure in enumerate(("fastest tenth", "median")):
        bare_ms, inside_ms = (statistics.median(run[position] for run in runs) for runs in (plain, inside))
        extra_us = (inside_ms - bare_ms) * 1000
        print(f"{name} / bare: {inside_ms / bare_ms:.3f}, {extra_us:+.0f} us a step ({figure}, median of {pairs} runs)")


def _cells(bare_ms: float, inside_ms: float) -> str:
    return f"  {bare_ms:8.4f}  {inside_ms:9.4f}  {inside_ms / bare_ms:6.3f}"


def bare(case: str, mode: str, steps: int) -> Figures:
    """The plain script's steps."""
    command = [sys.executable, str(ROOT / "tools" / "bare_case.py"), case, mode, str(steps)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=_environment())
    return _figures(json.loads(done.stdout.splitlines()[-1])[SETTLED:])


def child(case: str, mode: str, steps: int, purpose: str) -> Figures:
    """The steps as sotprobe's child records them."""
    from sotprobe.capture import launch, rundir
    from sotprobe.capture.program import classify

    options = rundir.Options(steps=steps)
    job = rundir.Job(mode, purpose, 0, classify(case), (), os.getcwd(), options)
    with tempfile.TemporaryDirectory() as directory:
        run_dir = Path(directory)
        rundir.write_job(run_dir, job)
        ended = launch.run_job(job, run_dir)
        records = list(rundir.read_records(run_dir))
        if ended.code != 0:
            sys.exit((run_dir / rundir.STDERR).read_text(errors="replace"))
    return _figures([record["wall_ns"] for record in records if record["kind"] == "step" and _plain(record["index"], records)])


def _figures(walls_ns: list[int]) -> Figures:
    fastest, *_ = statistics.quantiles(walls_ns, n=10)
    return fastest / 1e6, statistics.median(walls_ns) / 1e6


def _plain(index: int, records: list[dict]) -> bool:
    """A settled step in which nothing was traced or profiled."""
    for record in records:
        if record["kind"] in ("lines", "subgraph-time") and record["step_from"] <= index < record["step_to"]:
            return False
        if record["kind"] in ("coverage", "eager-frame") and record["step"] == index:
            return False
    return index >= SETTLED


def _environment() -> dict[str, str]:
    from sotprobe.paddle_compat import flags

    return flags.child_environment(os.environ, {}, 0)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("case", nargs="?", default=os.path.relpath(ROOT / "tools" / "bench_case.py"))
    parser.add_argument("--purposes", nargs="+", choices=("timing", "diagnosis"), default=("timing", "diagnosis"))
    parser.add_argument("--mode", choices=("dynamic", "static"), default="static")
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--steps", type=int, default=400)
    return parser.parse_args()


if __name__ == "__main__":
    main()
