"""Paddle's words for an error inside SOT's simulation."""

from __future__ import annotations

import re

from sotprobe.paddle_compat.names import original_name

# InnerError, paddle/jit/sot/utils/exceptions.py and OpcodeExecutorBase.error_message_summary (Paddle 2.6-3.3)
SIMULATION_ERROR = "InnerError"
_HEAD = "In simulate execution:"
_ORIGIN = "Origin Exception is:"
_EXCEPTION = re.compile(r"^[A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Exit)\b.*", re.MULTILINE)
_FRAME = re.compile(r'^\s*File "(?P<path>[^"]+)", line (?P<line>\d+), in (?P<name>.+?)\s*$')


def simulated_stack(message: str) -> list[tuple[str, int, str]]:
    """(path, line, original function name) of each simulated frame, outermost first; empty when there is none.

    Lines in resume functions are exact only while the hooks repair them (Python >= 3.11, facts of ``paddle_compat.traits``).
    """
    return [(path, line, original_name(name)) for path, line, name in simulated_frames(message)]


def simulated_frames(message: str) -> list[tuple[str, int, str]]:
    """As ``simulated_stack``, with the names of resume functions as SOT wrote them."""
    _, found, rest = message.partition(_HEAD)
    if not found:
        return []
    frames = []
    for line in rest.splitlines():
        if line.startswith(_ORIGIN):
            break
        match = _FRAME.match(line)
        if match:
            frames.append((match["path"], int(match["line"]), match["name"]))
    return frames


def root_message(message: str) -> str:
    """What actually went wrong, without the stacks around it.

    After "Origin Exception is:" comes Paddle's traceback with every exception of the chain; the first one is the cause, the
    last often only SOT's trouble in reporting it.
    """
    _, found, origin = message.partition(_ORIGIN)
    if found:
        match = _EXCEPTION.search(origin)
        if match:
            return match[0].strip()
    _, _, rest = message.partition(_HEAD)
    lines = [line.strip() for line in (rest or message).splitlines()]
    said = [line for line in lines if line and not _FRAME.match(line)]
    return said[-1] if said else message.strip()
