"""``compare``: run a program in both modes, then say why they differ."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from sotprobe.capture import launch, rundir
from sotprobe.capture.program import CASE, Program, classify
from sotprobe.capture.rundir import Job, Options
from sotprobe.errors import SotprobeError, UsageError
from sotprobe.model import Diagnosis, Run
from sotprobe.model.run import DIAGNOSIS, DYNAMIC, PARITY, STATIC, TIMING
from sotprobe.readers.rundir import read_run
from sotprobe.workflows.rounds import MOST_ROUNDS, settled
from sotprobe.workflows.show import diagnose_session, save_diagnosis, shown

MODES = (DYNAMIC, STATIC)
DEFAULT_TIMEOUT_S = 600.0

Progress = Callable[[str, float], None]
"""Called several times a second with what is running and for how many seconds."""


@dataclass(frozen=True)
class Request:
    """What the user asked of ``compare`` or ``record``.

    ``mode_arguments`` come after ``arguments``, per mode. ``rounds`` None: as many as a verdict needs.
    """

    program: str
    cwd: str
    arguments: tuple[str, ...] = ()
    modes: tuple[str, ...] = MODES
    rounds: int | None = None
    options: Options = field(default_factory=lambda: Options(timeout=DEFAULT_TIMEOUT_S))
    env: Mapping[str, str] = field(default_factory=dict)
    mode_arguments: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    out: Path | None = None

    def job(self, program: Program, mode: str, purpose: str, round_: int = 0) -> Job:
        arguments = self.arguments + self.mode_arguments.get(mode, ())
        return Job(mode, purpose, round_, program, arguments, self.cwd, self.options, self.env, sys.executable)


def compare(request: Request, progress: Progress | None = None) -> Diagnosis:
    """Time the modes in turn, diagnose each, and save everything in a session directory.

    A mode that fails does not keep the other from being measured. Raises InputError and CaptureError when the program
    cannot be run at all, and an error of exit code 130 when interrupted; what was recorded by then stays readable.
    """
    program = prepare(request)
    session = rundir.create_session(program, request.cwd, _options_json(request), request.out)
    child = _Children(session, progress)
    try:
        _time(request, program, child)
        _diagnose(request, program, child)
    except KeyboardInterrupt as stop:
        raise interrupted(session, stop) from stop
    diagnosis = diagnose_session(session)
    save_diagnosis(session, diagnosis)
    return diagnosis


def prepare(request: Request) -> Program:
    """What must hold before anything is written: the program can be run as asked, and Paddle is there."""
    program = classify(request.program, request.cwd)
    if program.kind == CASE and request.options.step_on is not None:
        hint = "leave it out, or give the training script instead of the case file"
        raise UsageError(f"--step-on: {program.given} is a case file, whose steps are the calls of func or model", hint)
    launch.check_paddle()
    return program


class _Children:
    """Runs one job after the other in a session."""

    def __init__(self, session: Path, progress: Progress | None):
        self._session = session
        self._progress = progress
        self._any_ran = False

    def run(self, job: Job, label: str) -> Path:
        """Run a job and return its directory; how it ended is written there.

        Before any child reached the program, a child that cannot run it at all is the user's to mend and ends the
        command; after that it is one mode's failure, and the other mode's result stays.
        """
        run_dir = rundir.create_run(self._session, job)
        try:
            launch.run_job(job, run_dir, ticker(self._progress, label))
        except SotprobeError:
            if not self._any_ran:
                raise
        self._any_ran = True
        return run_dir


def ticker(progress: Progress | None, label: str) -> launch.Tick | None:
    return None if progress is None else lambda seconds: progress(label, seconds)


def _time(request: Request, program: Program, child: _Children) -> None:
    """Timing rounds, the modes in turn so that a drift of the machine meets both."""
    alive = list(request.modes)
    failures: Counter[str] = Counter()
    runs: list[Run] = []
    for round_ in range(request.rounds or MOST_ROUNDS):
        for mode in tuple(alive):
            run_dir = child.run(request.job(program, mode, TIMING, round_), f"timing {mode} mode, round {round_ + 1}")
            runs.append(read_run(run_dir))
            if _failed(run_dir):
                failures[mode] += 1
                # A Python error or a timeout comes again; a signal may have been chance, so that mode gets one more try.
                if failures[mode] > 1 or not _by_signal(run_dir):
                    alive.remove(mode)
        if not alive or (request.rounds is None and settled(runs, alive, round_ + 1)):
            return


def _failed(run_dir: Path) -> bool:
    """Whether the child ended before the program did. A program's own exit code is no failure of its steps."""
    kinds = {record.get("kind") for record in rundir.read_records(run_dir)}
    return "error" in kinds or "end" not in kinds


def _by_signal(run_dir: Path) -> bool:
    ended = rundir.read_exit(run_dir)
    return bool(ended.get("signal")) and not ended.get("timed_out")


def _diagnose(request: Request, program: Program, child: _Children) -> None:
    """The diagnosing children. The dynamic one comes first: it saves what the others compare with."""
    reference = None
    if DYNAMIC in request.modes:
        run_dir = child.run(request.job(program, DYNAMIC, DIAGNOSIS), "diagnosing dynamic mode")
        reference = run_dir if _has_reference(run_dir) else None
    if STATIC in request.modes:
        child.run(request.job(program, STATIC, DIAGNOSIS).with_reference(reference), "diagnosing static mode")
        if reference:
            job = request.job(program, DYNAMIC, PARITY).with_reference(reference)
            child.run(job, "dynamic mode again, for the noise floor")


def _has_reference(run_dir: Path) -> bool:
    return any((run_dir / "parity").glob("*.npz"))


def _options_json(request: Request) -> dict[str, object]:
    return {
        "modes": list(request.modes),
        "rounds": request.rounds,
        "env": dict(request.env),
        "arguments": list(request.arguments),
        "mode_arguments": {mode: list(arguments) for mode, arguments in request.mode_arguments.items()},
        **asdict(request.options),
    }


def interrupted(directory: Path, stop: KeyboardInterrupt) -> SotprobeError:
    """The error that ends an interrupted command: what was recorded until then can still be shown."""
    code = 143 if isinstance(stop, launch.Terminated) else 130
    return SotprobeError(
        "interrupted; the child was stopped",
        f"what was recorded until then: sotprobe show {shown(directory)}",
        slug="interrupted",
        exit_code=code,
    )
