"""Writes session and run directories (docs/run-directory.md): the only thing that passes from capture to analysis.

Nothing here imports the program or Paddle, and every JSON file is replaced atomically, so a directory that was cut short
holds whole files only.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import sysconfig
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sotprobe.capture.program import Program
from sotprobe.errors import CaptureError, InputError
from sotprobe.model.codec import FORMAT_VERSION

SESSION = "session.json"
RUN = "run.json"
RECORDS = "records.jsonl"
EXIT = "exit.json"
STDOUT = "stdout.txt"
STDERR = "stderr.txt"
DEFAULT_PARENT = ".sotprobe"


@dataclass(frozen=True)
class Options:
    """What a child is told about measuring; None means that the child chooses. ``timeout`` is in seconds."""

    steps: int | None = None
    warmup: int | None = None
    window: tuple[int, int] | None = None
    full_graph: bool = False
    seed: int = 0
    step_on: str | None = None
    batch_size: int | None = None
    timeout: float | None = None
    reference: str | None = None


@dataclass(frozen=True)
class Job:
    """One child: one mode of one program, once. ``env`` is what the user asked for on top of the inherited environment."""

    mode: str
    purpose: str
    round: int
    program: Program
    arguments: tuple[str, ...]
    cwd: str
    options: Options = Options()
    env: Mapping[str, str] = field(default_factory=dict)
    python: str = sys.executable

    @property
    def name(self) -> str:
        return f"{self.mode}-{self.round}" if self.purpose == "timing" else f"{self.mode}-{self.purpose}"

    def with_reference(self, run_dir: Path | None) -> Job:
        return self if run_dir is None else replace(self, options=replace(self.options, reference=str(run_dir)))


def create_session(program: Program, cwd: str, options: Mapping[str, Any], out: Path | None = None) -> Path:
    """Make a new session directory: ``out``, or a fresh one under ``.sotprobe/`` of ``cwd``."""
    session = out_directory(out, cwd) if out else _fresh_directory(Path(cwd), Path(program.path).stem)
    head = {"format_version": FORMAT_VERSION, "kind": "session", "program": _program_json(program, ()), "cwd": cwd}
    write_json(session / SESSION, {**head, "options": dict(options), "runs": []})
    return session


def create_run(session: Path, job: Job) -> Path:
    """Make a child's directory in ``session`` and list it there, before the child starts."""
    run_dir = session / job.name
    try:
        run_dir.mkdir()
    except OSError as error:
        raise _cannot_write(run_dir, error) from error
    write_job(run_dir, job)
    listing = json.loads((session / SESSION).read_text(encoding="utf-8"))
    write_json(session / SESSION, {**listing, "runs": [*listing["runs"], job.name]})
    return run_dir


def create_single_run(job: Job, out: Path | None = None) -> Path:
    """Make a run directory of its own, as ``record`` saves it."""
    stem = f"{Path(job.program.path).stem}-{job.mode}"
    run_dir = out_directory(out, job.cwd) if out else _fresh_directory(Path(job.cwd), stem)
    write_job(run_dir, job)
    return run_dir


def write_job(run_dir: Path, job: Job) -> None:
    """Write ``run.json``; the program's own source is saved now, before anybody edits it."""
    options = {name: getattr(job.options, name) for name in Options.__dataclass_fields__}
    head = {"format_version": FORMAT_VERSION, "kind": "run", "mode": job.mode, "purpose": job.purpose, "round": job.round}
    body = {"program": _program_json(job.program, job.arguments), "cwd": job.cwd, "options": options}
    write_json(run_dir / RUN, {**head, **body, "env": dict(job.env), "python": job.python})
    save_sources(run_dir, [job.program.path])


def write_json(path: Path, value: Any) -> None:
    write_text(path, json.dumps(value, indent=1) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write the whole file or nothing."""
    temporary = path.with_name(path.name + ".part")
    try:
        temporary.write_text(text, encoding="utf-8")
        os.replace(temporary, path)
    except OSError as error:
        raise _cannot_write(path, error) from error


# --- sources ---------------------------------------------------------------------------------------------------------


def save_sources(run_dir: Path, paths: Iterator[str] | list[str]) -> None:
    """Copy source files into ``sources/`` so that lines can be quoted after they were edited. Saved ones stay."""
    folder = run_dir / "sources"
    index_path = folder / "index.json"
    index = json.loads(index_path.read_text(encoding="utf-8")) if index_path.exists() else {}
    wanted = [path for path in dict.fromkeys(paths) if path not in index and _is_user_source(path)]
    if not wanted and index_path.exists():
        return
    try:
        folder.mkdir(exist_ok=True)
        for path in wanted:
            name = f"{len(index)}-{Path(path).name}"
            shutil.copyfile(path, folder / name)
            index[path] = name
    except OSError as error:
        raise _cannot_write(folder, error) from error
    write_json(index_path, index)


def recorded_paths(run_dir: Path) -> Iterator[str]:
    """Every source path that a record of the run names."""
    for record in read_records(run_dir):
        yield from _paths_in(record)


def _paths_in(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        path = value.get("path")
        if isinstance(path, str):
            yield path
        if value.get("kind") == "coverage":
            yield from (entry[0] for entry in value.get("lines") or () if entry and isinstance(entry[0], str))
        for inner in value.values():
            yield from _paths_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _paths_in(inner)


def _is_user_source(path: str) -> bool:
    return os.path.isabs(path) and os.path.isfile(path) and not path.startswith(_LIBRARIES)


def _library_prefixes() -> tuple[str, ...]:
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    return tuple({sysconfig.get_path(name).rstrip(os.sep) + os.sep for name in names})


_LIBRARIES = _library_prefixes()


# --- records ---------------------------------------------------------------------------------------------------------


def read_records(run_dir: Path) -> Iterator[dict[str, Any]]:
    """The whole records of a run, in order. A line cut short by a kill is left to the readers to count."""
    path = run_dir / RECORDS
    if not path.exists():
        return
    with path.open(encoding="utf-8", errors="replace") as file:
        for line in file:
            try:
                record = json.loads(line)
            except ValueError:
                continue
            if isinstance(record, dict):
                yield record


def read_exit(run_dir: Path) -> dict[str, Any]:
    """What ``exit.json`` says; empty while the child runs."""
    path = run_dir / EXIT
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


# --- directories -----------------------------------------------------------------------------------------------------


def out_directory(out: Path, cwd: str) -> Path:
    """The directory the user asked for. It may exist, but only empty: nothing saved is ever overwritten."""
    out = Path(cwd, out)
    try:
        out.mkdir(parents=True, exist_ok=True)
        occupied = any(out.iterdir())
    except OSError as error:
        raise _cannot_write(out, error) from error
    if occupied:
        raise InputError(f"{out} is not empty", "give --out a new directory; saved runs are never overwritten")
    return out


def _fresh_directory(cwd: Path, stem: str) -> Path:
    parent = cwd / DEFAULT_PARENT
    name = f"{stem}-{time.strftime('%Y%m%d-%H%M%S')}"
    try:
        parent.mkdir(exist_ok=True)
        ignore = parent / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n", encoding="utf-8")
        return _unique(parent / name)
    except OSError as error:
        raise _cannot_write(parent, error) from error


def _unique(path: Path) -> Path:
    candidate, number = path, 1
    while True:
        try:
            candidate.mkdir()
            return candidate
        except FileExistsError:
            number += 1
            candidate = path.with_name(f"{path.name}-{number}")


def _program_json(program: Program, arguments: tuple[str, ...]) -> dict[str, Any]:
    return {"path": program.path, "given": program.given, "kind": program.kind, "arguments": list(arguments)}


def _cannot_write(path: Path, error: OSError) -> CaptureError:
    return CaptureError(f"cannot write {path}: {error.strerror}", "give a writable directory with --out DIR")
