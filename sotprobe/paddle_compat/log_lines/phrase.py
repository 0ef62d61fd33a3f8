"""A line that Paddle prints, told by how it begins."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

ALWAYS = 0

# What stands below a line and has no head of its own (Phrase.follows); the patterns of such lines are in ``listings``.
INSTRUCTIONS = "instructions"
GUARD_TREE = "guard-tree"
PROGRAM = "program"
VALUE = "value"  # the rest of a value that was printed over several lines
TEXT = "text"  # the same, where SOT goes on without anything of the user's between: up to the next line that is known
BOX = "box"


@dataclass(frozen=True)
class Phrase:
    """``heads`` are the literal starts of the line over all versions, each for one kind of line only.

    ``rest`` must match what follows the head, else the line is malformed; its named groups are what the line says. A head that
    is ``shared`` is no proof: somebody else may print it, so the line is Paddle's only when the rest matches. ``level`` is the
    SOT_LOG_LEVEL that prints it. ``body`` marks lines that say nothing unless the block around them is being read, ``varies``
    those that never come again word for word. ``follows`` is what stands below it. ``unended`` lines are printed without a
    newline: another one may stand behind them. ``versions`` says which Paddle prints it so, where not all of 2.6 to 3.3 do.
    """

    kind: str
    heads: tuple[str, ...]
    rest: re.Pattern[str] | None = None
    level: int = 2
    body: bool = False
    versions: str = ""
    shared: bool = False
    varies: bool = False
    follows: str = ""
    unended: bool = False


def parse(phrase: Phrase, head: str, text: str) -> Mapping[str, str] | None:
    """What the line says; None when it does not go on as this Paddle line does."""
    if phrase.rest is None:
        return {}
    found = phrase.rest.match(text, len(head))
    return None if found is None else found.groupdict()


def by_head(phrases: Iterable[Phrase]) -> dict[str, Phrase]:
    """Head -> phrase. A head that stands for two kinds is a mistake in a table."""
    heads: dict[str, Phrase] = {}
    for phrase in phrases:
        for head in phrase.heads:
            if head in heads:
                raise ValueError(f"two phrases begin with {head!r}")
            heads[head] = phrase
    return heads
