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
    from paddle.framework import core

    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    core.eval_frame_skip_file_prefix((os.path.join(package, ""),))


class StaticCalls:
    """Marks outermost calls of to_static callables, in both modes (``StaticFunction.__call__`` runs in both).

    ``on_enter``/``on_exit`` bracket each call for the attribution, ``on_return(args, kwargs, outputs)`` serves parity. The
    first callable seen is the clock.
    """

    def __init__(self, steps: Steps):
        self._steps = steps
        self._depth = 0
        self._clock: Any = None
        self.on_enter: list[Callable[[], None]] = []
        self.on_exit: list[Callable[[], None]] = []
        self.on_return: list[Callable[[tuple, dict, Any], None]] = []

    def install(self) -> None:
        from paddle.jit.dy2static.program_translator import StaticFunction

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
    """A step ends when the first optimizer that steps has stepped."""

    def __init__(self, steps: Steps):
        self._steps = steps
        self._depth = 0
        self._first: int | None = None
        self.before_step: list[Callable[[Any], None]] = []

    def install(self) -> None:
        from paddle.optimizer import Optimizer

        pending = [Optimizer]
        while pending:
            cls = pending.pop()
            pending.extend(cls.__subclasses__())
            if "step" in cls.__dict__:
                cls.step = self._wrap(cls.__dict__["step"])

    def _wrap(self, original: Callable) -> Callable:
        @functools.wraps(original)
        def step(optimizer, *args, **kwargs):
            if self._depth or not self._steps.here():
                return original(optimizer, *args, **kwargs)
            self._steps.check_finished()
            if self._first is None:
                self._first = id(optimizer)
            mine = id(optimizer) == self._first
            if mine:
                self._steps.expect("optimizer")
                for hook in self.before_step:
                    hook(optimizer)
            self._depth += 1
            try:
                result = original(optimizer, *args, **kwargs)
            finally:
                self._depth -= 1
            if mine:
                self._steps.switch("optimizer")
            return result

        return step


def mark_backward(steps: Steps) -> None:
    """Remember the tensor whose ``backward`` the program calls: it is the step's loss."""
    import paddle

    original = paddle.Tensor.backward

    @functools.wraps(original)
    def backward(self, *args, **kwargs):
        if steps.here():
            steps.set_loss(self)
        return original(self, *args, **kwargs)

    paddle.Tensor.backward = backward


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
        steps.open("function")
        depth += 1
        try:
            result = original(*args, **kwargs)
        finally:
            depth -= 1
        steps.close("function")
        return result

    setattr(owner, name, marked)
