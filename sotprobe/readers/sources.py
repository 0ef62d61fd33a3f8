"""The program's code beside a log: which file of a directory a path in the log means."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from sotprobe.errors import InputError

_LARGEST_FILE = 4 << 20
_SKIPPED = frozenset({".git", "__pycache__", "node_modules", ".venv", "venv", ".sotprobe"})


class SourceTree:
    """Python files below a directory, found by the end of the paths that a log names. Without a directory it has none."""

    def __init__(self, directory: str | None = None):
        """Raises InputError when the directory is not there."""
        self._by_name: dict[str, list[Path]] = defaultdict(list)
        self._texts: dict[str, str | None] = {}
        self._lines: dict[str, list[str]] = {}
        if directory is None:
            return
        if not os.path.isdir(directory):
            raise InputError(f"--source: there is no directory {directory}", "give the directory that holds the program's code")
        for folder, folders, names in os.walk(directory):
            folders[:] = sorted(name for name in folders if name not in _SKIPPED)
            for name in sorted(names):
                if name.endswith(".py"):
                    self._by_name[name].append(Path(folder, name))

    @property
    def used(self) -> Mapping[str, str]:
        """Path as the log names it -> text, of every file that was asked for and found."""
        return {path: text for path, text in self._texts.items() if text is not None}

    def files(self) -> list[Path]:
        return [path for paths in self._by_name.values() for path in paths]

    def line(self, path: str, number: int) -> str | None:
        """A line of a file that a log names; None when it is not at hand."""
        if path not in self._lines:
            self._lines[path] = (self.text(path) or "").splitlines()
        lines = self._lines[path]
        return lines[number - 1] if 0 < number <= len(lines) else None

    def text(self, path: str) -> str | None:
        if path not in self._texts:
            found = self._find(path)
            self._texts[path] = _read(found) if found is not None else None
        return self._texts[path]

    def _find(self, path: str) -> Path | None:
        """The file that agrees with the path over the most of its end; none when two agree equally."""
        parts = path.replace("\\", "/").split("/")
        ranked = sorted(((_agreement(parts, file.parts), file) for file in self._by_name.get(parts[-1], ())), reverse=True)
        if not ranked or (len(ranked) > 1 and ranked[0][0] == ranked[1][0]):
            return None
        return ranked[0][1]


def _agreement(one: list[str], other: tuple[str, ...]) -> int:
    count = 0
    for left, right in zip(reversed(one), reversed(other), strict=False):
        if left != right:
            break
        count += 1
    return count


def _read(path: Path) -> str | None:
    try:
        if path.stat().st_size > _LARGEST_FILE:
            return None
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None  # its lines are then not quoted; the log itself is still read
