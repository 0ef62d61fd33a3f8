"""What every reader shares: the count of what was understood."""

from __future__ import annotations

from sotprobe.model import ReadStats

SAMPLES = 10
SAMPLE_LENGTH = 200


class LineCounter:
    """Counts every line exactly once and keeps the first few that were not understood."""

    def __init__(self) -> None:
        self._matched = 0
        self._ignored = 0
        self._unrecognised = 0
        self._malformed = 0
        self._samples: list[str] = []

    def matched(self, count: int = 1) -> None:
        self._matched += count

    def ignored(self, count: int = 1) -> None:
        """Lines that are known to say nothing: blank, or cut off by a kill."""
        self._ignored += count

    def unrecognised(self, text: str) -> None:
        """A well-formed line of a kind that this version does not know."""
        self._unrecognised += 1
        self._keep(text)

    def malformed(self, text: str) -> None:
        self._malformed += 1
        self._keep(text)

    def stats(self) -> ReadStats:
        return ReadStats(self._matched, self._ignored, self._unrecognised, self._malformed, tuple(self._samples))

    def _keep(self, text: str) -> None:
        if len(self._samples) < SAMPLES:
            self._samples.append(text[:SAMPLE_LENGTH])
