"""The program's code beside a log: which file of a directory a path in the log means, and which others belong to it."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from sotprobe.errors import InputError
from sotprobe.paddle_compat.names import TO_STATIC

_LARGEST_FILE = 4 << 20
_MOST_FILES = 20_000
_SKIPPED = frozenset({".git", "__pycache__", "node_modules", ".venv", "venv", ".sotprobe"})
_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+(?P<module>[.\w]+)[ \t]+import[ \t]+(?P<names>[^#\n]+)|import[ \t]+(?P<modules>[^#\n]+))", re.M
)


class SourceTree:
    """Python files below a directory, found by the end of the paths that a log names. Without a directory it has none."""

    def __init__(self, directory: str | None = None):
        """Raises InputError when the directory is not there."""
        self._directory = directory or ""
        self._by_name: dict[str, list[Path]] = defaultdict(list)
        self._texts: dict[Path, str | None] = {}
        self._found: dict[str, Path | None] = {}
        self._lines: dict[str, list[str]] = {}
        self._program: tuple[int, Mapping[str, str]] | None = None
        if directory is None:
            return
        if not os.path.isdir(directory):
            raise InputError(f"--source: there is no directory {directory}", "give the directory that holds the program's code")
        for path in _python_files(directory):
            self._by_name[path.name].append(path)

    @property
    def used(self) -> Mapping[str, str]:
        """Path -> text of the files that were asked for, by the paths of the log, and of those that belong to them.

        Those are what they import and, where the log names no function that to_static was given, who gives it one.
        """
        asked = {path: found for path, found in self._found.items() if found is not None}
        if self._program is None or self._program[0] != len(asked):
            self._program = (len(asked), self._with_others(asked))
        return self._program[1]

    def look_up(self, paths: Iterable[str]) -> None:
        """Have the files that a log names at hand, for ``used``."""
        for path in paths:
            self.text(path)

    def files(self) -> list[Path]:
        return [path for paths in self._by_name.values() for path in paths]

    def line(self, path: str, number: int) -> str | None:
        """A line of a file that a log names; None when it is not at hand."""
        if path not in self._lines:
            self._lines[path] = (self.text(path) or "").splitlines()
        lines = self._lines[path]
        return lines[number - 1] if 0 < number <= len(lines) else None

    def text(self, path: str) -> str | None:
        if path not in self._found:
            self._found[path] = self._find(path)
        found = self._found[path]
        return self._read(found) if found is not None else None

    def _read(self, file: Path) -> str | None:
        if file not in self._texts:
            self._texts[file] = _read(file)
        return self._texts[file]

    def _find(self, path: str) -> Path | None:
        """The file that agrees with the path over the most of its end; none when two agree equally."""
        parts = path.replace("\\", "/").split("/")
        ranked = sorted(((_agreement(parts, file.parts), file) for file in self._by_name.get(parts[-1], ())), reverse=True)
        if not ranked or (len(ranked) > 1 and ranked[0][0] == ranked[1][0]):
            return None
        return ranked[0][1]

    def _with_others(self, asked: Mapping[str, Path]) -> Mapping[str, str]:
        shown = set(asked.values())
        wanted = self._imported(shown)
        for file in self._giving_to_static():
            reached = self._imported({file})
            if not shown or reached & shown:
                wanted |= reached
        names = {found: path for path, found in asked.items()}
        name_of = self._naming(asked)
        texts = {names.get(file) or name_of(file): self._read(file) for file in sorted(wanted)}
        texts.update({path: self._read(found) for path, found in asked.items()})
        return {path: text for path, text in texts.items() if text is not None}

    def _giving_to_static(self) -> list[Path]:
        return [file for file in self.files()[:_MOST_FILES] if _mentions(file, TO_STATIC)]

    def _imported(self, files: set[Path]) -> set[Path]:
        """Some files and all that they import from this directory."""
        reached: set[Path] = set()
        waiting = list(files)
        while waiting:
            file = waiting.pop()
            if file not in reached:
                reached.add(file)
                waiting.extend(self._modules(file))
        return reached

    def _modules(self, file: Path) -> Iterator[Path]:
        for name in _imports(self._read(file) or ""):
            *folders, last = name.split(".")
            for found in (*self._by_name.get(f"{last}.py", ()), *self._by_name.get("__init__.py", ())):
                tail = [*folders, f"{last}.py"] if found.name != "__init__.py" else [*folders, last, "__init__.py"]
                if list(found.parts[-len(tail) :]) == tail:
                    yield found

    def _naming(self, asked: Mapping[str, Path]):
        """What files are called that the log does not name: as it would where it names others, else by their place here."""
        for path, found in asked.items():
            parts = path.replace("\\", "/").split("/")
            shared = _agreement(parts, found.parts)
            above, root = "/".join(parts[: len(parts) - shared]), Path(*found.parts[: len(found.parts) - shared])

            def named(file: Path, above: str = above, root: Path = root) -> str:
                if file.is_relative_to(root):
                    return "/".join([*([above] if above else []), *file.relative_to(root).parts])
                return self._relative(file)

            return named
        return self._relative

    def _relative(self, file: Path) -> str:
        return file.relative_to(self._directory).as_posix()


def _python_files(directory: str) -> Iterator[Path]:
    for folder, folders, names in os.walk(directory):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED)
        for name in sorted(names):
            if name.endswith(".py"):
                yield Path(folder, name)


def _imports(text: str) -> Iterator[str]:
    """The modules that a file may import; ``from a import b`` may mean ``a`` or ``a.b``. Leading dots are left out."""
    for found in _IMPORT.finditer(text):
        if found["modules"]:
            yield from (name.split()[0] for name in found["modules"].split(",") if name.strip())
            continue
        module = found["module"].lstrip(".")
        if module:
            yield module
        for name in re.findall(r"\w+", found["names"]):
            yield f"{module}.{name}" if module else name


def _agreement(one: list[str], other: tuple[str, ...]) -> int:
    count = 0
    for left, right in zip(reversed(one), reversed(other), strict=False):
        if left != right:
            break
        count += 1
    return count


def _mentions(path: Path, word: str) -> bool:
    try:
        return path.stat().st_size <= _LARGEST_FILE and word.encode() in path.read_bytes()
    except OSError:
        return False


def _read(path: Path) -> str | None:
    try:
        if path.stat().st_size > _LARGEST_FILE:
            return None
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None  # its lines are then not quoted; the log itself is still read
