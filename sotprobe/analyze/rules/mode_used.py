"""``not-captured`` for the whole program: SOT was never asked, was asked for nothing it may take, or Paddle used AST instead."""

from __future__ import annotations

from collections.abc import Iterator

from sotprobe.analyze.compare import full_graph
from sotprobe.analyze.facts import Facts
from sotprobe.analyze.rules.base import INFO, WARNING, Draft, make, title_of
from sotprobe.model import Evidence, Run

NEVER_CALLED = "never-called"
LIBRARY_ONLY = "skip-prefix"
TOO_NEW = "python-too-new"
_LIBRARY_ADVICE = (
    "SOT skips the frames of Paddle itself. Call the model from a layer or function of your own under to_static: from there it "
    "is captured as one graph."
)


def mode_used(facts: Facts) -> Iterator[Draft]:
    """What Paddle warned of (every frame was eager then), or that no line ran below a to_static call."""
    for event in (*facts.events("warning"), *facts.events("eager-frame")):
        if event.cause == TOO_NEW:
            title = f"to_static did not use SOT: {title_of(TOO_NEW)}"
            yield Draft(make(facts, "not-captured", WARNING, title, event.site, event.evidence, cause=TOO_NEW))
            return
    if not _nothing_below(facts):
        return
    evidence = [Evidence("lines", "no line of the program ran below a to_static call, and SOT was shown no frame")]
    if _was_called(facts.static):
        title = "nothing is captured: to_static is given a library's layer, and SOT skips its frames"
        finding = make(facts, "not-captured", INFO, title, None, evidence, cause=LIBRARY_ONLY, advice=_LIBRARY_ADVICE)
    else:
        title = "no line of the program runs below a to_static call"
        finding = make(facts, "not-captured", WARNING, title, None, evidence, cause=NEVER_CALLED)
    yield Draft(finding)


def _nothing_below(facts: Facts) -> bool:
    """Known only from an attribution window: a function that is captured whole has subgraphs instead of lines."""
    run = facts.static
    if run is None or not run.lines or run.subgraphs or run.entries or full_graph(run):
        return False
    return not any(line.inside for line in run.lines)


def _was_called(run: Run | None) -> bool:
    """Whether a to_static call is known to have happened: case files are called so, and only such calls have outputs."""
    if run is None:
        return False
    marked_by_call = any(step.source == "call" for step in run.steps)
    return run.program.kind == "case" or marked_by_call or any(fact.what == "output" for fact in run.parity)
