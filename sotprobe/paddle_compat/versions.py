"""Ranges of Paddle and Python versions."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

Version = tuple[int, ...]


class Span(NamedTuple):
    """The versions between two, ends included; without a ``high`` end all from ``low`` on."""

    low: Version
    high: Version | None

    def __str__(self) -> str:
        low = ".".join(map(str, self.low))
        if self.high is None:
            return f"{low}+"
        return low if self.high == self.low else f"{low}-{'.'.join(map(str, self.high))}"


@dataclass(frozen=True)
class Versions:
    """A range of Paddle and Python versions, ends included, written like ``3.3``; None is open."""

    paddle_since: str | None = None
    paddle_until: str | None = None
    python_since: str | None = None
    python_until: str | None = None

    def hold(self, paddle: str | None, python: str | None) -> bool:
        """Whether a pair of versions is in the range. An unknown version is, and so is ``3.1+`` when one of those is."""
        return _within(paddle, self.paddle_since, self.paddle_until) and _within(python, self.python_since, self.python_until)

    def __str__(self) -> str:
        parts = [_range("Paddle", self.paddle_since, self.paddle_until)]
        parts.append(_range("Python", self.python_since, self.python_until))
        return ", ".join(part for part in parts if part) or "all versions"


def parse_version(text: str | None) -> Version | None:
    """``3.3.1`` -> (3, 3, 1); None when it is no version."""
    match = re.match(r"\d{1,9}(\.\d{1,9})*", text or "")
    return tuple(int(part) for part in match.group().split(".")) if match else None


@lru_cache(maxsize=256)
def span(text: str) -> Span:
    """``3.1+``, ``2.6-3.0`` or ``3.3.1``.

    Raises:
        ValueError: it is none of these.
    """
    low, _, high = text.removesuffix("+").partition("-")
    first, last = parse_version(low), parse_version(high or low)
    if first is None or last is None:
        raise ValueError(f"not a range of versions: {text!r}")
    return Span(first, None if text.endswith("+") else last)


def common(spans: Iterable[Span], oldest: Version) -> Span | None:
    """What all of them have in common, from the oldest known version on; None when they contradict each other."""
    low, high = oldest, None
    for one in spans:
        low = max(low, one.low)
        high = one.high if high is None else high if one.high is None else min(high, one.high)
    return None if high is not None and high < low else Span(low, high)


_SPAN = re.compile(r"\d+(?:\.\d+)*(?:\+|-\d+(?:\.\d+)*)$")


def _within(text: str | None, since: str | None, until: str | None) -> bool:
    version = parse_version(text)
    if version is None or not any(version):  # a development build of Paddle calls itself 0.0.0
        return True
    first, last = span(text) if _SPAN.match(text or "") else (version, version)
    low, high = parse_version(since), parse_version(until)
    return (low is None or last is None or last >= low) and (high is None or first[: len(high)] <= high)


def _range(name: str, since: str | None, until: str | None) -> str:
    if since is None and until is None:
        return ""
    if until is None:
        return f"{name} {since} and later"
    return f"{name} up to {until}" if since is None else f"{name} {since} to {until}"
