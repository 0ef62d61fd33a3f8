"""Runs one capture child the way the launcher does, without the launcher."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

PROGRAMS = Path(__file__).parent / "programs"
REPOSITORY = Path(__file__).parents[2]
OPTIONS = {"steps": None, "warmup": None, "window": None, "full_graph": False, "seed": 0, "step_on": None, "batch_size": None,
           "timeout": 120, "reference": None}


@dataclass(frozen=True)
class ChildRun:
    directory: Path
    code: int
    records: list[dict]
    stdout: str
    stderr: str

    def of(self, kind: str) -> list[dict]:
        return [record for record in self.records if record["kind"] == kind]

    def one(self, kind: str) -> dict:
        (record,) = self.of(kind)
        return record


def run_child(directory: Path, program: Path, mode: str, purpose: str = "timing", *, arguments: tuple[str, ...] = (),
              kind: str = "script", **options) -> ChildRun:
    directory.mkdir(parents=True, exist_ok=True)
    job = {
        "format_version": 1, "kind": "run", "mode": mode, "purpose": purpose, "round": 0,
        "program": {"path": str(program), "given": program.name, "kind": kind, "arguments": list(arguments)},
        "cwd": os.getcwd(), "options": {**OPTIONS, **options}, "env": {}, "python": sys.executable,
    }
    (directory / "run.json").write_text(json.dumps(job))
    env = {**os.environ, "PYTHONPATH": str(REPOSITORY), "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-m", "sotprobe.capture.child", str(directory)], env=env, capture_output=True,
                          text=True, timeout=300, stdin=subprocess.DEVNULL)
    lines = (directory / "records.jsonl").read_text().splitlines()
    return ChildRun(directory, done.returncode, [json.loads(line) for line in lines], done.stdout, done.stderr)
