"""Where Paddle keeps what sotprobe looks at: the one file to change when a release moves it.

Everything is imported on first use, so that importing sotprobe never imports Paddle. Names and layouts hold for Paddle
3.0.0-3.3.1; differences are told apart by what is there, not by version numbers.
"""

from __future__ import annotations

import functools
import importlib
import sys
from types import CodeType, ModuleType
from typing import Any, NamedTuple

from sotprobe.model import SourceSite
from sotprobe.paddle_compat.names import is_resume, original_name

_SOT = "paddle.jit.sot"
_EXECUTOR = f"{_SOT}.opcode_translator.executor"


@functools.cache
def module(name: str) -> ModuleType:
    """A module of SOT by its short name, for instance ``executor_cache``."""
    places = {
        "translate": f"{_SOT}.translate",
        "exceptions": f"{_SOT}.utils.exceptions",
        "compile_cache": f"{_SOT}.symbolic.compile_cache",
        "statement_ir": f"{_SOT}.symbolic.statement_ir",
    }
    return importlib.import_module(places.get(name, f"{_EXECUTOR}.{name}"))


def static_function_class() -> type:
    """The class of what ``to_static`` returns, whichever mode it uses."""
    return importlib.import_module("paddle.jit.dy2static.program_translator").StaticFunction


def subgraph_class() -> type:
    """The class whose instances run one compiled subgraph when called; ``SIR.name`` is its name."""
    return module("compile_cache").FallbackWrapper


def tensor_class() -> type:
    """The class of eager tensors."""
    return importlib.import_module("paddle").Tensor


def enable_to_static(enabled: bool) -> None:
    """Paddle's own switch: False makes every to_static callable run as if it were not decorated."""
    importlib.import_module("paddle").jit.enable_to_static(enabled)


def skip_files_below(directory: str) -> None:
    """Keep SOT from translating Python code below ``directory`` (additive; ``skip_files.py``)."""
    core = importlib.import_module("paddle").framework.core
    core.eval_frame_skip_file_prefix((directory,))


def translate_count() -> int:
    """How many frames SOT has translated in this process, retranslations included."""
    return module("executor_cache").OpcodeExecutorCache().translate_count


class SimulatedFrame(NamedTuple):
    """A frame that SOT is simulating: where it stands and the opcode it works on (None before the first)."""

    site: SourceSite
    opcode: str | None
    code: CodeType


def executor_code(executor: Any) -> CodeType:
    """The code object an executor simulates (``vframe`` since Paddle 3.2)."""
    frame = getattr(executor, "vframe", None)
    return executor._code if frame is None else frame.code


def executor_line(executor: Any) -> int:
    """The line an executor stands on; the definition line before its first instruction."""
    line = executor._current_line
    return executor_code(executor).co_firstlineno if line is None or line < 0 else line


def _executor_opcode(executor: Any) -> str | None:
    frame = getattr(executor, "vframe", None)
    # Both count the instruction in progress already.
    index = (executor._lasti if frame is None else frame.lasti) - 1
    return executor._instructions[index].opname if 0 <= index < len(executor._instructions) else None


def simulated_stack() -> list[SimulatedFrame]:
    """The user-level stack SOT is simulating now, outermost first; empty outside a translation.

    It is read from the interpreter's own stack: ``OpcodeExecutorBase.call_stack`` keeps inlined frames that were
    given up. Only after the exception has left them (InnerError in ``start_translate``) is that list all there is.
    The body of a ``for`` is simulated as a frame of its own: it replaces the frame that it is part of.
    """
    base = module("opcode_executor").OpcodeExecutorBase
    run_code = base.run.__code__
    executors = []
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_code is run_code:
            executors.append(frame.f_locals["self"])
        frame = frame.f_back
    executors = executors[::-1] or list(base.call_stack)
    stack: list[SimulatedFrame] = []
    for executor in executors:
        code = executor_code(executor)
        if stack and is_resume(code.co_name):
            stack.pop()
        site = SourceSite(code.co_filename, executor_line(executor), original_name(code.co_name))
        stack.append(SimulatedFrame(site, _executor_opcode(executor), code))
    return stack
