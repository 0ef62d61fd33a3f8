"""How fast ``sotprobe log`` reads, beside ``grep -c -E`` on the same file and ``tlparse`` on a trace of the same size.

    python tools/bench_log.py [--megabytes 1000] [--level 2|3 | --translations] [--frames 16] [--user-every 1] [--repeats 3]
                              [--tlparse PATH] [--trace FILE] [--trace-megabytes N]

The log is built by tools/long_log.py from real ones. tlparse reads traces of torch.compile; its input is made up, or is FILE (a
real trace) again and again with other frame numbers. All run on one core, in turn, so that a machine that slows down or speeds up
favours none, after every file was read once. A speed is the size over the wall time of the whole process, or over its CPU time,
which other processes on the core disturb less; the memory is the kernel's own peak of it.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MEGABYTE = 1_000_000
# What a person would search such a log for: the words that the findings of ``sotprobe log`` begin from.
PHRASES = (
    "start to translate",
    "Firstly call",
    "Cache hit",
    "Cache miss",
    "missed at",
    "all guards missed",
    "Exceed max",
    "start subgraph compile",
    "start run SIR",
    "Unsupport(ed)? Frame",
    "BreakGraph",
    "Traceback",
    "Error",
    "ips:",
)


@dataclass
class Contender:
    """``seconds`` by the clock, ``busy`` seconds of the CPU and ``memory`` in MB of each run, over ``megabytes`` of input."""

    name: str
    command: Sequence[str]
    megabytes: float
    cleared: Path | None = None
    seconds: list[float] = field(default_factory=list)
    busy: list[float] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)

    def run(self, core: int) -> None:
        if self.cleared is not None:
            shutil.rmtree(self.cleared, ignore_errors=True)
        # grep stops at the first match when nobody reads its count: not into /dev/null.
        with tempfile.TemporaryFile() as output:
            start = time.perf_counter()
            child = subprocess.Popen(
                self.command,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, "LC_ALL": "C", "PYTHONPATH": str(ROOT)},
                preexec_fn=lambda: os.sched_setaffinity(0, {core}),
            )
            _, status, usage = os.wait4(child.pid, 0)
            self.seconds.append(time.perf_counter() - start)
            child.returncode = os.waitstatus_to_exitcode(status)
            output.seek(0)
            if child.returncode != 0:
                sys.exit(f"{self.name} ended with {child.returncode}: {output.read(2000).decode(errors='replace')}")
        self.busy.append(usage.ru_utime + usage.ru_stime)
        self.memory.append(usage.ru_maxrss / 1024)

    def speed(self, seconds: float) -> float:
        return self.megabytes / seconds


def main() -> None:
    arguments = _arguments()
    with tempfile.TemporaryDirectory(prefix="bench_log_", dir=arguments.directory) as name:
        directory = Path(name)
        contenders = _contenders(arguments, directory)
        kind = "compiling at level 3" if arguments.translations else f"level {arguments.level}"
        print(f"{kind}, {_shape(directory / 'train.log')}, {arguments.repeats} runs each in turn, on one core")
        compare(contenders, arguments.repeats)


def compare(contenders: Sequence[Contender], repeats: int) -> None:
    core = min(os.sched_getaffinity(0))
    print(f"{'run':>6}" + "".join(f"  {contender.name:>13}" for contender in contenders) + "   (MB/s)")
    for repeat in range(repeats):
        for place in range(len(contenders)):
            contenders[(repeat + place) % len(contenders)].run(core)
        print(f"{repeat:>6}" + _row(contender.speed(contender.seconds[-1]) for contender in contenders), flush=True)
    print("median" + _row(contender.speed(statistics.median(contender.seconds)) for contender in contenders))
    print("  best" + _row(contender.speed(min(contender.seconds)) for contender in contenders))
    print("   CPU" + _row(contender.speed(statistics.median(contender.busy)) for contender in contenders) + "   (median)")
    print("    MB" + _row(max(contender.memory) for contender in contenders) + "   (peak memory)")
    ours, *others = contenders
    for other in others:
        ratios = [ours.speed(mine) / other.speed(theirs) for mine, theirs in zip(ours.seconds, other.seconds, strict=True)]
        print(f"{ours.name} / {other.name}: {statistics.median(ratios):.2f} (median; {min(ratios):.2f} to {max(ratios):.2f})")


def _row(figures) -> str:
    return "".join(f"  {figure:13.1f}" for figure in figures)


def _contenders(arguments: argparse.Namespace, directory: Path) -> list[Contender]:
    log = directory / "train.log"
    kind = ["--translations"] if arguments.translations else [f"--level={arguments.level}"]
    _build(log, arguments.megabytes, *kind, f"--frames={arguments.frames}", f"--user-every={arguments.user_every}")
    size = _warm(log)
    sotprobe = [sys.executable, "-m", "sotprobe", "log", "--quiet", "--fail-on", "never", str(log)]
    found = [
        Contender("sotprobe log", sotprobe, size),
        Contender("grep -c -E", ["grep", "-c", "-E", "|".join(PHRASES), str(log)], size),
    ]
    tlparse = shutil.which(arguments.tlparse)
    if tlparse is None:
        print(f"{arguments.tlparse} is not there: without it (pip install tlparse, or give --tlparse PATH)")
        return found
    trace, output = directory / "trace.log", directory / "tl_out"
    megabytes = arguments.trace_megabytes or arguments.megabytes
    if arguments.trace is None:
        _build(trace, megabytes, "--trace")
    else:
        _repeat_trace(arguments.trace, trace, megabytes * MEGABYTE)
    command = [tlparse, str(trace), "-o", str(output), "--overwrite", "--no-browser"]
    return [*found, Contender("tlparse", command, _warm(trace), cleared=output)]


def _build(path: Path, megabytes: int, *options: str) -> None:
    """In a process of its own: a child's peak memory would count what this one had when it was forked."""
    builder = ROOT / "tools" / "long_log.py"
    subprocess.run([sys.executable, str(builder), str(path), f"--megabytes={megabytes}", *options], check=True)


def _repeat_trace(source: Path, target: Path, size: int) -> None:
    text = source.read_bytes()
    written = repeat = 0
    with open(target, "wb") as output:
        while written < size:
            shift = 100_000 * repeat
            written += output.write(
                re.sub(rb'"frame_id": (\d+)', lambda found, shift=shift: b'"frame_id": %d' % (int(found[1]) + shift), text)
            )
            repeat += 1


def _warm(path: Path) -> float:
    """Reads a file once; returns its size in MB."""
    with open(path, "rb") as stream:
        while stream.read(1 << 20):
            pass
    return path.stat().st_size / MEGABYTE


def _shape(path: Path) -> str:
    with open(path, "rb") as stream:
        sample = stream.read(50 * MEGABYTE)
    return f"{path.stat().st_size / MEGABYTE:.0f} MB, {len(sample) / max(1, sample.count(10)):.0f} bytes a line"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=int, default=1000)
    parser.add_argument("--level", type=int, choices=(2, 3), default=2)
    parser.add_argument("--translations", action="store_true", help="nothing but compiling, at level 3")
    parser.add_argument("--frames", type=int, default=16, help="frames that a step enters")
    parser.add_argument("--user-every", type=int, default=1, metavar="STEPS")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--tlparse", default="tlparse", metavar="PATH")
    parser.add_argument("--trace", type=Path, metavar="FILE", help="a real trace to repeat for tlparse")
    parser.add_argument("--trace-megabytes", type=int, metavar="N", help="where tlparse would take too long")
    parser.add_argument("--directory", type=Path, help="for the files that are built")
    return parser.parse_args()


if __name__ == "__main__":
    main()
