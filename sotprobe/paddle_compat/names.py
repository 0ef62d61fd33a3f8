"""From the names of code that SOT generates back to the function the user wrote.

``#f_84ae0`` is the translated code of ``f``, ``$resume_0@f_af1a0`` the rest of ``f`` after a graph break,
``$resume_1@$resume_0@f_af1a0`` the rest of that rest, and ``#$resume_0@f_af1a0`` a translated rest. The five digits
are drawn from a fixed-seed generator in order of code generation: they are no identity
(``PyCodeGen.update_code_name`` in ``pycode_generator.py``, Paddle 3.0-3.3).
"""

from __future__ import annotations

import re

_TRANSLATED = "#"
RESUME_MARK = "$resume_"
_RESUME = re.compile(r"\$resume_\d+@")
_SUFFIX = re.compile(r"_[0-9a-f]{5}$")
_RESUME_NAME = re.compile(r"\$resume_\d+@[^\s)]+")


def is_resume(name: str) -> bool:
    """Whether ``name`` is the rest of a function after a graph break, translated or not."""
    return _RESUME.match(name.removeprefix(_TRANSLATED)) is not None


def is_translated(name: str) -> bool:
    """Whether ``name`` belongs to code that SOT wrote in place of a frame."""
    return name.startswith(_TRANSLATED)


def is_generated(name: str) -> bool:
    """Whether SOT made this name; no Python identifier starts like this."""
    return is_translated(name) or is_resume(name)


def original_name(name: str) -> str:
    """The name of the user's function; a name that SOT did not make is returned as it is."""
    if not is_generated(name):
        return name
    rest = name.removeprefix(_TRANSLATED)
    while prefix := _RESUME.match(rest):
        rest = rest[prefix.end() :]
    return _SUFFIX.sub("", rest)


def resume_depth(name: str) -> int:
    """How many graph breaks lie before a resume function; 0 for any other name."""
    rest = name.removeprefix(_TRANSLATED)
    depth = 0
    while prefix := _RESUME.match(rest):
        rest = rest[prefix.end() :]
        depth += 1
    return depth


def resume_functions(text: str) -> list[str]:
    """The resume functions named in a line of a code listing."""
    return _RESUME_NAME.findall(text)


# What a program calls to have a function or layer captured (``paddle.jit.to_static``), also as a decorator.
TO_STATIC = "to_static"


_OPERATOR = re.compile(r"\|\| .*? = (\S+)")
_SYMBOLIC = "symbolic_"  # arithmetic of dynamic sizes is paddle.jit.sot.symbolic_shape.operators.symbolic_add or _operator.add
ANY_LAYER = "Reference"  # what Paddle 2.6 calls every layer


def statement_operator(text: str) -> str:
    """What a statement of a SIR calls, the same for all ways to write it: ``method || var_3 = __add__ (var_1, 2)`` is ``add``.

    ``paddle.tensor.math.tanh``, ``paddle.base.dygraph.generated_tensor_methods_patch._tanh`` (3.0) and the method are ``tanh``.
    Text of another form is returned as it is.
    """
    found = _OPERATOR.search(text)
    return found[1].rpartition(".")[2].strip("_").removeprefix(_SYMBOLIC) or found[1] if found else text
