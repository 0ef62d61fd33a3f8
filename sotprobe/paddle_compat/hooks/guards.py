"""Which guards missed, on which values, and where the guarded value was read.

A guard is a lambda over the frame that Paddle wrote; its text is on the function (``make_guard`` in ``guard.py``).
Paddle's own ``analyse_guard_error`` evaluates its parts one by one against the frame and stops at the first miss; here
every part is evaluated.
"""

from __future__ import annotations

import ast
import dis
import re
import reprlib
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any

from sotprobe.model import SourceSite
from sotprobe.paddle_compat.hooks.access import module, simulated_stack
from sotprobe.paddle_compat.hooks.session import Session
from sotprobe.paddle_compat.hooks.watch import Watch

_NAMED = re.compile(r"frame\.f_(?:locals|globals|builtins)\['([^']+)'\]")
_LOCAL = re.compile(r"frame\.f_locals\['([^']+)'\]")
_STACK_OPERAND = re.compile(r"resume_\d+_stack_\d+$")
_STORES = ("STORE_FAST", "STORE_DEREF", "STORE_NAME")
_LIMIT = 120

_repr = reprlib.Repr()
_repr.maxstring = _repr.maxother = _repr.maxlong = _LIMIT
_repr.maxlist = _repr.maxtuple = _repr.maxdict = _repr.maxset = 8


def describe(value: object) -> str:
    """A value as text: short, on one line, an object by class and identity."""
    if isinstance(value, (bool, int, float, complex, str, bytes, type(None), list, tuple, dict, set, frozenset)):
        return _repr.repr(value)
    if isinstance(value, type):
        return f"<class {value.__module__}.{value.__qualname__}>"
    kind = type(value)
    if kind.__name__ == "Tensor" and hasattr(value, "shape"):
        return f"Tensor(shape={list(value.shape)}, dtype={value.dtype})"
    if kind.__module__.partition(".")[0] == "numpy" or kind.__name__ in ("DataType", "VarType", "Place"):
        text = " ".join(repr(value).split())
        return text if len(text) <= _LIMIT else text[: _LIMIT - 1] + "…"
    name = value.co_name if isinstance(value, CodeType) else getattr(value, "__qualname__", None)
    label = f"{kind.__qualname__} {name}" if isinstance(name, str) else kind.__qualname__
    return f"<{label} at {id(value):#x}>"


class _Inline(ast.NodeTransformer):
    """Puts the value in place of the temporaries a guard assigns on the way (``(___t_0 := …)``)."""

    def __init__(self) -> None:
        self._values: dict[str, ast.expr] = {}

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.expr:
        value = self.visit(node.value)
        self._values[node.target.id] = value
        return value

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._values.get(node.id, node)


def guard_parts(text: str) -> list[ast.expr]:
    """The parts of a guard that all have to hold, from the text of its lambda."""
    function = ast.parse(text, mode="eval").body
    if not isinstance(function, ast.Lambda):
        raise ValueError(f"not a guard: {text[:_LIMIT]}")

    def flatten(node: ast.expr) -> Iterator[ast.expr]:
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
            for value in node.values:
                yield from flatten(value)
        else:
            yield node

    return list(flatten(_Inline().visit(function.body)))


def _evaluate(node: ast.expr, namespace: dict[str, Any], frame: Any) -> Any:
    expression = ast.fix_missing_locations(ast.Expression(node))
    # The text is Paddle's own, from a function in this process that it evaluated a moment ago; it never comes from a file.
    return eval(compile(expression, "<guard>", "eval"), namespace, {"frame": frame})  # noqa: S307


def _compared_by_address(node: ast.expr) -> ast.expr | None:
    """``x`` in ``id(x) == 140…``: what was expected is only known by its address."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "id" and len(node.args) == 1:
        return node.args[0]
    return None


def _described(node: ast.expr, namespace: dict[str, Any], frame: Any) -> str:
    """The value of one side; Paddle writes values by their repr, so ``nan`` and ``inf`` stand there as bare names."""
    try:
        return describe(_evaluate(node, namespace, frame))
    except NameError:
        return ast.unparse(node)
    except Exception as error:  # noqa: BLE001 - what the user's objects raise here is the answer
        return f"{type(error).__name__}: {error}"


def _explain(node: ast.expr, namespace: dict[str, Any], frame: Any) -> dict[str, str | None]:
    expected, seen = "True", "False"
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        compared = _compared_by_address(node.left)
        expected = None if compared else _described(node.comparators[0], namespace, frame)
        seen = _described(compared or node.left, namespace, frame)
    return {"expression": ast.unparse(node), "expected": expected, "seen": seen}


def _failed_parts(guard: Callable[[Any], bool], frame: Any) -> list[dict[str, str | None]]:
    text = getattr(guard, "inlined_expr", None) or getattr(guard, "expr", None)
    if text is None:
        return []
    namespace = guard.__globals__
    failed, raised = [], []
    for part in guard_parts(text):
        try:
            if not _evaluate(part, namespace, frame):
                failed.append(part)
        except Exception:  # noqa: BLE001 - a part that raises has failed, whatever it raises
            raised.append(part)
    # Where a part is simply false, another raises only because of it: `len(x) == 2` missed, then `x[1]` is not there.
    return [_explain(part, namespace, frame) for part in failed or raised]


def failed_guards(guards: list[Callable[[Any], bool]], frame: Any) -> list[dict[str, str | None]]:
    """Every part that fails for ``frame``, over all guards, the newest guard first and each part once.

    ``expression`` is Paddle's text of the part with temporaries resolved, ``expected`` and ``seen`` are both sides of its
    comparison as text (``expected`` is None where only an address was kept).
    """
    failed: dict[tuple[str | None, ...], dict[str, str | None]] = {}
    for guard in reversed(guards):
        for part in _failed_parts(guard, frame):
            failed.setdefault((part["expression"], part["expected"], part["seen"]), part)
    return list(failed.values())


def _store_lines(code: CodeType, name: str) -> set[int]:
    """The lines of a function that assign the local ``name``."""
    lines = set()
    current = code.co_firstlineno
    starts = dict(dis.findlinestarts(code))
    for instruction in dis.get_instructions(code):
        current = starts.get(instruction.offset) or current
        stored = instruction.argval if isinstance(instruction.argval, tuple) else (instruction.argval,)
        if instruction.opname.startswith(_STORES) and name in stored:
            lines.add(current)
    return lines


def _load_site(code: CodeType, expression: str) -> SourceSite | None:
    """The line of ``code`` that loads what a guard starts from: a local or a global, and the attributes after it."""
    match = re.match(r"[\w.]+", _plain(expression))
    if match is None:
        return None
    wanted = match[0].split(".")
    found = 0
    current = code.co_firstlineno
    starts = dict(dis.findlinestarts(code))
    for instruction in dis.get_instructions(code):
        current = starts.get(instruction.offset) or current
        if instruction.opname in ("COPY", "DUP_TOP", "CACHE"):  # between object and attribute in `o.n += 1`
            continue
        loaded = instruction.argval[-1] if isinstance(instruction.argval, tuple) else instruction.argval
        found = found + 1 if instruction.opname.startswith("LOAD_") and loaded == wanted[found] else 0
        if found == len(wanted):
            return SourceSite(code.co_filename, current, code.co_name)
    return None


def _container_site(code: CodeType, expression: str) -> SourceSite | None:
    """The line that loads a container whose length is guarded.

    Paddle adds the guard of a container that was changed only when the frame ends, at the line of its return (3.0-3.3).
    """
    length = re.match(r"len\((?P<container>[\w.]+)\)", _plain(expression))
    return _load_site(code, length["container"]) if length else None


class GuardSites:
    """Remembers, for every frame translated, the user line that first read each value SOT then guarded."""

    def __init__(self, session: Session, watch: Watch):
        self._session = session
        self._watch = watch
        self._sites: dict[int, dict[str, SourceSite]] = {}
        self._current: dict[str, SourceSite] = {}

    def install(self) -> None:
        graph = module("function_graph").FunctionGraph

        def one(original: Callable[..., Any]) -> Callable[..., Any]:
            def add_global_guarded_variable(owner: Any, variable: Any) -> Any:
                self._watch.observe(self._read, variable)
                return original(owner, variable)

            return add_global_guarded_variable

        def many(original: Callable[..., Any]) -> Callable[..., Any]:
            def collect_input_variables(owner: Any, inputs: list[Any]) -> Any:
                known = len(owner.input_variables)
                result = original(owner, inputs)
                for variable in owner.input_variables[known:]:
                    self._watch.observe(self._read, variable)
                return result

            return collect_input_variables

        self._watch.replace(graph, "add_global_guarded_variable", one)
        self._watch.replace(graph, "collect_input_variables", many)

    def begin(self, code: CodeType) -> None:
        """A translation of ``code`` begins; what earlier ones read stays known."""
        self._current = self._sites.setdefault(id(code), {})

    def _read(self, variable: Any) -> None:
        held = getattr(variable, "holds", None)  # an iterator: what it goes through
        name = _variable_name(variable) or (_variable_name(held[0]) if isinstance(held, list) and held else None)
        if name is None or name in self._current:
            return
        for frame in reversed(simulated_stack()):
            if self._session.is_user(frame.site.path):
                self._current[name] = frame.site
                return

    def site(self, code: CodeType, expressions: list[str]) -> dict[str, object] | None:
        """The user line behind the first of ``expressions`` that one is known for.

        A value that came out of a graph break is read where the break is: ``item()``, ``float()``, a random number. For a
        frame of a library it is the user's line that led there.
        """
        if not self._session.is_user(code.co_filename):
            outer = self._session.outer()
            return outer[-1] if outer else None
        sites = self._sites.get(id(code), {})
        for expression in expressions:
            site = (
                self._broken_value(code, expression)
                or _container_site(code, expression)
                or _longest_match(sites, expression)
                or _load_site(code, expression)
            )
            if site is not None:
                return self._session.user_site(site)
        return None

    def _broken_value(self, code: CodeType, expression: str) -> SourceSite | None:
        lines = self._session.break_lines(code)
        local = _LOCAL.search(expression)
        if not lines or local is None:
            return None
        name = local[1]
        origin = self._session.origin(code)
        if _STACK_OPERAND.match(name):
            return SourceSite(origin.co_filename, lines[-1], origin.co_name)
        stores = _store_lines(origin, name)
        line = next((line for line in reversed(lines) if line in stores), None)
        return None if line is None else SourceSite(origin.co_filename, line, origin.co_name)


def _variable_name(variable: Any) -> str | None:
    """Paddle's name of a value by the way it was reached (``self.n``, ``items[0]``); None for a constant of the code."""
    name = getattr(variable, "debug_name", None)
    if not name or type(variable.tracker).__name__ == "ConstTracker":
        return None
    return _plain(name)


def _plain(text: str) -> str:
    """A guard's text or a variable's name in one spelling: no namespaces, no quotes, no blanks."""
    return re.sub(r"['\"\s]", "", _NAMED.sub(r"\1", text))


def _longest_match(sites: dict[str, SourceSite], expression: str) -> SourceSite | None:
    text = _plain(expression.partition(" == ")[0])
    found = [name for name in sites if re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", text)]
    if found:
        return sites[max(found, key=len)]
    length = re.fullmatch(r"len\((.+)\)", text)
    if length is None:
        return None
    return next((site for name, site in sites.items() if name.startswith(f"{length[1]}[")), None)
