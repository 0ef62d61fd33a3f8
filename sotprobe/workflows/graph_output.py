"""Files that ``graph`` writes, in the format that their name tells."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sotprobe.errors import InputError, ToolMissing, UsageError
from sotprobe.report import graph_svg

FORMATS = (".svg", ".dot", ".json", ".html")


@dataclass(frozen=True)
class Outputs:
    """How one thing is written in each format: ``dot`` for a page or not, ``html`` around the SVG of that page."""

    json: Callable[[], str]
    dot: Callable[[bool], str]
    html: Callable[[str], str]


def checked(output: str) -> Path:
    """The output's path; raises now rather than after minutes of reading."""
    path = Path(output)
    if path.suffix.lower() not in FORMATS:
        raise UsageError(f"cannot tell the format of {output}", f"end its name in {', '.join(FORMATS[:-1])} or {FORMATS[-1]}")
    parent = path.absolute().parent
    if path.is_dir() or not parent.is_dir() or not os.access(path if path.exists() else parent, os.W_OK):
        raise _unwritable(path)
    return path


def _unwritable(path: Path) -> InputError:
    return InputError(f"cannot write {path}", "give -o a file in an existing, writable directory")


def write(path: Path, outputs: Outputs) -> None:
    """Write a file in the format that its name tells.

    Raises InputError when it cannot be written, and ToolMissing when graphviz is needed and absent: the .dot file is then written
    in its place.
    """
    kind = path.suffix.lower()
    if kind == ".json":
        _save(path, outputs.json())
    elif kind == ".dot":
        _save(path, outputs.dot(False))
    elif kind == ".svg":
        _save(path, _drawn(path, outputs, page=False))
    else:
        _save(path, outputs.html(_drawn(path, outputs, page=True)))


def _drawn(path: Path, outputs: Outputs, *, page: bool) -> str:
    try:
        return graph_svg.render(outputs.dot(page))
    except ToolMissing as error:
        instead = path.with_suffix(".dot")
        _save(instead, outputs.dot(False))
        raise ToolMissing(f"{error.message}; wrote {instead} instead of {path}", error.hint) from error


def _save(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise _unwritable(path) from error
