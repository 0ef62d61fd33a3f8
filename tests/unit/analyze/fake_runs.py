"""Run directories written by hand: a small source, and the records a child would have written about it.

A line is named by the comment ``# <- name`` at its end, as in cases/.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from sotprobe.analyze import diagnose
from sotprobe.model import Diagnosis, Finding
from sotprobe.readers.rundir import read_run

MS = 1_000_000
CWD = "/proj"
PATH = "/proj/model.py"
SHOWN = "model.py"


class FakeRun:
    """One child's run directory. Records are written as they are asked for."""

    def __init__(self, directory: Path, program: Program, mode: str, purpose: str, round_: int, **options: Any):
        self.directory = directory
        self.program = program
        self._steps = 0
        directory.mkdir(parents=True)
        manifest = {
            "format_version": 1, "kind": "run", "mode": mode, "purpose": purpose, "round": round_,
            "program": {"path": PATH, "given": SHOWN, "kind": "case", "arguments": []}, "cwd": CWD,
            "options": options, "env": {}, "python": "python",
        }  # fmt: skip
        (directory / "run.json").write_text(json.dumps(manifest))
        (directory / "sources").mkdir()
        (directory / "sources" / "index.json").write_text(json.dumps({PATH: "0.py"}))
        (directory / "sources" / "0.py").write_text(program.text)
        self._started = False

    def start(self, python: str = "3.11.7", paddle: str = "3.3.1", **fields: Any) -> FakeRun:
        self._started = True
        self.record("start", python=python, paddle=paddle, gpu_build=False, env=fields.pop("env", {}), cpu_count=2, **fields)
        return self

    def record(self, kind: str, **fields: Any) -> FakeRun:
        if not self._started:
            self.start()
        with (self.directory / "records.jsonl").open("a") as stream:
            stream.write(json.dumps({"kind": kind, **fields}) + "\n")
        return self

    def steps(
        self, count: int, ms: float = 10.0, *, first_ms: float | None = None, compile_steps: int = 0, **fields: Any
    ) -> FakeRun:
        """``count`` steps of ``ms``; the first ``compile_steps`` translate something."""
        for _ in range(count):
            index = self._steps
            wall = first_ms if index == 0 and first_ms is not None else ms
            translations = 1 if index < compile_steps else 0
            step = {"source": "case", "start_ns": 0, "loss": None, "batch_size": None, **fields}
            self.record("step", index=index, wall_ns=int(wall * MS), translations=translations, **step)
            self._steps += 1
        return self

    def code(self, number: int, marker: str, function: str, *break_markers: str, user: bool = True) -> FakeRun:
        line = self.program.line(marker)
        lines = [self.program.line(name) for name in break_markers]
        return self.record(
            "code", id=number, path=PATH, line=line, function=function, raw=function, user=user, break_lines=lines, flags=[]
        )

    def frames(self, step: int, **counts_by_code: dict[str, int]) -> FakeRun:
        """``c0={"entered": 1}``: what happened to code 0 in a step."""
        frames = [{"code": int(name[1:]), **counts} for name, counts in counts_by_code.items()]
        return self.record("frames", step=step, frames=frames)

    def lines(
        self, *rows: tuple[str, float, float, dict[str, int]], first: int = 4, steps: int = 2, wall_ms: float = 10.0,
        inside: bool = True,
    ) -> FakeRun:
        """Rows of (marker, hits per step, ms per step, {operator: count per step}), below a to_static call or not."""
        items = [
            {
                "path": PATH, "line": self.program.line(marker), "function": self.program.function, "hits": hits * steps,
                "wall_ns": int(ms * MS) * steps, "inside": inside,
                "ops": [[name, count * steps, count * steps * 1000] for name, count in operators.items()],
            }
            for marker, hits, ms, operators in rows
        ]  # fmt: skip
        return self.record(
            "lines",
            step_from=first,
            step_to=first + steps,
            wall_ns=int(wall_ms * MS) * steps,
            lines=items,
            operators=0,
            attributed=0,
        )

    def coverage(self, step: int, *markers: str) -> FakeRun:
        numbers = [self.program.line(marker) for marker in markers]
        functions = {str(number): self.program.function for number in numbers}
        return self.record("coverage", step=step, simulated=False, lines=[[PATH, numbers, functions]])

    def at(self, marker: str) -> dict[str, Any]:
        return self.program.at(marker)

    def ended(self, reason: str = "returned", code: int = 0) -> FakeRun:
        self.record("end", reason=reason, code=code)
        return self.exit(code=code)

    def exit(self, **fields: Any) -> FakeRun:
        status = {"code": None, "signal": None, "timed_out": False, "wall_ns": MS, **fields}
        (self.directory / "exit.json").write_text(json.dumps(status))
        return self


class Program:
    """A source and the runs made of it."""

    def __init__(self, directory: Path, text: str, function: str = "forward"):
        self.text = text
        self.function = function
        self._directory = directory
        self._runs: list[FakeRun] = []

    def line(self, marker: str) -> int:
        for number, text in enumerate(self.text.splitlines(), start=1):
            if re.search(rf"# <- {re.escape(marker)}$", text):
                return number
        raise KeyError(marker)

    def at(self, marker: str) -> dict[str, Any]:
        return {"path": PATH, "line": self.line(marker), "function": self.function}

    def run(self, mode: str = "static", purpose: str = "diagnosis", round_: int = 0, **options: Any) -> FakeRun:
        made = FakeRun(self._directory / f"{mode}-{purpose}-{round_}", self, mode, purpose, round_, **options)
        self._runs.append(made)
        return made

    def timing(self, mode: str, *step_ms: float, steps: int = 20) -> Program:
        """A timing round for each of ``step_ms``."""
        for round_, ms in enumerate(step_ms):
            self.run(mode, "timing", round_).steps(steps, ms, first_ms=ms * 10).ended("step-limit")
        return self

    def diagnose(self) -> Diagnosis:
        """Conclude; runs that nothing was said about ended by themselves."""
        for run in self._runs:
            if not (run.directory / "exit.json").exists():
                run.ended()
        return diagnose([read_run(run.directory) for run in self._runs])

    def findings(self, *severities: str) -> list[Finding]:
        wanted = severities or ("error", "warning", "info")
        return [finding for finding in self.diagnose().findings if finding.severity in wanted]

    def only(self, slug: str) -> Finding:
        """The one finding of a slug; fails when there are more or none."""
        found = [finding for finding in self.findings() if finding.slug == slug]
        assert len(found) == 1, [(finding.slug, finding.cause, finding.title) for finding in self.findings()]
        return found[0]
