"""The job a child was given: ``run.json`` as a typed record."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass


@dataclass(frozen=True)
class Job:
    """One mode of one program. ``window`` is [start, end) in steps; None means the program's own or everything."""

    directory: str
    mode: str
    purpose: str
    path: str
    given: str
    kind: str
    arguments: tuple[str, ...]
    seed: int
    steps: int | None = None
    window: tuple[int, int] | None = None
    full_graph: bool = False
    step_on: str | None = None
    batch_size: int | None = None
    timeout: float | None = None
    reference: str | None = None

    @property
    def static(self) -> bool:
        return self.mode == "static"

    def file(self, *parts: str) -> str:
        return os.path.join(self.directory, *parts)


def read_job(directory: str) -> Job:
    with open(os.path.join(directory, "run.json"), encoding="utf-8") as file:
        data = json.load(file)
    program, options = data["program"], data["options"]
    window = options.get("window")
    return Job(
        directory=directory,
        mode=data["mode"],
        purpose=data["purpose"],
        path=program["path"],
        given=program.get("given", program["path"]),
        kind=program["kind"],
        arguments=tuple(program.get("arguments", ())),
        seed=options.get("seed") if options.get("seed") is not None else 0,
        steps=options.get("steps"),
        window=(window[0], window[1]) if window else None,
        full_graph=bool(options.get("full_graph")),
        step_on=options.get("step_on"),
        batch_size=options.get("batch_size"),
        timeout=options.get("timeout"),
        reference=options.get("reference"),
    )
