"""Keeps what a program prints without letting it fill the disk or the memory."""

from __future__ import annotations

from pathlib import Path

HEAD_BYTES = 1 << 20
TAIL_BYTES = 1 << 20


class CappedFile:
    """Writes the first ``head`` bytes as they come and the last ``tail`` bytes at ``close``; the middle is cut and says so.

    The tail waits in memory, at most twice its size.
    """

    def __init__(self, path: Path, head: int = HEAD_BYTES, tail: int = TAIL_BYTES):
        self._file = path.open("wb", buffering=0)
        self._head_left = head
        self._tail_size = tail
        self._tail = bytearray()
        self._cut = 0

    def write(self, data: bytes) -> None:
        if self._head_left:
            self._file.write(data[: self._head_left])
            data, self._head_left = data[self._head_left :], max(0, self._head_left - len(data))
        self._tail += data
        if len(self._tail) > 2 * self._tail_size:
            self._trim()

    def close(self) -> None:
        self._trim()
        if self._cut:
            self._file.write(f"\n[sotprobe: {self._cut} bytes were cut here]\n".encode())
        self._file.write(self._tail)
        self._file.close()

    def _trim(self) -> None:
        excess = len(self._tail) - self._tail_size
        if excess > 0:
            del self._tail[:excess]
            self._cut += excess
