"""Every line that the installed Paddle's SOT can log, read in its own source, begins like a line that the readers know."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from sotprobe.readers.log import READERS

pytestmark = [
    pytest.mark.paddle,
    pytest.mark.skipif(find_spec("paddle") is None, reason="Paddle is not installed (the cpu extra)"),
]

CALLS = {"log", "log_do", "log_format", "log_once", "print"}
# Files whose output is asked for line by line in an interactive session, is the user's own, or is commented out.
NOT_LOGS = {"opcode_translator/breakpoint.py", "psdb.py", "opcode_translator/executor/pycode_generator.py"}
# Printed by hand while SOT is developed.
NEVER_PRINTED = ("Execute time:", "Cannot import graphviz")
SHORTEST = 4


def sot_folder() -> Path:
    paddle = find_spec("paddle")
    assert paddle is not None
    return Path(next(iter(paddle.submodule_search_locations or ()))) / "jit" / "sot"


def literal_starts() -> Iterator[tuple[str, str]]:
    """(where, how a line begins) for every call that logs something with a text of its own."""
    root = sot_folder()
    for file in sorted(root.rglob("*.py")):
        name = file.relative_to(root).as_posix()
        if name in NOT_LOGS:
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in CALLS:
                text = _start_of(node)
                if len(text) >= SHORTEST and not text.startswith(NEVER_PRINTED):
                    yield f"{name}:{node.lineno}", text


def _start_of(call: ast.Call) -> str:
    """The literal text that what is printed begins with, up to the first value or the end of the line."""
    parts = [argument for argument in call.args if not (isinstance(argument, ast.Constant) and isinstance(argument.value, int))]
    text = parts[0] if parts else None
    while isinstance(text, ast.BinOp):
        text = text.left
    pieces = text.values if isinstance(text, ast.JoinedStr) else [text]
    start = ""
    for piece in pieces:
        if not isinstance(piece, ast.Constant) or not isinstance(piece.value, str):
            break
        start += piece.value
    return start.partition("\n")[0].partition("{")[0]


def test_the_source_has_log_calls():
    assert len(list(literal_starts())) > 30


@pytest.mark.parametrize(("where", "start"), list(literal_starts()) if find_spec("paddle") else [])
def test_a_line_that_sot_can_log_is_known(where, start):
    heads = [head for make in READERS for head in make().heads]
    # A head may need more than the literal start: a value comes before its end.
    assert [head for head in heads if start.startswith(head) or head.startswith(start)], f"{where} prints {start!r}"
