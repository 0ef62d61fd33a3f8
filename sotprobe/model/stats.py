"""How much of an input a reader understood."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ReadStats:
    """Every line is counted exactly once; ``samples`` are the first unrecognised ones."""

    matched: int = 0
    ignored: int = 0
    unrecognised: int = 0
    malformed: int = 0
    samples: tuple[str, ...] = ()

    def __add__(self, other: ReadStats) -> ReadStats:
        return ReadStats(
            self.matched + other.matched,
            self.ignored + other.ignored,
            self.unrecognised + other.unrecognised,
            self.malformed + other.malformed,
            (self.samples + other.samples)[:10],
        )
