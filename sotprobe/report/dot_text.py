"""The DOT language and its HTML-like labels, written so that every text of others is only text.

Text that comes from user code and logs loses what DOT would act on: markup becomes entities, control and direction characters
become visible escapes, and a backslash is written as the sign that looks like it (``BACKSLASH``), because how often ``\\N`` and
``\\G`` are replaced depends on the version of graphviz.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from sotprobe.report.text import visible

# DejaVu Sans and Arial are of the same family of widths: what fits in the wider one fits in the other.
FONT = "DejaVu Sans,Verdana,Arial,sans-serif"
MONO = "DejaVu Sans Mono,Menlo,Consolas,monospace"
BACKSLASH = "\N{SET MINUS}"
SIZE, SMALL = 11, 10

# Characters that visible() keeps and XML forbids.
NOT_XML = re.compile("[\ufffe\uffff]")
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\\": BACKSLASH})


def escape(text: str) -> str:
    """``text`` for an HTML-like label or between double quotes: nothing in it is left for DOT, XML or a terminal to act on."""
    return NOT_XML.sub("\N{REPLACEMENT CHARACTER}", visible(text)).translate(_ENTITIES)


class Ready(str):
    """DOT made here, whose texts are escaped already."""


def quoted(*lines: str) -> Ready:
    """A string between double quotes, of several lines."""
    return Ready(f'"{"&#10;".join(map(escape, lines))}"')


def attributes(values: Mapping[str, object]) -> str:
    """A list of attributes; plain strings are quoted."""
    texts = {name: quoted(value) if type(value) is str else value for name, value in values.items()}
    return f"[{', '.join(f'{name}={value}' for name, value in texts.items())}]"


def tag(name: str, body: str, **values: str) -> str:
    """An element of a label around ``body``, which is markup already; ``POINT_SIZE`` is the attribute ``POINT-SIZE``."""
    written = "".join(f' {key.replace("_", "-")}="{escape(value)}"' for key, value in values.items())
    return f"<{name}{written}>{body}</{name}>"


def cell(text: str, *, bold: bool = False, mono: bool = False, small: bool = False, color: str = "", **place: str) -> str:
    """A table cell with a text of others."""
    font = {"FACE": MONO if mono else "", "POINT_SIZE": str(SMALL) if small else "", "COLOR": color}
    body = escape(text)
    if body.strip():  # an empty <B> or <FONT> is a syntax error
        body = tag("FONT", body, **{name: value for name, value in font.items() if value}) if any(font.values()) else body
        body = tag("B", body) if bold else body
    return tag("TD", body, **{"ALIGN": "LEFT", **place})


def wide(text: str, **look: Any) -> str:
    """A cell over both columns of a node."""
    return cell(text, COLSPAN="2", **look)


def table(rows: Iterable[str], space: int = 0) -> str:
    """Rows of cells without a line around them."""
    body = "".join(tag("TR", row) for row in rows)
    return tag("TABLE", body, BORDER="0", CELLBORDER="0", CELLSPACING=str(space), CELLPADDING="1")


def label(rows: Iterable[str]) -> Ready:
    """Rows of cells as the label of a node, edge or graph."""
    return Ready(f"<{table(rows)}>")
