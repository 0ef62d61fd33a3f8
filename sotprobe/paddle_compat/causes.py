"""Every cause that a finding may name.

A cause has a stable id, what it means, how it is detected, what to change and the versions it holds for: ``cause_table`` has
them all, and ``docs/causes.md`` is the same table as a page (tools/causes_page.py).
"""

from __future__ import annotations

from sotprobe.paddle_compat.cause_table import TABLE, Cause

__all__ = ["CAUSES", "Cause", "advice", "cause"]

CAUSES = {item.id: item for item in TABLE}


def cause(cause_id: str | None) -> Cause:
    """The cause of an id; ``unknown`` for None and for ids of another sotprobe."""
    return CAUSES.get(cause_id or "unknown", CAUSES["unknown"])


def advice(cause_id: str | None, paddle: str | None = None, python: str | None = None) -> str:
    """What to change, with the notes that hold for these versions."""
    found = cause(cause_id)
    notes = [note.text for note in found.notes if note.versions.hold(paddle, python)]
    return " ".join([found.hint, *notes])
