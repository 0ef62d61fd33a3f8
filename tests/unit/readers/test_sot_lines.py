"""Level-3 logs of one program on several Pythons and Paddles: every break at the line it is on, whatever the log says.

The program is tests/paddle/programs/hooks_breaks.py; ``# <name>`` marks its lines.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sotprobe.model import Event, Run
from sotprobe.readers.grammar import Token
from sotprobe.readers.log import LogOptions, read_logs
from sotprobe.readers.sotlisting import ExactLines, Instruction, ListingBlock

TESTS = Path(__file__).parents[2]
LOGS = sorted((TESTS / "golden" / "logs" / "sot3").glob("breaks_*.log.gz"))
MARKERS = {
    match[1]: number
    for number, text in enumerate((TESTS / "paddle" / "programs" / "hooks_breaks.py").read_text().splitlines(), start=1)
    if (match := re.search(r"# <([\w-]+)>", text))
}


@pytest.fixture(scope="module", params=LOGS, ids=[path.name.removeprefix("breaks_").split(".")[0] for path in LOGS])
def run(request: pytest.FixtureRequest) -> Run:
    (read,) = read_logs([str(request.param)], LogOptions()).runs
    return read


def _at(run: Run, kind: str, function: str) -> list[Event]:
    return [event for event in run.events if event.kind == kind and event.frame and event.frame.function == function]


def test_lines_of_nested_resume_functions_are_exact(run: Run) -> None:
    breaks = _at(run, "break", "many")
    assert [event.site.line for event in breaks] == [MARKERS[f"many-{number}"] for number in range(1, 8)]
    assert {event.site.precision for event in breaks} == {"line"}


def test_the_chain_of_breaks_leads_to_each_resume_function(run: Run) -> None:
    lines = [MARKERS[f"many-{number}"] for number in range(1, 8)]
    assert [event.break_lines for event in _at(run, "break", "many")] == [tuple(lines[:depth]) for depth in range(7)]
    entered = {chain for site, chain in run.entries if site.function == "many"}
    # The last call is the end of its line, so the rest after each break was entered, in whole.
    assert entered == {tuple(lines[:depth]) for depth in range(8)}


def test_an_inlined_break_is_at_the_innermost_line_once(run: Run) -> None:
    found = [event for event in run.events if event.kind == "break" and event.site.line == MARKERS["nested-leaf"]]
    assert [(event.site.function, event.frame.function, event.count) for event in found] == [("leaf", "nested", 3)]
    stack = [(site.line, site.function) for site in found[0].stack]
    assert stack == [
        (MARKERS["nested-root"], "nested"),
        (MARKERS["nested-middle"], "middle"),
        (MARKERS["nested-leaf"], "leaf"),
    ]


def test_a_branch_in_an_inlined_function_is_one_break(run: Run) -> None:
    found = [event for event in run.events if event.kind == "break" and event.site.line == MARKERS["inlined-if"]]
    assert [(event.cause, event.frame.function) for event in found] == [("tensor-if", "inlined_if")]


def test_a_break_in_a_loop_is_at_its_line(run: Run) -> None:
    found = [event for event in run.events if event.frame and event.frame.function == "loop_break"]
    at = {(event.kind, event.site.line) for event in found if event.kind in ("break", "fallback")}
    split = at == {("break", MARKERS["loop-break"])}  # until Paddle 3.2
    assert split or at == {("fallback", MARKERS["loop-break"])}


# --- one line, several candidates


def _listing(text: str) -> list[Instruction]:
    found: list[Instruction] = []
    block = ListingBlock("sotlog", lambda instructions, texts: found.extend(instructions))
    for number, line in enumerate(text.splitlines()):
        assert block.takes(Token("text", "plain", line), number), line
    block.close()
    return found


WHOLE = """
 10           0 RESUME                   0

 11           2 LOAD_GLOBAL              1 (NULL + print)
             14 LOAD_CONST               1 ('a')
             16 PRECALL                  1
             20 CALL                     1
             30 POP_TOP

 12          32 LOAD_FAST                0 (x)
             34 LOAD_METHOD              1 (mean)
             56 PRECALL                  0
             60 CALL                     0
             70 POP_TOP

 13          72 LOAD_FAST                0 (x)
             74 LOAD_METHOD              1 (mean)
             96 PRECALL                  0
            100 CALL                     0
            110 RETURN_VALUE
"""
REST = """
 10           0 RESUME                   0
              2 LOAD_FAST                0 (resume_0_stack_0)

 13           4 POP_TOP

 14           6 LOAD_FAST                1 (x)
              8 LOAD_METHOD              1 (mean)
             30 PRECALL                  0
             34 CALL                     0
             44 POP_TOP

 17          46 LOAD_FAST                1 (x)
             48 LOAD_METHOD              1 (mean)
             70 PRECALL                  0
             74 CALL                     0
             84 RETURN_VALUE
"""


def _simulated(*opcodes: str) -> list[str]:
    return [f"[Translate Executor 1] (line  14) {opcode:<12} x, stack is []" for opcode in opcodes]


def test_what_was_simulated_before_tells_which_instruction_it_is() -> None:
    lines = ExactLines()
    lines.add(("/proj/m.py", "10"), _listing(WHOLE))
    lines.add("$resume_0@f_af1a0", _listing(REST))
    first = ("RESUME", "LOAD_FAST", "POP_TOP", "LOAD_FAST", "LOAD_METHOD", "PRECALL")
    assert lines.exact("$resume_0@f_af1a0", ("/proj/m.py", "10"), _simulated(*first)) == 12
    second = (*first, "POP_TOP", "LOAD_FAST", "LOAD_METHOD", "PRECALL")
    assert lines.exact("$resume_0@f_af1a0", ("/proj/m.py", "10"), _simulated(*second)) == 13


def test_several_lines_are_none() -> None:
    lines = ExactLines()
    lines.add(("/proj/m.py", "10"), _listing(WHOLE))
    lines.add("$resume_0@f_af1a0", _listing(REST))
    assert lines.exact("$resume_0@f_af1a0", ("/proj/m.py", "10"), _simulated("LOAD_METHOD", "PRECALL")) is None
    assert lines.exact("$resume_0@f_af1a0", ("/proj/other.py", "10"), _simulated("RETURN_VALUE")) is None
    assert lines.exact("$resume_0@f_af1a0", ("/proj/m.py", "10"), []) is None


def test_a_listing_that_comes_anew_replaces_the_old() -> None:
    lines = ExactLines()
    lines.add(("/proj/m.py", "10"), _listing(WHOLE))
    lines.add("$resume_0@f_af1a0", _listing(REST))
    assert lines.exact("$resume_0@f_af1a0", ("/proj/m.py", "10"), _simulated("RETURN_VALUE")) == 13
    lines.add(("/proj/m.py", "10"), [item._replace(line=item.line + 100) for item in _listing(WHOLE)])
    assert lines.exact("$resume_0@f_af1a0", ("/proj/m.py", "10"), _simulated("RETURN_VALUE")) == 113


def test_python_3_13_joins_instructions_that_sot_takes_apart() -> None:
    found = _listing(
        """
 40           RESUME                   0

 43           LOAD_FAST_LOAD_FAST      1 (x, scale)
              LOAD_ATTR                3 (mean + NULL|self)
      L1:     FOR_ITER                 9 (to L2)
"""
    )
    assert [item.opcode for item in found] == ["RESUME", "LOAD_FAST", "LOAD_FAST", "LOAD_ATTR", "PUSH_NULL", "FOR_ITER"]
    assert found[3].argument == "mean"
    assert {item.line for item in found[1:]} == {43}


def test_functions_defined_inside_are_no_part_of_a_listing() -> None:
    found = _listing(
        """
  5           0 RESUME                   0
              2 LOAD_CONST               1 (<code object inner at 0x7f1, file "/proj/m.py", line 6>)
              4 RETURN_VALUE

Disassembly of <code object inner at 0x7f1, file "/proj/m.py", line 6>:
  6           0 RESUME                   0
              2 RETURN_VALUE
"""
    )
    assert [item.opcode for item in found] == ["RESUME", "LOAD_CONST", "RETURN_VALUE"]
