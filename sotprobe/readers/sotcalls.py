"""Which call of the program a line of a log belongs to: the nearest that a log has to a step."""

from __future__ import annotations

from collections.abc import Sequence

from sotprobe.readers.sotframes import Frame

# The counts of the candidates at some point of the log.
Moment = Sequence[int]

_MOST_CANDIDATES = 8
# Of the longest span, for a function to count as called all through the log.
_THROUGHOUT = 0.9


class Calls:
    """Counts the calls of the program's outermost function.

    A log says neither what a step is nor which of the frames it names was the outermost. A frame that is called from another,
    at a graph break, is logged after it and never without it, so of the functions that are called all through the log the
    first to be logged is taken. A function that is called once before training (a warm-up, an example for a summary) is not
    called all through it; of two that alternate (generator and discriminator) the first is as good as the other.

    That is only known at the end. Until then what happens is marked by a ``Moment``, from which ``step`` makes the number.
    """

    def __init__(self) -> None:
        self._candidates: list[_Candidate] = []
        self._known: set[int] = set()
        self._entries = 0
        self._since_run = True

    def entered(self, frame: Frame) -> None:
        self._entries += 1
        self._since_run = True
        if id(frame) in self._known:
            frame.last_entry = self._entries
        elif not frame.depth and len(self._candidates) < _MOST_CANDIDATES:
            self._known.add(id(frame))
            self._candidates.append(_Candidate(frame, self._entries))
            frame.last_entry = self._entries

    def ran(self) -> None:
        """A subgraph ran."""
        if not self._since_run:
            return
        self._since_run = False
        for candidate in self._candidates:
            if candidate.ran_at != candidate.frame.entries:
                candidate.ran_at = candidate.frame.entries
                candidate.static += 1

    @property
    def now(self) -> Moment:
        return tuple(candidate.frame.entries for candidate in self._candidates)

    def step(self, moment: Moment) -> int:
        """How often the outermost function had been called before the call that a moment is in; -1 when none is known."""
        place = self._root()
        if place is None:
            return -1
        return max(0, moment[place] - 1) if place < len(moment) else 0

    @property
    def number(self) -> int:
        place = self._root()
        return 0 if place is None else self._candidates[place].frame.entries

    @property
    def static(self) -> int:
        """Calls in which a subgraph ran."""
        place = self._root()
        return 0 if place is None else self._candidates[place].static

    def _root(self) -> int | None:
        spans = [candidate.frame.last_entry - candidate.first for candidate in self._candidates]
        return next((place for place, span in enumerate(spans) if span >= _THROUGHOUT * max(spans)), None)


class _Candidate:
    """``first`` and ``Frame.last_entry`` are numbers of entries; ``ran_at`` is the call in which a subgraph ran last."""

    __slots__ = ("first", "frame", "ran_at", "static")

    def __init__(self, frame: Frame, first: int):
        self.frame = frame
        self.first = first
        self.ran_at = 0
        self.static = 0
