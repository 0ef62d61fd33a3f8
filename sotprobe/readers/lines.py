"""A raw line of a log to text: colours, progress bars, stray bytes, and the prefix that says which process wrote it."""

from __future__ import annotations

import re

# CSI sequences (colours, cursor movement), OSC sequences (titles, links) and single escapes: ECMA-48.
_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")

# What launchers put in front of a line: paddle.distributed.launch and torchrun-like, mpirun --tag-output, pdsh and kubectl.
_RANK = re.compile(
    r"\[(?:rank|RANK|Rank|default|trainer|worker)[ _:=-]?(\d{1,9})\](?::| -)?"
    r"|\[\d+,(\d{1,9})\]<std(?:out|err)> ?:"
    r"|(?:rank|Rank|RANK)[ _:=-]?(\d{1,9}) ?[:|]"
)


def decode(raw: bytes) -> str:
    """The text without colours; bytes that are no UTF-8 as U+FFFD."""
    text = raw.decode("utf-8", errors="replace")
    return _ANSI.sub("", text) if "\x1b" in text else text


def last_shown(text: str) -> str:
    """What a terminal would end up showing: the last of the states that a progress bar went through."""
    end = len(text)
    while end >= 0:
        start = text.rfind("\r", 0, end) + 1
        part = text[start:end]
        if part and not part.isspace():
            return part
        end = start - 1
    return ""


def split_rank(text: str) -> tuple[str | None, str]:
    """(rank, the line without it); None for a line that names no process. A space behind the prefix is still there: some
    launchers write one and some do not, and it may as well be the line's own."""
    found = _RANK.match(text) if text[:1] in "[rR" else None
    if found is None:
        return None, text
    return found[found.lastindex], text[found.end() :]
