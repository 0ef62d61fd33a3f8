"""faulthandler's text: where the program stood when it was killed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

# Lib/test/test_faulthandler.py, Python 3.10-3.13: a head for every thread, then its frames, innermost first.
_THREAD = re.compile(r"^(?:Current thread|Thread) 0x[0-9a-f]+.*\(most recent call first\):", re.MULTILINE)
_FRAME = re.compile(r'^  File "(?P<path>.*)", line (?P<line>\d{1,9}) in (?P<function>.*)$', re.MULTILINE)
_LIBRARY = ("/site-packages/", "/dist-packages/", "/lib/python3")

Frame = tuple[str, int, str]


def program_stack(text: str, program: str) -> list[Frame]:
    """(path, line, function) of the program's frames in the last dump of the thread that runs it, outermost first.

    What lies outside of the program's own file is what started it, and library frames inside are left out. Empty when no
    thread was in the program.
    """
    for frames in reversed(list(threads(text))):
        inside = [position for position, frame in enumerate(frames) if frame[0] == program]
        if inside:
            return [frame for frame in reversed(frames[: inside[-1] + 1]) if is_program(frame[0])]
    return []


def threads(text: str) -> Iterator[list[Frame]]:
    """The frames of every thread in some dumps, each innermost first."""
    heads = [match.end() for match in _THREAD.finditer(text)]
    for start, end in pairwise([*heads, len(text)]):
        yield [(m["path"], int(m["line"]), m["function"]) for m in _FRAME.finditer(text, start, end)]


def is_program(path: str) -> bool:
    """Whether a file is the user's own: no library, and a file at all."""
    return not path.startswith("<") and not any(part in path for part in _LIBRARY)
