"""Which user lines SOT simulated: lines in compiled code never run as themselves, and these are the trace they leave."""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType
from typing import Any

from sotprobe.paddle_compat.hooks.access import executor_code, module
from sotprobe.paddle_compat.hooks.session import Session, absolute
from sotprobe.paddle_compat.hooks.watch import Watch
from sotprobe.paddle_compat.names import original_name


class SimulatedLines:
    """Emits, at the end of a step in which something was translated, a ``coverage`` record of the lines simulated."""

    def __init__(self, session: Session, watch: Watch):
        self._session = session
        self._watch = watch
        self._lines: dict[int, tuple[CodeType, set[int]]] = {}

    def install(self) -> None:
        self._watch.replace(module("opcode_executor").OpcodeExecutorBase, "step", self._step)

    def end_step(self, index: int) -> None:
        """Emit the lines simulated since the last step and start again."""
        files: dict[str, dict[int, str]] = {}
        for code, lines in self._lines.values():
            if lines and self._session.is_user(code.co_filename):
                function = original_name(code.co_name)
                files.setdefault(absolute(code.co_filename), {}).update(dict.fromkeys(lines, function))
        self._lines.clear()
        if files:
            rows = [
                [path, sorted(lines), {str(line): lines[line] for line in sorted(lines)}] for path, lines in sorted(files.items())
            ]
            self._session.emit("coverage", step=index, simulated=True, lines=rows)

    def _step(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def step(executor: Any, instruction: Any) -> Any:
            self._watch.observe(self._passed, executor, instruction)
            return original(executor, instruction)

        return step

    def _passed(self, executor: Any, instruction: Any) -> None:
        if instruction.starts_line is None:
            return
        code = executor_code(executor)
        known = self._lines.get(id(code))
        if known is None:
            known = self._lines[id(code)] = (code, set())
        known[1].add(instruction.starts_line)
