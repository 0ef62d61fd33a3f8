"""Looks for logs that the readers of ``sotprobe log`` cannot take, for some time.

    python tools/fuzz_log.py [--seconds 300] [--seed N] [--atheris CORPUS]

Inputs are real logs that were cut up, mixed and damaged, and long lines of their parts. Of each must hold: nothing is raised,
every line is counted once, JSON and page can be written, in a time that grows no faster than the input; what the engine remembers
changes nothing. An input for which that does not hold is made smaller and kept in tests/unit/readers/found_by_fuzzing, where a
test reads it from then on. With ``--atheris`` (pip install atheris) inputs are grown from those in the directory CORPUS by what
code they reach.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import sys
import time
import traceback
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
READERS = ROOT / "tests" / "unit" / "readers"
KEPT = READERS / "found_by_fuzzing"
_LONG_LINE = 300_000


def main() -> int:
    arguments = _arguments()
    sys.path[:0] = [str(ROOT), str(READERS)]
    if arguments.atheris is not None:
        return _grow(arguments.atheris, arguments.seconds)
    return _damage(arguments.seed, arguments.seconds)


def _damage(seed: int, seconds: float) -> int:
    from log_damage import check, check_memory, damaged, endless

    end = time.monotonic() + seconds
    seen: set[str] = set()
    inputs = 0
    while time.monotonic() < end:
        chance = random.Random(seed + inputs)
        long = inputs % 20 == 19
        data = endless(chance, _LONG_LINE) if long else damaged(chance)
        for holds in (check,) if long else (check, check_memory):
            where = _failure(holds, data)
            if where is not None and where not in seen:
                seen.add(where)
                _keep(data, holds, where)
        inputs += 1
    print(f"{inputs} inputs, {len(seen)} ways to fail")
    return int(bool(seen))


def _failure(holds, data: bytes) -> str | None:
    """Where it fails: the last line of sotprobe in the traceback, and the exception. None when all holds."""
    try:
        holds(data)
    except Exception as error:  # noqa: BLE001 - whatever it is, it should not be
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "sotprobe" in frame.filename]
        own = [frame for frame in frames if "tests" not in frame.filename]
        place = f"{Path(own[-1].filename).name}:{own[-1].lineno}" if own else holds.__name__
        said = "" if isinstance(error, AssertionError) else f": {error}"
        return f"{place} {type(error).__name__}{said[:80]}"
    return None


def _keep(data: bytes, holds, where: str) -> None:
    from log_damage import smaller

    if len(data) < _LONG_LINE:
        data = smaller(data, lambda less: _failure(holds, less) == where)
    KEPT.mkdir(exist_ok=True)
    path = KEPT / f"{hashlib.sha256(data).hexdigest()[:12]}.log"
    path.write_bytes(data)
    print(f"{where}\n  {holds.__name__}: {path.relative_to(ROOT)}, {len(data)} bytes", flush=True)


def _grow(corpus: Path, seconds: float) -> int:
    """Does not return: libFuzzer ends the process, with an error when it found something (kept where it says)."""
    import atheris

    with atheris.instrument_imports(include=["sotprobe"]):
        from log_damage import check
    options = [f"-max_total_time={seconds:.0f}", "-max_len=20000", "-rss_limit_mb=3000", str(corpus)]
    atheris.Setup([sys.argv[0], *options], check)
    atheris.Fuzz()
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**9))
    parser.add_argument("--atheris", type=Path, metavar="CORPUS")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
