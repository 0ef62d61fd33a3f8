"""Passages: lines that follow each other word for word in step after step. A log of a long training is little else.

What a line is does not depend on the lines around it, so a passage is recognised by one comparison of bytes, and of its lines
only those need to be read that say something outside a block.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from typing import NamedTuple, Protocol

from sotprobe.readers.grammar import Feed, TextBlock, Token

# Passages are looked up by their beginning: a frame's code object.
_KEY = 96
# Of passages that begin alike; a frame with more ways to go is read line by line.
_MOST_ALIKE = 8
_MOST_BYTES = 16 << 20
_OVERHEAD = 1000  # about what a passage takes beyond its text
# So often what comes behind a passage is looked at, whether it belongs to it.
_OPEN = 4
# Remembering costs about as much as reading: after so many passages with one beginning that were of no use it ends.
_TRUST = 40
_NEWLINE = ord("\n")


class Process(Protocol):
    """Whose states read the lines of a passage."""

    readers: Collection[str]

    def feed_for(self, token: Token) -> Feed | None: ...


class Held(NamedTuple):
    """A block below a line of a passage: its class, what its lines say, and whether its last line is the passage's last."""

    kind: type
    said: object
    last: bool


class Passage:
    """``text`` is its lines, ``lines`` their number, ``readers`` who counts each of them (None: nobody's, ignored).

    ``first`` is the token of the first line. ``telling`` are the lines to read: place (from 1), what reads it, the token, and the
    block below it.
    ``open`` is how often it may still turn out to be longer. ``matched``, ``ignored`` and ``ends``, the place of each reader's
    last line, are sums of ``readers``. ``uses`` counts how often it was recognised since it was
    ``useful``; ``last`` is the number of the line before
    it at the last time.
    """

    __slots__ = (
        "ends",
        "first",
        "ignored",
        "last",
        "lines",
        "matched",
        "open",
        "readers",
        "size",
        "telling",
        "text",
        "useful",
        "uses",
    )

    def __init__(self, text: bytes, tokens: Sequence[Token], process: Process, last: int):
        self.text = text
        self.size = len(text)
        self.lines = len(tokens)
        self.first = tokens[0]
        self.readers = tuple(token.reader if token.reader in process.readers else None for token in tokens)
        feeds = [process.feed_for(token) for token in tokens]
        places = range(1, len(tokens) + 1)
        self.telling = tuple(
            (place, feed, token, None) for place, feed, token in zip(places, feeds, tokens, strict=True) if feed is not None
        )
        self._count()
        self.open = _OPEN
        self.uses = 0
        self.useful = False
        self.last = last

    @property
    def paid(self) -> bool:
        """Whether it was of any use."""
        return self.useful or self.uses > 0

    def _count(self) -> None:
        self.matched = Counter(reader for reader in self.readers if reader is not None)
        self.ignored = self.readers.count(None)
        self.ends = {reader: place for place, reader in enumerate(self.readers, start=1) if reader is not None}

    def hold(self, place: int, block: TextBlock, lines: int) -> None:
        """The line at ``place`` opened a block that took so many lines: it will take them the next time.

        What was counted until now must have been settled.
        """
        self.uses = 0
        self.useful = True
        end = place + lines
        self.readers = (*self.readers[:place], *[block.reader] * lines, *self.readers[end:])
        held = Held(type(block), block.said(), end == self.lines)
        self.telling = tuple(
            (at, feed, token, held if at == place else known) for at, feed, token, known in self.telling if not place < at <= end
        )
        self._count()


class PassageBook:
    """The passages of one file. Forgets all of them when they have grown to 16 MB."""

    def __init__(self) -> None:
        self._alike: dict[bytes, _Alike] = defaultdict(_Alike)
        self._bytes = 0

    def find(self, text: bytes) -> Passage | None:
        """The longest known passage that ``text`` begins with, up to the end of a line."""
        alike = self._alike.get(text[:_KEY])
        if alike is not None:
            for passage in alike.passages:
                size = passage.size
                if text.startswith(passage.text) and (len(text) == size or text[size] == _NEWLINE):
                    return passage
        return None

    def wants(self, text: bytes) -> bool:
        """Whether passages that begin like this are worth being remembered."""
        alike = self._alike.get(text[:_KEY])
        return alike is None or alike.trust > 0

    def ends_differ(self, text: bytes, own: bytes, more: bool) -> bool:
        """Whether passages that begin like this have different ends behind SOT's ``own`` lines; ``more``: this one has an end."""
        alike = self._alike.get(text[:_KEY])
        if alike is None:
            return False
        if more and any(known.size > len(own) and known.text.startswith(own) for known in alike.passages):
            alike.ends_differ = True
        return alike.ends_differ

    def add(self, passage: Passage, text: bytes) -> list[Passage]:
        """Remember what ``text`` begins with. Returns those that are forgotten for it."""
        forgotten: list[Passage] = []
        if self._bytes > _MOST_BYTES:
            forgotten = self.all()
            self._alike.clear()
            self._bytes = 0
        dropped = self._alike[text[:_KEY]].add(passage)
        self._bytes += passage.size + _OVERHEAD - sum(old.size + _OVERHEAD for old in dropped)
        return forgotten + dropped

    def all(self) -> list[Passage]:
        return [passage for alike in self._alike.values() for passage in alike.passages]


class _Alike:
    """Passages with the same beginning, the longest first. ``trust`` is lost by those that never came again."""

    __slots__ = ("ends_differ", "passages", "trust")

    def __init__(self) -> None:
        self.passages: list[Passage] = []
        self.ends_differ = False
        self.trust = _TRUST

    def add(self, passage: Passage) -> list[Passage]:
        """Returns those that are dropped for it."""
        self.trust -= 1
        # At the end of all trust what was of use stays, for good.
        dropped = [] if self.trust else [known for known in self.passages if not known.paid]
        if len(self.passages) - len(dropped) >= _MOST_ALIKE:
            kept = (known for known in self.passages if known not in dropped)
            dropped.append(min(kept, key=lambda known: (known.paid, known.last)))
        self.trust += sum(known.paid for known in dropped)
        for known in dropped:
            self.passages.remove(known)
        self.passages.append(passage)
        self.passages.sort(key=lambda known: -known.size)
        return dropped
