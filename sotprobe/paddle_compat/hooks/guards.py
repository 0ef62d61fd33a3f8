"""Which guards missed, told in the user's words, and where the guarded value was read.

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

_FRAME_NAMESPACES = {"f_locals": None, "f_globals": "globals()", "f_builtins": None}
_FASTER_GUARD = re.compile(r"(\w+Guard)_\d+$")
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
    name = getattr(value, "__qualname__", None)
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


class _Readable(ast.NodeTransformer):
    """From ``frame.f_locals['x']`` to ``x``; a global stays recognisable as ``globals()['x']``."""

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        space = node.value
        if (
            isinstance(space, ast.Attribute)
            and isinstance(space.value, ast.Name)
            and space.value.id == "frame"
            and space.attr in _FRAME_NAMESPACES
            and isinstance(node.slice, ast.Constant)
        ):
            if space.attr == "f_globals":
                return ast.Name(f"globals()[{node.slice.value!r}]", ast.Load())
            return ast.Name(str(node.slice.value), ast.Load())
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if isinstance(node.func, ast.Name) and (match := _FASTER_GUARD.match(node.func.id)):
            node = ast.Call(ast.Name(match[1], ast.Load()), node.args, node.keywords)
        return self.generic_visit(node)


def readable(node: ast.expr) -> str:
    """The text of a part of a guard as the user would write it."""
    return ast.unparse(_Readable().visit(ast.parse(ast.unparse(node), mode="eval").body))


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


_OPERATORS: dict[type[ast.cmpop], str] = {
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.In: "in",
    ast.NotIn: "not in",
    ast.IsNot: "is not",
}


def _explain(node: ast.expr, namespace: dict[str, Any], frame: Any) -> dict[str, str | None]:
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        seen = describe(_evaluate(node.left, namespace, frame))
        expected = describe(_evaluate(node.comparators[0], namespace, frame))
        operator = _OPERATORS.get(type(node.ops[0]))
        return {
            "expression": readable(node.left),
            "expected": expected if operator is None else f"{operator} {expected}",
            "seen": seen,
        }
    return {"expression": readable(node), "expected": "True", "seen": "False"}


def _failed_parts(guard: Callable[[Any], bool], frame: Any) -> Iterator[dict[str, str | None]]:
    text = getattr(guard, "inlined_expr", None) or getattr(guard, "expr", None)
    if text is None:
        return
    namespace = guard.__globals__
    failed = False
    for part in guard_parts(text):
        try:
            if _evaluate(part, namespace, frame):
                continue
            explained = _explain(part, namespace, frame)
        except Exception as error:  # noqa: BLE001 - what the user's objects raise here is the answer
            # After a miss an error only follows from it: `x is None` missed, then `x.shape` cannot be read.
            if failed:
                continue
            explained = {
                "expression": readable(part),
                "expected": "True",
                "seen": f"{type(error).__name__}: {error}",
            }
        failed = True
        yield explained


def failed_guards(guards: list[Callable[[Any], bool]], frame: Any) -> list[dict[str, str | None]]:
    """Every part that fails for ``frame``, over all guards, the newest guard first and each part once."""
    failed: dict[tuple[str | None, ...], dict[str, str | None]] = {}
    for guard in reversed(guards):
        for part in _failed_parts(guard, frame):
            failed.setdefault((part["expression"], part["expected"], part["seen"]), part)
    return list(failed.values())


def _root_name(expression: str) -> str | None:
    try:
        tree = ast.parse(expression, mode="eval")
    except SyntaxError:
        return None
    names = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)]
    return next((name for name in names if name not in ("len", "id", "type", "isinstance", "hasattr")), None)


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
                for variable in inputs:
                    self._watch.observe(self._read, variable)
                return original(owner, inputs)

            return collect_input_variables

        self._watch.replace(graph, "add_global_guarded_variable", one)
        self._watch.replace(graph, "collect_input_variables", many)

    def begin(self, code: CodeType) -> None:
        """A translation of ``code`` begins; what earlier ones read stays known."""
        self._current = self._sites.setdefault(id(code), {})

    def _read(self, variable: Any) -> None:
        name = getattr(variable, "debug_name", None)
        if not name or name in self._current:
            return
        for frame in reversed(simulated_stack()):
            if self._session.is_user(frame.site.path):
                self._current[_plain(name)] = frame.site
                return

    def site(self, code: CodeType, expressions: list[str]) -> dict[str, object] | None:
        """The user line behind the first of ``expressions`` that one is known for.

        A value that came out of a graph break is read where the break is: ``item()``, ``float()``, a random number.
        """
        sites = self._sites.get(id(code), {})
        for expression in expressions:
            site = self._broken_value(code, expression) or _longest_match(sites, expression)
            if site is not None:
                return self._session.user_site(site)
        return None

    def _broken_value(self, code: CodeType, expression: str) -> SourceSite | None:
        lines = self._session.break_lines(code)
        name = _root_name(expression)
        if not lines or name is None:
            return None
        origin = self._session.origin(code)
        if _STACK_OPERAND.match(name):
            return SourceSite(origin.co_filename, lines[-1], origin.co_name)
        stores = _store_lines(origin, name)
        line = next((line for line in reversed(lines) if line in stores), None)
        return None if line is None else SourceSite(origin.co_filename, line, origin.co_name)


def _plain(expression: str) -> str:
    return expression.replace("'", "").replace('"', "").replace("globals()[", "").replace(" ", "")


def _longest_match(sites: dict[str, SourceSite], expression: str) -> SourceSite | None:
    text = _plain(expression)
    found = [name for name in sites if re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", text)]
    return sites[max(found, key=len)] if found else None


