"""Trains a case file with nothing of sotprobe in the process: ``bare_case.py CASE dynamic|static STEPS``.

Prints the wall time of every step as a JSON list of nanoseconds. The loop is the one that a case file stands for; it is
written out here so that tools/bench_overhead.py compares sotprobe's figures with those of a plain script.
"""

from __future__ import annotations

import importlib.util
import inspect
import json
import random
import sys
import time

import numpy
import paddle


def main() -> None:
    path, mode, steps = sys.argv[1], sys.argv[2], int(sys.argv[3])
    for seed in (random.seed, numpy.random.seed, paddle.seed):
        seed(0)
    spec = importlib.util.spec_from_file_location("case", path)
    case = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(case)

    layer = case.model() if hasattr(case, "model") else None
    target = layer or case.func
    if mode == "static":
        target = paddle.jit.to_static(target, full_graph=False)
    optimizer = case.optimizer(layer) if hasattr(case, "optimizer") else None
    changes = "step" in inspect.signature(case.init).parameters
    inputs = None if changes else case.init()

    walls = []
    for index in range(steps):
        arguments = case.init(step=index) if changes else inputs
        start = time.perf_counter_ns()
        outputs = target(*arguments)
        if hasattr(case, "loss"):
            loss = case.loss(outputs)
            if not loss.stop_gradient:
                loss.backward()
            if optimizer is not None:
                optimizer.step()
                optimizer.clear_grad()
        walls.append(time.perf_counter_ns() - start)
        if optimizer is None:
            for tensor in (*(layer.parameters() if layer else ()), *arguments):
                tensor.clear_gradient()
    print(json.dumps(walls))


if __name__ == "__main__":
    main()
