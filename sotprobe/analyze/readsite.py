"""The line that reads a guarded value, found in the source: a log has the guard and not where it came from.

SOT guards a value when captured code uses it. Passing a variable on to another function is no use of it: the line is in there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from sotprobe.analyze.callgraph import Call, Place, Program, dotted, walk_own
from sotprobe.model import SourceSite
from sotprobe.model.site import EXACT
from sotprobe.paddle_compat.guarded import GLOBAL, GuardedValue, guarded_value

_DEEPEST = 8
# Iteration that hands out the elements of what it is given.
_THROUGH = frozenset({"enumerate", "zip", "reversed", "list", "tuple"})


def read_site(program: Program, frame: SourceSite, break_lines: Sequence[int], expressions: Iterable[str]) -> SourceSite | None:
    """The first line that reads the value behind the first of some guards for which there is one.

    ``frame`` is where the function is defined that the guards are of; behind a graph break what counts is what comes after its
    line. None when the source is not at hand or has no such line.
    """
    place = program.place(frame.path, frame.line, frame.function)
    if place is None:
        return None
    first_line = break_lines[-1] if break_lines else 0
    for expression in expressions:
        value = guarded_value(expression)
        site = _Search(program, value).site(place, first_line) if value is not None else None
        if site is not None:
            return site
    return None


class _Search:
    """For one value. Of its way (``self.blocks[0].scale``) the longest part that the code names is looked for."""

    def __init__(self, program: Program, value: GuardedValue):
        self._program = program
        self._value = value

    def site(self, place: Place, first_line: int) -> SourceSite | None:
        for length in range(len(self._value.path), -1, -1):
            found = self._in(place, self._value.name, self._value.path[:length], first_line, 0)
            if found is not None:
                return found
        return None

    def _in(self, place: Place, name: str, path: tuple[str, ...], first_line: int, depth: int) -> SourceSite | None:
        if depth > _DEEPEST:
            return None
        calls = {id(call.node): call for call in self._program.calls(place)}
        for node in _in_order(place.function.node, first_line):
            if isinstance(node, ast.For) and path and path[0].startswith("["):
                for target in _elements(node, name):
                    found = self._in(place, target, path[1:], node.body[0].lineno, depth + 1)
                    if found is not None:
                        return found
            call = calls.get(id(node))
            if call is not None:
                found = self._passed_on(call, name, path, depth)
                if found is not None:
                    return found
            elif _reads(node, name, path) and not self._is_passed_on(node, calls):
                return SourceSite(place.path, node.lineno, place.function.name, EXACT)
        return None

    def _passed_on(self, call: Call, name: str, path: tuple[str, ...], depth: int) -> SourceSite | None:
        """Where the callee reads the value, when it is given to it, or is a global, or ``self`` is."""
        for parameter, more in _parameters(call, name, path, is_global=self._value.space == GLOBAL):
            found = self._in(call.callee, parameter, more, 0, depth + 1)
            if found is not None:
                return found
        return None

    def _is_passed_on(self, node: ast.AST, calls: dict[int, Call]) -> bool:
        """Whether a variable is a bare argument of a function of the program: it is looked for in there."""
        return any(node is argument for call in calls.values() for argument in _arguments(call.node))


def _in_order(function: ast.AST, first_line: int) -> list[ast.AST]:
    """The nodes with a place, in source order; calls come after what they are given."""
    nodes = [
        node
        for node in walk_own(function)
        if getattr(node, "lineno", 0) >= first_line > 0 or (not first_line and hasattr(node, "lineno"))
    ]
    return sorted(nodes, key=_place_of)


def _place_of(node: ast.AST) -> tuple[int, int, bool, int]:
    """An assignment's targets come after its value, on the line where the statement begins."""
    return (node.lineno, isinstance(getattr(node, "ctx", None), ast.Store), node.col_offset, -(node.end_col_offset or 0))


def _reads(node: ast.AST, name: str, path: tuple[str, ...]) -> bool:
    """Whether a node is ``name`` with just these attributes and items behind it, and not only assigned."""
    if isinstance(node, ast.AugAssign):
        return _is(node.target, name, path)
    if not isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) or not isinstance(node.ctx, ast.Load):
        return False
    return _is(node, name, path)


def _is(node: ast.AST, name: str, path: tuple[str, ...]) -> bool:
    for step in reversed(path):
        if not _is_step(node, step):
            return False
        node = node.value
    return isinstance(node, ast.Name) and node.id == name


def _is_step(node: ast.AST, step: str) -> bool:
    if isinstance(node, ast.Attribute):
        return f".{node.attr}" == step
    if not isinstance(node, ast.Subscript) or not step.startswith("["):
        return False
    # A variable index may be any.
    return not isinstance(node.slice, ast.Constant) or repr(node.slice.value) == step[1:-1]


def _elements(loop: ast.For, name: str) -> Iterator[str]:
    """The loop's variables that are elements of ``name``."""
    iterated, target = loop.iter, loop.target
    if isinstance(iterated, ast.Name) and iterated.id == name and isinstance(target, ast.Name):
        yield target.id
    if not isinstance(iterated, ast.Call) or dotted(iterated.func) not in _THROUGH:
        return
    places = [place for place, argument in enumerate(iterated.args) if isinstance(argument, ast.Name) and argument.id == name]
    shift = int(dotted(iterated.func) == "enumerate")
    for place in places:
        if isinstance(target, ast.Tuple) and place + shift < len(target.elts):
            element = target.elts[place + shift]
            if isinstance(element, ast.Name):
                yield element.id
        elif isinstance(target, ast.Name) and not shift:
            yield target.id


def _arguments(node: ast.Call) -> list[ast.expr]:
    return [*node.args, *(keyword.value for keyword in node.keywords)]


def _parameters(call: Call, name: str, path: tuple[str, ...], *, is_global: bool) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What the value is called in the callee, and the rest of the way to it."""
    if is_global:
        yield name, path
        return
    parameters = call.callee.parameters
    if call.bound and parameters:  # layer.forward(x), or layer(x)
        first, *parameters = parameters
        function = call.node.func
        is_method = isinstance(function, ast.Attribute) and function.attr == call.callee.function.name
        # To be called is a use of the object itself, so only what lies behind it is looked for in there.
        yield from ((first, more) for more in _rest(function.value if is_method else function, name, path) if more)
    given = [*zip(parameters, call.node.args, strict=False), *((k.arg, k.value) for k in call.node.keywords if k.arg)]
    for parameter, argument in given:
        yield from ((parameter, more) for more in _rest(argument, name, path))


def _rest(node: ast.AST, name: str, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """What is left of the way when a node is the first part of it."""
    return (path[length:] for length in range(len(path) + 1) if _is(node, name, path[:length]))
