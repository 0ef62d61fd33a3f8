"""Runs a script as ``__main__``, unmodified, with its own arguments."""

from __future__ import annotations

import ast
import importlib
import os
import sys
import types
from typing import Any

from sotprobe.capture.child.job import Job
from sotprobe.capture.child.markers import mark_function
from sotprobe.capture.child.refuse import Refused
from sotprobe.capture.child.steps import Steps
from sotprobe.capture.child.userfiles import put_first

_MARK = "__sotprobe_mark__"


def run_script(job: Job, steps: Steps) -> None:
    """Execute the program the way ``python program.py args`` would: own ``__main__``, argv and path."""
    steps.batch_size = job.batch_size
    put_first(os.path.dirname(job.path))
    sys.argv = [job.given, *job.arguments]
    with open(job.path, "rb") as file:
        tree = ast.parse(file.read(), filename=job.path)
    main = types.ModuleType("__main__")
    main.__file__ = job.path
    main.__builtins__ = __builtins__
    if job.step_on is not None:
        _step_on(job, steps, tree, main)
    # A child of multiprocessing's spawn and pickles of the user's classes look here.
    sys.modules["__main__"] = main
    code = compile(tree, job.path, "exec", dont_inherit=True)
    exec(code, main.__dict__)  # the user's own program, as python would run it


def _step_on(job: Job, steps: Steps, tree: ast.Module, main: types.ModuleType) -> None:
    module_name, _, path = job.step_on.partition(":")
    stem = os.path.splitext(os.path.basename(job.path))[0]
    if module_name in ("__main__", stem):
        _mark_in_main(steps, tree, main, path, job)
        return
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name != module_name and not module_name.startswith(f"{error.name}."):
            raise
        raise Refused(
            f"--step-on names module {module_name}, which cannot be found from {job.given}",
            f"give a module that {job.given} imports, or {stem}:FUNCTION for a function of the program itself",
            slug="step-on",
        ) from error
    _mark_path(steps, module, path, job.step_on)


def _mark_path(steps: Steps, module: Any, path: str, given: str) -> None:
    *owners, name = path.split(".")
    owner = module
    for part in owners:
        owner = getattr(owner, part, None)
    if owner is None or not callable(getattr(owner, name, None)):
        raise Refused(
            f"--step-on {given}: {module.__name__} has no function {path}",
            "give MODULE:FUNCTION or MODULE:CLASS.METHOD",
            slug="step-on",
        )
    mark_function(steps, owner, name)


def _mark_in_main(steps: Steps, tree: ast.Module, main: types.ModuleType, path: str, job: Job) -> None:
    """Mark a function of the program itself right after its definition; no line number moves."""
    head = path.split(".")[0]
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    places = [i for i, node in enumerate(tree.body) if isinstance(node, kinds) and node.name == head]
    if not places:
        raise Refused(
            f"--step-on {job.step_on}: {job.given} defines no {head} at its top level",
            "give a function or CLASS.METHOD that the program defines at its top level",
            slug="step-on",
        )
    node = tree.body[places[-1]]
    call = ast.parse(f"{_MARK}()").body[0]
    for part in ast.walk(call):
        ast.copy_location(part, node)
    tree.body.insert(places[-1] + 1, call)
    main.__dict__[_MARK] = lambda: _mark_path(steps, main, path, job.step_on)
