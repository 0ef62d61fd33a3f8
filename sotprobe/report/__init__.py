"""From a Diagnosis to something to read. A reporter formats; what is good or bad was decided in ``analyze``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sotprobe.model import Diagnosis
from sotprobe.report import json, markdown, terminal


@dataclass(frozen=True)
class Reporter:
    """A way to write a result: ``extension`` is the file name's, ``binary`` says whether ``render`` gives bytes."""

    name: str
    render: Callable[[Diagnosis], str | bytes]
    extension: str
    binary: bool = False


REPORTERS = (
    Reporter("terminal", terminal.render, "txt"),
    Reporter("json", json.render, "json"),
    Reporter("markdown", markdown.render, "md"),
)

__all__ = ["REPORTERS", "Reporter"]
