"""Which children compare runs, in which order, and what it does when some of them fail. The children are small fakes."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

import pytest

from sotprobe import analyze
from sotprobe.capture import launch
from sotprobe.errors import CaptureError, InputError, SotprobeError
from sotprobe.model import Diagnosis, ProgramInfo, Verdict
from sotprobe.workflows.compare import Request, compare
from sotprobe.workflows.record import record
from sotprobe.workflows.show import show

# What a child does, up to the part that a test chooses by mode and purpose.
CHILD = """
    import json, os, signal, sys, time
    directory = sys.argv[1]
    job = json.load(open(os.path.join(directory, "run.json")))
    mode, purpose, number = job["mode"], job["purpose"], job["round"]
    def emit(kind, **fields):
        with open(os.path.join(directory, "records.jsonl"), "a") as file:
            file.write(json.dumps({"kind": kind, **fields}) + "\\n")
    def save_reference():
        os.mkdir(os.path.join(directory, "parity"))
        open(os.path.join(directory, "parity", "step0.npz"), "w").close()
    emit("start", python="3", paddle="3.3.1")
"""
FINE = """
    if (mode, purpose) == ("dynamic", "diagnosis"):
        save_reference()
    emit("end", reason="returned", code=0)
"""


@pytest.fixture
def child(monkeypatch, tmp_path):
    """Puts code in the place of the real child."""

    def write(*behaviour: str) -> None:
        fake = tmp_path / "child.py"
        fake.write_text("".join(textwrap.dedent(part) + "\n" for part in (CHILD, *behaviour)))
        monkeypatch.setattr(launch, "START", str(fake))

    return write


@pytest.fixture
def session(monkeypatch, tmp_path, child):
    """Runs compare on a fake child; gives the session's directory and the runs handed to the analysis."""
    (tmp_path / "train.py").write_text("print('training')\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(launch, "check_paddle", lambda: None)
    handed: list = []

    def diagnose(runs, *, saved_in):
        handed[:] = runs
        return Diagnosis(ProgramInfo("train.py", "script"), {}, {}, None, None, Verdict("none", "none"), (), saved_in=saved_in)

    monkeypatch.setattr(analyze, "diagnose", diagnose, raising=False)

    def run(*behaviour: str, **asked):
        child(*behaviour)
        request = Request("train.py", str(tmp_path), out=tmp_path / "saved", **asked)
        return compare(request)

    run.handed = handed
    run.directory = tmp_path / "saved"
    return run


def runs(directory: Path) -> list[str]:
    return json.loads((directory / "session.json").read_text())["runs"]


def manifest(directory: Path, name: str) -> dict:
    return json.loads((directory / name / "run.json").read_text())


def test_modes_take_turns_then_come_the_diagnosing_children(session):
    result = session(FINE, rounds=3)
    assert runs(session.directory) == [
        *("dynamic-0", "static-0", "dynamic-1", "static-1", "dynamic-2", "static-2"),
        *("dynamic-diagnosis", "static-diagnosis", "dynamic-parity"),
    ]
    assert [Path(run.directory).name for run in session.handed] == runs(session.directory)
    assert result.saved_in == "saved"
    assert json.loads((session.directory / "diagnosis.json").read_text())["verdict"]["slug"] == "none"


def test_static_and_the_second_dynamic_run_compare_with_the_first_dynamic_one(session):
    session(FINE, rounds=1)
    reference = str(session.directory / "dynamic-diagnosis")
    found = {name: manifest(session.directory, name)["options"]["reference"] for name in runs(session.directory)}
    assert found == {
        "dynamic-0": None,
        "static-0": None,
        "dynamic-diagnosis": None,
        "static-diagnosis": reference,
        "dynamic-parity": reference,
    }
    assert manifest(session.directory, "dynamic-parity")["purpose"] == "parity"


def test_one_mode_alone_has_nothing_to_compare_with(session):
    session(FINE, rounds=2, modes=("static",))
    assert runs(session.directory) == ["static-0", "static-1", "static-diagnosis"]
    assert manifest(session.directory, "static-diagnosis")["options"]["reference"] is None


def test_arguments_environment_and_options_reach_every_child(session):
    modes = {"dynamic": ("--dy",), "static": ("--st", "1")}
    session(FINE, rounds=1, arguments=("-a",), mode_arguments=modes, env={"MIN_GRAPH_SIZE": "0"})
    for name in runs(session.directory):
        written = manifest(session.directory, name)
        assert written["env"] == {"MIN_GRAPH_SIZE": "0"}
        assert written["program"]["arguments"] == ["-a", *modes[written["mode"]]]
        assert written["options"]["timeout"] == 600.0
    assert json.loads((session.directory / "session.json").read_text())["options"]["mode_arguments"]["static"] == ["--st", "1"]


def test_a_mode_that_raises_is_not_timed_again_but_diagnosed(session):
    session(
        """
        if mode == "static":
            emit("error", type="ValueError", message="bad shape")
            emit("end", reason="error", code=1)
            sys.exit(1)
        """,
        FINE,
        rounds=3,
    )
    names = runs(session.directory)
    assert names[:4] == ["dynamic-0", "static-0", "dynamic-1", "dynamic-2"]
    assert names[4:] == ["dynamic-diagnosis", "static-diagnosis", "dynamic-parity"]
    failed = next(run for run in session.handed if run.directory.endswith("static-0"))
    assert (failed.exit.reason, failed.exit.error_message) == ("error", "bad shape")


def test_a_mode_killed_by_a_signal_gets_one_more_try(session):
    session(
        """
        if mode == "static":
            os.kill(os.getpid(), signal.SIGSEGV)
        """,
        FINE,
        rounds=4,
    )
    timed = [name for name in runs(session.directory) if name.startswith("static") and name != "static-diagnosis"]
    assert timed == ["static-0", "static-1"]
    assert sum(name.startswith("dynamic") for name in runs(session.directory)) == 6
    assert next(run for run in session.handed if run.mode == "static").exit.signal == "SIGSEGV"


def test_a_crash_that_was_chance_costs_one_round_only(session):
    session("if (mode, purpose, number) == ('static', 'timing', 1): os.kill(os.getpid(), signal.SIGKILL)\n", FINE, rounds=4)
    assert [name for name in runs(session.directory) if name.startswith("static")] == [
        *("static-0", "static-1", "static-2", "static-3", "static-diagnosis")
    ]


def test_a_crash_after_the_programs_end_is_no_failure_of_its_steps(session):
    session(FINE, "os.kill(os.getpid(), signal.SIGABRT)", rounds=3)
    assert "static-2" in runs(session.directory)


def test_a_programs_own_exit_code_is_no_failure_of_its_steps(session):
    session('emit("end", reason="system-exit", code=5); sys.exit(5)', rounds=3)
    assert "static-2" in runs(session.directory)


def test_a_hanging_mode_is_not_timed_again(session):
    from sotprobe.capture.rundir import Options

    session("if mode == 'static': time.sleep(600)\n", FINE, rounds=3, options=Options(timeout=1.0))
    assert [name for name in runs(session.directory) if name.startswith("static")] == ["static-0", "static-diagnosis"]
    assert all(run.exit.reason == "timeout" for run in session.handed if run.mode == "static")


def test_without_a_reference_there_is_no_parity_run(session):
    session("if mode == 'dynamic': sys.exit('no dynamic mode')\n", FINE, rounds=2)
    assert "dynamic-parity" not in runs(session.directory)
    assert manifest(session.directory, "static-diagnosis")["options"]["reference"] is None
    assert "static-1" in runs(session.directory)


def test_a_job_refused_by_the_first_child_ends_the_command(session):
    with pytest.raises(InputError, match="no module named nowhere"):
        session('emit("refused", message="no module named nowhere", hint="check --step-on"); sys.exit(3)')
    assert runs(session.directory) == ["dynamic-0"]


def test_a_mode_that_refuses_later_leaves_the_others_result(session):
    session("if mode == 'static': emit('refused', message='No module named x', hint='install it'); sys.exit(3)\n", FINE, rounds=2)
    assert [name for name in runs(session.directory) if name.startswith("static")] == ["static-0", "static-diagnosis"]
    assert "dynamic-1" in runs(session.directory)


def test_a_child_that_cannot_start_ends_the_command(session):
    with pytest.raises(CaptureError, match="before the program started"):
        session("os.remove(os.path.join(directory, 'records.jsonl')); sys.exit(1)")


def test_an_interrupt_says_where_the_rest_is_and_that_can_be_shown(session, monkeypatch):
    ran = launch.run_job

    def interrupt(job, run_dir, tick=None):
        ended = ran(job, run_dir, tick)
        if job.name == "static-0":
            raise KeyboardInterrupt
        return ended

    monkeypatch.setattr(launch, "run_job", interrupt)
    with pytest.raises(SotprobeError, match="interrupted") as caught:
        session(FINE)
    assert caught.value.exit_code == 130
    assert caught.value.hint.endswith(": sotprobe show saved")
    show(session.directory)
    assert [Path(run.directory).name for run in session.handed] == ["dynamic-0", "static-0"]


STEPS = """
    for index in range(10):
        wall = 2_000_000 if mode == "static" else 1_000_000 + 1000 * number
        emit("step", index=index, source="case", start_ns=0, wall_ns=wall, translations=0, loss=None, batch_size=None)
"""


def test_by_default_timing_stops_when_the_ratio_is_clear(session):
    session(STEPS, FINE)
    assert [name for name in runs(session.directory) if name.startswith("static")] == [
        *("static-0", "static-1", "static-2", "static-diagnosis")
    ]


def test_by_default_a_program_with_too_few_steps_is_timed_once(session):
    session(FINE)
    assert [name for name in runs(session.directory) if name.startswith("static")] == ["static-0", "static-diagnosis"]


# --- show and record -------------------------------------------------------------------------------------------------


def test_show_analyses_what_was_recorded_again(session):
    session(FINE, rounds=1)
    session.handed.clear()
    (session.directory / "diagnosis.json").unlink()
    show("saved")
    assert len(session.handed) == 5
    assert not (session.directory / "diagnosis.json").exists()


def test_show_of_one_run(session):
    session(FINE, rounds=1)
    show(session.directory / "static-diagnosis")
    assert [run.purpose for run in session.handed] == ["diagnosis"]


def test_show_reads_the_saved_result_when_the_records_are_gone(session):
    session(FINE, rounds=1)
    for path in session.directory.glob("*/records.jsonl"):
        path.unlink()
    session.handed.clear()
    assert show(session.directory).verdict.slug == "none"
    assert not session.handed


def test_show_of_a_session_that_never_ran_anything(session, tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    (empty / "session.json").write_text('{"format_version": 1, "kind": "session", "runs": []}')
    with pytest.raises(InputError) as caught:
        show(empty)
    assert caught.value.hint


def test_record_saves_one_run_directory(session, child, tmp_path):
    child(FINE)
    result = record(Request("train.py", str(tmp_path), modes=("static",)))
    (run,) = session.handed
    assert (run.mode, run.purpose) == ("static", "diagnosis")
    assert result.saved_in.startswith(".sotprobe/train-static-2")
    assert (Path(result.saved_in) / "run.json").exists()
