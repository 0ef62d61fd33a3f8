"""Writes records, one JSON object a line, flushed when a step ends."""

from __future__ import annotations

import json
import os
import time
from typing import Any

_encode = json.JSONEncoder(default=str).encode  # json.dumps would make a new encoder for every record


class Emitter:
    """Appends records to ``path``. Only the process that opened it writes (forked loader workers inherit the object).

    ``flush`` hands everything to the kernel, so kill -9 loses at most what came after it.
    """

    def __init__(self, path: str):
        self._file = open(path, "a", encoding="utf-8", buffering=1 << 16)  # noqa: SIM115 - lives as long as the process
        self._pid = os.getpid()

    def __call__(self, kind: str, **fields: Any) -> None:
        if os.getpid() != self._pid:
            return
        record = {"kind": kind, "t": time.perf_counter_ns(), **fields}
        self._file.write(_encode(record) + "\n")

    def flush(self) -> None:
        if os.getpid() == self._pid:
            self._file.flush()

    def now(self, kind: str, **fields: Any) -> None:
        """Write a record that must survive whatever comes next."""
        self(kind, **fields)
        self.flush()
