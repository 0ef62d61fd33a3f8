"""When subgraphs run: marks their forward runs on the timeline of a window."""

from __future__ import annotations

import functools
import sys
import time
from typing import Any

from sotprobe.capture.child.timeline import Timeline


class SubgraphRuns:
    """Wraps the call of SOT's compiled subgraphs as long as the program runs.

    Between ``begin`` and ``end`` every run is a stay of its own on the timeline, and the runs that built a node for the
    backward pass are remembered in order.
    """

    def __init__(self, enabled: bool):
        self._timeline: Timeline | None = None
        self._forwards: list[tuple[int, str]] = []
        self._wrapped: tuple[type, Any, Any] | None = None
        self._enabled = enabled

    def begin(self, timeline: Timeline) -> None:
        if self._enabled and self._wrapped is None:
            self._install()
        self._forwards = []
        self._timeline = timeline

    def end(self) -> list[tuple[int, str]]:
        """(end in time.time_ns, name) of the runs with a backward node."""
        self._timeline = None
        return self._forwards

    def uninstall(self) -> None:
        if self._wrapped is not None:
            owner, ours, original = self._wrapped
            self._wrapped = None
            if owner.__call__ is ours:
                owner.__call__ = original

    def _install(self) -> None:
        from sotprobe.paddle_compat.hooks.access import subgraph_class

        owner = subgraph_class()
        original = owner.__call__
        runs = self

        @functools.wraps(original)
        def call(wrapper: Any, *args: Any, **kwargs: Any) -> Any:
            timeline = runs._timeline
            if timeline is None:
                return original(wrapper, *args, **kwargs)
            name = wrapper.SIR.name
            timeline.begin_subgraph(name)
            try:
                outputs = original(wrapper, *args, **kwargs)
            finally:
                timeline.mark_here(sys._getframe(1))
            if any(getattr(output, "grad_fn", None) is not None for output in outputs):
                runs._forwards.append((time.time_ns(), name))
            return outputs

        owner.__call__ = call
        self._wrapped = (owner, call, original)
