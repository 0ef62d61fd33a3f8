"""What a row of the table of causes is."""

from __future__ import annotations

from dataclasses import dataclass

from sotprobe.paddle_compat.versions import Versions

ALWAYS = Versions()
PY311 = Versions(python_since="3.11")
PY312 = Versions(python_since="3.12")
A_BREAK = "a graph break"
A_MISS = "a guard that failed"
SILENT = "a frame that ran as itself under to_static without SOT saying why"


@dataclass(frozen=True)
class Note:
    """Something that holds for some versions only."""

    text: str
    versions: Versions


@dataclass(frozen=True)
class Cause:
    """``host_read`` marks causes that read or print a tensor's value on the host: as a graph break they are ``host-sync``."""

    id: str
    title: str
    meaning: str
    hint: str
    detected: str
    versions: Versions = ALWAYS
    notes: tuple[Note, ...] = ()
    host_read: bool = False
