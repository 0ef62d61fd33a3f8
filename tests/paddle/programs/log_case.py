"""Runs a case in the static mode with nothing of sotprobe in the process: ``log_case.py CASE STEPS [SCENARIO...]``.

The loop is the one that a case file stands for. A case that is a script runs as ``__main__``, its ``_nvprof_range`` without
effect: Paddle's own fails on CPU builds. A program with ``SCENARIOS`` runs each, or those that are named, for its own number
of steps.
"""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
import random
import runpy
import sys
import traceback

import numpy
import paddle
import paddle.profiler.utils


def main() -> None:
    path, steps = sys.argv[1], int(sys.argv[2])
    for seed in (random.seed, numpy.random.seed, paddle.seed):
        seed(0)
    spec = importlib.util.spec_from_file_location("case", path)
    case = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(case)
    if hasattr(case, "SCENARIOS"):
        run_scenarios(case.SCENARIOS, sys.argv[3:])
        return
    if hasattr(case, "init"):
        run(case, steps)
        return
    paddle.profiler.utils._nvprof_range = lambda *arguments, **options: contextlib.nullcontext()
    sys.argv = [path]
    runpy.run_path(path, run_name="__main__")


def run_scenarios(scenarios, wanted: list[str]) -> None:
    for name, (steps, call) in scenarios.items():
        if wanted and name not in wanted:
            continue
        print(f"scenario {name}", flush=True)
        for step in range(steps):
            try:
                call(step)
            except Exception:  # noqa: BLE001 - whatever a scenario raises is in the log
                traceback.print_exc()


def run(case, steps: int) -> None:
    layer = case.model() if hasattr(case, "model") else None
    target = paddle.jit.to_static(layer or case.func, full_graph=False)
    optimizer = case.optimizer(layer) if hasattr(case, "optimizer") else None
    changes = "step" in inspect.signature(case.init).parameters
    inputs = None if changes else case.init()
    for index in range(steps):
        arguments = case.init(step=index) if changes else inputs
        outputs = target(*arguments)
        if not hasattr(case, "loss"):
            continue
        loss = case.loss(outputs)
        if not loss.stop_gradient:
            loss.backward()
        if optimizer is not None:
            optimizer.step()
            optimizer.clear_grad()


if __name__ == "__main__":
    main()
