"""``record``: one diagnosing run of one mode, saved for later."""

from __future__ import annotations

from sotprobe.capture import launch, rundir
from sotprobe.model import Diagnosis
from sotprobe.model.run import DIAGNOSIS
from sotprobe.workflows.compare import Progress, Request, interrupted, prepare, ticker
from sotprobe.workflows.show import diagnose_run


def record(request: Request, progress: Progress | None = None) -> Diagnosis:
    """Run the only mode of ``request`` in a diagnosing child. Errors as in ``compare``."""
    (mode,) = request.modes
    program = prepare(request)
    job = request.job(program, mode, DIAGNOSIS)
    run_dir = rundir.create_single_run(job, request.out)
    try:
        launch.run_job(job, run_dir, ticker(progress, f"recording {mode} mode"))
    except KeyboardInterrupt as stop:
        raise interrupted(run_dir, stop) from stop
    return diagnose_run(run_dir)
