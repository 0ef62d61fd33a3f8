"""One log file to the Parts of every process that wrote to it, in one pass. Each line is counted exactly once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

from sotprobe.model import Evidence, ReadStats
from sotprobe.readers.base import LineCounter
from sotprobe.readers.grammar import BLANK, MALFORMED, PLAIN, UNRECOGNISED, Block, Grammar, Token
from sotprobe.readers.parts import Origin, Parts
from sotprobe.readers.text import LONGEST_LINE, Source, batches
from sotprobe.readers.tokens import QUICK, TEXT, Tokenizer

Progress = Callable[[Source], None]


class LogFile:
    """What was read of a file: ``parts`` of each process, ``stats`` of each reader."""

    def __init__(self, origin: Origin, grammars: Sequence[Grammar], progress: Progress | None = None):
        """Read it. Raises InputError when it is no text."""
        self.source = Source(origin.file)
        self._origin = origin
        self._grammars = grammars
        self._tokenizer = Tokenizer(grammars)
        self._counters: dict[str, LineCounter] = defaultdict(LineCounter)
        self._only = _Process(origin, None, grammars, self._counters)
        self._ranks: dict[str, _Process] = {}
        first = 0
        for lines in batches(self.source):
            self._read(lines, first)
            first += len(lines)
            if progress is not None:
                progress(self.source)
        self.parts = self._finish()

    @property
    def stats(self) -> dict[str, ReadStats]:
        return {name: counter.stats() for name, counter in sorted(self._counters.items())}

    def _read(self, lines: list[bytes], number: int) -> None:
        tokenizer, only = self._tokenizer, self._only
        memo, block, quick = tokenizer.memo, only.block, 0
        for raw, token in zip(lines, map(memo.get, lines), strict=True):
            number += 1
            if token is QUICK:
                if block is None:
                    quick += 1
                    continue
                token = tokenizer.token(raw)
            elif token is None:
                token = tokenizer.token(raw)
            process = only if token.rank is None else self._process(token.rank)
            process.take(token, number)
            block = only.block
        if quick:
            self._counters[self._grammars[0].name].matched(quick)

    def _process(self, rank: str) -> _Process:
        process = self._ranks.get(rank)
        if process is None:
            process = self._ranks[rank] = _Process(self._origin, rank, self._grammars, self._counters)
        return process

    def _finish(self) -> list[Parts]:
        processes = list(self._ranks.values())
        if self._only.any_lines or not processes:
            processes.insert(0, self._only)
        parts = [process.finish() for process in processes]
        parts[0].lines = self.source.lines
        for line in self.source.cut:
            text = f"line {line} is longer than {LONGEST_LINE >> 20} MiB: the rest of it was not read"
            parts[0].notes.append(Evidence(TEXT, text, self.source.name, line))
        if self.source.broken:
            parts[0].notes.append(Evidence(TEXT, f"not read to its end: {self.source.broken}", self.source.name))
        return parts


class _Process:
    """The readers' states of one process, and the block that is open there."""

    def __init__(self, origin: Origin, rank: str | None, grammars: Sequence[Grammar], counters: dict[str, LineCounter]):
        self.block: Block | None = None
        self.any_lines = False
        self._file = origin.file
        self._rank = rank
        self._states = {grammar.name: grammar.state(origin) for grammar in grammars}
        self._aside = {grammar.name for grammar in grammars if grammar.aside}
        self._counters = counters
        self._last: dict[str, int] = {}

    def take(self, token: Token, line: int) -> None:
        block = self.block
        if block is not None:
            if block.takes(token, line):
                self._counters[block.reader].matched()
                self._last[block.reader] = line
                return
            if token.reader not in self._aside:
                self.block = None
                block.close()
        state = self._states.get(token.reader)
        if state is None:
            self._count_nobodys(token)
            return
        self.any_lines = True
        if token.kind == MALFORMED:
            self._counters[token.reader].malformed(token.text)
            return
        self._counters[token.reader].matched()
        self._last[token.reader] = line
        opened = state.feed(token, line)
        if opened is not None:
            if self.block is not None:
                self.block.close()
            self.block = opened

    def _count_nobodys(self, token: Token) -> None:
        counter = self._counters[TEXT]
        if token.kind in (PLAIN, BLANK):
            counter.ignored()
        elif token.kind == UNRECOGNISED:
            self.any_lines = True
            counter.unrecognised(token.text)
        else:
            raise AssertionError(f"no reader for {token!r}")

    def finish(self) -> Parts:
        if self.block is not None:
            self.block.close()
            self.block = None
        parts = Parts(self._file, self._rank, last_line=self._last)
        for state in self._states.values():
            state.finish(parts)
        return parts
