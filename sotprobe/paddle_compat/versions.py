"""Ranges of Paddle and Python versions."""

from __future__ import annotations

import re
from dataclasses import dataclass

Version = tuple[int, ...]


@dataclass(frozen=True)
class Versions:
    """A range of Paddle and Python versions, ends included, written like ``3.3``; None is open."""

    paddle_since: str | None = None
    paddle_until: str | None = None
    python_since: str | None = None
    python_until: str | None = None

    def hold(self, paddle: str | None, python: str | None) -> bool:
        """Whether a pair of versions is in the range; an unknown version is."""
        return _within(paddle, self.paddle_since, self.paddle_until) and _within(python, self.python_since, self.python_until)

    def __str__(self) -> str:
        parts = [_range("Paddle", self.paddle_since, self.paddle_until)]
        parts.append(_range("Python", self.python_since, self.python_until))
        return ", ".join(part for part in parts if part) or "all versions"


def parse_version(text: str | None) -> Version | None:
    """``3.3.1`` -> (3, 3, 1); None when it is no version."""
    match = re.match(r"\d+(\.\d+)*", text or "")
    return tuple(int(part) for part in match.group().split(".")) if match else None


def _within(text: str | None, since: str | None, until: str | None) -> bool:
    version = parse_version(text)
    if version is None or not any(version):  # a development build of Paddle calls itself 0.0.0
        return True
    low, high = parse_version(since), parse_version(until)
    return (low is None or version >= low) and (high is None or version[: len(high)] <= high)


def _range(name: str, since: str | None, until: str | None) -> str:
    if since is None and until is None:
        return ""
    if until is None:
        return f"{name} {since} and later"
    return f"{name} up to {until}" if since is None else f"{name} {since} to {until}"
