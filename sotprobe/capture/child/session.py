"""One run of the user's program: what is installed around it, and how it ends."""

from __future__ import annotations

import random
import sys
from typing import Any

from sotprobe.capture.child import nvprof
from sotprobe.capture.child.case import run_case
from sotprobe.capture.child.emit import Emitter
from sotprobe.capture.child.ending import record_error, user_site
from sotprobe.capture.child.job import Job
from sotprobe.capture.child.markers import OptimizerSteps, StaticCalls, mark_backward, register_skip_prefix
from sotprobe.capture.child.refuse import REFUSED, Refused
from sotprobe.capture.child.script import run_script
from sotprobe.capture.child.stepplan import StepPlan
from sotprobe.capture.child.steps import StepLimit, Steps
from sotprobe.capture.child.translations import TranslationCount
from sotprobe.capture.child.userfiles import is_user_file


class Session:
    """Installs the markers, and in a diagnosing child the hooks; runs the program; writes how it ended."""

    def __init__(self, job: Job, emit: Emitter, plan: StepPlan, paddle: Any):
        self._job = job
        self._emit = emit
        gpu = bool(paddle.is_compiled_with_cuda())
        counter = TranslationCount(static=job.static, full_graph=job.full_graph)
        synchronize = paddle.device.synchronize if gpu else None
        self._steps = Steps(emit, plan, counter, synchronize=synchronize)
        self._calls = StaticCalls(self._steps)
        self._optimizers = OptimizerSteps(self._steps)
        self._parity: Any = None
        self._attribution: Any = None
        paddle.jit.enable_to_static(job.static)
        register_skip_prefix()
        nvprof.install(self._steps, emit, plan, window=job.window, gpu_build=gpu)
        self._calls.install()
        self._optimizers.install()
        mark_backward(self._steps)
        if job.purpose != "timing":
            self._install_parity()
        if job.purpose == "diagnosis":
            self._install_diagnosis()
        _seed(paddle, job.seed)

    def run(self) -> int:
        """Run the program to its end; the process's exit code."""
        job, emit, steps = self._job, self._emit, self._steps
        try:
            if job.kind == "case":
                run_case(job, steps, self._calls, self._parity)
            else:
                run_script(job, steps)
        except Refused as refusal:
            steps.finish()
            emit.now("refused", message=refusal.message, hint=refusal.hint, slug=refusal.slug)
            return REFUSED
        except StepLimit:
            return self._end("step-limit", 0)
        except ImportError as error:
            if steps.index >= 0:
                return self._failed(error)
            return self._not_importable(error)
        except SystemExit as end:
            code = int(end.code) if isinstance(end.code, int) else int(end.code is not None)
            if steps.finished:  # exit_after_prof, or a test runner that swallowed the step limit
                return self._end("step-limit", 0)
            if isinstance(end.code, str):
                print(end.code, file=sys.stderr)
            return self._end("system-exit", code)
        except BaseException as error:  # noqa: BLE001 - whatever ends the user's program is recorded and shown as is
            return self._failed(error)
        return self._end("step-limit" if steps.finished else "returned", 0)

    def _failed(self, error: BaseException) -> int:
        if self._steps.finished:
            return self._end("step-limit", 0)
        record_error(self._emit, error, step=self._steps.index)
        self._steps.finish(clean=False)
        self._emit.now("end", reason="error", code=1)
        sys.excepthook(type(error), error, error.__traceback__)
        return 1

    def _not_importable(self, error: ImportError) -> int:
        """The program needs something that is not installed: no mode can run it."""
        self._failed(error)
        site = user_site(error)
        where = self._job.given
        if site:
            path = where if site["path"] == self._job.path else site["path"]
            where = f"{path}:{site['line']}"
        self._emit.now(
            "refused",
            message=f"{where}: {error}",
            hint="install what the program imports in this Python, or run sotprobe with the Python that has it",
            slug="import-error",
        )
        return REFUSED

    def _end(self, reason: str, code: int) -> int:
        self._steps.finish()
        if self._attribution is not None:
            self._attribution.close()
        self._emit.now("end", reason=reason, code=code)
        return code

    def _install_parity(self) -> None:
        from sotprobe.capture.child.parity import ParityRecorder

        self._parity = ParityRecorder(self._emit, self._job, self._steps)
        self._steps.listen(self._parity)
        self._calls.on_return.append(self._parity.returned)
        self._optimizers.before_step.append(self._parity.optimizer_gradients)

    def _install_diagnosis(self) -> None:
        from sotprobe.capture.child.attribution import Attribution

        seen_codes = None
        if self._job.static and not self._job.full_graph:
            from sotprobe.paddle_compat.hooks import SotRecorder

            recorder = SotRecorder(self._emit, is_user_file, lambda: self._steps.index)
            recorder.install()
            self._steps.listen(_HookSteps(recorder))
            self._calls.on_call.append(recorder.called)
            seen_codes = recorder.seen_codes
        self._attribution = Attribution(
            self._emit, is_user_file, seen_codes=seen_codes, mode=self._job.mode, harness=self._job.kind == "case"
        )
        self._steps.listen(self._attribution, innermost=True)
        self._calls.on_enter.append(self._attribution.enter_static)
        self._calls.on_exit.append(self._attribution.leave_static)


class _HookSteps:
    """The SOT recorder as a listener of the step clock."""

    def __init__(self, recorder: Any):
        self._recorder = recorder

    def begin_step(self, index: int) -> None:
        """The recorder asks for the step itself."""

    def end_step(self, index: int) -> None:
        self._recorder.end_step(index)


def _seed(paddle: Any, seed: int) -> None:
    import numpy

    random.seed(seed)
    numpy.random.seed(seed % 2**32)
    paddle.seed(seed)
