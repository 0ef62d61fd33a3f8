"""Which functions of the program a function calls, by their names. Only reads syntax trees."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from sotprobe.analyze.source import Function, SourceFile, Sources

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_INNER_SCOPES = (*_FUNCTIONS, ast.Lambda, ast.ClassDef)
# What calling an object does.
CALLED = ("forward", "__call__")


@dataclass(frozen=True)
class Place:
    """A function of the program. ``owner`` is the class it is a method of, None for others."""

    path: str
    function: Function
    owner: str | None = None

    def __hash__(self) -> int:
        return hash((self.path, self.function.defined, self.function.name))

    @property
    def parameters(self) -> list[str]:
        arguments = self.function.node.args
        return [argument.arg for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]


@dataclass(frozen=True)
class Call:
    """A call in a function, and what it calls. ``bound``: the callee's first parameter is the object it is called on."""

    node: ast.Call
    callee: Place
    bound: bool


class Program:
    """Looks names up over all source files."""

    def __init__(self, sources: Sources):
        self._sources = sources
        self._calls: dict[Place, list[Call]] = {}

    @cached_property
    def files(self) -> Mapping[str, ProgramFile]:
        return {
            path: ProgramFile(path, file)
            for path in sorted(self._sources.paths)
            if (file := self._sources.file(path)) is not None
        }

    def place(self, path: str, line: int, name: str | None = None) -> Place | None:
        """The function that is defined at a line or around it; with a name only one of that name."""
        file = self.files.get(path)
        if file is None:
            return None
        holding = [place for place in file.places if line in place.function.span and name in (None, place.function.name)]
        return min(holding, key=lambda place: place.function.span.last - place.function.span.first, default=None)

    def calls(self, place: Place) -> list[Call]:
        """The calls of functions of the program, in source order."""
        if place not in self._calls:
            found = [call for node in calls_in(place.function.node) for call in self._resolve(place, node)]
            self._calls[place] = found
        return self._calls[place]

    def named(self, place: Place, name: str) -> Place | None:
        """The function that a name means inside of another."""
        return next((found for found, _ in self._named(self.files[place.path], name, place)), None)

    def _resolve(self, place: Place, node: ast.Call) -> Iterator[Call]:
        name = dotted(node.func)
        if name is None:
            return
        file = self.files[place.path]
        first, *rest = name.split(".")
        if first == "self" and place.owner is not None:
            yield from self._of_self(node, file, place.owner, rest)
        elif not rest:
            for found, bound in self._named(file, first, place):
                yield Call(node, found, bound)
        else:
            yield from self._of_module(node, file, name)

    def _of_self(self, node: ast.Call, file: ProgramFile, owner: str, rest: list[str]) -> Iterator[Call]:
        """``self.method(x)``, or ``self.layer(x)`` with ``self.layer = Layer()`` somewhere in the class."""
        if len(rest) != 1:
            return
        method = self._method(file, owner, rest)
        if method is not None:
            yield Call(node, method, bound=True)
            return
        for made in file.attributes(owner).get(rest[0], ()):
            yield from (Call(node, found, bound) for found, bound in self._called_object(file, made))

    def _of_module(self, node: ast.Call, file: ProgramFile, name: str) -> Iterator[Call]:
        """``module.function(x)``, the module imported by any of its names."""
        module, _, last = name.rpartition(".")
        target = file.modules.get(module)
        other = self._file_of(target, file.path) if target else None
        if other is not None:
            for found, bound in self._named(other, last, None):
                yield Call(node, found, bound)

    def _named(self, file: ProgramFile, name: str, around: Place | None) -> Iterator[tuple[Place, bool]]:
        """The function of a name: one that is defined in the calling function, in its file, or imported from another."""
        local = [place for place in file.places if place.function.name == name and place.owner is None]
        if around is not None:
            inner = [place for place in local if place.function.span.first in around.function.span and place != around]
            local = inner or local
        if local:
            yield local[0], False
            return
        made = file.objects.get(name)
        if made is not None:
            yield from self._called_object(file, made)
            return
        target = file.names.get(name)
        if target is None:
            return
        module, original = target
        other = self._file_of(module, file.path)
        if other is not None and other is not file:
            yield from self._named(other, original, None)

    def _called_object(self, file: ProgramFile, class_name: str) -> Iterator[tuple[Place, bool]]:
        found = self._method(file, class_name, CALLED)
        if found is not None:
            yield found, True

    def _method(self, file: ProgramFile, owner: str, names: Sequence[str]) -> Place | None:
        """A method of a class, or of the classes it is made from."""
        seen: set[tuple[str, str]] = set()
        waiting = [(file, owner)]
        while waiting:
            where, name = waiting.pop(0)
            if (where.path, name) in seen:
                continue
            seen.add((where.path, name))
            if name in where.classes:
                for method in names:
                    found = where.methods.get((name, method))
                    if found is not None:
                        return found
                waiting.extend((where, base) for base in where.bases(name))
            elif name in where.names:
                module, original = where.names[name]
                other = self._file_of(module, where.path)
                if other is not None:
                    waiting.append((other, original))
        return None

    def _file_of(self, module: str, importer: str) -> ProgramFile | None:
        """The file of a module, by the end of its path; of several the nearest to the importer."""
        tail = module.lstrip(".").replace(".", "/")
        if not tail:
            return None
        ends = (f"/{tail}.py", f"/{tail}/__init__.py")
        found = [path for path in self.files if f"/{path}".endswith(ends)]
        best = max(found, key=lambda path: _shared(path, importer), default=None)
        return self.files[best] if best else None

    def made_in(self, place: Place) -> list[Place]:
        """The ``forward`` of every class of the program that the class of a method makes objects of: lists of layers too."""
        if place.owner is None:
            return []
        file = self.files[place.path]
        names = dict.fromkeys(name for made in file.attributes(place.owner).values() for name in made)
        found = [self._method(file, name, CALLED) for name in names]
        return [method for method in found if method is not None]


class ProgramFile:
    """The names that one file defines and imports."""

    def __init__(self, path: str, source: SourceFile):
        self.path = path
        self._source = source
        self._attributes: dict[str, dict[str, list[str]]] = {}

    @cached_property
    def tree(self) -> ast.Module | None:
        return self._source.tree

    @cached_property
    def classes(self) -> dict[str, ast.ClassDef]:
        return {node.name: node for node in ast.walk(self.tree) if isinstance(node, ast.ClassDef)} if self.tree else {}

    @cached_property
    def places(self) -> list[Place]:
        owners = {id(node): name for name, owner in self.classes.items() for node in owner.body if isinstance(node, _FUNCTIONS)}
        return [Place(self.path, function, owners.get(id(function.node))) for function in self._source.functions]

    @cached_property
    def methods(self) -> dict[tuple[str, str], Place]:
        return {(place.owner, place.function.name): place for place in self.places if place.owner is not None}

    def bases(self, name: str) -> list[str]:
        return [base for node in self.classes[name].bases if (base := dotted(node)) is not None]

    @cached_property
    def names(self) -> dict[str, tuple[str, str]]:
        """Name -> (module, its name there) of ``from module import name``."""
        found = {}
        for node in ast.walk(self.tree) if self.tree else ():
            if isinstance(node, ast.ImportFrom):
                module = "." * node.level + (node.module or "")
                for alias in node.names:
                    found[alias.asname or alias.name] = (module, alias.name)
        return found

    @cached_property
    def modules(self) -> dict[str, str]:
        """What a module is called in this file -> its name."""
        found = {}
        for node in ast.walk(self.tree) if self.tree else ():
            if isinstance(node, ast.Import):
                for alias in node.names:
                    found[alias.asname or alias.name] = alias.name
        for name, (module, original) in self.names.items():
            found.setdefault(name, f"{module}.{original}")
        return found

    @cached_property
    def made_by(self) -> dict[str, str]:
        """Global name -> what is called for it, of ``name = function(...)``."""
        found = {}
        for node in self.tree.body if self.tree else ():
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
                made = dotted(node.value.func)
                found.update({target.id: made for target in node.targets if made and isinstance(target, ast.Name)})
        return found

    @cached_property
    def objects(self) -> dict[str, str]:
        """Global name -> class, of ``name = Class(...)``."""
        return {name: made for name, made in self.made_by.items() if made in self.classes}

    def attributes(self, owner: str) -> dict[str, list[str]]:
        """Attribute of ``self`` -> classes made where it is assigned: itself, or in a list of layers."""
        if owner not in self._attributes:
            self._attributes[owner] = dict(_assigned_to_self(self.classes[owner])) if owner in self.classes else {}
        return self._attributes[owner]


def _assigned_to_self(owner: ast.ClassDef) -> Iterator[tuple[str, list[str]]]:
    for node in ast.walk(owner):
        if not isinstance(node, ast.Assign):
            continue
        for target in node.targets:
            if isinstance(target, ast.Attribute) and dotted(target.value) == "self":
                made = [name for call in ast.walk(node.value) if isinstance(call, ast.Call) and (name := dotted(call.func))]
                yield target.attr, made


def calls_in(function: ast.AST) -> list[ast.Call]:
    """The calls of a function itself, in source order; those of functions defined inside it are not its own."""
    found = [node for node in walk_own(function) if isinstance(node, ast.Call)]
    return sorted(found, key=lambda node: (node.lineno, node.col_offset))


def walk_own(function: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function's body without those of functions and classes inside it."""
    waiting = list(getattr(function, "body", ()))
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, _INNER_SCOPES):
            waiting.extend(ast.iter_child_nodes(node))


def dotted(node: ast.AST) -> str | None:
    """``a.b.c`` of a name or attribute; None for anything else."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([node.id, *reversed(parts)])


def _shared(one: str, other: str) -> int:
    count = 0
    for left, right in zip(one.split("/"), other.split("/"), strict=False):
        if left != right:
            break
        count += 1
    return count
