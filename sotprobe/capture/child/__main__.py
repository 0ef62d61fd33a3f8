"""``python -m sotprobe.capture.child RUN_DIR``"""

from __future__ import annotations

import faulthandler
import os
import sys

from sotprobe.capture.child.emit import Emitter
from sotprobe.capture.child.job import Job, read_job
from sotprobe.capture.child.refuse import REFUSED, Refused
from sotprobe.capture.child.stepplan import StepPlan

STACKS_BEFORE_TIMEOUT_S = 2.0


def main() -> int:
    job = read_job(os.path.abspath(sys.argv[1]))
    emit = Emitter(job.file("records.jsonl"))
    try:
        core = _import_paddle(job, emit)
    except Refused as refusal:
        return _refuse(emit, refusal)
    _watch(job)
    session = _session(job, emit, core)
    return session.run()


def _refuse(emit: Emitter, refusal: Refused) -> int:
    emit.now("refused", message=refusal.message, hint=refusal.hint, slug=refusal.slug)
    return REFUSED


def _import_paddle(job: Job, emit: Emitter):
    if job.full_graph:
        os.environ["ENABLE_FALL_BACK"] = "False"  # the default of full_graph where the program gives none
    try:
        import paddle
    except ImportError as error:
        raise Refused(
            f"Paddle cannot be imported: {error}",
            "install it beside sotprobe: pip install 'sotprobe[cpu]', or paddlepaddle-gpu for a GPU machine",
            slug="no-paddle",
        ) from error
    import sotprobe.capture.child.environment as environment

    emit.now("start", **environment.describe(paddle))
    return paddle


def _watch(job: Job) -> None:
    """Python stacks of every thread at a fatal signal, and shortly before the parent's timeout ends the run.

    After the import of Paddle, whose own handlers (box with a C++ traceback) then still run behind these.
    """
    import signal

    stacks = open(job.file("stacks.txt"), "w", encoding="utf-8")  # noqa: SIM115 - faulthandler needs it open
    faulthandler.enable(file=stacks, all_threads=True)
    faulthandler.register(signal.SIGTERM, file=stacks, all_threads=True, chain=True)
    if job.timeout:
        early = max(job.timeout - STACKS_BEFORE_TIMEOUT_S, job.timeout * 0.8)
        faulthandler.dump_traceback_later(early, exit=False, file=stacks)


def _session(job: Job, emit: Emitter, paddle):
    from sotprobe.capture.child.session import Session

    return Session(job, emit, StepPlan(job), paddle)


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    sys.exit(code)
