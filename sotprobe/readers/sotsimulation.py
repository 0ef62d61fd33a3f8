"""Where SOT's simulation of the user's code stands, from the lines of SOT_LOG_LEVEL 3."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sotprobe.model import SourceSite
from sotprobe.model.site import EXACT
from sotprobe.paddle_compat.log_lines import sot
from sotprobe.paddle_compat.names import is_resume, original_name

# (name as SOT wrote it, site as reported, opcode) -> the site as it really is.
LineOf = Callable[[str, SourceSite, str], SourceSite]


class Simulation:
    """The functions being simulated, one inlined into the other, and the last instruction of each."""

    def __init__(self) -> None:
        self._codes: list[Mapping[str, str]] = []
        self._instructions: dict[int, str] = {}
        self._depth = 0

    def clear(self) -> None:
        self._codes.clear()
        self._instructions.clear()
        self._depth = 0

    def begin(self, code: Mapping[str, str]) -> None:
        self._codes.append(code)

    def end(self, code: Mapping[str, str]) -> None:
        """An inlined function that breaks never ends, so what lies above the one that does goes too."""
        for position in range(len(self._codes) - 1, -1, -1):
            if self._codes[position]["address"] == code["address"]:
                del self._codes[position:]
                return

    def at(self, text: str) -> None:
        """An instruction: kept as it is and only read when something happens there."""
        depth = 1 if text.startswith(sot.OUTERMOST_HEAD) else self._inlined_depth(text)
        self._depth = depth
        self._instructions[depth] = text
        if len(self._codes) > depth:
            del self._codes[depth:]

    def _inlined_depth(self, text: str) -> int:
        found = sot.opcode_of(text)
        return found[0] if found and found[0] else len(self._codes)

    @property
    def opcode(self) -> str | None:
        found = sot.opcode_of(self._instructions.get(self._depth, ""))
        return found[2] if found else None

    def where(self, line_of: LineOf) -> tuple[SourceSite, ...]:
        """The simulated stack, outermost first; empty below level 3."""
        sites = []
        for depth, code in enumerate(self._codes[: self._depth], start=1):
            instruction = sot.opcode_of(self._instructions.get(depth, ""))
            if instruction is None:
                break
            _, line, opcode = instruction
            site = SourceSite(code["path"], line, original_name(code["name"]), EXACT)
            sites.append(line_of(code["name"], site, opcode) if is_resume(code["name"]) else site)
        return tuple(sites)
