"""What kind of file a PROGRAM is, told from its source: nothing is imported and nothing runs."""

from __future__ import annotations

import ast
import os
import warnings
from dataclasses import dataclass
from pathlib import Path

from sotprobe.errors import InputError

CASE = "case"
SCRIPT = "script"

_CALLABLES = ("func", "model")
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
# Top-level statements that only bring names into being.
_DECLARATIONS = (*_DEFINITIONS, ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Pass, ast.Delete)


@dataclass(frozen=True)
class Program:
    """A user's program: ``path`` is absolute, ``given`` is as the user typed it, ``kind`` is ``case`` or ``script``."""

    path: str
    given: str
    kind: str


def classify(given: str | os.PathLike[str], cwd: str | os.PathLike[str] | None = None) -> Program:
    """Tell a case file from a script.

    A case file binds ``init`` and one of ``func`` and ``model`` at module level; anything else that does something when
    run is a script. ``given`` may be relative to ``cwd`` (default: the current directory).
    Raises InputError for a file that is missing, no Python source, has a syntax error, or would do nothing.
    """
    given = os.fspath(given)
    path = Path(cwd or Path.cwd(), given)
    tree = _parse(given, _read(given, path))
    # Normalised: Python's own code objects name the file without "..", and sites are matched by path.
    return Program(os.path.abspath(path), given, _kind(given, tree))


def _read(given: str, path: Path) -> bytes:
    if path.is_dir():
        raise InputError(f"{given} is a directory", "give the Python file that you would run, e.g. train.py")
    if path.suffix != ".py":
        _check_exists(given, path)
        raise InputError(f"{given} is not a Python file", _not_python_hint(path.suffix))
    try:
        return path.read_bytes()
    except OSError as error:
        _check_exists(given, path)
        raise InputError(f"cannot read {given}: {error.strerror}", "check the file's permissions") from error


def _check_exists(given: str, path: Path) -> None:
    if not path.exists():
        raise InputError(f"no such file: {given}", f"looked for {path.absolute()}; check the name and the directory")


def _not_python_hint(suffix: str) -> str:
    if suffix == ".ipynb":
        return "export the notebook first: jupyter nbconvert --to script"
    if suffix == ".sh":
        return "give the Python program that the shell script starts, with its arguments after --"
    return "sotprobe runs a .py file: a case file or a training script"


def _parse(given: str, source: bytes) -> ast.Module:
    if b"\0" in source:
        raise InputError(f"{given} is not text", "sotprobe runs Python source, not a compiled or binary file")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the user's strings; the child shows them
            return ast.parse(source)
    except SyntaxError as error:
        if error.lineno is None:
            raise InputError(f"{given} is not Python text: {error.msg}", "save the file as UTF-8") from error
        where = f"{given}:{error.lineno}"
        shown = f": {error.text.strip()}" if error.text and error.text.strip() else ""
        hint = "correct the line; the program is read by the Python that runs sotprobe"
        raise InputError(f"syntax error at {where}: {error.msg}{shown}", hint, slug="syntax-error") from error


def _kind(given: str, tree: ast.Module) -> str:
    bound = _bound_names(tree)
    acts = any(_acts(statement) for statement in tree.body)
    if "init" in bound and any(_is_callable(bound[name], acts) for name in _CALLABLES if name in bound):
        return CASE
    started = any(_is_main_guard(statement) for statement in tree.body)
    if acts or started or ("init" not in bound and _assigns_results(tree)):
        return SCRIPT
    raise InputError(*_nothing_to_run(given, bound), slug="no-callable")


def _nothing_to_run(given: str, bound: dict[str, ast.AST | None]) -> tuple[str, str]:
    if "init" in bound:
        return (
            f"no callable in {given}: it has init but neither func nor model",
            "a case file defines func(*inputs), or model() that returns a Layer, next to init()",
        )
    if any(name in bound for name in _CALLABLES):
        name = next(name for name in _CALLABLES if name in bound)
        return (
            f"no inputs in {given}: it has {name} but no init",
            "a case file defines init() that returns the inputs, next to func or model",
        )
    return (
        f"nothing to run in {given}: it only defines names",
        "call the code at the end of the file (if __name__ == '__main__': ...), or make it a case file with init and func",
    )


def _bound_names(tree: ast.Module) -> dict[str, ast.AST | None]:
    """Every name bound at module level (also under ``if`` and ``try``) with what it was bound to, None for an import."""
    bound: dict[str, ast.AST | None] = {}
    for statement in _module_level(tree.body):
        if isinstance(statement, _DEFINITIONS):
            bound[statement.name] = statement
        elif isinstance(statement, (ast.Import, ast.ImportFrom)):
            bound.update({(alias.asname or alias.name).split(".")[0]: None for alias in statement.names})
        elif isinstance(statement, ast.Assign):
            names = (target.id for target in statement.targets if isinstance(target, ast.Name))
            bound.update(dict.fromkeys(names, statement.value))
        elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name) and statement.value:
            bound[statement.target.id] = statement.value
    return bound


def _module_level(body: list[ast.stmt]):
    for statement in body:
        if isinstance(statement, ast.If) and not _is_main_guard(statement):
            yield from _module_level(statement.body + statement.orelse)
        elif isinstance(statement, ast.Try):
            handlers = [inner for handler in statement.handlers for inner in handler.body]
            yield from _module_level(statement.body + handlers + statement.orelse + statement.finalbody)
        else:
            yield statement


def _is_callable(value: ast.AST | None, acts: bool) -> bool:
    """Whether a module-level ``func`` or ``model`` can be a case's callable.

    A script's ``model = Net()`` next to a training loop is an instance, not a case; without any other code it may be a
    wrapped function.
    """
    if value is None or isinstance(value, (*_DEFINITIONS, ast.Lambda, ast.Name, ast.Attribute)):
        return True
    return isinstance(value, ast.Call) and not acts


def _acts(statement: ast.stmt) -> bool:
    """Whether a top-level statement does more than bind names or prepare (the main guard is judged apart)."""
    if isinstance(statement, ast.Expr):
        return not isinstance(statement.value, ast.Constant) and not _is_setup(statement.value)
    if isinstance(statement, ast.If):
        return not _is_main_guard(statement) and any(_acts(inner) for inner in statement.body + statement.orelse)
    if isinstance(statement, ast.Try):
        handlers = [inner for handler in statement.handlers for inner in handler.body]
        return any(_acts(inner) for inner in statement.body + handlers + statement.orelse)
    return not isinstance(statement, (*_DECLARATIONS, ast.Raise))


def _assigns_results(tree: ast.Module) -> bool:
    """``losses = train()``: a script may consist of assignments only."""
    assignments = (node for node in tree.body if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)))
    return any(isinstance(node, ast.Call) for assignment in assignments for node in ast.walk(assignment))


def _is_setup(value: ast.expr) -> bool:
    """``sys.path.insert(...)``, ``paddle.seed(1)`` and the like prepare a run; they are none themselves."""
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _SETUP_CALLS


_SETUP_CALLS = frozenset({"append", "insert", "seed", "set_device", "filterwarnings", "simplefilter", "basicConfig"})


def _is_main_guard(statement: ast.stmt) -> bool:
    """``if __name__ == "__main__":`` holds what a script does, and a case file's unittest start."""
    return isinstance(statement, ast.If) and any(
        isinstance(node, ast.Name) and node.id == "__name__" for node in ast.walk(statement.test)
    )
