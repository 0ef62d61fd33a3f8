"""What capture writes to disk, and that it never overwrites or half-writes anything."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from sotprobe.capture import rundir
from sotprobe.capture.program import Program
from sotprobe.capture.rundir import Job, Options
from sotprobe.capture.tee import CappedFile
from sotprobe.errors import CaptureError, InputError
from sotprobe.model.codec import FORMAT_VERSION

needs_permissions = pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "train.py"
    path.write_text("print('v1')\n")
    return Program(str(path), "train.py", "script")


@pytest.fixture
def job(tmp_path, program):
    return Job("static", "timing", 1, program, ("--lr", "1"), str(tmp_path), Options(window=(4, 9), timeout=60.0), {"A": "b"})


def load(path: Path):
    return json.loads(path.read_text())


def test_a_session_lies_in_a_directory_that_git_ignores(tmp_path, program):
    session = rundir.create_session(program, str(tmp_path), {"rounds": 5})
    assert session.parent == tmp_path / ".sotprobe"
    assert session.name.startswith("train-20")
    assert (tmp_path / ".sotprobe" / ".gitignore").read_text() == "*\n"
    assert load(session / "session.json") == {
        "format_version": FORMAT_VERSION,
        "kind": "session",
        "program": {"path": str(tmp_path / "train.py"), "given": "train.py", "kind": "script", "arguments": []},
        "cwd": str(tmp_path),
        "options": {"rounds": 5},
        "runs": [],
    }


def test_two_sessions_in_one_second_are_two_directories(tmp_path, program, monkeypatch):
    monkeypatch.setattr(rundir.time, "strftime", lambda _: "20260101-000000")
    names = [rundir.create_session(program, str(tmp_path), {}).name for _ in range(3)]
    assert names == ["train-20260101-000000", "train-20260101-000000-2", "train-20260101-000000-3"]


def test_a_run_is_written_as_documented_and_listed_in_its_session(tmp_path, program, job):
    session = rundir.create_session(program, str(tmp_path), {}, Path("saved"))
    first = rundir.create_run(session, job)
    second = rundir.create_run(session, replace(job, purpose="diagnosis").with_reference(first))
    assert session == tmp_path / "saved"
    assert load(session / "session.json")["runs"] == ["static-1", "static-diagnosis"]
    assert load(first / "run.json") == {
        "format_version": FORMAT_VERSION,
        "kind": "run",
        "mode": "static",
        "purpose": "timing",
        "round": 1,
        "program": {"path": str(tmp_path / "train.py"), "given": "train.py", "kind": "script", "arguments": ["--lr", "1"]},
        "cwd": str(tmp_path),
        "options": {
            "steps": None,
            "warmup": None,
            "window": [4, 9],
            "full_graph": False,
            "seed": 0,
            "step_on": None,
            "batch_size": None,
            "timeout": 60.0,
            "reference": None,
        },
        "env": {"A": "b"},
        "python": job.python,
    }
    assert load(second / "run.json")["options"]["reference"] == str(first)


def test_the_program_is_saved_before_it_runs_and_stays_as_it_was(tmp_path, program, job):
    run_dir = rundir.create_single_run(job)
    (tmp_path / "train.py").write_text("print('v2')\n")
    rundir.save_sources(run_dir, [program.path])
    index = load(run_dir / "sources" / "index.json")
    assert index == {program.path: "0-train.py"}
    assert (run_dir / "sources" / "0-train.py").read_text() == "print('v1')\n"


def test_files_of_one_name_are_kept_apart_and_libraries_are_left_out(tmp_path, job):
    run_dir = rundir.create_single_run(job)
    paths = []
    for folder in ("a", "b"):
        path = tmp_path / folder / "net.py"
        path.parent.mkdir()
        path.write_text(folder)
        paths.append(str(path))
    rundir.save_sources(run_dir, [*paths, json.__file__, "<string>", str(tmp_path / "gone.py"), *paths])
    index = load(run_dir / "sources" / "index.json")
    assert set(index) == {*paths, job.program.path}
    assert [(run_dir / "sources" / index[path]).read_text() for path in paths] == ["a", "b"]


def test_paths_are_found_wherever_a_record_names_them(tmp_path, job):
    run_dir = rundir.create_single_run(job)
    records = [
        {"kind": "code", "path": "/p/code.py"},
        {"kind": "break", "site": {"path": "/p/site.py"}, "stack": [{"path": "/p/stack.py"}]},
        {"kind": "subgraph", "statements": [{"text": "x", "path": "/p/statement.py"}]},
        {"kind": "lines", "lines": [{"path": "/p/line.py", "ops": [["tanh", 1, 2]]}]},
        {"kind": "coverage", "lines": [["/p/coverage.py", [1, 2], {"1": "f"}]]},
    ]
    (run_dir / "records.jsonl").write_text("\n".join(map(json.dumps, records)) + '\n{"kind": "code", "path": "/p/cut')
    names = [Path(path).stem for path in rundir.recorded_paths(run_dir)]
    assert names == ["code", "site", "stack", "statement", "line", "coverage"]


def test_out_may_exist_but_only_empty(tmp_path, program):
    (tmp_path / "empty").mkdir()
    assert rundir.create_session(program, str(tmp_path), {}, Path("empty")) == tmp_path / "empty"
    with pytest.raises(InputError, match="empty is not empty") as caught:
        rundir.create_session(program, str(tmp_path), {}, Path("empty"))
    assert "--out" in caught.value.hint


def test_out_below_a_file_is_a_clear_error(tmp_path, program):
    with pytest.raises(CaptureError, match=r"cannot write .*x: Not a directory"):
        rundir.create_session(program, str(tmp_path), {}, Path("train.py/x"))


@needs_permissions
def test_a_read_only_directory_is_a_clear_error(tmp_path, program):
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    with pytest.raises(CaptureError, match=r"cannot write .*: Permission denied") as caught:
        rundir.create_session(program, str(locked), {})
    assert "--out" in caught.value.hint


def test_json_is_replaced_whole_or_not_at_all(tmp_path):
    path = tmp_path / "x.json"
    rundir.write_json(path, {"a": 1})
    with pytest.raises(TypeError):
        rundir.write_json(path, {"a": object()})
    assert load(path) == {"a": 1}
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("size", [0, 5, 10, 18, 20, 21, 45, 400])
@pytest.mark.parametrize("chunk", [1, 7, 1000])
def test_a_capped_file_keeps_head_and_tail_and_counts_the_cut(tmp_path, size, chunk):
    data = bytes(48 + i % 75 for i in range(size))
    file = CappedFile(tmp_path / "out", head=10, tail=8)
    for start in range(0, size, chunk):
        file.write(data[start : start + chunk])
    file.close()
    saved = (tmp_path / "out").read_bytes()
    if size <= 18:
        assert saved == data
    else:
        assert saved == data[:10] + f"\n[sotprobe: {size - 18} bytes were cut here]\n".encode() + data[-8:]
