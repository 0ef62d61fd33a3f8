"""``no-grad-block``: a ``with paddle.no_grad()`` that keeps a whole function from being captured.

SOT says so on Python 3.10 (FallbackError) and not on 3.11+; called from captured code the block breaks the caller's graph.
"""

from __future__ import annotations

from collections.abc import Iterator

from sotprobe.analyze.facts import Facts
from sotprobe.analyze.rules.base import Draft
from sotprobe.analyze.rules.breaks import break_draft, folded_breaks
from sotprobe.analyze.rules.lost_frames import lost_draft, reported, suspect_draft, suspects_left

CAUSE = "no-grad"


def no_grad_block(facts: Facts) -> Iterator[Draft]:
    """Frames lost to the block, and breaks at blocks whose function was not seen to be lost."""
    for lost in reported(facts):
        if lost.cause == CAUSE:
            title = f"the no_grad block keeps all of {lost.frame.function} from being captured"
            yield lost_draft(facts, lost, "no-grad-block", title)
    for suspect in suspects_left(facts):
        if suspect.cause == CAUSE:
            keeps = "keeps" if suspect.proven else "may keep"
            title = f"the no_grad block {keeps} all of {suspect.frame.function} from being captured"
            yield suspect_draft(facts, suspect, "no-grad-block", title)
    for cause, site, events in folded_breaks(facts):
        if cause == CAUSE:
            yield break_draft(facts, "no-grad-block", "gradient modes switched here split the graph", cause, site, events)
