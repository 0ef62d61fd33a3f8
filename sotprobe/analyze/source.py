"""What the user's source says about a line: its function, loop, branch, with or try statement. Only reads the syntax tree."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_SCOPES = (*_FUNCTIONS, ast.Lambda, ast.ClassDef)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_WITHS = (ast.With, ast.AsyncWith)
_TRIES = (ast.Try, ast.TryStar) if hasattr(ast, "TryStar") else (ast.Try,)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp)


@dataclass(frozen=True)
class Span:
    """A piece of source: first and last line, both included."""

    first: int
    last: int

    def __contains__(self, line: int) -> bool:
        return self.first <= line <= self.last


@dataclass(frozen=True)
class Function:
    """A function definition. ``defined`` is the line a code object reports (that of the first decorator)."""

    name: str
    defined: int
    span: Span
    node: ast.AST


@dataclass(frozen=True)
class Loop:
    """A for or while loop: its own line and the lines of its body."""

    line: int
    body: Span


@dataclass(frozen=True)
class Branch:
    """An if statement: its line and the lines of its two sides (``orelse`` is None without an else)."""

    line: int
    body: Span
    orelse: Span | None

    def side(self, line: int) -> str | None:
        """``if`` or ``else``: the side that a line is on, None outside both."""
        if line in self.body:
            return "if"
        return "else" if self.orelse is not None and line in self.orelse else None


@dataclass(frozen=True)
class Construct:
    """A statement that keeps SOT out of a frame: ``with``, ``try`` or ``comprehension``."""

    kind: str
    line: int
    span: Span


@dataclass(frozen=True)
class _Placed:
    node: ast.stmt
    parents: tuple[ast.AST, ...]

    @property
    def span(self) -> Span:
        """Where the statement itself stands: for a compound one only its header."""
        first = self.node.lineno
        body = getattr(self.node, "body", None)
        if isinstance(body, list) and body:
            return Span(first, max(first, body[0].lineno - 1))
        return Span(first, self.node.end_lineno or first)


class SourceFile:
    """One file. A file that does not parse has lines but no structure."""

    def __init__(self, text: str):
        self._lines = text.splitlines()
        self._text = text

    def line(self, number: int) -> str | None:
        return self._lines[number - 1] if 0 < number <= len(self._lines) else None

    @cached_property
    def tree(self) -> ast.Module | None:
        try:
            return ast.parse(self._text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):  # the last two: nested too deep for the parser
            return None

    @cached_property
    def _statements(self) -> list[_Placed]:
        return list(_place(self.tree, ())) if self.tree is not None else []

    @cached_property
    def functions(self) -> list[Function]:
        if self.tree is None:
            return []
        found = []
        for node in ast.walk(self.tree):
            if isinstance(node, _FUNCTIONS):
                defined = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
                found.append(Function(node.name, defined, Span(defined, node.end_lineno or node.lineno), node))
        return found

    @cached_property
    def _qualified(self) -> dict[ast.AST, str]:
        return dict(_qualified_names(self.tree, "")) if self.tree is not None else {}

    def qualified_name(self, function: Function) -> str:
        """The name with the classes and functions around it: ``Net.forward``."""
        return self._qualified.get(function.node, function.name)

    def function_at(self, line: int) -> Function | None:
        """The innermost function that a line belongs to."""
        holding = [function for function in self.functions if line in function.span]
        return min(holding, key=lambda function: function.span.last - function.span.first, default=None)

    def own_lines(self, function: Function) -> frozenset[int]:
        """The lines of a function without those of functions defined in it."""
        lines = set(range(function.span.first, function.span.last + 1))
        for other in self.functions:
            if other is not function and other.span.first > function.span.first and other.span.last <= function.span.last:
                lines -= set(range(other.span.first, other.span.last + 1))
        return frozenset(lines)

    def loops_at(self, line: int) -> list[Loop]:
        """The loops of the line's own function whose body holds it, innermost first."""
        placed = self._at(line)
        if placed is None:
            return []
        loops = []
        for parent in reversed((*placed.parents, placed.node)):
            if isinstance(parent, _SCOPES):
                break
            if isinstance(parent, _LOOPS):
                body = _span(parent.body)
                if line in body:
                    loops.append(Loop(parent.lineno, body))
        return loops

    def statement_line(self, line: int) -> int | None:
        """The first line of the statement that a line is part of; None outside any."""
        placed = self._at(line)
        return placed.node.lineno if placed is not None else None

    @cached_property
    def branches(self) -> list[Branch]:
        """The if statements of the file, in source order."""
        found = []
        for placed in self._statements:
            if isinstance(placed.node, ast.If):
                orelse = _span(placed.node.orelse) if placed.node.orelse else None
                found.append(Branch(placed.node.lineno, _span(placed.node.body), orelse))
        return found

    def constructs(self, function: Function) -> list[Construct]:
        """with, try and comprehension in a function itself, in source order."""
        found = []
        for node in _walk_scope(function.node):
            kind = _construct_kind(node)
            if kind is not None:
                found.append(Construct(kind, node.lineno, Span(node.lineno, node.end_lineno or node.lineno)))
        return sorted(found, key=lambda construct: construct.line)

    def is_generator(self, function: Function) -> bool:
        return any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in _walk_scope(function.node))

    def names_assigned_at(self, line: int) -> frozenset[str]:
        """The local names that the statement on a line assigns."""
        placed = self._at(line)
        if placed is None:
            return frozenset()
        return frozenset(
            node.id for node in ast.walk(placed.node) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        )

    def _at(self, line: int) -> _Placed | None:
        holding = [placed for placed in self._statements if line in placed.span]
        return max(holding, key=lambda placed: (placed.node.lineno, len(placed.parents)), default=None)


class Sources:
    """All source files of a program, parsed when asked for."""

    def __init__(self, texts: Mapping[str, str]):
        self._files = {path: SourceFile(text) for path, text in texts.items()}

    @property
    def paths(self) -> frozenset[str]:
        return frozenset(self._files)

    def file(self, path: str) -> SourceFile | None:
        return self._files.get(path)

    def line(self, path: str, number: int) -> str | None:
        """The text of a line without its indentation; None when the file was not saved."""
        file = self._files.get(path)
        text = file.line(number) if file else None
        return text.strip() if text is not None else None

    def function(self, path: str, line: int) -> Function | None:
        file = self._files.get(path)
        return file.function_at(line) if file else None

    def own_lines(self, path: str, line: int) -> frozenset[int]:
        """The lines of the function around a line, without functions inside it; empty when unknown."""
        file = self._files.get(path)
        function = file.function_at(line) if file else None
        return file.own_lines(function) if file and function else frozenset()


def _place(node: ast.AST, parents: tuple[ast.AST, ...]) -> Iterator[_Placed]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield _Placed(child, parents)
            yield from _place(child, (*parents, child))
        else:  # except handlers and match cases hold statements too
            yield from _place(child, (*parents, child) if isinstance(child, (ast.ExceptHandler, ast.Lambda)) else parents)


def _qualified_names(node: ast.AST, prefix: str) -> Iterator[tuple[ast.AST, str]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (*_FUNCTIONS, ast.ClassDef)):
            name = f"{prefix}{child.name}"
            yield child, name
            yield from _qualified_names(child, f"{name}.")
        else:
            yield from _qualified_names(child, prefix)


def _walk_scope(function: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function without those of functions and classes inside it."""
    waiting = list(ast.iter_child_nodes(function))
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, _SCOPES):
            waiting.extend(ast.iter_child_nodes(node))


def _span(statements: list[ast.stmt]) -> Span:
    return Span(statements[0].lineno, statements[-1].end_lineno or statements[-1].lineno)


def _construct_kind(node: ast.AST) -> str | None:
    if isinstance(node, _WITHS):
        return "with"
    if isinstance(node, _TRIES):
        return "try"
    return "comprehension" if isinstance(node, _COMPREHENSIONS) else None
