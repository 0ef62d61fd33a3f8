"""Where something is in the user's code, and what a fact was read from."""

from __future__ import annotations

from dataclasses import dataclass, field

# SourceSite.precision is one of these.
EXACT = "line"
NEAR = "near"  # a few lines off: Python 3.11+ reports wrong lines in resume functions
FUNCTION = "function"  # where the function is defined; which of its lines is not known


@dataclass(frozen=True, order=True)
class SourceSite:
    """A line in the user's code. ``function`` is the original name, never a ``$resume_`` name.

    ``precision`` says how much the line is worth; it is no part of what a site is when sites are compared.
    """

    path: str
    line: int
    function: str
    precision: str = field(default=EXACT, compare=False)

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


@dataclass(frozen=True)
class Evidence:
    """One observation behind a finding.

    ``reader`` says who saw it (``hooks``, ``lines``, ``steps``, ``parity``, ``source``, ``sotlog`` …); ``file`` is the
    file it was read from (relative to the run directory) and ``line`` its line there, where there is one.
    """

    reader: str
    text: str
    file: str | None = None
    line: int | None = None
