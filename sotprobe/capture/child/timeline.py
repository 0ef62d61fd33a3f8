"""Which user line every thread was on, at every moment of a window."""

from __future__ import annotations

import sys
import threading
import time
from array import array
from types import FrameType
from typing import NamedTuple

from sotprobe.capture.child.usercode import UserCode, UserCodes


class Line(NamedTuple):
    """A user line. ``compiled``: in code that SOT wrote in place of a frame, so that only what is called from it ran
    eagerly. ``inside``: during a to_static call."""

    path: str
    line: int
    function: str
    inside: bool
    compiled: bool


class SubgraphRun(NamedTuple):
    """The run of a subgraph, by its name."""

    name: str


Key = Line | SubgraphRun | None
NOWHERE = 0  # the number of None: no user frame on the stack


class TooLong(RuntimeError):
    """The window holds more events than are worth their memory."""


class Keys:
    """Numbers for lines and subgraphs; the same in every window.

    While tracing, plain tuples stand for them: SOT would translate the generated constructor of a named tuple or a
    dataclass, whose code is in no file that could be skipped.
    """

    def __init__(self) -> None:
        self._numbers: dict[tuple, int] = {}
        self._made: list[tuple] = []

    def subgraph(self, name: str) -> int:
        return self._number((name,))

    def line(self, user: UserCode, line: int, inside: bool) -> int:
        table = user.key_tables[inside]
        number = table.get(line)
        if number is None:
            number = table[line] = self._number((user.path, line, user.function, inside, user.compiled))
        return number

    def __getitem__(self, number: int) -> Key:
        if number == NOWHERE:
            return None
        made = self._made[number - 1]
        return SubgraphRun(*made) if len(made) == 1 else Line(*made)

    def _number(self, key: tuple) -> int:
        number = self._numbers.get(key)
        if number is None:
            self._made.append(key)
            number = self._numbers[key] = len(self._made)
        return number


class Track:
    """One thread's timeline: from ``times[i]`` on it was at ``marks[i]`` (key number * 2, plus 1 when a line began)."""

    __slots__ = ("inside", "marks", "times")

    def __init__(self, inside: bool = False):
        self.times = array("q")  # time.time_ns: the clock of Paddle's profiler
        self.marks = array("l")
        self.inside = inside

    def mark(self, mark: int) -> None:
        self.times.append(time.time_ns())
        self.marks.append(mark)


class Timeline:
    """A watcher that records where every thread is."""

    LONGEST = 20_000_000  # events of one thread, 12 to 16 bytes each

    def __init__(self, codes: UserCodes, keys: Keys, inside: bool):
        self._codes = codes
        self._keys = keys
        self._local = threading.local()
        self._tracks: list[tuple[int, Track]] = []
        self._owner_inside = inside
        self.mark_here(sys._getframe(1))

    def tracks(self) -> dict[int, Track]:
        """The timelines by the system's thread number (which the system gives again to later threads)."""
        merged: dict[int, Track] = {}
        for thread, track in self._tracks:
            if thread in merged:
                merged[thread].times.extend(track.times)
                merged[thread].marks.extend(track.marks)
            else:
                merged[thread] = track
        return merged

    @property
    def length(self) -> int:
        """Events so far, of all threads."""
        return sum(len(track.times) for _, track in self._tracks)

    def enter(self, user: UserCode, frame: FrameType) -> None:
        track = self._track()
        if len(track.times) > self.LONGEST:
            raise TooLong(f"more than {self.LONGEST} line events in one window")
        track.mark(self._keys.line(user, user.line_of(frame), track.inside) * 2)

    def line(self, user: UserCode, line: int) -> None:
        track = self._track()
        number = user.key_tables[track.inside].get(line) or self._keys.line(user, line, track.inside)
        track.times.append(time.time_ns())
        track.marks.append(number * 2 + 1)

    def leave(self, frame: FrameType) -> None:
        self.mark_here(frame.f_back)

    def mark_here(self, frame: FrameType | None) -> None:
        """From now on the thread is where ``frame``, or the innermost user frame around it, stands."""
        track = self._track()
        above = self._codes.above(frame)
        if above is None:
            track.mark(NOWHERE * 2)
        else:
            user, standing = above
            track.mark(self._keys.line(user, user.line_of(standing), track.inside) * 2)

    def set_inside(self, inside: bool, frame: FrameType | None) -> None:
        """The calling thread enters or leaves the outermost to_static call."""
        self._owner_inside = self._track().inside = inside
        self.mark_here(frame)

    def begin_subgraph(self, name: str) -> None:
        """From now on the thread runs a subgraph, until ``mark_here``."""
        self._track().mark(self._keys.subgraph(name) * 2 + 1)

    def _track(self) -> Track:
        try:
            return self._local.track
        except AttributeError:
            # A thread first seen during a to_static call is taken to have been started by it.
            track = self._local.track = Track(self._owner_inside)
            self._tracks.append((threading.get_native_id(), track))
            return track
