"""Lines of Paddle's C++ logger (GLOG), on standard error: ``I1129 20:46:04.581276 11203 pir_interpreter.cc:1606] text``.

Level, month and day (the year before them from glog 0.5 on), local time, thread, source file and line. Seen in logs of 2.6.2 to
3.3.1 at GLOG_v 0 to 6. A message may have several lines; only the first has the prefix.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

LEVELS = "IWEF"
INFO, FATAL = "I", "F"
_LINE = re.compile(
    r"(?P<level>[IWEF])(?:\d{4}|\d{8}) (?P<time>\d\d:\d\d:\d\d\.\d{6}) +(?P<thread>\d+) (?P<file>[^\s:]+):(?P<line>\d+)\] ?"
    r"(?P<text>.*)",
    re.DOTALL,
)
# Where one begins behind a progress bar: both are written to standard error, and a bar ends without a newline.
INSIDE = ((".cc:", _LINE), (".cu:", _LINE), (".h:", _LINE))
# Before 2.3 Paddle's report of a signal came through the logger.
_SIGNAL = "*** SIG"

# Starts of lines that belong to the logger, and have no prefix or are the second and further lines of a message.
HEADS = (
    "--- Running ",  # of the passes over a program (2.6), coloured
    "--- detected [",
    "---    detected ",
    "---  detected ",
    "WARNING: Logging before InitGoogleLogging()",
    "begin: RunInstructionBase OP",
    "done: RunInstructionBase OP",
    "Before: Place(",
    "After: Place(",
    "==========================Running_",
    "==========================Finish_",
    "Forward Debug Info {",
    "API_Name: ",
    "*** Check failure stack trace: ***",
    "    @ ",
    "The TensorRT that Paddle depends on is not configured correctly.",
    "  Suggestions:",
    "  1. Check if the TensorRT is installed correctly",
    "  2. Configure environment variables as follows:",
    "  - Linux: set LD_LIBRARY_PATH",
    "  - Windows: set PATH by",
    "  - Mac: set  DYLD_LIBRARY_PATH",
)

_OPENING, _CLOSING = "([{", ")]}"


def parse(text: str) -> Mapping[str, str] | None:
    """What a line says, None for any other line. Asked of every line that no reader knows."""
    if text[:1] not in LEVELS or not text[1:5].isdigit():
        return None
    found = _LINE.match(text)
    return None if found is None else found.groupdict()


def is_signal(message: str) -> bool:
    return message.startswith(_SIGNAL)


def goes_on(message: str) -> bool:
    """Whether more lines belong to a message: it begins with a newline, or breaks off inside a list."""
    text = message.rstrip()
    return not text or text[-1] in "([{,"


def depth(text: str) -> int:
    """How many brackets a line leaves open; negative when it closes more."""
    return sum(map(text.count, _OPENING)) - sum(map(text.count, _CLOSING))
