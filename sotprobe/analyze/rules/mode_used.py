"""``not-captured`` for the whole program: SOT was never asked, or Paddle used AST transformation in its place."""

from __future__ import annotations

from collections.abc import Iterator

from sotprobe.analyze.facts import Facts
from sotprobe.analyze.rules.base import WARNING, Draft, make, title_of
from sotprobe.model import Evidence

NEVER_CALLED = "never-called"
TOO_NEW = "python-too-new"


def mode_used(facts: Facts) -> Iterator[Draft]:
    """What Paddle warned of (every frame was eager then), or that no line ran below a to_static call."""
    for event in (*facts.events("warning"), *facts.events("eager-frame")):
        if event.cause == TOO_NEW:
            title = f"to_static did not use SOT: {title_of(TOO_NEW)}"
            yield Draft(make(facts, "not-captured", WARNING, title, event.site, event.evidence, cause=TOO_NEW))
            return
    if _never_called(facts):
        evidence = [Evidence("lines", "no line of the program ran below a to_static call")]
        title = "the program never calls a to_static function"
        yield Draft(make(facts, "not-captured", WARNING, title, None, evidence, cause=NEVER_CALLED))


def _never_called(facts: Facts) -> bool:
    """Known only from an attribution window: a function that is captured whole has subgraphs instead of lines."""
    run = facts.static
    if run is None or run.lines is None or run.subgraphs or run.entries or run.environment.get("options", {}).get("full_graph"):
        return False
    return bool(run.lines) and not any(line.inside for line in run.lines)
