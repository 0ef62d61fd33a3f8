"""Runs a case file: the harness owns the loop.

A case file has ``func(*inputs)`` or ``model()``, and ``init()`` (with a ``step`` parameter: called each step) for the inputs.
Optional: ``input_spec()``, ``build_strategy()`` (both only matter to to_static), ``loss(outputs)``, ``optimizer(model)`` and
``batch_size`` (a number or a function).
"""

from __future__ import annotations

import importlib.util
import inspect
import os
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from sotprobe.capture.child.job import Job
from sotprobe.capture.child.markers import StaticCalls
from sotprobe.capture.child.refuse import Refused
from sotprobe.capture.child.steps import Steps
from sotprobe.capture.child.userfiles import put_first


def run_case(job: Job, steps: Steps, calls: StaticCalls, parity: Any = None) -> None:
    """Import the case and step it until the plan has enough (StepLimit)."""
    module = _load(job)
    layer, target = _target(module, job.given)
    if job.static:
        target = _to_static(module, target, full_graph=job.full_graph)
    steps.batch_size = job.batch_size if job.batch_size is not None else _batch_size(module)
    optimizer = _optimizer(module, layer)
    loss_of = getattr(module, "loss", None)
    inputs_at = _inputs(module, job.given)
    call = _caller(target, calls, wrapped=job.static)
    index = 0
    while True:
        args, kwargs = inputs_at(index)
        steps.open("case")
        outputs = call(args, kwargs)
        if loss_of is not None:
            loss = loss_of(outputs)
            steps.set_loss(loss)
            if not loss.stop_gradient:
                loss.backward()
            if optimizer is not None:
                optimizer.step()  # marked: parity sees the gradients just before it
                optimizer.clear_grad()
        if optimizer is None and parity is not None:
            parity.gradients(_named_gradients(layer, args))
        steps.close("case")
        if optimizer is None:
            _clear_gradients(layer, args)
        index += 1


def _load(job: Job) -> ModuleType:
    directory = os.path.dirname(job.path)
    put_first(directory)
    sys.argv = [job.given, *job.arguments]
    name = os.path.splitext(os.path.basename(job.path))[0]
    spec = importlib.util.spec_from_file_location(name, job.path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _target(module: ModuleType, given: str) -> tuple[Any, Callable]:
    """(the Layer or None, what to call). ``model`` and ``func`` may be a factory, a Layer or a plain function."""
    from paddle.nn import Layer

    for name in ("model", "func"):
        value = getattr(module, name, None)
        if value is None:
            continue
        if isinstance(value, Layer):
            return value, value
        if name == "model" or (isinstance(value, type) and issubclass(value, Layer)):
            value = value()
            return value if isinstance(value, Layer) else None, value
        if callable(value):
            return None, value
    raise Refused(
        f"{given} has neither a callable func nor a callable model",
        "define func(*inputs), or model() that returns a Layer, and init() that returns the inputs",
        slug="no-callable",
    )


def _to_static(module: ModuleType, target: Callable, *, full_graph: bool) -> Callable:
    import paddle

    options: dict[str, Any] = {"full_graph": full_graph}
    if hasattr(module, "build_strategy"):
        options["build_strategy"] = module.build_strategy()
    if full_graph and hasattr(module, "input_spec"):  # SOT takes no input_spec and warns (Paddle 3.0-3.3)
        options["input_spec"] = module.input_spec()
    return paddle.jit.to_static(target, **options)


def _optimizer(module: ModuleType, layer: Any) -> Any:
    factory = getattr(module, "optimizer", None)
    if factory is None:
        return None
    return factory(layer) if inspect.signature(factory).parameters else factory()


def _batch_size(module: ModuleType) -> int | None:
    value = getattr(module, "batch_size", None)
    return value() if callable(value) else value


def _inputs(module: ModuleType, given: str) -> Callable[[int], tuple[tuple, dict]]:
    init = getattr(module, "init", None)
    if not callable(init):
        raise Refused(f"{given} has no init()", "define init() that returns the inputs of func or model", slug="no-init")
    if "step" in inspect.signature(init).parameters:
        return lambda step: _arguments(init(step=step))
    fixed = _arguments(init())
    return lambda step: fixed


def _arguments(value: Any) -> tuple[tuple, dict]:
    if isinstance(value, dict):
        return (), value
    if isinstance(value, (tuple, list)):
        return tuple(value), {}
    return (value,), {}


def _caller(target: Callable, calls: StaticCalls, *, wrapped: bool) -> Callable[[tuple, dict], Any]:
    """In static mode StaticFunction.__call__ marks the call itself; in dynamic mode there is none to mark it."""
    if wrapped:
        return lambda args, kwargs: target(*args, **kwargs)
    return lambda args, kwargs: calls.run(lambda: target(*args, **kwargs), args, kwargs)


def _named_gradients(layer: Any, args: tuple) -> list[tuple[str, Any]]:
    named = list(layer.named_parameters()) if layer is not None else []
    named += [(f"inputs[{i}]", value) for i, value in enumerate(args)]
    return [(name, getattr(value, "grad", None)) for name, value in named]


def _clear_gradients(layer: Any, args: tuple) -> None:
    for tensor in [*(layer.parameters() if layer is not None else ()), *args]:
        if getattr(tensor, "grad", None) is not None:
            tensor.clear_gradient()
