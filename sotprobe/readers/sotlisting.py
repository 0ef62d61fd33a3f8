"""Code listings of SOT_LOG_LEVEL 3, and the exact lines they give back to resume functions.

On Python 3.11+ SOT writes wrong lines into resume functions, a few more with every break. But a resume function is a piece of
its parent's code behind a new beginning, nearly always the end of it: laid beside each other, its instructions are the
parent's, whose lines are right. Which instruction of a listing SOT stands at is told by the ones it has simulated before.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import NamedTuple

from sotprobe.paddle_compat.log_lines.sot import opcode_of
from sotprobe.paddle_compat.names import RESUME_MARK
from sotprobe.readers.grammar import Token

# "  16   2 LOAD_FAST  0 (self)", ">>" and "-->" marks, 3.13's labels "L1:", line numbers only where they change
_INSTRUCTION = re.compile(
    r"\s*(?P<line>\d{1,9}|--)?\s+(?:-->)?\s*(?:>>)?\s*(?:L\d+:)?\s*(?P<offset>\d{1,9})?\s+(?P<opcode>[A-Z][A-Z_0-9]{2,})(?:\s|$)"
)
_ARGUMENT = re.compile(r"\((?P<argument>.*)\)\s*$", re.DOTALL)
_NOTE = re.compile(r"\s*(?:ExceptionTable:|L?\d+ to L?\d+ -> )|\s+--\s*$")
# Below this line dis lists a function that is defined inside.
_INNER = "Disassembly of <code object "
_NULL = re.compile(r"NULL(?:\|self)? \+ | \+ NULL(?:\|self)?")
_FUSED = re.compile(r"(?P<first>LOAD|STORE)_FAST_(?P<second>LOAD|STORE)_FAST$")
MOST_INSTRUCTIONS = 20_000
# Of all listings that are kept; the oldest are forgotten.
MOST_KEPT = 200_000
_LONGEST = 200  # characters of a line that is worth remembering
# Larger pieces are not laid beside each other: it takes time with the square of their length.
_MOST_COMPARED = 3_000
# So many instructions in a row must agree before a piece counts as its parent's.
_AGREE = 3


class Instruction(NamedTuple):
    """``argument`` is the name or constant it works on, where a copy of the instruction in other code has the same."""

    opcode: str
    argument: str
    line: int


class ListingBlock:
    """The lines below ``OriginCode`` and ``NewCode``. ``done`` gets the instructions and the lines with resume functions."""

    def __init__(self, reader: str, done: Callable[[list[Instruction], list[str]], None]):
        self.reader = reader
        self._done = done
        self._line = 0
        self._inner = False
        self._instructions: list[Instruction] = []
        self._texts: list[str] = []

    def takes(self, token: Token, line: int) -> bool:
        text = token.text
        if token.reader == self.reader:
            return False
        if not text.strip():
            return True
        found = _known(text) if len(text) <= _LONGEST else _parsed(text)
        if found is None:
            self._inner = self._inner or text.startswith(_INNER)
            return text.startswith(_INNER) or _NOTE.match(text) is not None
        number, instructions = found
        if self._inner:
            return True
        self._line = number or self._line
        if len(self._instructions) < MOST_INSTRUCTIONS:
            self._instructions.extend(Instruction(opcode, argument, self._line) for opcode, argument in instructions)
            if RESUME_MARK in text:
                self._texts.append(text)
        return True

    def close(self) -> None:
        self._done(self._instructions, self._texts)

    def said(self) -> tuple[list[Instruction], list[str]]:
        return self._instructions, self._texts

    def hear(self, said: tuple[list[Instruction], list[str]]) -> None:
        self._instructions, self._texts = said


def _parsed(text: str) -> tuple[int | None, tuple[tuple[str, str], ...]] | None:
    """(line number if there is one, the instructions) of a line of a listing; None when it is none."""
    found = _INSTRUCTION.match(text)
    if found is None:
        return None
    number = int(found["line"]) if found["line"] and found["line"].isdigit() else None
    argument = _ARGUMENT.search(text, found.end())
    return number, tuple(_plain(found["opcode"], argument["argument"] if argument else ""))


_known = lru_cache(maxsize=1 << 14)(_parsed)


def _plain(opcode: str, argument: str) -> list[tuple[str, str]]:
    """An instruction as SOT simulates it: it takes apart what Python 3.13 joins, and leaves out what only widens arguments."""
    if opcode in ("EXTENDED_ARG", "CACHE"):
        return []
    fused = _FUSED.match(opcode)
    if fused:
        return [(f"{fused['first']}_FAST", ""), (f"{fused['second']}_FAST", "")]
    if opcode == "LOAD_ATTR" and argument.endswith(" + NULL|self"):
        return [("LOAD_ATTR", _NULL.sub("", argument)), ("PUSH_NULL", "")]
    named = opcode.startswith(("LOAD_GLOBAL", "LOAD_ATTR", "LOAD_METHOD", "LOAD_CONST", "STORE_ATTR", "STORE_GLOBAL"))
    return [(opcode, _NULL.sub("", argument) if named else "")]


class ExactLines:
    """Right lines of resume functions. Those are known by their names, functions of the user's by ``origin``."""

    def __init__(self) -> None:
        self._listings: OrderedDict[object, list[Instruction]] = OrderedDict()  # a dict takes long to find its oldest
        self._kept = 0
        self._aligned: dict[tuple[str, object], dict[int, int]] = {}

    def add(self, key: object, listing: list[Instruction]) -> None:
        """A listing by the name of a resume function, or whatever else ``exact`` is told as ``origin``."""
        if self._listings.get(key) == listing:
            return
        self._forget(key)
        while self._listings and self._kept + len(listing) > MOST_KEPT:
            self._forget(next(iter(self._listings)))
        self._listings[key] = listing
        self._kept += len(listing)

    def _forget(self, key: object) -> None:
        known = self._listings.pop(key, None)
        if known is not None:
            self._kept -= len(known)
            self._aligned = {pair: lines for pair, lines in self._aligned.items() if key not in pair}

    def exact(self, name: str, origin: object, simulated: Sequence[str]) -> int | None:
        """The line of the user's code that the last of the simulated instructions really stands on.

        ``simulated`` are SOT's lines about instructions of resume function ``name``, in order. None when the listings do not
        tell, or tell several.
        """
        own, whole = self._listings.get(name), self._listings.get(origin)
        if not own or not whole:
            return None
        pair = (name, origin)
        if pair not in self._aligned:
            self._aligned[pair] = _align(own, whole)
        lines = self._aligned[pair]
        found = {lines.get(position) for position in _positions(own, simulated)}
        return found.pop() if len(found) == 1 else None


def _positions(listing: Sequence[Instruction], simulated: Sequence[str]) -> list[int]:
    """Where in a listing the last of some simulated instructions may stand: where most of those before agree too."""
    places = _without_calls([item.opcode for item in listing])
    opcodes = [listing[place].opcode for place in places]
    said = [found[2] if found else "" for found in map(opcode_of, simulated)]
    standing = list(range(len(opcodes)))
    for back, place in enumerate(reversed(_without_calls(said))):
        opcode = said[place]
        left = [index for index in standing if index >= back and opcodes[index - back] == opcode]
        if not left:
            break
        standing = left
        if len(standing) == 1:
            break
    return [places[index] for index in standing] if simulated else []


def _without_calls(opcodes: Sequence[str]) -> list[int]:
    """The places without Python 3.11's CALL behind PRECALL: Paddle 3 simulates both in one, told as PRECALL."""
    places = range(len(opcodes))
    return [place for place in places if not (place and opcodes[place] == "CALL" and opcodes[place - 1] == "PRECALL")]


def _align(own: Sequence[Instruction], whole: Sequence[Instruction]) -> Mapping[int, int]:
    """Position in ``own`` -> line in ``whole`` of the same instruction."""
    one, other = [item[:2] for item in own], [item[:2] for item in whole]
    shared = _shared_end(one, other)
    lines = {len(own) - back: whole[-back].line for back in range(1, shared + 1)} if shared >= _AGREE else {}
    head = len(own) - len(lines)
    if head <= _AGREE or head > _MOST_COMPARED or len(whole) > _MOST_COMPARED:
        return lines
    # A loop's body, or a piece from which SOT removed instructions.
    blocks = SequenceMatcher(None, one[:head], other, autojunk=False).get_matching_blocks()
    for block in blocks:
        if block.size >= _AGREE and _only_place(other, block.b, block.size):
            lines.update({block.a + step: whole[block.b + step].line for step in range(block.size)})
    return lines


def _shared_end(one: Sequence[tuple[str, str]], other: Sequence[tuple[str, str]]) -> int:
    """How many instructions at the end are the same."""
    count = 0
    for mine, theirs in zip(reversed(one), reversed(other), strict=False):
        if mine != theirs:
            break
        count += 1
    return count


def _only_place(whole: Sequence[tuple[str, str]], start: int, size: int) -> bool:
    """Whether a piece is found once only: the lines of one that comes twice may be those of the other."""
    piece = list(whole[start : start + size])
    places = [place for place in range(len(whole) - size + 1) if whole[place] == piece[0]]
    return sum(list(whole[place : place + size]) == piece for place in places) == 1
