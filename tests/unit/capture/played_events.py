"""A profiler and subgraph runs to play with, in a file that is not the program's."""

from __future__ import annotations

import threading
import time

from sotprobe.capture.child.opjoin import Operator


class PlayedEvents:
    """Stands for Paddle's profiler: one operator for every ``emit``."""

    def __init__(self) -> None:
        self.running = False
        self.refuse = False
        self.starts = 0
        self.operators: list[Operator] = []

    def start(self) -> bool:
        assert not self.running
        if self.refuse:
            return False
        self.running = True
        self.starts += 1
        self.operators = []
        return True

    def stop(self):
        assert self.running
        self.running = False
        return self.operators, []

    def discard(self) -> None:
        self.running = False

    def abandon(self) -> None:
        self.running = False

    def operator(self) -> None:
        if self.running:
            self.operators.append(Operator("scale", time.time_ns(), 1, threading.get_native_id(), False))


class PlayedRuns:
    """Stands for SOT's subgraphs: none run."""

    def begin(self, timeline) -> None:
        pass

    def end(self):
        return []

    def uninstall(self) -> None:
        pass
