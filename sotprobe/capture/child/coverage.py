"""Which user lines ran in a step."""

from __future__ import annotations

from collections import defaultdict
from types import FrameType

from sotprobe.capture.child.eagerframes import EagerFrames
from sotprobe.capture.child.usercode import UserCode


class Coverage:
    """Lines by path. Lines of code that SOT compiled are left to the simulation, which knows them all."""

    def __init__(self) -> None:
        self._lines: defaultdict[str, dict[int, str]] = defaultdict(dict)

    def add(self, user: UserCode, line: int) -> None:
        if not user.compiled:
            self._lines[user.path][line] = user.function

    def rows(self) -> list[list[object]]:
        """As ``coverage`` records write it: [path, [line, ...], {line: function}]."""
        return [
            [path, sorted(lines), {str(line): lines[line] for line in sorted(lines)}]
            for path, lines in sorted(self._lines.items())
        ]


class Survey:
    """A watcher of one step: its lines and, in a step with ``frames``, what started as itself below to_static."""

    def __init__(self, frames: EagerFrames | None):
        self.coverage = Coverage()
        self.frames = frames

    def enter(self, user: UserCode, frame: FrameType) -> None:
        if self.frames is not None:
            self.frames.enter(user, frame)

    def line(self, user: UserCode, line: int) -> None:
        self.coverage.add(user, line)

    def leave(self, frame: FrameType) -> None:
        """Where a frame returns to began its line before."""
