"""Python tracebacks in a log, line by line, with the exceptions they are chained to."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

HEAD = "Traceback (most recent call last):"
_CHAINED = ("During handling of the above exception, another", "The above exception was the direct cause")
_FRAME = re.compile(r'\s+File "(?P<path>.*)", line (?P<line>\d+)(?:, in (?P<function>.*))?$')
_RAISED = re.compile(r"(?P<type>[A-Za-z_][\w.]*)(?:: ?(?P<message>.*))?$", re.DOTALL)
_NAMED = re.compile(r"(?:Error|Exception|Interrupt|Exit|Warning|StopIteration|EnforceNotMet|Timeout)\w*$")
MOST_LINES = 2000


@dataclass
class Raised:
    """One exception of a chain: its class as printed, its message, and its frames (path, line, function), outermost first."""

    type: str = ""
    message: list[str] = field(default_factory=list)
    frames: list[tuple[str, int, str]] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.type.rpartition(".")[2]

    @property
    def text(self) -> str:
        return "\n".join(self.message).rstrip()


class Traceback:
    """Offered lines one by one: ``takes`` says whether a line belongs to it. ``chain`` is in the order printed: the cause first.

    There is no mark at the end of one. The message of the last exception may go on in indented lines, and behind a colon in
    one more; the next line that is neither ends it.
    """

    def __init__(self) -> None:
        self.chain: list[Raised] = []
        self._inside = False  # between the head and the exception's own line
        self._lines = 0

    @property
    def complete(self) -> bool:
        return bool(self.chain) and bool(self.chain[-1].type)

    def takes(self, text: str) -> bool:
        self._lines += 1
        if text.strip() == HEAD:
            self.chain.append(Raised())
            self._inside = True
            return True
        if not self.chain:
            return not text.strip()
        return self._frame_or_end(text) if self._inside else self._message(text)

    def _frame_or_end(self, text: str) -> bool:
        current = self.chain[-1]
        if not text or text[0].isspace():
            frame = _FRAME.match(text)
            if frame:
                current.frames.append((frame["path"], int(frame["line"]), frame["function"] or "<module>"))
            return True
        raised = _RAISED.match(text)
        if raised is None or not ("." in raised["type"] or _NAMED.search(raised["type"])):
            return False
        self._inside = False
        current.type = raised["type"]
        current.message.append(raised["message"] or "")
        return True

    def _message(self, text: str) -> bool:
        if text.startswith(_CHAINED):
            return True
        message = self.chain[-1].message
        said = next((line for line in reversed(message) if line.strip()), "")
        if text and not text[0].isspace() and not said.rstrip().endswith(":"):
            return False
        if self._lines < MOST_LINES:
            message.append(text)
        return True
