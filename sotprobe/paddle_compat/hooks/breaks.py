"""Graph breaks and fallbacks: where in the user's code, and the first error behind them.

SOT reports one cause many times: an error is wrapped again at every inlined level ("File … encountered breakgraph
error caused by"), a failed break handling turns it into a fallback, and a function that broke while it was inlined
breaks again when it is translated as a frame of its own. So every error is given the simulated stack it was born
with, a committed break or fallback is followed down its exception chain to the first error, and a break is emitted
once for its (step, file, innermost line, reason, message). A retranslation in a later step emits it again, with that
step: whoever reads the records folds them by site and reason.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any, NamedTuple

from sotprobe.model import SourceSite
from sotprobe.paddle_compat.hooks.access import (
    SimulatedFrame,
    executor_code,
    executor_line,
    module,
    simulated_stack,
)
from sotprobe.paddle_compat.hooks.session import Session
from sotprobe.paddle_compat.hooks.watch import Watch

_STACK = "_sotprobe_stack"
_CONTROL_FLOW = "DataDependencyControlFlowBreak"
_LOCALS = "builtin function `locals`"
_DEEPEST = 3  # containers in what a break takes
_LOOP_SIDES = {"LOOP_BODY_RESUME": "body", "AFTER_LOOP_RESUME": "after"}  # Paddle 3.0-3.2


class Cause(NamedTuple):
    """The first error of a chain. ``reason`` is the class of SOT's break reason, ``stack`` the simulated one."""

    reason: str | None
    message: str
    stack: list[SimulatedFrame]


def simulated_stack_of(error: BaseException) -> list[SourceSite]:
    """The simulated stack an error of SOT was born with, outermost first; empty when it has none.

    Needs the hooks. For the error that ends a program, ask for the innermost user line of this stack: the real
    traceback only shows SOT's own code.
    """
    return [frame.site for frame in getattr(error, _STACK, [])]


def _chain(error: BaseException) -> list[BaseException]:
    """The errors of SOT that led to ``error``, the first one last."""
    base = module("exceptions").SotErrorBase
    chain: list[BaseException] = []
    current: BaseException | None = error
    seen: set[int] = set()
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        if isinstance(current, base):
            chain.append(current)
        current = current.__context__
    return chain


def _reason(error: BaseException) -> str | None:
    reason = getattr(error, "reason", None)
    return None if reason is None else type(reason).__name__


def python_cause(error: BaseException) -> BaseException:
    """The exception at the bottom of ``raise … from …``: InnerError wraps what really went wrong, with its traceback."""
    while error.__cause__ is not None:
        error = error.__cause__
    return error


def error_text(error: BaseException) -> str:
    """What an error says, with its class unless it is one of SOT's own that carries a sentence.

    An exception of the user's code that SOT caught (``SotCapturedKeyError``) is told as the user's own.
    """
    cause = python_cause(error)
    exceptions = module("exceptions")
    captured = getattr(exceptions, "SotCapturedException", ())  # since Paddle 3.2
    if isinstance(cause, captured):
        return f"{type(cause).__name__.removeprefix('SotCaptured')}: {cause}"
    return str(cause) if isinstance(cause, exceptions.SotErrorBase) else f"{type(cause).__name__}: {cause}"


def root_cause(error: BaseException) -> Cause:
    """Follow the chain of SOT's errors to the first; the reason is that of the first error that has one."""
    chain = _chain(error)
    root = chain[-1]
    reasons = [reason for link in reversed(chain) if (reason := _reason(link)) is not None]
    stacks = [stack for link in reversed(chain) if (stack := getattr(link, _STACK, []))]
    return Cause(reasons[0] if reasons else None, error_text(root), stacks[0] if stacks else [])


def _how(commit: str, cause: Cause) -> str:
    opcode = (cause.stack[-1].opcode or "") if cause.stack else ""
    if commit == "for" or opcode == "FOR_ITER":
        return "for"
    if commit == "if" or cause.reason == _CONTROL_FLOW:
        return "if"
    return "call" if "CALL" in opcode else "other"


def _line_of_global(code: CodeType, name: str) -> int:
    import dis

    line = code.co_firstlineno
    for instruction in dis.get_instructions(code):
        positions = getattr(instruction, "positions", None)
        line = (positions.lineno if positions else instruction.starts_line) or line
        if instruction.opname == "LOAD_GLOBAL" and instruction.argval == name:
            return line
    return code.co_firstlineno


def _taken(commit: str, executor: Any, args: tuple[Any, ...]) -> frozenset[str]:
    """The tensors that the instruction which breaks the graph takes from the stack, containers opened."""
    if commit == "if":
        values = [args[0]]
    elif commit == "call":
        stack, instruction, pushed = args
        pushed = pushed(instruction.arg) if callable(pushed) else pushed
        index = executor.indexof(instruction) + (instruction.opname == "PRECALL")  # CALL has the real effect
        effect = module("opcode_executor").calc_stack_effect(executor._instructions[index])
        values = list(stack)[len(stack) - (pushed - effect) :]
    else:
        values = []
    return frozenset(tensor.get_symbol().name for value in values for tensor in _tensors_in(value, 0))


def _tensors_in(value: Any, depth: int) -> Iterator[Any]:
    """The tensors of a variable of SOT: itself, what a method is bound to, what a container was made of.

    SOT's own ``flatten_inner_vars`` is not asked: it wraps items that the program has not touched.
    """
    if hasattr(type(value), "get_symbol"):
        yield value
        return
    if depth > _DEEPEST:
        return
    fields = getattr(value, "__dict__", {})
    held = fields.get("value")
    items = list(held.values()) if isinstance(held, dict) else held if isinstance(held, (list, tuple)) else []
    for item in (fields.get("bound_instance"), *items):
        yield from _tensors_in(item, depth + 1)


class Breaks:
    """Emits ``break`` and ``fallback`` records.

    ``final_error`` is what the current translation gave up with. ``taken`` are the names in the IR of the tensors that the
    statement which breaks the graph takes, while the subgraph before it is built.
    """

    def __init__(self, session: Session, watch: Watch):
        self._session = session
        self._watch = watch
        self._emitted: set[tuple[object, ...]] = set()
        self._emitted_step: int | None = None
        self.final_error: BaseException | None = None
        self.taken: frozenset[str] = frozenset()
        self._behind_branch: int | None = None

    def install(self) -> None:
        exceptions, executor = module("exceptions"), module("opcode_executor")
        self._watch.replace(exceptions.SotErrorBase, "__init__", self._remember_stack)
        for name, commit in (("call", "call"), ("if", "if"), ("for_loop", "for")):
            if f"_break_graph_when_{name}" in vars(executor.OpcodeExecutor):  # no for_loop since Paddle 3.3
                self._watch.replace(executor.OpcodeExecutor, f"_break_graph_when_{name}", self._committed(commit))
        # start_translate asks for the strict mode exactly where it decides to give the frame up.
        self._watch.replace(module("executor_cache"), "is_strict_mode", self._given_up)
        self._watch.replace(module("pycode_generator").ResumeFunctionCreator, "generate", self._resume_function)

    def _remember_stack(self, original: Callable[..., None]) -> Callable[..., None]:
        def init(error: BaseException, *args: Any, **kwargs: Any) -> None:
            original(error, *args, **kwargs)
            self._watch.observe(lambda: setattr(error, _STACK, simulated_stack()))

        return init

    def _committed(self, commit: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        def make(original: Callable[..., Any]) -> Callable[..., Any]:
            def break_graph(executor: Any, *args: Any, **kwargs: Any) -> Any:
                error = sys.exc_info()[1]
                cause = self._watch.observe(self._cause_of_break, commit, error, args)
                self.taken = self._watch.observe(_taken, commit, executor, args) or frozenset()
                self._behind_branch = self._watch.observe(lambda: executor.indexof(args[1]) + 1) if commit == "if" else None
                try:
                    result = original(executor, *args, **kwargs)
                finally:
                    self.taken, self._behind_branch = frozenset(), None
                if cause is not None:  # when the split itself fails, `original` raises and the frame falls back
                    self._watch.observe(self._emit_break, commit, executor, cause)
                return result

            return break_graph

        return make

    def _cause_of_break(self, commit: str, error: BaseException | None, args: tuple[Any, ...]) -> Cause:
        if commit == "if":
            # No error and no reason exist for a branch on a tensor; the inlined one has this reason.
            return Cause(_CONTROL_FLOW, f"the branch depends on a {type(args[0]).__name__}", simulated_stack())
        if error is None:
            raise RuntimeError("a graph break without an error")
        return root_cause(error)

    def _emit_break(self, commit: str, executor: Any, cause: Cause) -> None:
        code = executor_code(executor)
        step = self._session.current_step()
        stack = [frame.site for frame in cause.stack] or [SourceSite(code.co_filename, executor_line(executor), code.co_name)]
        outer = self._session.outer()
        site = self._innermost(stack, outer, code)
        if self._emitted_step != step:
            self._emitted_step = step
            self._emitted.clear()
        message = "" if cause.reason == _CONTROL_FLOW else cause.message
        key = (site["path"], site["line"], cause.reason, message)
        if key in self._emitted:
            return
        self._emitted.add(key)
        self._session.event(
            "break",
            code=self._session.code_id(code),
            how=_how(commit, cause),
            site=site,
            reason=cause.reason,
            message=cause.message,
            opcode=cause.stack[-1].opcode if cause.stack else None,
            stack=self._session.user_sites(stack),
            outer=outer,
        )

    def _innermost(self, stack: list[SourceSite], outer: list[dict[str, object]], code: CodeType) -> dict[str, object]:
        """The innermost user line: of the simulated stack, else of the real one, else the frame's definition."""
        simulated = self._session.user_sites(stack)
        if simulated:
            return simulated[-1]
        if outer:
            return outer[-1]
        return {"path": code.co_filename, "line": code.co_firstlineno, "function": code.co_name}

    def _given_up(self, original: Callable[[], bool]) -> Callable[[], bool]:
        def is_strict_mode() -> bool:
            self.final_error = sys.exc_info()[1]
            return original()

        return is_strict_mode

    def _resume_function(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def generate(creator: Any, *args: Any, **kwargs: Any) -> Any:
            function = original(creator, *args, **kwargs)
            self._watch.observe(self._link, creator, function, kwargs.get("cache_key"))
            return function

        return generate

    def _link(self, creator: Any, function: Any, cache_key: tuple[Any, ...] | None) -> None:
        parent = creator.codegen._origin_code
        stack = simulated_stack()
        line = stack[-1].site.line if stack else parent.co_firstlineno
        self._session.resumed(function.__code__, parent, line, self._side(cache_key))

    def _side(self, cache_key: tuple[Any, ...] | None) -> str:
        """Which of the two functions that a branch or loop breaks into; ``cache_key`` is (kind, code, first instruction, ...)."""
        if cache_key is None:
            return ""
        if self._behind_branch is not None:  # what follows the jump is the side of a true condition
            return "then" if cache_key[2] == self._behind_branch else "else"
        return _LOOP_SIDES.get(getattr(cache_key[0], "name", ""), "")

    def outcome_of_error(self, error: BaseException) -> str:
        """The outcome of a translation that ended with ``error``."""
        exceptions = module("exceptions")
        conditional = getattr(exceptions, "ConditionalFallbackError", None)  # since Paddle 3.2
        captured = getattr(exceptions, "SotCapturedException", None)  # since Paddle 3.2
        if conditional is not None and isinstance(error, conditional):
            return "conditional-fallback"
        if captured is not None and isinstance(error, captured):
            return "captured-exception"
        return "fallback"

    def emit_fallback(self, code: CodeType, error: BaseException) -> str:
        """Emit why a whole frame was given up; returns the root message."""
        cause = root_cause(error)
        stack = [frame.site for frame in cause.stack]
        if not stack or (len(stack) == 1 and _LOCALS in cause.message):
            # Raised before the first instruction: an argument, or the name `locals` somewhere in the function.
            line = _line_of_global(code, "locals") if _LOCALS in cause.message else code.co_firstlineno
            stack = [SourceSite(code.co_filename, line, code.co_name)]
        outer = self._session.outer()
        self._session.event(
            "fallback",
            code=self._session.code_id(code),
            site=self._innermost(stack, outer, code),
            reason=cause.reason,
            message=cause.message,
            error=type(error).__name__,
            final_message=str(error),
            stack=self._session.user_sites(stack),
            outer=outer,
        )
        return cause.message
