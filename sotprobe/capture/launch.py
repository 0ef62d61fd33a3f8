"""Runs one child process and says how it ended; whatever the program does, its directory stays readable.

The child gets a session of its own, an empty standard input and pipes for its output. Everything it started is killed
when it ends, so that nothing of one round runs beside the next.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import selectors
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from sotprobe.capture import rundir
from sotprobe.capture.rundir import Job
from sotprobe.capture.tee import CappedFile
from sotprobe.errors import CaptureError, InputError, SotprobeError
from sotprobe.paddle_compat import flags

TERMINATE_GRACE_S = 5.0  # from SIGTERM to SIGKILL after a timeout
DRAIN_S = 1.0  # for what is left in the pipes when the child has ended
POLL_S = 0.2  # how often to look without a pidfd, and how often to report progress
CHUNK = 1 << 16

# Marks every process of a run, so that those which left the child's process group are found as well.
MARK = "SOTPROBE_RUN"

START = str(Path(__file__).resolve().with_name("start.py"))

INSTALL_PADDLE = "install Paddle next to sotprobe: pip install 'sotprobe[cpu]'"

Tick = Callable[[float], None]
"""Called several times a second with the seconds since the child started."""


@dataclass(frozen=True)
class ChildExit:
    """How a child ended. ``signal`` is the name of the signal that killed it; ``code`` is None then."""

    code: int | None
    signal: str | None
    timed_out: bool
    wall_ns: int
    interrupted: bool = False


class Terminated(KeyboardInterrupt):
    """SIGTERM or SIGHUP reached sotprobe itself while a child was running."""


def check_paddle() -> None:
    """Raises CaptureError when Paddle is not installed; Paddle is not imported."""
    if importlib.util.find_spec("paddle") is None:
        raise CaptureError("Paddle is not installed", INSTALL_PADDLE, slug="no-paddle")


def run_job(job: Job, run_dir: Path, tick: Tick | None = None) -> ChildExit:
    """Run the child of ``job``, write ``exit.json`` and save the sources that its records name.

    Raises CaptureError when no program was reached (no process, no Paddle) and InputError when the child refused the job.
    """
    command = [job.python, START, str(run_dir)]
    environment = flags.child_environment(os.environ, job.env, job.options.seed)
    ended = run_command(command, run_dir, cwd=job.cwd, env=environment, timeout=job.options.timeout, tick=tick)
    _check_started(run_dir, ended)
    return ended


def run_command(
    command: Sequence[str],
    run_dir: Path,
    *,
    cwd: str,
    env: Mapping[str, str],
    timeout: float | None = None,
    tick: Tick | None = None,
) -> ChildExit:
    """Run ``command`` as the child of ``run_dir``; its end is in ``exit.json`` even when sotprobe is interrupted."""
    mark = f"{MARK}={uuid.uuid4().hex}"
    process = _start(command, cwd, {**env, MARK: mark.partition("=")[2]})
    watch = _Watch(process, timeout)
    try:
        with _interruptible(), _outputs(process, run_dir) as outputs:
            try:
                _follow(watch, outputs, tick)
            finally:
                _kill_all(process, mark)
                _drain(outputs)
    except KeyboardInterrupt:
        watch.interrupted = True
        raise
    finally:
        if process.returncode is None:  # its output could not be saved at all
            _kill_all(process, mark)
        ended = watch.result()
        rundir.write_json(run_dir / rundir.EXIT, asdict(ended))
        rundir.save_sources(run_dir, rundir.recorded_paths(run_dir))
    return ended


def _start(command: Sequence[str], cwd: str, env: Mapping[str, str]) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            command,
            cwd=cwd,
            env=dict(env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
    except OSError as error:
        hint = "check that the directory and the Python interpreter still exist"
        raise CaptureError(f"cannot start {command[0]} in {cwd}: {error.strerror}", hint, slug="no-start") from error


class _Watch:
    """The child's life: deadlines, and how it ended."""

    def __init__(self, process: subprocess.Popen[bytes], timeout: float | None):
        self.process = process
        self.started_ns = time.perf_counter_ns()
        self.ended_ns: int | None = None
        self.timed_out = False
        self.interrupted = False
        self._deadline_s = timeout
        self._kill_at_s: float | None = None

    @property
    def seconds(self) -> float:
        return (time.perf_counter_ns() - self.started_ns) / 1e9

    def ended(self) -> bool:
        if self.process.poll() is None:
            return False
        self.ended_ns = self.ended_ns or time.perf_counter_ns()
        return True

    def enforce(self) -> None:
        """Past the deadline ask the whole group to end, past the grace make it."""
        now = self.seconds
        if self._deadline_s is not None and now >= self._deadline_s and not self.timed_out:
            self.timed_out = True
            self._kill_at_s = now + TERMINATE_GRACE_S
            _signal_group(self.process.pid, signal.SIGTERM)
        elif self._kill_at_s is not None and now >= self._kill_at_s:
            self._kill_at_s = None
            _signal_group(self.process.pid, signal.SIGKILL)

    def result(self) -> ChildExit:
        code = self.process.wait()
        wall_ns = (self.ended_ns or time.perf_counter_ns()) - self.started_ns
        name = _signal_name(-code) if code < 0 else None
        return ChildExit(None if name else code, name, self.timed_out, wall_ns, self.interrupted)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal has no name of its own
        return f"SIG{number}"


def _follow(watch: _Watch, outputs: _Outputs, tick: Tick | None) -> None:
    """Copy output until the child has ended."""
    with _exit_notice(watch.process, outputs):
        while not watch.ended():
            outputs.copy(POLL_S)
            watch.enforce()
            if tick is not None:
                tick(watch.seconds)


class _Outputs:
    """The child's pipes and the files they go to."""

    def __init__(self) -> None:
        self.selector = selectors.DefaultSelector()

    def copy(self, wait_s: float) -> bool:
        """Copy what is there, waiting for something at most ``wait_s`` seconds. False when nothing came."""
        copied = False
        for key, _ in self.selector.select(wait_s):
            if key.data is None:  # the child's exit
                continue
            copied = True
            data = os.read(key.fd, CHUNK)
            if data:
                key.data.write(data)
            else:
                self.selector.unregister(key.fileobj)
        return copied


@contextlib.contextmanager
def _outputs(process: subprocess.Popen[bytes], run_dir: Path) -> Iterator[_Outputs]:
    outputs = _Outputs()
    with contextlib.ExitStack() as stack:
        stack.callback(outputs.selector.close)
        for pipe, name in ((process.stdout, rundir.STDOUT), (process.stderr, rundir.STDERR)):
            sink = CappedFile(run_dir / name)
            stack.callback(sink.close)
            stack.callback(pipe.close)
            outputs.selector.register(pipe, selectors.EVENT_READ, sink)
        yield outputs


@contextlib.contextmanager
def _exit_notice(process: subprocess.Popen[bytes], outputs: _Outputs) -> Iterator[None]:
    """Wake the selector when the child ends, where the system can (Linux); elsewhere it is polled."""
    try:
        notice = os.pidfd_open(process.pid)
    except (AttributeError, OSError):
        yield
        return
    outputs.selector.register(notice, selectors.EVENT_READ, None)
    try:
        yield
    finally:
        outputs.selector.unregister(notice)
        os.close(notice)


def _drain(outputs: _Outputs) -> None:
    """Copy what is left in the pipes. Bounded: a process that escaped may hold them open and go on printing."""
    deadline = time.monotonic() + DRAIN_S
    while outputs.selector.get_map() and time.monotonic() < deadline:
        outputs.copy(max(0.0, deadline - time.monotonic()))


def _kill_all(process: subprocess.Popen[bytes], mark: str) -> None:
    """Kill the child if it still runs, its process group, and every process that carries its mark."""
    _signal_group(process.pid, signal.SIGKILL)
    for pid in _marked(mark.encode()):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
    process.wait()


def _signal_group(pid: int, number: signal.Signals) -> None:
    # A group lives as long as any member; called right after the child's end, before its number can be given away again.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)


def _marked(mark: bytes) -> Iterator[int]:
    """Processes with ``mark`` in their environment, as Linux's /proc tells; none elsewhere."""
    for entry in Path("/proc").glob("[0-9]*/environ"):
        try:
            environment = entry.read_bytes()
        except OSError:  # not ours, or gone
            continue
        if mark in environment.split(b"\0"):
            yield int(entry.parent.name)


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """Turn SIGTERM and SIGHUP into an exception, so that no child outlives sotprobe."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: object) -> None:
        raise Terminated(signal.Signals(number).name)

    # What is ignored stays so: `nohup sotprobe ...` must outlive its terminal.
    caught = [number for number in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) is not signal.SIG_IGN]
    previous = {number: signal.signal(number, stop) for number in caught}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _check_started(run_dir: Path, ended: ChildExit) -> None:
    """Raise for a child that never got to the program."""
    if ended.timed_out or not (ended.code or ended.signal):
        return
    kinds = {record.get("kind"): record for record in rundir.read_records(run_dir)}
    if not kinds:
        raise _not_started(run_dir, ended)
    if "refused" in kinds:
        raise _refused(kinds["refused"])


def _not_started(run_dir: Path, ended: ChildExit) -> CaptureError:
    how = f"was killed by {ended.signal}" if ended.signal else f"ended with exit code {ended.code}"
    lines = (run_dir / rundir.STDERR).read_text(encoding="utf-8", errors="replace").strip().splitlines()
    last = f": {lines[-1].strip()}" if lines else ""
    if any("import paddle" in line for line in lines) or "paddle" in last.lower():
        return CaptureError(f"Paddle cannot be imported{last}", f"try: {sys.executable} -c 'import paddle'", slug="no-paddle")
    return CaptureError(f"the child {how} before the program started{last}", f"see {run_dir / rundir.STDERR}", slug="no-start")


def _refused(record: Mapping[str, object]) -> SotprobeError:
    message = str(record.get("message") or "the child could not carry out the job")
    return InputError(message, str(record.get("hint") or "see sotprobe compare --help"))
