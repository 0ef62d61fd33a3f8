"""GLOG lines: most say nothing of the model; some say that the machine is the trouble, or why the program was aborted."""

from __future__ import annotations

from dataclasses import replace

from sotprobe.model import Evidence, ExitStatus
from sotprobe.paddle_compat import vocabulary
from sotprobe.paddle_compat.log_lines import glog
from sotprobe.readers import crash
from sotprobe.readers.grammar import Block, Token
from sotprobe.readers.machine import MachineEvents
from sotprobe.readers.parts import Origin, Parts
from sotprobe.readers.tokens import TEXT

NAME = "glog"
# A message at GLOG_v=6 has up to a hundred lines.
MOST_LINES = 400


class GlogGrammar:
    name = NAME
    aside = True
    heads = glog.HEADS
    inside = glog.INSIDE

    def token(self, head: str, text: str) -> Token:
        return Token(NAME, "more", text)

    def loose(self, text: str) -> Token | None:
        values = glog.parse(text)
        if values is None:
            return None
        if glog.is_signal(values["text"]):
            return crash.signal_token(values["text"])
        return Token(NAME, "line", text, values)

    def state(self, origin: Origin) -> GlogState:
        return GlogState(origin)


class GlogState:
    def __init__(self, origin: Origin):
        self._file = origin.file
        self._machine = MachineEvents(NAME, origin.file)
        self._fatal: Evidence | None = None

    def feed(self, token: Token, line: int) -> Block | None:
        if token.kind != "line":
            return None
        text = token.values["text"]
        if token.values["level"] == glog.FATAL:
            self._fatal = Evidence(NAME, vocabulary.first_line(text)[:300], self._file, line)
        if token.values["level"] != glog.INFO:
            self._machine.add(text, line)
        return MessageBlock(text) if glog.goes_on(text) else None

    def finish(self, parts: Parts) -> None:
        """A fatal message is followed by an abort: it is the reason for that."""
        parts.events.extend(self._machine.events())
        if self._fatal is None:
            return
        if parts.exit is None:
            parts.exit = ExitStatus("signal", signal=crash.ABORT, site=parts.reached, evidence=(self._fatal,))
        elif parts.exit.signal == crash.ABORT and parts.exit.error_message is None:
            evidence = (self._fatal, *parts.exit.evidence)
            parts.exit = replace(parts.exit, error_message=self._fatal.text, evidence=evidence)


class MessageBlock:
    """The further lines of a message: all inside its brackets, and one below an empty first line."""

    reader = NAME

    def __init__(self, first: str):
        self._depth = max(0, glog.depth(first))
        self._expects_text = not first.strip()
        self._lines = 0

    def takes(self, token: Token, line: int) -> bool:
        self._lines += 1
        own = token.reader == NAME and token.kind == "more"
        if not own and (token.reader != TEXT or self._lines > MOST_LINES):
            return False
        if not own and not self._depth and not self._expects_text:
            return False
        self._expects_text = False
        self._depth = max(0, self._depth + glog.depth(token.text))
        return True

    def close(self) -> None:
        return None
