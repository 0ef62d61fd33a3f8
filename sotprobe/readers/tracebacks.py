"""Python tracebacks in a log, line by line, with the exceptions they are chained to."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from sotprobe.paddle_compat.log_lines import enforce
from sotprobe.paddle_compat.log_lines.sot import MESSAGE_GOES_ON

HEAD = "Traceback (most recent call last):"
GROUP_HEAD = "  + Exception Group Traceback (most recent call last):"
_GROUP_TITLE = "+ Exception Group Traceback"
_CHAINED = ("During handling of the above exception, another", "The above exception was the direct cause")
_FRAME = re.compile(r'\s+File "(?P<path>.*)", line (?P<line>\d{1,9})(?:, in (?P<function>.*))?$')
_RAISED = re.compile(r"(?P<type>[A-Za-z_][\w.]*)(?:: ?(?P<message>.*))?$", re.DOTALL)
_NAMED = re.compile(r"(?:Error|Exception|Interrupt|Exit|Warning|StopIteration|EnforceNotMet|Timeout|ExceptionGroup)\w*$")
_GROUP_MARGIN = re.compile(r"[ |]*[|+]")
_GROUP_END = re.compile(r"(?P<indent> +)\+-+$")
# The longest seen are chains of a fallback, 400 lines.
MOST_LINES = 2000
LONGEST_KEPT = 4000
# So many lines at the left margin may a message have that is known to go on, and an exception group of others' messages.
_MOST_AT_MARGIN = 12


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

    There is no mark at the end of one. The message of the last exception may go on in indented lines, behind a colon in one
    more, and as far as Paddle's own messages are known to go; the next line that is none of these ends it.
    """

    def __init__(self) -> None:
        self.chain: list[Raised] = []
        self._inside = False  # between the head and the exception's own line
        self._lines = 0
        self._chained = False
        self._since_head = 0
        self._message = _Message()
        self._group: _Group | None = None

    @property
    def complete(self) -> bool:
        return bool(self.chain) and bool(self.chain[-1].type)

    def takes(self, text: str) -> bool:
        self._lines += 1
        if self._lines > MOST_LINES:
            return False
        text = text[:LONGEST_KEPT]
        if self._group is not None and not self._group.ended:
            return self._group.takes(text)
        if text.startswith(HEAD):
            return self._follows() and self._begin()
        if text.lstrip().startswith(_GROUP_TITLE):
            return self._follows() and self._begin_group(text)
        if not self.chain:
            return self._before(text)
        return self._frame_or_end(text) if self._inside else self._goes_on(text)

    def _follows(self) -> bool:
        """One that neither is chained to the exception above nor quoted in its message is another exception."""
        return not self.complete or self._chained or self._message.quotes()

    def _before(self, text: str) -> bool:
        if text.strip() == HEAD:
            return self._begin()
        return not text.strip()

    def _begin(self) -> bool:
        self.chain.append(Raised())
        self._inside = True
        self._group = None
        self._chained = False
        self._since_head = 0
        return True

    def begin_without_head(self) -> None:
        """A syntax error in the file that Python was told to run has frames and no head."""
        self._begin()

    def _begin_group(self, text: str) -> bool:
        self._begin()
        self._group = _Group(self.chain[-1], len(text) - len(text.lstrip()))
        self._inside = False
        return True

    def _frame_or_end(self, text: str) -> bool:
        current = self.chain[-1]
        self._since_head += 1
        if not text.strip() and self._since_head == 1 and self._message.holds_origin:
            self._back_to_message(text)
            return True
        if not text or text[0].isspace():
            frame = _FRAME.match(text)
            if frame:
                current.frames.append((frame["path"], int(frame["line"]), frame["function"] or "<module>"))
            return True
        raised = _RAISED.match(text)
        if raised is None or not _is_exception(raised["type"], current):
            return False
        self._inside = False
        current.type = raised["type"]
        self._message = _Message()
        self._message.begin(current.message, raised["message"] or "")
        return True

    def _back_to_message(self, text: str) -> None:
        """The traceback quoted in a message has a blank line below its head, and is no exception of this chain."""
        self.chain.pop()
        self._inside = False
        self._message.add(HEAD)
        self._message.add(text)

    def _goes_on(self, text: str) -> bool:
        if text.startswith(_CHAINED):
            self._chained = True
            return True
        if text.strip():
            self._chained = False
        return not text.strip() if self._group is not None else self._message.takes(text)


def _is_exception(name: str, raised: Raised) -> bool:
    """Classes of the program's own modules are written with a dot, those of its main file without."""
    return "." in name or _NAMED.search(name) is not None or (bool(raised.frames) and name[0].isupper())


class _Message:
    """The lines of an exception's message, and what it is known to go on with."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._at_margin = 0
        self._blank = False
        self._boxed = False
        self.holds_origin = False  # SOT quotes the traceback of what went wrong in its simulation

    def begin(self, lines: list[str], first: str) -> None:
        self._lines = lines
        lines.append(first)

    def add(self, text: str) -> None:
        self._lines.append(text)
        if text.startswith(enforce.ORIGIN):
            self.holds_origin = True

    def quotes(self) -> bool:
        """Whether a traceback at the left margin is part of the message: SOT, loaders and spawn quote that of another process."""
        said = self._said().strip()
        return said.endswith(":") or self.holds_origin or (self._boxed and enforce.is_rule(said))

    def takes(self, text: str) -> bool:
        if not text.strip():
            self._blank = True
        elif text[0].isspace():
            if self._blank and not self._is_long():
                return False
        elif not self._takes_at_margin(text):
            return False
        if text.strip():
            self._blank = False
        self.add(text)
        return True

    def _is_long(self) -> bool:
        """Whether indented lines may come behind a blank one."""
        first = self._lines[0].strip()
        return not first or first.endswith(":") or self.holds_origin or self._awaits_place()

    def _takes_at_margin(self, text: str) -> bool:
        if self._said().rstrip().endswith(":") or text.startswith((enforce.ORIGIN, *MESSAGE_GOES_ON)):
            return True
        if self.holds_origin and self._origin_takes(text):
            return True
        if (self._boxed or self.holds_origin or not self._lines[0].strip()) and enforce.belongs_to_box(text):
            self._boxed = True
            return True
        if self._awaits_place() or self._awaits_summary():
            self._at_margin += 1
            return self._at_margin <= _MOST_AT_MARGIN
        return False

    def _origin_takes(self, text: str) -> bool:
        raised = _RAISED.match(text)
        return raised is not None and ("." in raised["type"] or _NAMED.search(raised["type"]) is not None)

    def _awaits_place(self) -> bool:
        if self.holds_origin:  # the last exception's words count
            start = max((n for n, line in enumerate(self._lines) if _RAISED.match(line)), default=0)
            found = _RAISED.match(self._lines[start])
            return enforce.awaits_place([(found["message"] or "") if found else "", *self._lines[start + 1 :]])
        return enforce.awaits_place(self._lines)

    def _awaits_summary(self) -> bool:
        """Below the title of a summary comes what it says."""
        said = [line.strip() for line in self._lines[-4:] if line.strip()]
        return self._boxed and enforce.SUMMARY in said and enforce.is_rule(said[-1])

    def _said(self) -> str:
        return next((line for line in reversed(self._lines) if line.strip()), "")


class _Group:
    """The tree that an ExceptionGroup is printed as; its own exception counts, those in it are its message."""

    def __init__(self, raised: Raised, indent: int) -> None:
        self.ended = False
        self._raised = raised
        self._margin = " " * indent + "| "
        self._end = indent + 2
        self._at_margin = 0

    def takes(self, text: str) -> bool:
        end = _GROUP_END.match(text)
        if end is not None and len(end["indent"]) == self._end:
            self.ended = True
            return True
        if _GROUP_MARGIN.match(text) is None:  # a message of several lines has no margin from its second line on
            self._at_margin += 1
            return self._at_margin <= _MOST_AT_MARGIN
        if not self._raised.type and text.startswith(self._margin):
            self._own(text[len(self._margin) :])
        elif self._raised.type:
            self._raised.message.append(text.strip(" |"))
        return True

    def _own(self, text: str) -> None:
        frame = _FRAME.match(text)
        if frame:
            self._raised.frames.append((frame["path"], int(frame["line"]), frame["function"] or "<module>"))
            return
        raised = None if text[:1].isspace() else _RAISED.match(text)
        if raised is not None and _is_exception(raised["type"], self._raised):
            self._raised.type = raised["type"]
            self._raised.message.append(raised["message"] or "")
