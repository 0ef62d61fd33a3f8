"""Where results go: the report to the terminal, JSON to a file or stdout, progress to stderr."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from sotprobe.errors import EXIT_FINDINGS, EXIT_FINE, InputError

if TYPE_CHECKING:
    from sotprobe.model import Diagnosis
    from sotprobe.workflows.compare import Progress

_FAILING = {"error": ("error",), "warning": ("error", "warning"), "never": ()}


def deliver(diagnosis: Diagnosis, *, json_path: str | None, quiet: bool, fail_on: str) -> int:
    """Print and write a result; returns the exit code. With JSON on stdout the text goes to stderr."""
    from sotprobe.report import json as json_report
    from sotprobe.report import terminal

    stream = sys.stderr if json_path == "-" else sys.stdout
    text = diagnosis.verdict.text + "\n" if quiet else terminal.render(diagnosis, width=_width(), color=_color(stream))
    stream.write(text)
    stream.flush()
    if json_path is not None:
        _write_json(json_path, json_report.render(diagnosis))
    failing = _FAILING[fail_on]
    return EXIT_FINDINGS if any(finding.severity in failing for finding in diagnosis.findings) else EXIT_FINE


def show_page(render: Callable[[int, bool], str]) -> None:
    """Print what ``render`` makes of the terminal's width and whether it takes colour."""
    sys.stdout.write(render(_width(), _color(sys.stdout)))
    sys.stdout.flush()


def check_json_path(json_path: str | None) -> None:
    """Raise InputError now rather than after minutes of measuring."""
    if json_path is None or json_path == "-":
        return
    parent = Path(json_path).absolute().parent
    if Path(json_path).is_dir() or not parent.is_dir() or not os.access(parent, os.W_OK):
        raise InputError(f"cannot write {json_path}", "give --json a file in an existing, writable directory")
    if _is_something_else(Path(json_path)):
        raise InputError(
            f"--json would overwrite {json_path}, which is no JSON", "give --json a file of its own, or - for stdout"
        )


def _is_something_else(path: Path) -> bool:
    """Whether a file is there that no --json wrote, such as the log that was meant to be read."""
    if not path.is_file():
        return False
    with path.open("rb") as stream:
        start = stream.read(64)
    return bool(start) and not start.lstrip().startswith(b"{")


def _write_json(json_path: str, text: str) -> None:
    if json_path == "-":
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    try:
        Path(json_path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot write {json_path}: {error.strerror}", "give --json a writable file") from error


def _width() -> int:
    return max(40, shutil.get_terminal_size((100, 24)).columns)


def _color(stream: TextIO) -> bool:
    """https://no-color.org, and never into a file."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


class ProgressLine:
    """One line on stderr that says what is running. Silent unless stderr is a terminal."""

    def __init__(self, quiet: bool):
        self._on = not quiet and sys.stderr.isatty()
        self._shown = ""

    def __enter__(self) -> Progress | None:
        return self._show if self._on else None

    def __exit__(self, *exc_info: object) -> None:
        if self._shown:
            sys.stderr.write("\r" + " " * len(self._shown) + "\r")
            sys.stderr.flush()

    def _show(self, label: str, seconds: float) -> None:
        text = f"{label} ... {seconds:.0f} s"
        if text != self._shown:
            sys.stderr.write("\r" + text.ljust(len(self._shown)))
            sys.stderr.flush()
            self._shown = text
