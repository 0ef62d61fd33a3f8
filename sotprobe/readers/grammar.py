"""What a reader of log lines is made of: tokens say what one line is, a state says what the lines before it mean."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, runtime_checkable

from sotprobe.readers.parts import Origin, Parts

_NOTHING: Mapping[str, str] = {}

# Token kinds of lines that are nobody's.
PLAIN = "plain"  # the user's own output
BLANK = "blank"
UNRECOGNISED = "unrecognised"  # looks like Paddle's, but no pattern fits
MALFORMED = "malformed"  # begins like a known line and goes on differently


class Token:
    """What one line is, whatever stands around it.

    ``reader`` counts it, ``kind`` is the reader's own name for it, ``values`` is what it says, ``text`` the whole line without
    the prefix that names its process (``rank``). ``quick`` marks lines that say nothing outside a block; ``keep`` those that are
    likely to come again, word for word.
    """

    __slots__ = ("keep", "kind", "quick", "rank", "reader", "text", "values")

    def __init__(
        self,
        reader: str,
        kind: str,
        text: str,
        values: Mapping[str, str] = _NOTHING,
        *,
        quick: bool = False,
        keep: bool = True,
    ):
        self.reader = reader
        self.kind = kind
        self.text = text
        self.values = values
        self.quick = quick
        self.keep = keep
        self.rank: str | None = None

    def __repr__(self) -> str:
        return f"Token({self.reader!r}, {self.kind!r}, {self.text!r}, {dict(self.values)!r})"


class Block(Protocol):
    """Lines that belong to the one that opened the block: a traceback, a reason, a listing.

    ``reader`` counts them. ``takes`` is asked of every line until it declines one; ``close`` is called then, or at the end.
    """

    reader: str

    def takes(self, token: Token, line: int) -> bool: ...

    def close(self) -> None: ...


@runtime_checkable
class TextBlock(Block, Protocol):
    """A block for which the same lines say the same wherever they come, so that they need not be read a second time."""

    def said(self) -> object:
        """What the lines say that it took."""

    def hear(self, said: object) -> None:
        """As if it had taken the lines that say this."""


Feed = Callable[[Token, int], Block | None]


class State(Protocol):
    """What a reader knows of one process of one file."""

    def feed(self, token: Token, line: int) -> Block | None:
        """Take in a line of this reader; a block that begins with it is returned."""

    def finish(self, parts: Parts) -> None:
        """Add what was learned. The states of a file finish in the order of the readers' tuple."""


@runtime_checkable
class KindState(State, Protocol):
    """A state whose ``feed`` does one thing for each kind of lines. Lines that come again in every step go past ``feed`` then."""

    def handler(self, kind: str) -> Feed | None:
        """What reads a line of a kind that was fed before. None when such lines say nothing any more."""


class Grammar(Protocol):
    """A kind of lines. ``heads`` are literal starts of lines; ``token`` is asked for those, with the head that fitted.

    A grammar may have ``inside``: pairs of a literal and a regex, for lines that are found behind text without a newline too,
    such as a progress bar. The regex is only asked of lines with the literal; the line begins where it fits.

    ``aside`` is true of lines that come through another stream (C++ logs, on stderr): they may stand in the middle of any block
    and do not end it.
    """

    name: str
    heads: Sequence[str]
    aside: bool

    def token(self, head: str, text: str) -> Token | None:
        """None when others begin lines like that too and this is one of theirs."""

    def loose(self, text: str) -> Token | None:
        """A line that no reader's head fitted, when it is one of these all the same."""

    def state(self, origin: Origin) -> State: ...
