"""Run `sotprobe compare` on a program and keep its session, trimmed, as a fixture; with --record only one static run.

    python tools/capture_fixture.py [--record] NAME PROGRAM [the verb's options] [-- program args]

The session is written to tests/golden/runs/NAME, the single run to tests/golden/graph_diff_runs/NAME, with a PROVENANCE file.
What a program printed and the arrays of the parity check are left out, and paths of this machine are replaced: the fixture is
what readers and rules need, nothing else.
"""

from __future__ import annotations

import datetime
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).parents[1]
FIXTURES = {"compare": ROOT / "tests" / "golden" / "runs", "record": ROOT / "tests" / "golden" / "graph_diff_runs"}
KEPT = ("session.json", "run.json", "exit.json", "records.jsonl", "stacks.txt")


def main(arguments: list[str]) -> int:
    if len(arguments) < 2:
        sys.stderr.write(__doc__ or "")
        return 2
    verb = "record" if arguments[0] == "--record" else "compare"
    name, program, *options = arguments[verb == "record" :]
    target = FIXTURES[verb] / name
    with tempfile.TemporaryDirectory() as temporary:
        session = Path(temporary) / "session"
        command = [sys.executable, "-m", "sotprobe", verb, program, "--out", str(session), "--quiet", *options]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        subprocess.run(command, cwd=ROOT, env=environment, check=False)
        if target.exists():
            shutil.rmtree(target)
        for source in sorted(session.rglob("*")):
            if source.is_file() and _is_kept(source, session):
                _copy(source, target / source.relative_to(session), str(session))
    (target / "PROVENANCE").write_text(_provenance(verb, program, options), encoding="utf-8")
    return 0


def _is_kept(path: Path, session: Path) -> bool:
    inside = path.relative_to(session).parts
    return (path.name in KEPT and path.stat().st_size > 0) or "sources" in inside


def _copy(source: Path, target: Path, session: str) -> None:
    text = source.read_text(encoding="utf-8", errors="replace")
    for real, shown in _replacements(session):
        text = text.replace(real, shown)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")


def _replacements(session: str) -> list[tuple[str, str]]:
    """Longest first: the environment may lie below the project, and the project below a home."""
    paths = {
        session: "/session",
        sys.executable: "python",
        str(ROOT): "/proj",
        sysconfig.get_paths()["purelib"]: "/env/site-packages",
        sys.prefix: "/env",
        sysconfig.get_paths()["stdlib"]: "/python/lib",
        sys.base_prefix: "/python",
    }
    return sorted(paths.items(), key=lambda item: -len(item[0]))


def _provenance(verb: str, program: str, options: list[str]) -> str:
    return (
        f"command: sotprobe {verb} {' '.join([program, *options])}\n"
        f"paddlepaddle: {version('paddlepaddle')}\n"
        f"python: {platform.python_version()}\n"
        f"date: {datetime.date.today().isoformat()}\n"
        "made by: tools/capture_fixture.py\n"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
