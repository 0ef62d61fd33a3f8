"""A raw line of a log to text: colours, progress bars, stray bytes, and the prefix that says which process wrote it."""

from __future__ import annotations

import re

# CSI sequences (colours, cursor movement), OSC sequences (titles, links) and single escapes: ECMA-48.
_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")

# What launchers put in front of a line: paddle.distributed.launch and torchrun-like, mpirun --tag-output, pdsh and kubectl.
_RANK = re.compile(
    r"\[(?:rank|RANK|Rank|default|trainer|worker)[ _:=-]?(\d+)\](?::| -)? ?"
    r"|\[\d+,(\d+)\]<std(?:out|err)> ?: ?"
    r"|\[\d+,(\d+)\]<std(?:out|err)>:"
    r"|(?:rank|Rank|RANK)[ _:=-]?(\d+) ?[:|] ?"
)


def decode(raw: bytes) -> str:
    """The text a terminal would end up showing: bytes that are no UTF-8 as U+FFFD, no colours, the last of the states that a
    progress bar went through."""
    text = raw.decode("utf-8", errors="replace")
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    return _last_shown(text) if "\r" in text else text


def _last_shown(text: str) -> str:
    end = len(text)
    while end >= 0:
        start = text.rfind("\r", 0, end) + 1
        part = text[start:end]
        if part and not part.isspace():
            return part
        end = start - 1
    return ""


def split_rank(text: str) -> tuple[str | None, str]:
    """(rank, the line without it); None for a line that names no process."""
    found = _RANK.match(text) if text[:1] in "[rR" else None
    if found is None:
        return None, text
    return next(group for group in found.groups() if group is not None), text[found.end() :]
