"""Something SOT did, or failed to do, once or several times."""

from __future__ import annotations

from dataclasses import dataclass

from sotprobe.model.site import Evidence, SourceSite

# Event.kind is one of these.
KINDS = (
    "translate",  # a frame was translated; outcome says what became of it
    "break",  # capture split at `site`
    "fallback",  # SOT gave up on a whole frame and said so
    "recompile",  # every guard of a frame missed; `guards` are those that failed
    "cache-full",  # frame skipped: 20 cache entries
    "compile-limit",  # frame skipped: compile-time limit
    "eager-frame",  # a user frame ran eagerly under to_static; `cause` says why
    "warning",  # Paddle said something about the mode it used
)


@dataclass(frozen=True)
class Guard:
    """A guard that failed: the expression, the value it was compiled for and the value seen (as text)."""

    expression: str
    expected: str | None
    seen: str | None


@dataclass(frozen=True)
class Event:
    """``frame`` is the definition line of the frame concerned, ``site`` the innermost user line that caused the event.

    ``cause`` is an id of ``paddle_compat.causes`` (``tensor-if``, ``shape-churn`` …) or None when unknown.
    ``outcome`` belongs to translate events: compiled, too-small, fallback, conditional-fallback, captured-exception, error.
    ``duration_ns`` is wall time where it was measured. ``stack`` is the user's stack, outermost first (of a
    translation what was called it: without the frame itself).
    ``phase`` belongs to eager-frame events: ``early`` or ``late`` (after step 20).
    ``break_lines`` is the chain of break lines that leads to a resume function, outermost first; ``break_sides`` says of each
    whether it is the ``then`` or ``else`` side of a branch, ``body`` of a loop or ``after`` it (empty text: neither; empty
    tuple: not known).
    """

    kind: str
    order: int
    step: int | None
    site: SourceSite | None
    frame: SourceSite | None = None
    cause: str | None = None
    message: str = ""
    count: int = 1
    outcome: str | None = None
    duration_ns: int | None = None
    phase: str | None = None
    subgraph: str | None = None
    stack: tuple[SourceSite, ...] = ()
    guards: tuple[Guard, ...] = ()
    break_lines: tuple[int, ...] = ()
    break_sides: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
