"""The step markers: thin wrappers around what a training loop calls once a step.

They are present in timing children too (a step has to be marked somehow) and cost well under a microsecond each. SOT
must never translate them: ``register_skip_prefix`` tells it that this package is not the user's code.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any

from sotprobe.capture.child.steps import Steps


def register_skip_prefix() -> None:
    """Keep SOT from translating sotprobe's own frames (additive; core.eval_frame_skip_file_prefix, Paddle 2.6-3.3)."""
    from sotprobe.paddle_compat.hooks.access import skip_files_below

    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    skip_files_below(os.path.join(package, ""))


def outside_sot(work: Callable[[], None]) -> None:
    """Do ``work`` with SOT's frame hook off: what sotprobe does between steps (json, zipfile) would be translated otherwise.

    Where nothing is under to_static at the moment there is no hook, and this changes nothing. A context manager would not
    do: SOT puts the hook back when the frame that took it off returns (eval_frame.c).
    """
    from paddle.framework import core

    hook = core.set_eval_frame(None)
    try:
        work()
    finally:
        core.set_eval_frame(hook)


class StaticCalls:
    """Marks outermost calls of to_static callables, in both modes (``StaticFunction.__call__`` runs in both).

    ``on_enter``/``on_exit`` bracket each call for the attribution, ``on_return(args, kwargs, outputs)`` serves parity,
    ``on_call(args, kwargs)`` the hooks. The first callable seen is the clock.
    """

    def __init__(self, steps: Steps):
        self._steps = steps
        self._depth = 0
        self._clock: Any = None
        self.on_call: list[Callable[[tuple, dict], None]] = []
        self.on_enter: list[Callable[[], None]] = []
        self.on_exit: list[Callable[[], None]] = []
        self.on_return: list[Callable[[tuple, dict, Any], None]] = []

    def install(self) -> None:
        from sotprobe.paddle_compat.hooks.access import static_function_class

        StaticFunction = static_function_class()
        original = StaticFunction.__call__
        calls = self

        @functools.wraps(original)
        def __call__(self, *args, **kwargs):
            if calls._depth or not calls._steps.here():
                return original(self, *args, **kwargs)
            return calls.run(lambda: original(self, *args, **kwargs), args, kwargs, key=_identity(self))

        StaticFunction.__call__ = __call__

    def run(self, call: Callable[[], Any], args: tuple, kwargs: dict, *, key: Any = None) -> Any:
        """Run one outermost call, marking it."""
        if key is not None:
            self._mark(key)
        self._depth += 1
        for hook in self.on_call:
            hook(args, kwargs)
        for hook in self.on_enter:
            hook()
        try:
            outputs = call()
        finally:
            self._depth -= 1
            for hook in self.on_exit:
                hook()
        for hook in self.on_return:
            hook(args, kwargs, outputs)
        return outputs

    def _mark(self, key: Any) -> None:
        steps = self._steps
        steps.check_finished()
        if self._clock is None:
            self._clock = key
        if key == self._clock and steps.is_clock("call"):
            if steps.index >= 0:
                steps.close("call")
            steps.open("call")


def _identity(static_function: Any) -> Any:
    """What tells one to_static callable from another: its code, and the Layer object it belongs to."""
    function = static_function._dygraph_function
    instance = static_function._class_instance
    return (getattr(function, "__code__", function), None if instance is None else id(instance()))


class OptimizerSteps:
    """A step ends when the first optimizer that steps has stepped.

    ``Optimizer.step`` itself stays as it is: a training step that is under to_static as a whole would have SOT simulate a
    wrapper of it. ``_apply_optimize``, which every ``step`` of Paddle 3.0-3.3 but LBFGS's ends in (once for each parameter
    group), is only reached at run time, behind the graph break that ``step`` is.
    """

    def __init__(self, steps: Steps):
        self._steps = steps
        self._first: int | None = None
        self.before_step: list[Callable[[Any], None]] = []

    def install(self) -> None:
        from paddle.optimizer import Optimizer

        original = Optimizer._apply_optimize

        @functools.wraps(original)
        def _apply_optimize(optimizer, loss, startup_program, params_grads, param_group_idx=0):
            if not self._steps.here():
                return original(optimizer, loss, startup_program, params_grads, param_group_idx)
            if param_group_idx == 0:
                outside_sot(lambda: self._before(optimizer))
            result = original(optimizer, loss, startup_program, params_grads, param_group_idx)
            if id(optimizer) == self._first and param_group_idx == _groups(optimizer) - 1:
                outside_sot(lambda: self._steps.switch("optimizer"))
            return result

        Optimizer._apply_optimize = _apply_optimize

    def _before(self, optimizer: Any) -> None:
        self._steps.check_finished()
        if self._first is None:
            self._first = id(optimizer)
        if id(optimizer) == self._first:
            self._steps.expect("optimizer")
            for hook in self.before_step:
                hook(optimizer)


def _groups(optimizer: Any) -> int:
    groups = optimizer._param_groups
    return len(groups) if groups and isinstance(groups[0], dict) else 1


def mark_backward(steps: Steps) -> None:
    """Remember the tensor whose ``backward`` the program calls: it is the step's loss.

    ``run_backward`` is what ``Tensor.backward`` and ``paddle.autograd.backward`` end in (Paddle 3.0-3.3); like
    ``_apply_optimize`` it lies behind a graph break, so SOT never simulates the wrapper.
    """
    from paddle.base import core

    original = core.eager.run_backward

    def run_backward(tensors, *args, **kwargs):
        if steps.here() and tensors:
            steps.set_loss(tensors[0])
        return original(tensors, *args, **kwargs)

    core.eager.run_backward = run_backward


def mark_function(steps: Steps, owner: Any, name: str) -> None:
    """Make every call of ``owner.name`` a step (``--step-on``). The outermost call counts."""
    original = getattr(owner, name)
    depth = 0

    @functools.wraps(original)
    def marked(*args, **kwargs):
        nonlocal depth
        if depth or not steps.here():
            return original(*args, **kwargs)
        steps.check_finished()
        outside_sot(lambda: steps.open("function"))
        depth += 1
        try:
            result = original(*args, **kwargs)
        finally:
            depth -= 1
        outside_sot(lambda: steps.close("function"))
        return result

    setattr(owner, name, marked)
