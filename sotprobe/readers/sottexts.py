"""Lines of SOT below a line of its own that have no head by which to tell them: code, programs, guard trees, long values.

They are counted and nothing is taken from them.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from sotprobe.paddle_compat.log_lines import listings, phrase
from sotprobe.readers.grammar import BLANK, PLAIN, UNRECOGNISED, Block, Token

# A value has so many lines at most, a program so many: what goes on longer is not that.
_MOST_VALUE_LINES = 2_000
_MOST_PROGRAM_LINES = 200_000


def below(follows: str, reader: str, text: str) -> Block | None:
    """The block that stands below a line, by ``Phrase.follows``; None when the line has nothing below it."""
    if follows == phrase.VALUE:
        still_open = _open_brackets(text)
        return ValueBlock(reader, still_open) if still_open > 0 else None
    if follows == phrase.BOX:
        return BoxBlock(reader, text)
    make = _BLOCKS.get(follows)
    return make(reader) if make else None


class _Untold:
    """Nothing is taken from its lines."""

    def close(self) -> None:
        return None

    def said(self) -> None:
        return None

    def hear(self, said: object) -> None:
        return None


class LinesBlock(_Untold):
    """Takes lines as long as ``fits`` says so."""

    def __init__(self, reader: str, fits: Callable[[str], object]):
        self.reader = reader
        self._fits = fits

    def takes(self, token: Token, line: int) -> bool:
        return bool(self._fits(token.text))


class InstructionsBlock(_Untold):
    """A listing of instructions. An argument that is a string of several lines goes on to the line with its bracket."""

    def __init__(self, reader: str):
        self.reader = reader
        self._open = 0

    def takes(self, token: Token, line: int) -> bool:
        text = token.text
        if self._open > 0 and is_nobodys(token):
            self._open += _open_brackets(text)
            return True
        rest = listings.instruction(text)
        self._open = _open_brackets(rest or "")
        return rest is not None or not text.strip() or listings.INSTRUCTION_NOTE.match(text) is not None


class ProgramBlock(_Untold):
    """The text of a program, up to the brace in the first column that ends it."""

    def __init__(self, reader: str):
        self.reader = reader
        self._left = _MOST_PROGRAM_LINES

    def takes(self, token: Token, line: int) -> bool:
        text = token.text
        if not self._left:  # behind its end stands the newline that it was printed with
            return not text.strip()
        if not (is_nobodys(token) or token.quick):
            return False
        if text.startswith(listings.PROGRAM_END):
            self._left = 0
            return True
        self._left -= 1
        return text[:1].isspace() or not text or text == listings.PROGRAM_START


class ValueBlock(_Untold):
    """The rest of a value that was printed over several lines, up to the bracket that closes it."""

    def __init__(self, reader: str, still_open: int):
        self.reader = reader
        self._open = still_open
        self._left = _MOST_VALUE_LINES

    def takes(self, token: Token, line: int) -> bool:
        if self._open <= 0 or not self._left or not is_nobodys(token):
            return False
        self._open += _open_brackets(token.text)
        self._left -= 1
        return True


class TextBlock(_Untold):
    """The rest of a value, up to the next line that is known."""

    def __init__(self, reader: str):
        self.reader = reader
        self._left = _MOST_VALUE_LINES

    def takes(self, token: Token, line: int) -> bool:
        self._left -= 1
        return self._left >= 0 and is_nobodys(token)


class StackBlock(_Untold):
    """The rest of a line about an instruction: a string or an array on the stack had newlines in it."""

    def __init__(self, reader: str):
        self.reader = reader
        self._left = _MOST_VALUE_LINES

    def takes(self, token: Token, line: int) -> bool:
        if not self._left or not is_nobodys(token):
            return False
        self._left = 0 if token.text.endswith(listings.STACK_END) else self._left - 1
        return True


class BoxBlock(_Untold):
    """What stands between two lines that are the same: counts, and the programs at a high level."""

    def __init__(self, reader: str, frame: str):
        self.reader = reader
        self._frame = frame
        self._ended = False

    def takes(self, token: Token, line: int) -> bool:
        if self._ended or not listings.BOX_LINE.match(token.text):
            return False
        self._ended = token.text == self._frame
        return True


def is_nobodys(token: Token) -> bool:
    """Whether no reader knows the line."""
    return token.kind in (PLAIN, BLANK, UNRECOGNISED)


_BRACKETS = re.compile(r"[()\[\]{}]")


def _open_brackets(text: str) -> int:
    """How many brackets were opened and not closed again; below 0 when more were closed."""
    return sum(1 if bracket in "([{" else -1 for bracket in _BRACKETS.findall(text))


_BLOCKS: dict[str, Callable[[str], Block]] = {
    phrase.INSTRUCTIONS: InstructionsBlock,
    phrase.GUARD_TREE: lambda reader: LinesBlock(reader, listings.GUARD_TREE_LINE.match),
    phrase.PROGRAM: ProgramBlock,
    phrase.TEXT: TextBlock,
}
