"""Lines that tell of the machine: which devices are visible, memory that ran out, loader workers that died."""

from __future__ import annotations

from dataclasses import replace

from sotprobe.model import Event, Evidence
from sotprobe.paddle_compat import vocabulary
from sotprobe.paddle_compat.log_lines import machine
from sotprobe.readers.grammar import Block, Token
from sotprobe.readers.parts import Origin, Parts

NAME = "machine"
# Ids of causes that a message may have; more different messages than this say nothing new.
_MOST_MESSAGES = 100
_LONGEST = 100_000
_LONGEST_KEPT = 4000


class MachineEvents:
    """Messages that mean trouble with the machine, as events: the same one again is one event with a count."""

    def __init__(self, reader: str, file: str):
        self._reader = reader
        self._file = file
        self._events: dict[tuple[str, str], Event] = {}

    def add(self, text: str, line: int) -> str | None:
        """The cause of a message, when it has one."""
        cause = machine.classify(text)
        if cause is not None:
            self.put(cause, text, line)
        return cause

    def put(self, cause: str, text: str, line: int) -> None:
        text = text[:_LONGEST_KEPT]
        said = vocabulary.first_line(text)[:300]
        known = self._events.get((cause, said))
        if known is not None:
            self._events[cause, said] = replace(known, count=known.count + 1)
        elif len(self._events) < _MOST_MESSAGES:
            evidence = (Evidence(self._reader, said, self._file, line),)
            self._events[cause, said] = Event("warning", line, None, None, cause=cause, message=text, evidence=evidence)

    def events(self) -> list[Event]:
        return list(self._events.values())


class MachineGrammar:
    name = NAME
    aside = False
    heads = tuple(machine.HEADS)

    def token(self, head: str, text: str) -> Token:
        return Token(NAME, "says" if machine.HEADS[head] else "more", text)

    def loose(self, text: str) -> Token | None:
        if machine.VISIBLE in text and len(text) <= _LONGEST:
            devices = machine.visible_devices(text)
            return None if devices is None else Token(NAME, "visible", text, {"devices": devices})
        if machine.WORKER_ERROR in text and machine.classify(text) is not None:
            return Token(NAME, "says", text[text.index(machine.WORKER_ERROR) :])
        return None

    def state(self, origin: Origin) -> MachineState:
        return MachineState(origin)


class MachineState:
    def __init__(self, origin: Origin):
        self._events = MachineEvents(NAME, origin.file)
        self._visible: str | None = None

    def feed(self, token: Token, line: int) -> Block | None:
        if token.kind == "visible":
            self._visible = token.values["devices"]
        elif token.kind == "says":
            self._events.add(token.text, line)
        return None

    def finish(self, parts: Parts) -> None:
        parts.events.extend(self._events.events())
        if self._visible is not None:
            parts.environment["env"] = {machine.VISIBLE: self._visible}
