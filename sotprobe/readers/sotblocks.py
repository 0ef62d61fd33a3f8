"""Lines of SOT that belong together: a subgraph's statements, the reason of a break, the traceback of a fallback."""

from __future__ import annotations

from collections.abc import Callable

from sotprobe.paddle_compat.log_lines import sot
from sotprobe.readers.grammar import Token
from sotprobe.readers.tracebacks import Raised, Traceback

MOST_STATEMENTS = 20_000
# Lines of a reason, and characters of each: a message may hold the value of a tensor.
MOST_REASON_LINES = 200
_LONGEST = 2_000


class StatementsBlock:
    """The inputs, outputs and statements below the name of a subgraph that was built."""

    def __init__(self, reader: str, done: Callable[[list[str]], None]):
        self.reader = reader
        self._done = done
        self._statements: list[str] = []

    def takes(self, token: Token, line: int) -> bool:
        if not token.quick or token.kind != "sir-body":
            return False
        if sot.is_statement(token.text) and len(self._statements) < MOST_STATEMENTS:
            self._statements.append(token.text[:_LONGEST].strip())
        return True

    def close(self) -> None:
        self._done(self._statements)

    def said(self) -> list[str]:
        return self._statements

    def hear(self, said: list[str]) -> None:
        self._statements = said


class ReasonBlock:
    """The indented lines below a graph break, one for each inlined call and the reason last."""

    def __init__(self, reader: str, first: str, done: Callable[[list[str]], None]):
        self.reader = reader
        self._done = done
        self._lines = [first[:_LONGEST]]

    def takes(self, token: Token, line: int) -> bool:
        if not token.text.startswith(sot.REASON_INDENT) or not token.text.strip():
            return False
        if len(self._lines) < MOST_REASON_LINES:
            self._lines.append(token.text[:_LONGEST])
        return True

    def close(self) -> None:
        self._done(self._lines)


class FallbackBlock:
    """The chained traceback below a frame that was given up."""

    def __init__(self, reader: str, done: Callable[[list[Raised]], None]):
        self.reader = reader
        self._done = done
        self._traceback = Traceback()

    def takes(self, token: Token, line: int) -> bool:
        if token.reader == self.reader and token.kind != "guard-body":
            return False
        return self._traceback.takes(token.text)

    def close(self) -> None:
        self._done(self._traceback.chain)
