"""Reports of SOT's collectors: real ones of three Paddles, damaged ones, and what they say of breaks that have no reason."""

from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path

import pytest
from log_engine import read, totals

from sotprobe.model import Event, SourceSite
from sotprobe.readers.parts import Parts

LOGS = Path(__file__).parents[2] / "golden" / "logs"
V3 = ("3.0.0", "3.2.2", "3.3.1")


def parts_of(data: bytes) -> Parts:
    (parts,) = read(data).parts
    return parts


def recorded(name: str) -> Parts:
    path = next(LOGS.glob(f"{name}.txt*"))
    data = path.read_bytes()
    return parts_of(gzip.decompress(data) if path.suffix == ".gz" else data)


def breaks(parts: Parts) -> list[tuple[str | None, str | None]]:
    """(cause, function) of every break."""
    found = [event for event in parts.events if event.kind == "break"]
    return sorted(((event.cause, event.site.function if event.site else None) for event in found), key=str)


def serialized(value: object) -> str:
    return f"<sot>{base64.b64encode(json.dumps(value).encode()).decode()}</sot>"


def reasons(*rows: str) -> str:
    return "BreakGraphReasonInfo (breakgraph_reason):\n" + "\n".join(rows) + "\n\n"


def entered(*names: str) -> str:
    """Frames as level 2 logs them: ``f`` and resume functions of it."""
    lines = []
    for name in names:
        function = name.rpartition("@")[2].partition("_")[0] if "@" in name else name
        code = f'<code object {name} at 0x7f00000000{len(lines):02x}, file "/proj/a.py", line {ord(function[0])}>'
        lines.append(f"[eval_frame_callback] start to translate: {code}\n[Cache] Firstly call {code}\n")
    return "".join(lines)


PRINT = "\tNot support builtin function: print with args: Args(ConstantVariable)"
FLOAT = "\tNot support builtin function: <class 'float'> with args: Args(TensorVariable)"


# --- reports


@pytest.mark.parametrize("paddle", V3)
def test_details_tell_the_operators_of_a_subgraph(paddle):
    parts = recorded(f"{paddle}_py311_collect_details")
    assert parts.operators == {"SIR_0": 13, "SIR_1": 3, "SIR_2": 4}


@pytest.mark.parametrize("paddle", V3)
def test_serialized_reports_tell_them_too(paddle):
    parts = recorded(f"{paddle}_py311_collect_serialized")
    assert parts.operators["SIR_0"] == 13
    assert set(parts.operators) >= {"SIR_1", "SIR_2"}


def test_operators_come_to_the_subgraphs_that_are_logged():
    text = (
        entered("f")
        + "start subgraph compile and execution.\nStatementIR: SIR_4\n  statements: \n    method     || a = b (c)  \n"
        "[FallbackWrapper] start run SIR: \n StatementIR: SIR_4\n"
        + serialized({"subgraph_info": [{"SIR_name": "SIR_4", "OpNum": 7}]})
    )
    assert [(graph.name, graph.ops) for graph in parts_of(text.encode()).subgraphs] == [("SIR_4", 7)]


@pytest.mark.parametrize("paddle", V3)
def test_translations_without_level_2(paddle):
    """What the table says: float_value was translated twice, its resume function three times or once."""
    parts = recorded(f"{paddle}_py311_collect")
    translated = {event.frame.function: 0 for event in parts.events if event.kind == "translate"}
    for event in parts.events:
        if event.kind == "translate":
            translated[event.frame.function] += event.count
    assert {"plain": 1, "print_break": 2, "helper_break": 2, "say": 2, "tensor_if": 2}.items() <= translated.items()
    assert parts.counts["translations"] == sum(translated.values())
    assert parts.counts["breaks"] == 5


def test_translations_are_not_counted_twice():
    """With level 2 the same translations are in lines of their own."""
    parts = recorded("3.3.1_py311_collect_level2")
    table = (LOGS / "3.3.1_py311_collect_level2.txt").read_text(encoding="utf-8")
    said = sum(int(line.rpartition(": ")[2]) for line in table.splitlines() if line.startswith("    ") and "patterns.py:" in line)
    assert parts.counts["translations"] == said
    assert sum(event.count for event in parts.events if event.kind == "translate") == said


@pytest.mark.parametrize("paddle", V3)
def test_the_step_profiler_is_a_note(paddle):
    (note,) = recorded(f"{paddle}_py311_step_profiler").notes
    assert note.text == "step 17 by SOT's own profiler: 2 kernels ran in subgraphs, 0 eagerly"


# --- damage


@pytest.mark.parametrize(
    "line",
    [
        "<sot>not base64!</sot>",
        "<sot>AAAA</sot>",
        f"<sot>{base64.b64encode(b'[' * 100_000).decode()}</sot>",
        serialized({"subgraph_info": [{"SIR_name": "SIR_0", "OpNum": "many"}]}),
        serialized({"subgraph_info": "none"}),
        serialized({"breakgraph_reason": ["a"]}),
        serialized({"breakgraph_reason": {"ForceBreak": [1]}}),
        serialized(["subgraph_info"]),
        serialized({"something_else": {}}),
        serialized({"subgraph_info": []})[:20],
        "[Number of subgraph] many",
        "[SubGraphIdx] 0   [SIR Name] SIR_0",
        "SOT step profiler info summary (Later)",
    ],
)
def test_damaged_reports_are_malformed(line):
    assert totals(read(f"{line}\n".encode())) == {"sotinfo": (0, 0, 0, 1)}


def test_a_report_that_stops_is_no_reason_to_take_the_users_lines():
    log = read(b"CompileCountInfo (compile_count):\n    f (/proj/a.py:3): 2\nloss 0.5\n    f (/proj/a.py:3): 9\n")
    assert totals(log) == {"sotinfo": (2, 0, 0, 0), "text": (0, 2, 0, 0)}
    assert log.parts[0].counts["translations"] == 2


def test_a_table_of_reasons_ends_with_an_empty_line():
    log = read((reasons("ForceBreak (1):", "\tone", "and its second line") + "loss 0.5\n").encode())
    assert totals(log) == {"sotinfo": (5, 0, 0, 0), "text": (0, 1, 0, 0)}


def test_a_title_without_a_table_takes_nothing():
    assert totals(read(b"BreakGraphReasonInfo (breakgraph_reason):\nloss 0.5\n")) == {
        "sotinfo": (1, 0, 0, 0),
        "text": (0, 1, 0, 0),
    }


# --- reasons and breaks


@pytest.mark.parametrize("paddle", V3)
def test_an_inlined_function_is_named_by_its_reason(paddle):
    """helper_break calls say, which prints: both break there."""
    assert breaks(recorded(f"{paddle}_py311_collect_serialized")) == [("print", "helper_break"), ("print", "say")]


def test_reasons_of_the_only_function_that_broke():
    text = entered("f", "$resume_0@f_00000", "$resume_1@$resume_0@f_00000") + reasons("BuiltinFunctionBreak (2):", PRINT, FLOAT)
    parts = parts_of(text.encode())
    assert breaks(parts) == [("float-read", "f"), ("print", "f")]
    assert parts.counts["breaks"] == 2


def test_which_break_had_which_reason_is_not_known():
    """Said once for each cause, with the lines of the breaks."""
    other = PRINT.replace("ConstantVariable", "ConstantVariable, ConstantVariable")
    text = entered("f", "$resume_0@f_00000", "$resume_1@$resume_0@f_00000") + reasons(
        "BuiltinFunctionBreak (3):", PRINT, other, FLOAT
    )
    events = [event for event in parts_of(text.encode()).events if event.kind == "break"]
    assert [(event.cause, [evidence.line for evidence in event.evidence]) for event in events] == [
        ("print", [9, 3]),
        ("print", [10]),
        ("float-read", [11, 3]),
    ]
    assert events[0].evidence[1].text == "2 breaks in f (log lines 3, 5); which of them had which reason is not told"


def test_one_reason_for_every_break():
    text = entered("f", "$resume_0@f_00000", "g", "$resume_1@g_00000") + reasons("BuiltinFunctionBreak (2):", PRINT, PRINT)
    assert breaks(parts_of(text.encode())) == [("print", "f"), ("print", "g")]


def test_a_break_without_a_reason_stays_one():
    """A branch on a tensor has no reason: two breaks, one print."""
    text = entered("f", "$resume_0@f_00000", "$resume_1@$resume_0@f_00000") + reasons("BuiltinFunctionBreak (1):", PRINT)
    assert breaks(parts_of(text.encode())) == [("print", "f"), (None, "f")]


def test_reasons_that_may_be_of_several_functions_have_no_place():
    text = entered("f", "$resume_0@f_00000", "g", "$resume_1@g_00000") + reasons("BuiltinFunctionBreak (2):", PRINT, FLOAT)
    parts = parts_of(text.encode())
    assert breaks(parts) == [("float-read", None), ("print", None), (None, "f"), (None, "g")]
    unknown = next(event for event in parts.events if event.cause is None and event.kind == "break")
    assert "may be one of these" in unknown.evidence[-1].text
    assert parts.counts["breaks"] == 2


def test_without_any_frame_a_reason_is_all_there_is():
    parts = parts_of(reasons("BuiltinFunctionBreak (1):", PRINT).encode())
    assert breaks(parts) == [("print", None)]
    assert parts.counts["breaks"] == 0


def test_the_reason_of_a_frame_that_was_given_up_is_no_break():
    text = (
        entered("f")
        + 'Unsupported Frame is <code object f at 0x7f0000000000, file "/proj/a.py", line 102>, error message is: \n'
        + "Traceback (most recent call last):\n"
        + f"paddle.jit.sot.utils.exceptions.BreakGraphError: {PRINT.strip()}\n\n"
        + reasons("BuiltinFunctionBreak (1):", PRINT)
    )
    parts = parts_of(text.encode())
    assert [event.kind for event in parts.events if event.kind in ("break", "fallback")] == ["fallback"]


def test_a_branch_in_an_inlined_function():
    reason = "\tOpcodeInlineExecutor want break graph when simulate control flow."
    text = entered("f", "$resume_0@f_00000") + reasons("DataDependencyControlFlowBreak (1):", reason)
    assert breaks(parts_of(text.encode())) == [("tensor-if", "f")]


def test_level_3_knows_better():
    """Its breaks have lines; the collector adds none."""
    parts = recorded("3.3.1_py311_level3")
    placed = breaks(parts)
    assert placed
    table = reasons("BuiltinFunctionBreak (1):", FLOAT)
    data = gzip.decompress((LOGS / "3.3.1_py311_level3.txt.gz").read_bytes())
    assert breaks(parts_of(data + table.encode())) == placed


def test_evidence_is_the_line_of_the_message():
    data = (entered("f", "$resume_0@f_00000") + reasons("BuiltinFunctionBreak (1):", PRINT)).encode()
    (event,) = [event for event in parts_of(data).events if event.kind == "break"]
    assert isinstance(event, Event)
    assert event.site == SourceSite("/proj/a.py", ord("f"), "f", "function")
    assert (event.evidence[0].reader, event.evidence[0].line) == ("sotinfo", 7)
    assert event.evidence[0].text.startswith("BuiltinFunctionBreak: Not support builtin function: print")
