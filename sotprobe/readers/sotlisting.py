"""Code listings of SOT_LOG_LEVEL 3, and the exact lines they give back to resume functions.

On Python 3.11+ SOT writes wrong lines into resume functions, a few more with every break. But a resume function is the end of
its parent's code behind a new beginning: counted from the end, its instructions are the parent's, whose lines are right.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from sotprobe.readers.grammar import Token

# "  16   2 LOAD_FAST  0 (self)", ">>" and "-->" marks, 3.13's labels "L1:", line numbers only where they change
_INSTRUCTION = re.compile(
    r"\s*(?P<line>\d+)?\s+(?:-->)?\s*(?:>>)?\s*(?:L\d+:)?\s*(?P<offset>\d+)?\s+(?P<opcode>[A-Z][A-Z_0-9]{2,})(?:\s|$)"
)
_NOTE = re.compile(r"\s*(?:ExceptionTable:|L?\d+ to L?\d+ -> )|\s+--\s*$")
MOST_INSTRUCTIONS = 20_000
# So many instructions in a row must agree before the end of a listing counts as its parent's.
_AGREE = 3

Instruction = tuple[str, int]  # opcode, line


class ListingBlock:
    """The lines below ``OriginCode`` and ``NewCode``."""

    def __init__(self, reader: str, done: Callable[[list[Instruction], list[str]], None]):
        self.reader = reader
        self._done = done
        self._line = 0
        self._instructions: list[Instruction] = []
        self._texts: list[str] = []

    def takes(self, token: Token, line: int) -> bool:
        text = token.text
        if not text.strip():
            return True
        found = _INSTRUCTION.match(text)
        if found is None:
            return _NOTE.match(text) is not None
        self._line = int(found["line"] or self._line)
        if len(self._instructions) < MOST_INSTRUCTIONS:
            self._instructions.append((found["opcode"], self._line))
            self._texts.append(text)
        return True

    def close(self) -> None:
        self._done(self._instructions, self._texts)


class ExactLines:
    """Right lines of resume functions, by their names."""

    def __init__(self) -> None:
        self._listings: dict[str, list[Instruction]] = {}

    def add(self, name: str, listing: list[Instruction]) -> None:
        if len(self._listings) < 2000:
            self._listings[name] = listing

    def exact(self, name: str, parent: str, opcode: str, line: int) -> int | None:
        """The line that ``opcode`` at the reported ``line`` of resume function ``name`` really stands on.

        ``parent`` is the name of the function as the user wrote it. None when the listings do not tell, or tell several.
        """
        own, whole = self._listings.get(name), self._listings.get(parent)
        if not own or not whole:
            return None
        shared = _shared_end(own, whole)
        if shared < _AGREE:
            return None
        ends = zip(own[-shared:], whole[-shared:], strict=True)
        lines = {right for (name_, wrong), (_, right) in ends if name_ == opcode and wrong == line}
        return lines.pop() if len(lines) == 1 else None


def _shared_end(one: list[Instruction], other: list[Instruction]) -> int:
    """How many instructions at the end are the same."""
    count = 0
    for (opcode, _), (same, _) in zip(reversed(one), reversed(other), strict=False):
        if opcode != same:
            break
        count += 1
    return count
