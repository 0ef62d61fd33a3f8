"""Code records: which user function a code object belongs to."""

from __future__ import annotations

from dataclasses import dataclass

from sotprobe.model import SourceSite
from sotprobe.model.run import FrameKey
from sotprobe.readers.records import Display, Records


@dataclass(frozen=True)
class Frame:
    """A code object: its definition site and, for a resume function, the break lines that lead to it (outermost first),
    with the side of each break that was a branch."""

    site: SourceSite
    break_lines: tuple[int, ...] = ()
    break_sides: tuple[str, ...] = ()
    user: bool = True
    flags: tuple[str, ...] = ()

    @property
    def key(self) -> FrameKey:
        return (self.site, self.break_lines)


class Frames:
    """Looks code ids up; an id that was never described is None."""

    def __init__(self, records: Records, display: Display):
        self._frames = {
            record.get("id"): Frame(
                SourceSite(display(record.get("path")), record.get("line"), record.get("function")),
                tuple(record.get("break_lines", ())),
                tuple(record.get("break_sides", ())),
                record.get("user", True),
                tuple(str(flag) for flag in record.get("flags", ())),
            )
            for record in records.of("code")
        }

    def get(self, code: object) -> Frame | None:
        return self._frames.get(code)

    def all(self) -> list[Frame]:
        return list(self._frames.values())
