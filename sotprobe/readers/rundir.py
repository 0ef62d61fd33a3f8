"""Run directories and sessions to Runs (docs/run-directory.md). Needs no Paddle."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

from sotprobe.errors import InputError
from sotprobe.model import Evidence, ExitStatus, ParityFact, ProgramInfo, Run, SourceSite
from sotprobe.model.codec import FORMAT_VERSION
from sotprobe.readers import attribution
from sotprobe.readers.events import RECORDS_FILE, EventReader
from sotprobe.readers.frames import Frames
from sotprobe.readers.records import Display, Record, Records, read_records, to_site, to_sites
from sotprobe.readers.stacks import program_stack
from sotprobe.readers.steps import batch_size, read_steps
from sotprobe.readers.subgraphs import read_flow, read_subgraphs

RUN_FILE = "run.json"
SESSION_FILE = "session.json"
EXIT_FILE = "exit.json"


def read_session(path: str | os.PathLike[str]) -> list[Run]:
    """Every run of a session that was started; a single run directory is a session of one.

    Raises InputError when ``path`` is neither, is damaged, or was written by a newer sotprobe.
    """
    directory = Path(path)
    if not (directory / SESSION_FILE).is_file():
        return [read_run(directory)]
    manifest = _manifest(directory / SESSION_FILE, "session")
    names = [name for name in manifest.get("runs", ()) if isinstance(name, str)]
    started = [directory / name for name in names if _was_started(directory / name)]
    if not started:
        raise InputError(f"{directory} holds no runs.", "The session was stopped before any run began: run compare again.")
    return [read_run(run) for run in started]


def _was_started(directory: Path) -> bool:
    """A session that was killed leaves the directory of a child that had done nothing yet."""
    if not (directory / RUN_FILE).is_file():
        return False
    records = directory / RECORDS_FILE
    return (directory / EXIT_FILE).is_file() or (records.is_file() and records.stat().st_size > 0)


def read_run(path: str | os.PathLike[str]) -> Run:
    """One run directory. Raises InputError when it is missing, damaged, or was written by a newer sotprobe."""
    directory = Path(path)
    manifest = _manifest(directory / RUN_FILE, "run")
    program = _program(manifest, directory)
    options = _mapping(manifest.get("options"))
    cwd = manifest.get("cwd")
    display = display_paths(manifest["program"].get("path"), program.path, cwd if isinstance(cwd, str) else None)
    records = _records(directory)
    frames = Frames(records, display)
    sources = _sources(directory, display)
    steps = read_steps(records)
    traced = attribution.traced_steps(records)
    guard_ns, entries = attribution.read_frame_totals(
        records, frames, lambda step: step.kind == "steady" and step.index not in traced, steps
    )
    counts = attribution.line_counts(records)
    counts.update(_untraced(steps, traced))
    return Run(
        directory=str(directory),
        mode=str(manifest.get("mode", "")),
        purpose=str(manifest.get("purpose", "")),
        round=int(manifest.get("round") or 0),
        program=program,
        environment=_environment(manifest, options, records),
        exit=_exit(directory, records, display, manifest["program"]["path"]),
        steps=steps,
        events=EventReader(records, frames, display, _line_lookup(sources)).events(),
        subgraphs=read_subgraphs(records, frames, display),
        flow=read_flow(records),
        lines=attribution.read_lines(records, display),
        coverage=attribution.read_coverage(records, display),
        guard_ns=guard_ns,
        entries=entries,
        parity=tuple(_parity(record) for record in records.of("parity")),
        batch_size=batch_size(records, options.get("batch_size")),
        sources=sources,
        notes=_notes(records),
        read_stats={RECORDS_FILE: records.stats},
        counts=counts,
    )


def display_paths(program: str | None, given: str, cwd: str | None) -> Display:
    """How a path is shown: the program as it was given, others relative to where the user ran it when below that."""

    def display(path: str) -> str:
        if program is not None and path == program:
            return given
        if cwd is not None and path.startswith(cwd.rstrip("/") + "/"):
            return path[len(cwd.rstrip("/")) + 1 :]
        return path

    return display


def _manifest(path: Path, kind: str) -> dict[str, Any]:
    directory = path.parent
    if not directory.is_dir():
        raise InputError(f"There is no directory {directory}.", "Give the directory that compare or record printed.")
    if not path.is_file():
        raise InputError(
            f"{directory} is not a run directory: it has no {path.name}.",
            f"A run directory holds {RUN_FILE}, a session {SESSION_FILE}; give one of those.",
        )
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read: {error}.", "The directory is damaged; run the program again.") from error
    if not isinstance(manifest, dict) or not isinstance(manifest.get("format_version"), int):
        raise InputError(f"{path} has no format_version.", "The directory is damaged; run the program again.")
    version = manifest["format_version"]
    if version > FORMAT_VERSION:
        raise InputError(
            f"{directory} was written in format {version}; this sotprobe reads up to {FORMAT_VERSION}.",
            "Read it with the sotprobe that wrote it, or update this one.",
        )
    if manifest.get("kind") != kind:
        raise InputError(f"{path} does not describe a {kind}.", "The directory is damaged; run the program again.")
    return manifest


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _program(manifest: dict[str, Any], directory: Path) -> ProgramInfo:
    program = manifest.get("program")
    if not isinstance(program, dict) or not isinstance(program.get("path"), str):
        raise InputError(f"{directory / RUN_FILE} names no program.", "The directory is damaged; run the program again.")
    arguments = program.get("arguments")
    return ProgramInfo(
        path=str(program.get("given") or program["path"]),
        kind=str(program.get("kind") or "script"),
        arguments=tuple(str(item) for item in arguments) if isinstance(arguments, list) else (),
    )


def _records(directory: Path) -> Records:
    path = directory / RECORDS_FILE
    return read_records(path) if path.is_file() else Records()


def _environment(manifest: dict[str, Any], options: Mapping[str, Any], records: Records) -> dict[str, object]:
    """What the child said of itself, plus what the user asked for (``options``, ``given_env``) and the program's own window."""
    start = records.first("start")
    environment: dict[str, object] = {}
    if start is not None:
        for name in ("python", "paddle", "gpu_build", "cpu_count", "env"):
            if start.get(name) is not None:
                environment[name] = start.get(name)
    # `reference` is where this session keeps the other run, which says nothing about the program.
    environment["options"] = {name: value for name, value in options.items() if name != "reference"}
    environment["given_env"] = dict(_mapping(manifest.get("env")))
    window = records.last("window")
    if window is not None:
        environment["window"] = [window.get("start"), window.get("end")]
    return environment


def _exit(directory: Path, records: Records, display: Display, program: str) -> ExitStatus:
    """How it ended: what the parent saw first, then what the child said."""
    parent = _exit_file(directory)
    error = records.last("error") or records.last("refused")
    end = records.last("end")
    stacks = directory / "stacks.txt"
    stacks_text = stacks.read_text(encoding="utf-8", errors="replace") if stacks.is_file() else ""
    code = parent.get("code", end.get("code") if end else None)
    reason = _reason(parent, error, end, records)
    stack = to_sites(error.get("stack", []), display) if error else ()
    site = to_site(error.get("site"), display) if error else None
    if reason in ("signal", "timeout"):
        stack = tuple(SourceSite(display(path), line, name) for path, line, name in program_stack(stacks_text, program))
        site = stack[-1] if stack else None
    return ExitStatus(
        reason=reason,
        code=code if isinstance(code, int) else None,
        signal=parent.get("signal"),
        error_type=error.get("type") if error else None,
        error_message=error.get("message") if error else None,
        site=site,
        stack=stack,
        stacks=stacks_text or None,
        traceback=error.get("traceback") if error else None,
        wall_ns=parent.get("wall_ns"),
        simulated=error.get("simulated", False) if error else False,
    )


def _exit_file(directory: Path) -> Mapping[str, Any]:
    path = directory / EXIT_FILE
    if not path.is_file():
        return {}
    try:
        return _mapping(json.loads(path.read_text(encoding="utf-8")))
    except ValueError:
        return {}  # the parent was killed while writing it; the child's own records still say how far it came


def _reason(parent: Mapping[str, Any], error: Record | None, end: Record | None, records: Records) -> str:
    if parent.get("timed_out"):
        return "timeout"
    if parent.get("signal"):
        return "signal"
    if error is not None:
        return "no-start" if error.kind == "refused" else "error"
    if end is not None:
        return end.get("reason")
    if records.first("start") is None:
        return "no-start"
    if parent.get("code") is None:
        return "unknown"
    return "returned" if parent["code"] == 0 else "system-exit"


def _sources(directory: Path, display: Display) -> dict[str, str]:
    """Displayed path -> text of every user source file that was saved."""
    folder = directory / "sources"
    index = folder / "index.json"
    if not index.is_file():
        return {}
    try:
        names = _mapping(json.loads(index.read_text(encoding="utf-8")))
    except ValueError:
        return {}  # written last; a child killed before that has no sources, and lines are then not quoted
    sources = {}
    for path, name in names.items():
        file = folder / os.path.basename(str(name))
        if file.is_file():
            sources[display(path)] = file.read_text(encoding="utf-8", errors="replace")
    return sources


def _line_lookup(sources: Mapping[str, str]):
    lines = {path: text.splitlines() for path, text in sources.items()}

    def lookup(path: str, line: int) -> str | None:
        found = lines.get(path)
        return found[line - 1] if found is not None and 0 < line <= len(found) else None

    return lookup


def _parity(record: Record) -> ParityFact:
    return ParityFact(
        what=record.get("what"),
        name=record.get("name"),
        step=record.get("step"),
        equal=record.get("equal"),
        max_abs_error=record.get("max_abs_error"),
        max_rel_error=record.get("max_rel_error"),
        mismatch=record.get("mismatch"),
    )


def _notes(records: Records) -> tuple[Evidence, ...]:
    notes = [Evidence("hooks", record.get("text"), RECORDS_FILE, record.line) for record in records.of("note")]
    if records.truncated:
        notes.append(Evidence("records", "The last record was cut off: the program was killed while writing it.", RECORDS_FILE))
    return tuple(notes)


def _untraced(steps, traced: frozenset[int]) -> dict[str, float]:
    """``untraced.step_ns``: median wall time of the steady steps that no tracing slowed down."""
    walls = [step.wall_ns for step in steps[1:] if step.kind == "steady" and step.index not in traced]
    return {"untraced.step_ns": float(median(walls)), "untraced.steps": float(len(walls))} if walls else {}
