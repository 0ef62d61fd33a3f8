"""How Paddle words an error: enforce messages, boxed summaries, and the errors of code that it rewrote or simulated.

Read in ``phi/core/enforce.h``, ``jit/dy2static/error.py`` and ``jit/sot/utils/exceptions.py`` of 2.6.2 to 3.3.1, and seen in real
logs of them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sotprobe.paddle_compat.names import original_name

# (InvalidArgument) ...  [Hint: ...] (at /paddle/paddle/phi/infermeta/binary.cc:3087)
_KIND = re.compile(r"\((?P<kind>[A-Z][A-Za-z]+)\) ")
_KIND_ALONE = re.compile(r"(?P<kind>\([A-Z][A-Za-z]+\))\s*\n\s*")
_PLACE = re.compile(r"\(at [^()\s]+:\d+\)\s*$")
SUMMARY = "Error Message Summary:"
STACK_TITLES = ("C++ Traceback (most recent call last):", "C++ Call Stacks (More useful to developers):")
NO_STACK = "No stack trace in paddle, may be caused by external reasons."
_DASHES = re.compile(r"-{20,}$")
_CPP_FRAME = re.compile(r"\d+ +\S")
_SUMMARY_LINE = re.compile(r"[A-Z]\w*Error: ?")

# Messages that hold a stack of the user's lines; what went wrong is below it.
ORIGIN = "Origin Exception is:"
_IN_CODE = ("In transformed code:", "In user code:")
_INNER_ERROR = re.compile(r"^[ \t]+[A-Za-z_][\w.]*(?:Error|Exception): ?(?P<text>\S.*)", re.MULTILINE)
_FRAME = re.compile(r'^\s*File "(?P<path>[^"]+)", line (?P<line>\d{1,9}), in (?P<name>.+?)\s*$', re.MULTILINE)
# paddle.distributed.spawn
_SPAWNED = re.compile(
    r"Process \d+ terminated with (?:the following error:|signal (?P<signal>SIG\w+)\.|exit code (?P<code>\d{1,9})\.)"
)


def is_rule(line: str) -> bool:
    """Whether a line is one of those drawn around the titles of Paddle's boxes."""
    return _DASHES.match(line) is not None


def belongs_to_box(line: str) -> bool:
    """Whether a line at the left margin can stand in a box, before its summary."""
    text = line.rstrip()
    if text.startswith(STACK_TITLES) or text in (SUMMARY, NO_STACK):
        return True
    return is_rule(text) or _CPP_FRAME.match(text) is not None or _SPAWNED.match(text) is not None


def is_cpp_frame(line: str) -> bool:
    """Whether a line is a frame of a C++ stack: ``0   paddle::framework::...``."""
    return _CPP_FRAME.match(line) is not None


def is_summary(line: str) -> bool:
    """Whether a line begins what a box sums up: ``InvalidArgumentError: ...``."""
    return _SUMMARY_LINE.match(line) is not None


def is_complete(line: str) -> bool:
    """Whether a line ends an enforce message: the place in Paddle's source comes last."""
    return _PLACE.search(line) is not None


def awaits_place(message: Sequence[str]) -> bool:
    """Whether an enforce message, by its lines so far, is not at its end yet."""
    said = [line for line in message if line.strip()]
    if not said or is_complete(said[-1]):
        return False
    if _KIND.match(said[0]):
        return True
    titles = [position for position, line in enumerate(said) if line.strip() == SUMMARY]
    return bool(titles) and any(_SUMMARY_LINE.match(line) for line in said[titles[-1] + 1 :])


def spawned_signal(message: str) -> str | None:
    """The signal that ended a process of ``paddle.distributed.spawn``, when the message says so."""
    found = _SPAWNED.search(message)
    return found["signal"] if found else None


def essence(message: str) -> str:
    """What a message says went wrong, without the boxes and stacks around it."""
    _, boxed, summary = message.rpartition(SUMMARY)
    if boxed:
        lines = [line for line in summary.splitlines() if line.strip() and not is_rule(line.strip())]
        return "\n".join(lines).strip() or message.strip()
    if message.lstrip().startswith(_IN_CODE):
        found = _INNER_ERROR.findall(message)
        return found[-1].strip() if found else message.strip()
    return _KIND_ALONE.sub(r"\g<kind> ", message.strip(), count=1)


def stack_in(message: str) -> list[tuple[str, int, str]]:
    """(path, line, function) of the lines that an error of rewritten code names, outermost first; empty for other errors."""
    if not message.lstrip().startswith(_IN_CODE):
        return []
    return [(found["path"], int(found["line"]), original_name(found["name"])) for found in _FRAME.finditer(message)]
