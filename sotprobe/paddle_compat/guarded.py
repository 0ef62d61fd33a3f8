"""What a guard is about: the value in the user's code that its text names."""

from __future__ import annotations

import re
from dataclasses import dataclass

LOCAL = "local"
GLOBAL = "global"

# frame.f_locals['self'].blocks[0].scale; of a function that was called: frame.f_locals['f'].__globals__['scale']
_VALUE = re.compile(r"frame\.f_(?P<space>locals|globals)\['(?P<name>\w+)'\](?P<path>(?:\.\w+|\[[^\[\]]*\])*)")
_OUTSIDE = re.compile(r"\.__globals__\['(?P<name>\w+)'\](?P<path>.*)$")
_STEP = re.compile(r"\.(?P<attribute>\w+)|\[(?P<item>[^\[\]]*)\]")
_STACK_OPERAND = re.compile(r"resume_\d+_stack_\d+$")


@dataclass(frozen=True)
class GuardedValue:
    """``path`` are the attributes (``.name``) and items (``[0]``) on the way to the value, from a local or global variable."""

    space: str
    name: str
    path: tuple[str, ...] = ()


def guarded_value(expression: str) -> GuardedValue | None:
    """None for a value that a graph break left on the stack, and for a guard that names no variable."""
    found = _VALUE.search(expression)
    if found is None or _STACK_OPERAND.match(found["name"]):
        return None
    space, name, path = found["space"], found["name"], found["path"]
    outside = _OUTSIDE.search(path)
    if outside:
        space, name, path = "globals", outside["name"], outside["path"]
    steps = tuple(f".{step['attribute']}" if step["attribute"] else f"[{step['item']}]" for step in _STEP.finditer(path))
    return GuardedValue(LOCAL if space == "locals" else GLOBAL, name, steps)
