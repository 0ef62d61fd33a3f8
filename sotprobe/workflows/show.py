"""``show``: the report again from what is saved. Needs no Paddle and no program."""

from __future__ import annotations

import os
from pathlib import Path

from sotprobe import analyze
from sotprobe.capture import rundir
from sotprobe.model import Diagnosis
from sotprobe.readers import rundir as reader
from sotprobe.report import json as json_report

SAVED = "diagnosis.json"


def show(directory: str | os.PathLike[str]) -> Diagnosis:
    """Analyse a session or a single run again.

    What was recorded is analysed, not the saved result, so a session that was killed half way is shown as far as it got.
    Raises InputError when ``directory`` was not saved by sotprobe, is damaged, or was saved by a newer sotprobe.
    """
    directory = Path(directory)
    if not (directory / rundir.SESSION).is_file():
        return diagnose_run(directory)
    if not _has_records(directory) and (directory / SAVED).exists():
        return json_report.parse((directory / SAVED).read_text(encoding="utf-8"))
    return diagnose_session(directory)


def diagnose_session(session: Path) -> Diagnosis:
    return analyze.diagnose(reader.read_session(session), saved_in=shown(session))


def diagnose_run(run_dir: Path) -> Diagnosis:
    return analyze.diagnose([reader.read_run(run_dir)], saved_in=shown(run_dir))


def save_diagnosis(session: Path, diagnosis: Diagnosis) -> None:
    rundir.write_text(session / SAVED, json_report.render(diagnosis))


def _has_records(session: Path) -> bool:
    return any(session.glob(f"*/{rundir.RECORDS}"))


def shown(directory: Path) -> str:
    """How a directory is named to the user: relative to the current directory when it lies below: shorter to read and to copy."""
    try:
        return str(directory.absolute().relative_to(Path.cwd()))
    except ValueError:
        return str(directory)
