"""Where SOT's simulation of the user's code stands, from the lines of SOT_LOG_LEVEL 3."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sotprobe.model import SourceSite
from sotprobe.paddle_compat.log_lines import sot
from sotprobe.paddle_compat.names import is_resume

# (code object, line as reported, SOT's lines about its instructions) -> the place as it really is.
LineOf = Callable[[Mapping[str, str], int, Sequence[str]], SourceSite]

# Of one function, the newest: what was simulated before them does not help to tell where it stands.
_MOST_KEPT = 2_000
# Characters of an instruction's line: what follows is the stack.
_SHORT = 100
MOST_INLINED = 1_000


class _Simulated:
    """A function being simulated: SOT's lines about its instructions; of one that the user wrote only the last."""

    __slots__ = ("code", "ends", "instructions", "resumed")

    def __init__(self, code: Mapping[str, str], ends: bool):
        self.code = code
        self.ends = ends
        self.resumed = is_resume(code["name"])
        self.instructions: list[str] = []

    def at(self, text: str) -> None:
        if not self.resumed:
            self.instructions = [text]
            return
        if len(self.instructions) >= _MOST_KEPT:
            del self.instructions[: _MOST_KEPT // 2]
        self.instructions.append(text)

    @property
    def has_returned(self) -> bool:
        return bool(self.instructions) and sot.ends_function(self.instructions[-1])


class Simulation:
    """The functions being simulated, one inlined into the other, and where each of them stands."""

    def __init__(self) -> None:
        self._stack: list[_Simulated] = []

    def clear(self) -> None:
        self._stack.clear()

    def begin(self, code: Mapping[str, str], *, ends: bool = True) -> None:
        """``ends``: the log will say when it is done."""
        self._leave()
        if len(self._stack) < MOST_INLINED:
            self._stack.append(_Simulated(code, ends))

    def _leave(self) -> None:
        """Inlined functions whose end is not told, and that have returned."""
        while len(self._stack) > 1 and not self._stack[-1].ends and self._stack[-1].has_returned:
            self._stack.pop()

    def end(self, code: Mapping[str, str]) -> None:
        """An inlined function that breaks never ends, so what lies above the one that does goes too."""
        for position in range(len(self._stack) - 1, -1, -1):
            if self._stack[position].code["address"] == code["address"]:
                del self._stack[position:]
                return

    def at(self, text: str) -> None:
        """An instruction: kept as it is and only read when something happens there."""
        self._leave()
        text = text[:_SHORT]
        depth = 1 if text.startswith(sot.OUTERMOST_HEAD) else self._inlined_depth(text)
        if len(self._stack) > depth:
            del self._stack[depth:]
        if self._stack and len(self._stack) == depth:
            self._stack[-1].at(text)

    def _inlined_depth(self, text: str) -> int:
        found = sot.opcode_of(text)
        return found[0] if found and found[0] else len(self._stack)

    @property
    def opcode(self) -> str | None:
        found = sot.opcode_of(self._stack[-1].instructions[-1]) if self._stack and self._stack[-1].instructions else None
        return found[2] if found else None

    def where(self, line_of: LineOf) -> tuple[SourceSite, ...]:
        """The simulated stack, outermost first; empty below level 3."""
        sites = []
        for simulated in self._stack:
            instruction = sot.opcode_of(simulated.instructions[-1]) if simulated.instructions else None
            if instruction is None:
                break
            sites.append(line_of(simulated.code, instruction[1], simulated.instructions))
        return tuple(sites)
