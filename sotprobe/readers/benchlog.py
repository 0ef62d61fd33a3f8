"""Training and benchmark lines: how many steps a log tells of. Their figures are not read."""

from __future__ import annotations

from sotprobe.paddle_compat.log_lines import benchmark
from sotprobe.readers.grammar import Block, Token
from sotprobe.readers.parts import Origin, Parts

NAME = "benchlog"


class BenchGrammar:
    name = NAME
    aside = False
    heads = ()

    def token(self, head: str, text: str) -> Token:
        raise AssertionError("these lines have no literal head")

    def loose(self, text: str) -> Token | None:
        kind = benchmark.kind_of(text)
        return None if kind is None else Token(NAME, kind, text, keep=False)

    def state(self, origin: Origin) -> BenchState:
        return BenchState()


class BenchState:
    def __init__(self) -> None:
        self._steps = 0

    def feed(self, token: Token, line: int) -> Block | None:
        self._steps += token.kind == benchmark.STEP
        return None

    def finish(self, parts: Parts) -> None:
        parts.steps += self._steps
