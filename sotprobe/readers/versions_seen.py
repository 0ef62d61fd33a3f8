"""Which Paddle and Python wrote a log: versions that it states, and the ranges that its spelling and its opcodes prove.

A stated version is a fact of the run (``paddle``, ``python``). What is only inferred is a range, under names of its own
(``paddle_seen``, ``python_seen``), so that nobody takes it for a statement.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sotprobe.paddle_compat.log_lines import versions
from sotprobe.paddle_compat.log_lines.phrase import Phrase
from sotprobe.paddle_compat.versions import Span, Version, common, parse_version
from sotprobe.readers.grammar import Block, Token
from sotprobe.readers.parts import Origin, Parts

NAME = "versions"
# Lines about instructions that are looked at: all code of one Python has the same opcodes.
_MOST_INSTRUCTIONS = 2_000


class Spellings:
    """How the lines of one file were spelled. It is told every different line once, so it costs next to nothing."""

    def __init__(self, phrases: Mapping[str, Phrase]):
        self._phrases = phrases
        self._heads: set[str] = set()
        self._opcodes: set[str] = set()
        self._instructions = 0

    def head(self, head: str) -> None:
        self._heads.add(head)

    def instruction(self, text: str) -> None:
        if self._instructions < _MOST_INSTRUCTIONS:
            self._instructions += 1
            opcode = versions.opcode_in(text)
            if opcode is not None:
                self._opcodes.add(opcode)

    def add_to(self, parts: Parts) -> None:
        for head in self._heads:
            parts.paddle_spans.update(versions.of_head(head, self._phrases[head]))
        parts.opcodes.update(self._opcodes)


class VersionGrammar:
    name = NAME
    aside = False
    heads = (versions.SHOWN,)

    def token(self, head: str, text: str) -> Token | None:
        values = versions.shown(text)
        return Token(NAME, "versions", text, values) if values else None

    def loose(self, text: str) -> Token | None:
        values = versions.printed(text)
        return Token(NAME, "versions", text, values) if values else None

    def state(self, origin: Origin) -> VersionState:
        return VersionState()


class VersionState:
    def __init__(self) -> None:
        self._printed: dict[str, set[str]] = {"paddle": set(), "python": set()}

    def feed(self, token: Token, line: int) -> Block | None:
        for name, version in token.values.items():
            self._printed[name].add(version)
        return None

    def finish(self, parts: Parts) -> None:
        """All other readers have finished: this one is the last of the tuple."""
        fallbacks = [event for event in parts.events if event.kind == "fallback"]
        messages = [said for event in fallbacks for said in (event.message, *(evidence.text for evidence in event.evidence))]
        opcodes = {opcode for message in messages if (opcode := versions.refused_opcode(message))}
        spans = [found for message in messages for found in versions.of_message(message)]
        self._conclude("paddle", [*parts.paddle_spans, *spans], versions.OLDEST_PADDLE, parts)
        paths = {site.path for site, _ in parts.entries}
        in_paths = {found for path in paths if (found := versions.python_in(path))}
        if not self._printed["python"] and len(in_paths) == 1:
            parts.environment.setdefault("python", in_paths.pop())
        self._conclude("python", versions.of_opcodes({*parts.opcodes, *opcodes}), versions.OLDEST_PYTHON, parts)

    def _conclude(self, name: str, spans: Iterable[Span], oldest: Version, parts: Parts) -> None:
        printed = self._printed[name]
        if len({parse_version(version) for version in printed}) == 1:  # a log that states two is of neither for sure
            parts.environment[name] = max(printed, key=len)
        spans = list(spans)
        found = common(spans, oldest) if spans else None
        if found is not None and name not in parts.environment and found != Span(oldest, None):
            parts.environment[f"{name}_seen"] = str(found)
