"""What measuring costs: a case timed by a plain script, then by sotprobe's children, in alternating pairs.

    python tools/bench_overhead.py [--mode static] [--pairs 7] [--steps 400] [CASE]

Every run is a process of its own; its figure is the median of its steady steps, from the 30th on (SOT changes its mind
until the 20th). A timing child carries no hook and should be within 2% of the plain script. Of a diagnosing child only
those steps count that carry the hooks alone, not those whose lines are traced or profiled.
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


def main() -> None:
    arguments = _arguments()
    sys.path.insert(0, str(ROOT))
    measures: dict[str, Callable[[], float]] = {
        "bare": lambda: bare(arguments.case, arguments.mode, arguments.steps),
        "timing": lambda: child(arguments.case, arguments.mode, arguments.steps, "timing"),
        "diagnosis": lambda: child(arguments.case, arguments.mode, arguments.steps, "diagnosis"),
    }
    print(f"{arguments.case} {arguments.mode}, median step in ms of {arguments.steps} steps")
    for name in arguments.purposes:
        compare(name, measures["bare"], measures[name], arguments.pairs)


def compare(name: str, bare: Callable[[], float], measured: Callable[[], float], pairs: int) -> None:
    """Alternate which of a pair goes first, so that a machine that slows down or speeds up favours neither."""
    print(f"\n{'pair':>4}  {'bare':>8}  {name:>9}  {'ratio':>6}")
    plain, inside = [], []
    for pair in range(pairs):
        first_plain = pair % 2 == 0
        for is_plain in (first_plain, not first_plain):
            (plain if is_plain else inside).append((bare if is_plain else measured)())
        print(f"{pair:>4}  {plain[-1]:8.4f}  {inside[-1]:9.4f}  {inside[-1] / plain[-1]:6.3f}", flush=True)
    bare_ms, inside_ms = statistics.median(plain), statistics.median(inside)
    extra_us = (inside_ms - bare_ms) * 1000
    print(f"{name} / bare: {inside_ms / bare_ms:.3f}, {extra_us:+.0f} us a step (medians of {pairs} pairs)")


def bare(case: str, mode: str, steps: int) -> float:
    """Median steady step of the plain script, in milliseconds."""
    command = [sys.executable, str(ROOT / "tools" / "bare_case.py"), case, mode, str(steps)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=_environment())
    return statistics.median(json.loads(done.stdout.splitlines()[-1])[SETTLED:]) / 1e6


def child(case: str, mode: str, steps: int, purpose: str) -> float:
    """Median steady step as sotprobe's child records it, in milliseconds."""
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
    walls = [record["wall_ns"] for record in records if record["kind"] == "step" and _plain(record["index"], records)]
    return statistics.median(walls) / 1e6


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
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--steps", type=int, default=400)
    return parser.parse_args()


if __name__ == "__main__":
    main()
