"""Exact source lines in the code that SOT generates.

On Python 3.11 and later SOT writes a wrong line table into everything it generates: an entry gets the line of the
instruction that follows it, and the delta is applied again for every eight code units of a longer instruction
(``create_linetable_calculator`` in ``pycode_generator.py``, Paddle 3.0-3.3). As resume functions are generated from
resume functions, the error adds up: breaks, tracebacks and traced lines of such frames are off by one to four lines.
The instructions themselves still know their line, so the table is written again from them.

A resume function may also begin in the middle of a line, at an instruction that starts none. Every instruction is
therefore told its line when SOT disassembles code.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from types import CodeType
from typing import Any

from sotprobe.paddle_compat.hooks.access import module, simulated_stack
from sotprobe.paddle_compat.hooks.watch import Watch

_UNIT = 2  # bytes in a code unit
_LONGEST_ENTRY = 8  # code units an entry of the location table may cover
_NO_COLUMNS = 0b1_1101_000  # entry kind 13: a line delta without columns (CPython's Objects/locations.md)


def _svarint(number: int) -> Iterator[int]:
    unsigned = (-number << 1) | 1 if number < 0 else number << 1
    while unsigned >= 0x40:
        yield unsigned & 0x3F | 0x40
        unsigned >>= 6
    yield unsigned


def location_table(lines: Iterable[tuple[int, int]], first_line: int) -> bytes:
    """The ``co_linetable`` of Python 3.11+ for instructions given as (code units, line)."""
    table = bytearray()
    current = first_line
    for units, line in lines:
        while units > 0:
            covered = min(units, _LONGEST_ENTRY)
            table.append(_NO_COLUMNS | (covered - 1))
            table.extend(_svarint(line - current))
            current = line
            units -= covered
    return bytes(table)


def _with_exact_lines(code: CodeType, instructions: list[Any]) -> CodeType:
    size = module("pycode_generator").get_instruction_size
    lines = []
    current = code.co_firstlineno
    for instruction in instructions:
        current = instruction.starts_line or current
        lines.append((size(instruction) // _UNIT, current))
    if sum(units for units, _ in lines) * _UNIT != len(code.co_code):
        raise ValueError(f"the instructions of {code.co_name} do not cover its bytecode")
    return code.replace(co_linetable=location_table(lines, code.co_firstlineno))


def _place_branches(instructions: list[Any]) -> None:
    """The branch SOT writes for a break at an ``if`` starts no line; it stands for the user's, as what follows it does."""
    for instruction in instructions:
        if instruction.starts_line is None and instruction.opname.startswith("POP_JUMP"):
            stack = simulated_stack()
            instruction.starts_line = stack[-1].site.line if stack else None


def _fill_lines(instructions: list[Any]) -> None:
    current = None
    for instruction in instructions:
        if instruction.starts_line is None:
            instruction.starts_line = current
        current = instruction.starts_line


def install(watch: Watch) -> None:
    """Make the lines of generated code exact; functions already translated keep theirs."""

    def gen_new_opcode(original: Callable[..., CodeType]) -> Callable[..., CodeType]:
        def generate(instructions: list[Any], *args: Any, **kwargs: Any) -> CodeType:
            watch.observe(_place_branches, instructions)
            code = original(instructions, *args, **kwargs)
            if sys.version_info < (3, 11):
                return code
            return watch.observe(_with_exact_lines, code, instructions) or code

        return generate

    def get_instructions(original: Callable[[CodeType], list[Any]]) -> Callable[[CodeType], list[Any]]:
        def disassemble(code: CodeType) -> list[Any]:
            instructions = original(code)
            watch.observe(_fill_lines, instructions)
            return instructions

        return disassemble

    watch.replace(module("pycode_generator"), "gen_new_opcode", gen_new_opcode)
    for user in ("opcode_executor", "function_graph"):
        watch.replace(module(user), "get_instructions", get_instructions)
