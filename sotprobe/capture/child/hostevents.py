"""Operator events of Paddle's profiler, taken in process.

The core profiler is used without ``paddle.profiler.Profiler``: that class wraps every optimizer for good and switches
``RecordEvent`` on (``paddle/profiler/profiler.py``, Paddle 3.0-3.3). Only one profiler object may be alive in a process;
the program's own goes first.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Iterator
from typing import Any

from sotprobe.capture.child.opjoin import Execution, Operator

_HOST = 1  # ProfilerOptions.trace_switch: host events only
_EAGER_SUFFIX = " dygraph"
_COMPILED_PREFIXES = ("pd_op.", "builtin", "cinn_op.", "onednn_op.", "custom_op.", "pd_kernel.", "onednn_kernel.")
_EXECUTOR_RUN = "interpreter_core_run"
_GRAD_NODE = "Global_"


class HostEvents:
    """Records operator events between ``start`` and ``stop``.

    ``give_way`` is called, in the program's thread, right before the program builds a profiler of its own: it must call
    ``stop`` or ``discard``.
    """

    def __init__(self, give_way: Callable[[], None]):
        self._give_way = give_way
        self._profiler: Any = None
        self._unwrapped: Any = None

    def start(self) -> bool:
        """False when a profiler of the program is alive."""
        core = importlib.import_module("paddle").base.core
        options = core.ProfilerOptions()
        options.trace_switch = _HOST
        profiler = core._Profiler.create(options, [])
        if profiler is None:
            return False
        profiler.prepare()
        profiler.start()
        self._profiler = profiler
        self._wrap()
        return True

    def stop(self) -> tuple[list[Operator], list[Execution]]:
        """The events recorded; nothing of the profiler stays alive."""
        profiler, self._profiler = self._profiler, None
        self._unwrap()
        result = profiler.stop()
        operators: list[Operator] = []
        executions: list[Execution] = []
        for thread, root in result.get_data().items():
            for node in root.children_node:
                _collect(node, thread, operators, executions)
        return operators, executions

    def discard(self) -> None:
        """Stop and forget."""
        profiler, self._profiler = self._profiler, None
        self._unwrap()
        if profiler is not None:
            profiler.stop()

    def abandon(self) -> None:
        """In a forked child: let go of the profiler, so that the child may have one of its own."""
        self._profiler = None
        self._unwrap()

    def _wrap(self) -> None:
        profiler_class = importlib.import_module("paddle.profiler").Profiler
        original = profiler_class.__init__
        give_way = self._give_way

        @functools.wraps(original)
        def init(profiler: Any, *args: Any, **kwargs: Any) -> None:
            give_way()
            original(profiler, *args, **kwargs)

        profiler_class.__init__ = init
        self._unwrapped = (profiler_class, init, original)

    def _unwrap(self) -> None:
        if self._unwrapped is None:
            return
        profiler_class, ours, original = self._unwrapped
        self._unwrapped = None
        if profiler_class.__init__ is ours:
            profiler_class.__init__ = original


def _collect(top: Any, thread: int, operators: list[Operator], executions: list[Execution]) -> None:
    """Add every operator below ``top``, an event without parent.

    The backward run of a subgraph is a gradient node that runs the executor; its class is called differently in every
    release (GradNodeRunProgram, GradNodeBase, Dy2StGradNode).
    """
    # (node, inside a subgraph's run)
    waiting = [(top, False)]
    while waiting:
        node, compiled = waiting.pop()
        name = node.name
        children = node.children_node
        if name == _EXECUTOR_RUN:
            if not compiled:
                executions.append(_execution(node, thread, backward=False))
            compiled = True
        if node.type.name == "Operator":
            inner = sum(child.end_ns - child.start_ns for child in _operators_below(children))
            runs_executor = name.startswith(_GRAD_NODE) and any(child.name == _EXECUTOR_RUN for child in children)
            if runs_executor:
                executions.append(_execution(node, thread, backward=True))
            own = compiled or runs_executor or name.startswith(_COMPILED_PREFIXES)
            duration = max(node.end_ns - node.start_ns - inner, 0)
            operators.append(Operator(name.removesuffix(_EAGER_SUFFIX), node.start_ns, duration, thread, own))
            compiled = compiled or runs_executor
        waiting.extend((child, compiled) for child in children)


def _execution(node: Any, thread: int, *, backward: bool) -> Execution:
    runs = [child for child in node.children_node if child.name == _EXECUTOR_RUN] if backward else [node]
    names = frozenset(operator.name for run in runs for operator in _operators_below(run.children_node))
    return Execution(node.start_ns, node.end_ns - node.start_ns, thread, backward, names)


def _operators_below(nodes: list[Any]) -> Iterator[Any]:
    """The outermost operators among ``nodes`` and what is below them."""
    for node in nodes:
        if node.type.name == "Operator":
            yield node
        else:
            yield from _operators_below(node.children_node)
