"""Which process of a distributed run a log file belongs to, told by the name that the launcher gave it."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from sotprobe.model.paths import short_names
from sotprobe.paddle_compat.log_lines.launcher import worker_number


def with_siblings(files: Sequence[str]) -> list[str]:
    """The files, and after each workerlog the others of its folder, by number.

    A folder that cannot be listed has no others: the file that was given still says what is wrong with it.
    """
    found: list[str] = []
    for name in files:
        found.append(name)
        if worker_number(Path(name).name) is not None:
            found.extend(_siblings(name))
    return found


def _siblings(name: str) -> list[str]:
    folder = os.path.dirname(name)
    try:
        names = os.listdir(folder or ".")
    except OSError:
        return []
    workers = sorted((int(number), other) for other in names if (number := worker_number(other)) is not None)
    return [os.path.join(folder, other) for _, other in workers if other != os.path.basename(name)]


def distinct(files: Sequence[str]) -> list[str]:
    """Every file once, whatever it is called: sorted, so that the order they were given in does not matter."""
    names: dict[str, str] = {}
    for name in sorted(files):
        names.setdefault(os.path.realpath(name) if name != "-" else name, name)
    return list(names.values())


def file_ranks(files: Sequence[str]) -> Mapping[str, str]:
    """File -> rank, for the workerlogs among them.

    Every node counts its processes from 0. Where two folders have a worker of one number, the folder's name is put before it.
    """
    workers = {name: number for name in files if (number := worker_number(os.path.basename(name))) is not None}
    folders: dict[str, set[str]] = defaultdict(set)
    for name, number in workers.items():
        folders[number].add(os.path.dirname(name))
    if all(len(found) == 1 for found in folders.values()):
        return workers
    labels = short_names(sorted({os.path.dirname(os.path.abspath(name)) for name in workers}))
    return {name: f"{labels[os.path.dirname(os.path.abspath(name))]}/{number}" for name, number in workers.items()}
