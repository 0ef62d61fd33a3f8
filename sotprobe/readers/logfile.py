"""One log file to the Parts of every process that wrote to it, in one pass. Each line is counted exactly once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import NamedTuple

from sotprobe.model import Evidence, ReadStats
from sotprobe.paddle_compat.log_lines.sot import ENTRY_HEAD
from sotprobe.readers.base import LineCounter
from sotprobe.readers.grammar import BLANK, MALFORMED, PLAIN, UNRECOGNISED, Block, Feed, Grammar, KindState, TextBlock, Token
from sotprobe.readers.parts import Origin, Parts
from sotprobe.readers.passages import Passage, PassageBook
from sotprobe.readers.text import LONGEST_LINE, Source, whole_lines
from sotprobe.readers.tokens import QUICK, TEXT, Tokenizer

Progress = Callable[[Source], None]

MOST_RANKS = 1024
OTHER_RANKS = "others"
# A passage begins where a frame is entered.
_HEAD = ENTRY_HEAD.encode()
_BORDER = b"\n" + _HEAD


class LogFile:
    """What was read of a file: ``parts`` of each process, ``stats`` of each reader."""

    def __init__(self, origin: Origin, grammars: Sequence[Grammar], progress: Progress | None = None):
        """Read it. Raises InputError when it is no text."""
        self.source = Source(origin.file)
        self._origin = origin
        self._grammars = grammars
        self._tokenizer = Tokenizer(grammars)
        self._book = PassageBook()
        self._counters: dict[str, LineCounter] = defaultdict(LineCounter)
        self._only = _Process(origin, None, grammars, self._counters)
        self._ranks: dict[str, _Process] = {}
        for block in whole_lines(self.source):
            first, *entries = block.split(_BORDER)
            self._read_lines(first.split(b"\n"))
            for text in entries:
                self._read_entry(text, whole=text is not entries[-1])
            if progress is not None:
                progress(self.source)
        self.parts = self._finish()

    @property
    def stats(self) -> dict[str, ReadStats]:
        return {name: counter.stats() for name, counter in sorted(self._counters.items())}

    def _read_entry(self, text: bytes, *, whole: bool) -> None:
        """``text`` is what stands between the head of an entry's line and the next entry, or what there is of it."""
        passage = self._book.find(text)
        if passage is not None:
            read = self._only.replay(passage, self.source.lines, whole=whole and len(text) == passage.size)
            self.source.lines += read
            if read == passage.lines:
                if len(text) == passage.size:
                    return
                rest = text[passage.size + 1 :].split(b"\n")
                if passage.open:
                    passage.open -= 1
                    self._learn(text, passage.lines)
            else:
                rest = (_HEAD + text).split(b"\n")[read:]
            self._read_lines(rest)
            return
        self._learn(text)
        self._read_lines((_HEAD + text).split(b"\n"))

    def _learn(self, text: bytes, known: int = 0) -> None:
        """Remember the lines as a passage, up to the first that is new, if they are more than the passage that is known.

        What is not SOT's at the end, such as the user's lines, belongs to it only when it is the same every time.
        """
        if not self._book.wants(text):
            return
        lines = (_HEAD + text).split(b"\n")
        tokens, own = self._tokenizer.known(lines)
        if self._book.ends_differ(text, b"\n".join(lines[:own])[len(_HEAD) :], len(tokens) > own):
            tokens = tokens[:own]
        if not own or len(tokens) <= known:
            return
        passage = Passage(b"\n".join(lines[: len(tokens)])[len(_HEAD) :], tokens, self._only, self.source.lines)
        for forgotten in self._book.add(passage, text):
            self._only.settle(forgotten)

    def _read_lines(self, lines: list[bytes]) -> None:
        """The loop that every line goes through which is in no known passage: most of the time is spent here."""
        tokenizer, only, number = self._tokenizer, self._only, self.source.lines
        memo, block, quick, last_quick = tokenizer.memo, only.block, 0, 0
        for raw, token in zip(lines, map(memo.get, lines), strict=True):
            number += 1
            if token is QUICK:
                if block is None:
                    quick += 1
                    last_quick = number
                    continue
                token = tokenizer.quick(raw)
            elif token is None:
                if len(raw) > LONGEST_LINE:
                    self._cut(number)
                token = tokenizer.token(raw)
            if token.rank is not None:
                self._read_ranked(token, number)
            elif block is not None and block.takes(token, number):
                only.taken += 1
                only.taken_line = number
            else:
                if block is not None:
                    only.declined(token, number)
                else:
                    only.give(token, number)
                block = only.block
        if quick:
            only.took_quick(quick, last_quick)
        self.source.lines = number

    def _read_ranked(self, token: Token, number: int) -> None:
        process = self._process(token)
        if process is None:
            self._only.count_nobodys(token)
        else:
            process.take(token, number)

    def _cut(self, number: int) -> None:
        self.source.cut += 1
        if self.source.first_cut is None:
            self.source.first_cut = number

    def _process(self, token: Token) -> _Process | None:
        """Whose line it is. A process is known by lines that some reader knows: a user's line may begin like a rank's, too."""
        rank = token.rank
        process = self._ranks.get(rank)
        if process is not None or (token.reader == TEXT and token.kind != UNRECOGNISED):
            return process
        if len(self._ranks) >= MOST_RANKS:
            rank = OTHER_RANKS
            process = self._ranks.get(rank)
        if process is None:
            process = self._ranks[rank] = _Process(self._origin, rank, self._grammars, self._counters)
        return process

    def _finish(self) -> list[Parts]:
        for passage in self._book.all():
            self._only.settle(passage)
        processes = list(self._ranks.values())
        if self._only.any_lines or not processes:
            processes.insert(0, self._only)
        parts = [process.finish() for process in processes]
        parts[0].lines = self.source.lines
        parts[0].notes.extend(self._notes())
        return parts

    def _notes(self) -> list[Evidence]:
        name, notes = self.source.name, []
        if self.source.first_cut is not None:
            more = f", and {self.source.cut - 1} more" if self.source.cut > 1 else ""
            text = f"line {self.source.first_cut} is longer than {LONGEST_LINE >> 20} MiB{more}: the rest of it was not read"
            notes.append(Evidence(TEXT, text, name, self.source.first_cut))
        if self.source.broken:
            notes.append(Evidence(TEXT, f"not read to its end: {self.source.broken}", name))
        if OTHER_RANKS in self._ranks:
            text = f"more than {MOST_RANKS} processes: those that came later are taken together, as rank {OTHER_RANKS!r}"
            notes.append(Evidence(TEXT, text, name))
        return notes


class _Process:
    """The readers' states of one process, and the block that is open there."""

    def __init__(self, origin: Origin, rank: str | None, grammars: Sequence[Grammar], counters: dict[str, LineCounter]):
        self.block: Block | None = None
        self._under: Block | None = None  # the block that a message from aside stands in the middle of
        self._strange = False  # lines came that look like Paddle's, and nothing is known of them
        self._file = origin.file
        self._rank = rank
        self._states = {grammar.name: grammar.state(origin) for grammar in grammars}
        self._feeds = {name: state.feed for name, state in self._states.items()}
        self._by_kind = {name: state for name, state in self._states.items() if isinstance(state, KindState)}
        self._watched: _Watched | None = None
        self.taken = 0  # lines that the open block took, the last of them at taken_line
        self.taken_line = 0
        self.readers = self._states.keys()
        self._first = grammars[0].name
        self._aside = {grammar.name for grammar in grammars if grammar.aside}
        self._counters = counters
        self._tallies = {name: _Tally() for name in self._states}

    @property
    def any_lines(self) -> bool:
        return self._strange or any(tally.matched for tally in self._tallies.values())

    def take(self, token: Token, line: int) -> None:
        block = self.block
        if block is None:
            self.give(token, line)
        elif block.takes(token, line):
            self.taken += 1
            self.taken_line = line
        else:
            self.declined(token, line)

    def declined(self, token: Token, line: int) -> None:
        """The open block does not take it."""
        if token.reader not in self._aside or self.block.reader in self._aside:
            self._close()
            if self.block is not None:  # it goes on behind a message from aside
                self.take(token, line)
                return
        self.give(token, line)

    def give(self, token: Token, line: int) -> None:
        """To its reader, whatever block is open."""
        tally = self._tallies.get(token.reader)
        if tally is None:
            self.count_nobodys(token)
        elif token.kind == MALFORMED:
            self._strange = True
            self._counters[token.reader].malformed(token.text)
        else:
            tally.matched += 1
            tally.last = line
            if not token.quick:
                opened = self._feeds[token.reader](token, line)
                if opened is not None:
                    self._open(opened)

    def _open(self, opened: Block) -> None:
        """A message from aside that has several lines does not end the block it came in the middle of."""
        if self.block is not None:
            if opened.reader in self._aside:
                self._count_taken(self.block)
                self._under = self.block
            else:
                self._close()
        self.block = opened

    def _close(self) -> None:
        block, self.block, self._under = self.block, self._under, None
        if self._watched is not None:
            self._hold(block)
        self._count_taken(block)
        block.close()

    def _hold(self, block: Block) -> None:
        """A block has ended that began in a passage. When it ended there too, or with it, it need not be read again."""
        watched, self._watched = self._watched, None
        end, lines = watched.place + self.taken, self.taken
        in_a_row = not lines or self.taken_line == watched.line + lines
        inside = end < watched.passage.lines or (end == watched.passage.lines and watched.whole)
        if block is watched.block and in_a_row and inside:
            self.settle(watched.passage)
            watched.passage.hold(watched.place, block, lines)

    def _count_taken(self, block: Block) -> None:
        if self.taken:
            self._tallies[block.reader].add(self.taken, self.taken_line)
            self.taken = 0

    def feed_for(self, token: Token) -> Feed | None:
        """What reads tokens that came before and come again; None for those that are nobody's or say nothing."""
        if token.quick or token.reader not in self._feeds:
            return None
        by_kind = self._by_kind.get(token.reader)
        return self._feeds[token.reader] if by_kind is None else by_kind.handler(token.kind)

    def took_quick(self, number: int, line: int) -> None:
        """So many quick lines of the first reader came, the last of them at ``line``, while no block was open."""
        self._tallies[self._first].add(number, line)

    def replay(self, passage: Passage, number: int, *, whole: bool) -> int:
        """Take the lines of a passage that begins behind line ``number``; ``whole`` when the next frame is entered behind it.

        Returns how many: all, unless a block begins in it of which it is not known what it takes.
        """
        while self.block is not None:
            if self.block.takes(passage.first, number + 1):
                self.taken += 1
                self.taken_line = number + 1
                return 1
            self._close()
        for place, feed, token, held in passage.telling:
            opened = feed(token, number + place)
            if opened is None and held is None:
                continue
            if held is not None and type(opened) is held.kind and (whole or not held.last):
                opened.hear(held.said)
                opened.close()
                continue
            self.block = opened
            self._count_part(passage, place, number)
            if hasattr(opened, "hear"):  # a TextBlock: isinstance of a protocol takes longer than a line
                self._watched = _Watched(opened, passage, place, number + place, whole)
            return place
        passage.uses += 1
        passage.last = number
        return passage.lines

    def settle(self, passage: Passage) -> None:
        """Count its lines, as often as it was recognised."""
        if not passage.uses:
            return
        for reader, matched in passage.matched.items():
            self._tallies[reader].add(matched * passage.uses, passage.last + passage.ends[reader])
        if passage.ignored:
            self._counters[TEXT].ignored(passage.ignored * passage.uses)

    def _count_part(self, passage: Passage, lines: int, number: int) -> None:
        for place, reader in enumerate(passage.readers[:lines], start=1):
            if reader is None:
                self._counters[TEXT].ignored()
            else:
                self._tallies[reader].add(1, number + place)

    def count_nobodys(self, token: Token) -> None:
        counter = self._counters[TEXT]
        if token.kind in (PLAIN, BLANK):
            counter.ignored()
        elif token.kind == UNRECOGNISED:
            self._strange = True
            counter.unrecognised(token.text)
        else:
            raise AssertionError(f"no reader for {token!r}")

    def finish(self) -> Parts:
        while self.block is not None:
            self._close()
        counted = {name: tally for name, tally in self._tallies.items() if tally.matched}
        for name, tally in counted.items():
            self._counters[name].matched(tally.matched)
        parts = Parts(self._file, self._rank, last_line={name: tally.last for name, tally in counted.items()})
        for state in self._states.values():
            state.finish(parts)
        return parts


class _Watched(NamedTuple):
    """A block that a line of a passage opened: the line's place there and its number, and whether the next frame's entry
    follows the passage."""

    block: TextBlock
    passage: Passage
    place: int
    line: int
    whole: bool


class _Tally:
    """How many lines of a reader there were, and which was the last."""

    __slots__ = ("last", "matched")

    def __init__(self) -> None:
        self.matched = 0
        self.last = 0

    def add(self, matched: int, last: int) -> None:
        self.matched += matched
        if last > self.last:
            self.last = last
