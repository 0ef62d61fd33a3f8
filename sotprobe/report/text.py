"""How figures and other people's text are written for a human reader. No judgement, no Paddle, no rich."""

from __future__ import annotations

import math
import unicodedata

NOT_MEASURED = "not measured"
ELLIPSIS = "…"

# Cc: control (ESC of ANSI sequences too), Cf: format (bidirectional overrides, zero width), Cs: lone surrogates,
# Zl/Zp: line and paragraph separators. A terminal may act on any of them, so they are shown by their escape instead.
_HIDDEN = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))


def visible(text: str) -> str:
    """``text`` with every character that a terminal would act on, or not show, replaced by its Python escape."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escape(char) if unicodedata.category(char) in _HIDDEN else char for char in text)


def one_line(text: str, limit: int = 400) -> str:
    """Other people's text as one printable line of at most about ``limit`` characters; says how much it left out."""
    joined = visible(" ".join(text.split()))
    if len(joined) <= limit:
        return joined
    return f"{joined[:limit].rstrip()}{ELLIPSIS} (+{len(joined) - limit} characters)"


def code_line(text: str) -> str:
    """A source line without its indentation; tabs become blanks."""
    return visible(text.expandtabs(4).strip())


def figure(value: float | None, missing: str = NOT_MEASURED) -> str:
    """A number at three significant digits, whole above 1000, never in exponent form between 0.001 and 10 million."""
    if value is None:
        return missing
    if not math.isfinite(value):
        return str(value)
    size = abs(value)
    if size == 0:
        return "0"
    if size >= 1e7 or size < 1e-3:
        return f"{value:.2e}"
    decimals = max(0, 2 - math.floor(math.log10(float(f"{size:.3g}"))))
    return f"{value:.{decimals}f}"


def count(value: float) -> str:
    """A count or an average of counts: whole numbers without a point."""
    return str(int(value)) if math.isfinite(value) and value == int(value) else figure(value)


def size(number: float) -> str:
    """Bytes as a human reads them."""
    for unit in ("B", "kB", "MB"):
        if number < 1000:
            return f"{count(number) if unit == 'B' else figure(number)} {unit}"
        number /= 1000
    return f"{figure(number)} GB"


def percent(share: float) -> str:
    """A share of 1 as a whole percentage; a small share keeps one digit."""
    if not math.isfinite(share):
        return str(share)
    value = share * 100
    return f"{value:.0f}%" if abs(value) >= 1 or value == 0 else f"{value:.1g}%"


def plural(number: int, noun: str, several: str | None = None) -> str:
    """``1 pair``, ``2 pairs``; ``several`` for a noun that takes more than an s."""
    return f"{number} {noun}" if number == 1 else f"{number} {several or noun + 's'}"


def _escape(char: str) -> str:
    return char.encode("unicode_escape", "surrogatepass").decode("ascii")
