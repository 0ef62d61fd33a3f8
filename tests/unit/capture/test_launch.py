"""Children that misbehave: none of them may block sotprobe, fill the disk, outlive it, or hide how it ended."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from sotprobe.capture import launch, rundir
from sotprobe.capture.program import Program
from sotprobe.errors import CaptureError, InputError

ROOT = Path(__file__).resolve().parents[3]


def run(tmp_path: Path, code: str, **more) -> launch.ChildExit:
    command = [sys.executable, "-c", textwrap.dedent(code)]
    environment = {**os.environ, **more.pop("env", {})}
    return launch.run_command(command, tmp_path, cwd=str(tmp_path), env=environment, **more)


def saved_exit(run_dir: Path) -> dict:
    return json.loads((run_dir / "exit.json").read_text())


def is_running(pid: int) -> bool:
    """A zombie has ended; it only waits for a parent that does not ask."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def wait_until_gone(pid: int, seconds: float = 5) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not is_running(pid):
            return True
        time.sleep(0.02)
    return False


needs_proc = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs Linux's /proc")


def test_output_and_exit_code_are_saved(tmp_path):
    ended = run(tmp_path, "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)")
    assert (ended.code, ended.signal, ended.timed_out) == (3, None, False)
    assert (tmp_path / "stdout.txt").read_text() == "out\n"
    assert (tmp_path / "stderr.txt").read_text() == "err\n"
    assert saved_exit(tmp_path) == {
        "code": 3,
        "signal": None,
        "timed_out": False,
        "wall_ns": ended.wall_ns,
        "interrupted": False,
    }
    assert ended.wall_ns > 0


@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM", "SIGABRT"])
def test_a_signal_is_told_by_name(tmp_path, name):
    ended = run(tmp_path, f"import os, signal; print('before', flush=True); os.kill(os.getpid(), signal.{name})")
    assert (ended.code, ended.signal) == (None, name)
    assert (tmp_path / "stdout.txt").read_text() == "before\n"


def test_a_segfault_is_told_by_name(tmp_path):
    ended = run(tmp_path, "import faulthandler; faulthandler._sigsegv()")
    assert ended.signal == "SIGSEGV"


def test_a_hang_is_ended_at_the_timeout(tmp_path):
    started = time.monotonic()
    ended = run(tmp_path, "import time; print('started', flush=True); time.sleep(600)", timeout=1.0)
    assert time.monotonic() - started < 10
    assert ended.timed_out
    assert ended.signal == "SIGTERM"
    assert (tmp_path / "stdout.txt").read_text() == "started\n"
    assert saved_exit(tmp_path)["timed_out"] is True


def test_a_child_deaf_to_sigterm_is_killed_after_the_grace(tmp_path, monkeypatch):
    monkeypatch.setattr(launch, "TERMINATE_GRACE_S", 0.5)
    code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
    ended = run(tmp_path, code, timeout=1.0)
    assert (ended.timed_out, ended.signal) == (True, "SIGKILL")
    assert ended.wall_ns >= 1.4e9


def test_200_megabytes_of_output_neither_block_nor_fill_the_disk(tmp_path):
    code = """
        import os
        line = b"x" * 999 + b"\\n"
        os.write(1, b"the first line\\n")
        for _ in range(200):
            block = line * 1000
            while block:
                block = block[os.write(1, block):]
        os.write(1, b"the last line\\n")
    """
    ended = run(tmp_path, code, timeout=120)
    assert ended.code == 0
    saved = (tmp_path / "stdout.txt").read_bytes()
    assert len(saved) < 3_000_000
    assert saved.startswith(b"the first line\n")
    assert saved.endswith(b"the last line\n")
    cut = int(saved.partition(b"[sotprobe: ")[2].split()[0])
    note = f"\n[sotprobe: {cut} bytes were cut here]\n".encode()
    assert len(saved) - len(note) + cut == 200_000_000 + len(b"the first line\nthe last line\n")


def test_standard_input_is_empty(tmp_path):
    ended = run(tmp_path, "import sys; print(repr(sys.stdin.read()))", timeout=20)
    assert ended.code == 0
    assert (tmp_path / "stdout.txt").read_text() == "''\n"


@needs_proc
@pytest.mark.parametrize("leave", [False, True], ids=["same-group", "own-session"])
def test_what_the_child_started_does_not_outlive_it(tmp_path, leave):
    code = f"""
        import subprocess, sys
        code = "import time; time.sleep(600)"
        print(subprocess.Popen([sys.executable, "-c", code], start_new_session={leave}).pid, flush=True)
    """
    started = time.monotonic()
    ended = run(tmp_path, code, timeout=60)
    assert ended.code == 0
    assert time.monotonic() - started < 20, "waited for a grandchild that holds the pipe"
    assert wait_until_gone(int((tmp_path / "stdout.txt").read_text()))


@needs_proc
def test_a_timeout_ends_grandchildren_too(tmp_path):
    code = """
        import subprocess, sys, time
        print(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]).pid, flush=True)
        time.sleep(600)
    """
    assert run(tmp_path, code, timeout=1.5).timed_out
    assert wait_until_gone(int((tmp_path / "stdout.txt").read_text()))


def test_an_interrupt_stops_the_child_and_keeps_what_was_saved(tmp_path):
    def interrupt(seconds: float) -> None:
        if (tmp_path / "stdout.txt").read_text():
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, "import os, time; print(os.getpid(), flush=True); time.sleep(600)", tick=interrupt, timeout=60)
    assert saved_exit(tmp_path)["interrupted"] is True
    assert wait_until_gone(int((tmp_path / "stdout.txt").read_text()))


def test_sigterm_to_sotprobe_stops_the_child(tmp_path):
    """As ``timeout 5m sotprobe compare ...`` does it."""
    code = f"""
        import os, sys
        from pathlib import Path
        from sotprobe.capture import launch
        child = [sys.executable, "-c", "import os, time; print(os.getpid(), flush=True); time.sleep(600)"]
        try:
            launch.run_command(child, Path({str(tmp_path)!r}), cwd=".", env=os.environ)
        except launch.Terminated as stop:
            print("stopped by", stop)
    """
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    outer = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], env=environment, stdout=subprocess.PIPE, text=True)
    output = tmp_path / "stdout.txt"
    deadline = time.monotonic() + 20
    while not (output.exists() and output.read_text()) and time.monotonic() < deadline:
        time.sleep(0.05)
    outer.send_signal(signal.SIGTERM)
    said, _ = outer.communicate(timeout=20)
    assert said == "stopped by SIGTERM\n"
    assert wait_until_gone(int(output.read_text()))
    assert saved_exit(tmp_path)["interrupted"] is True


def test_an_ignored_hangup_stays_ignored(tmp_path):
    """``nohup sotprobe ...`` outlives its terminal."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        ended = run(tmp_path, "import time; time.sleep(0.6)", tick=lambda _: os.kill(os.getpid(), signal.SIGHUP))
    finally:
        signal.signal(signal.SIGHUP, before)
    assert ended.code == 0


def test_a_child_whose_output_cannot_be_saved_is_stopped(tmp_path):
    (tmp_path / "stdout.txt").mkdir()
    started = time.monotonic()
    with pytest.raises(IsADirectoryError):
        run(tmp_path, "import time; time.sleep(60)")
    assert time.monotonic() - started < 10
    assert saved_exit(tmp_path)["signal"] == "SIGKILL"


def test_progress_is_reported_while_the_child_runs(tmp_path):
    seen: list[float] = []
    run(tmp_path, "import time; time.sleep(0.7)", tick=seen.append)
    assert len(seen) >= 2
    assert seen == sorted(seen)


def test_a_missing_interpreter_is_a_clear_error(tmp_path):
    with pytest.raises(CaptureError, match="cannot start /nowhere/python") as caught:
        launch.run_command(["/nowhere/python"], tmp_path, cwd=str(tmp_path), env={})
    assert caught.value.exit_code == 3


# --- the child of a job ----------------------------------------------------------------------------------------------


def job(tmp_path: Path, **more) -> rundir.Job:
    path = tmp_path / "train.py"
    path.write_text("print('ran')\n")
    return rundir.Job("dynamic", "timing", 0, Program(str(path), "train.py", "script"), (), str(tmp_path), **more)


@pytest.fixture
def start(monkeypatch, tmp_path):
    """Runs a job with this code in the place of the real child."""

    def start(code: str, **more) -> tuple[launch.ChildExit, Path]:
        fake = tmp_path / "child.py"
        fake.write_text(textwrap.dedent(code))
        monkeypatch.setattr(launch, "START", str(fake))
        run_dir = tmp_path / "dynamic-0"
        run_dir.mkdir()
        asked = job(tmp_path, **more)
        rundir.write_job(run_dir, asked)
        return launch.run_job(asked, run_dir), run_dir

    return start


def test_the_child_gets_its_directory_cwd_and_environment(start, tmp_path, monkeypatch):
    monkeypatch.delenv("PYTHONHASHSEED", raising=False)
    code = "import os, sys; print(sys.argv[1], os.getcwd(), os.environ['MIN_GRAPH_SIZE'], os.environ['PYTHONHASHSEED'])"
    _, run_dir = start(code, env={"MIN_GRAPH_SIZE": "0"}, options=rundir.Options(seed=7))
    assert (run_dir / "stdout.txt").read_text().split() == [str(run_dir), str(tmp_path), "0", "7"]


def test_the_sources_that_records_name_are_saved(start, tmp_path):
    helper = tmp_path / "helper.py"
    helper.write_text("x = 1\n")
    code = f"""
        import json, os, sys
        with open(os.path.join(sys.argv[1], "records.jsonl"), "w") as file:
            file.write(json.dumps({{"kind": "break", "site": {{"path": {str(helper)!r}, "line": 1}}}}) + "\\n")
            file.write(json.dumps({{"kind": "code", "path": os.__file__, "line": 1}}) + "\\n")
            file.write('{{"kind": "cut sh')
    """
    _, run_dir = start(code)
    index = json.loads((run_dir / "sources" / "index.json").read_text())
    assert set(index) == {str(helper), str(tmp_path / "train.py")}
    assert (run_dir / "sources" / index[str(helper)]).read_text() == "x = 1\n"


def test_a_child_that_reached_no_program_is_a_capture_error(start):
    with pytest.raises(CaptureError, match="exit code 1 before the program started: ValueError: broken") as caught:
        start("raise ValueError('broken')")
    assert "stderr.txt" in caught.value.hint


def test_a_paddle_that_cannot_be_loaded_is_told_apart(start):
    code = "raise ImportError('libpaddle.so: cannot open shared object file')"
    with pytest.raises(CaptureError, match=r"Paddle cannot be imported: ImportError: libpaddle\.so"):
        start(code)


def test_a_refused_job_is_one_clear_message(start):
    code = """
        import json, os, sys
        with open(os.path.join(sys.argv[1], "records.jsonl"), "w") as file:
            file.write(json.dumps({"kind": "refused", "message": "no module named nowhere", "hint": "check --step-on"}))
        sys.exit(3)
    """
    with pytest.raises(InputError, match="no module named nowhere") as caught:
        start(code)
    assert (caught.value.hint, caught.value.exit_code) == ("check --step-on", 3)


def test_the_current_directory_does_not_shadow_the_standard_library(tmp_path):
    """``python -m`` would put it first: a project's json.py must not break sotprobe's own imports in the child."""
    (tmp_path / "json.py").write_text("raise RuntimeError('the json.py of the project')\n")
    run_dir = tmp_path / "run"
    run_dir.mkdir()
    with pytest.raises((CaptureError, InputError)) as caught:
        launch.run_job(job(tmp_path), run_dir)  # no run.json: the child ends at once
    assert "run.json" in (run_dir / "stderr.txt").read_text(), caught.value
    assert "the json.py of the project" not in (run_dir / "stderr.txt").read_text()


@needs_proc
def test_a_child_dies_with_its_parent(tmp_path):
    """A parent that was killed enforces no timeout any more."""
    child = tmp_path / "sotprobe" / "capture" / "child"
    child.mkdir(parents=True)
    for package in (child.parent.parent, child.parent, child):
        (package / "__init__.py").write_text("")
    (child / "__main__.py").write_text("import os, time\nprint(os.getpid(), flush=True)\ntime.sleep(600)\n")
    start = shutil.copy(launch.START, child.parent)
    code = f"""
        import sys
        from pathlib import Path
        from sotprobe.capture import launch
        launch.run_command([sys.executable, {str(start)!r}, {str(tmp_path)!r}], Path({str(tmp_path)!r}), cwd="/", env={{}})
    """
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    parent = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], env=environment)
    output = tmp_path / "stdout.txt"
    deadline = time.monotonic() + 20
    while not (output.exists() and output.read_text()) and time.monotonic() < deadline:
        time.sleep(0.05)
    parent.kill()
    parent.wait()
    assert wait_until_gone(int(output.read_text()))


def test_paddle_is_looked_for_without_importing_it(monkeypatch):
    monkeypatch.setattr(launch.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(CaptureError, match="Paddle is not installed") as caught:
        launch.check_paddle()
    assert "pip install 'sotprobe[cpu]'" in caught.value.hint
    assert caught.value.exit_code == 3
