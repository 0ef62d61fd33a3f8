"""The logs of ../shared/cases, read by sotprobe as ``sotprobe log`` reads them; each once in a test session."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from sotprobe.model import Diagnosis
from sotprobe.workflows.investigate import LogRequest, investigate

REPOSITORY = Path(__file__).parents[2]
CASES = Path(os.environ.get("SOTPROBE_SHARED", REPOSITORY.parent / "shared")) / "cases"
ABSENT = "the shared cases are not beside the clone (SOTPROBE_SHARED names another place)"


@cache
def directory_of(case: str) -> Path:
    (directory,) = CASES.glob(f"{case}_*")
    return directory


def all_logs() -> list[Path]:
    return sorted(path for pattern in ("log*.txt", "*.log") for path in CASES.glob(f"*/{pattern}"))


@cache
def diagnosis_of(case: str, log: str, *, sourced: bool = False) -> Diagnosis:
    """What is said of a log; ``sourced`` gives the case's directory as the program's source."""
    directory = directory_of(case)
    request = LogRequest((str(directory / log),), source=str(directory) if sourced else None)
    return investigate(request).diagnosis
