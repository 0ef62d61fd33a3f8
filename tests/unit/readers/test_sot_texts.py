"""Lines of SOT below a line of their own, at levels 3 to 5: taken with it, and no line of the user's with them."""

from __future__ import annotations

import pytest
from log_engine import read, totals

from sotprobe.paddle_compat.log_lines import listings, sot
from sotprobe.paddle_compat.log_lines.phrase import Phrase, by_head

CODE = '<code object f at 0x7f0000000000, file "/proj/a.py", line 3>'
USER = "loss 0.5"
OPCODE = "[Translate Executor 1] (line   4) LOAD_CONST   a, stack is [ConstantVariable(name"


def lines(*texts: str) -> dict[str, tuple[int, int, int, int]]:
    return totals(read(("\n".join(texts) + "\n").encode()))


def understood(*texts: str, users: int = 1) -> None:
    """All lines are SOT's, but for the user's own behind them."""
    assert lines(*texts, USER) == {"sotlog": (len(texts), 0, 0, 0), "text": (0, users, 0, 0)}


@pytest.mark.parametrize(
    "texts",
    [
        pytest.param(
            ("[Opcode Pass]: Original New Code #f_84ae0:", "            -1 RESUME                        0   ", "",
             "4            2 LOAD_CONST                    1   (a", "second line)   ", "        >>   4 RETURN_VALUE    "),
            id="own listing, a string of two lines",
        ),
        pytest.param(
            ("[Generator] Create generator variable from generator function", "115           0 RETURN_GENERATOR",
             "              2 POP_TOP", "        >>    4 RESUME                   0", "ExceptionTable:",
             "  4 to 30 -> 34 [0] lasti"),
            id="dis of 3.11",
        ),
        pytest.param(
            ("[Generator] Create generator variable from generator function", " 115           RETURN_GENERATOR",
             "       L1:     RESUME                   0", "  --           LOAD_CONST               0 (None)"),
            id="dis of 3.13",
        ),
        pytest.param(
            ("[Resumed Function]: break graph in loop create loop body as", " 76           2 LOAD_CONST               0 (None)",
             "", " 77          12 NOP"),
            id="a loop's body",
        ),
        pytest.param((OPCODE, "second, line [", "third), x)]"), id="a string on the stack"),
        pytest.param(
            (OPCODE.replace("name", "[[0.5 0.5]"), " [0.5 0.5]], object_1)]"), id="an array on the stack, a row ends like a stack"
        ),
        pytest.param(
            ("[eval_frame_callback]   self = Net(", "  (first): Linear(in_features=4)", ")", "[eval_frame_callback]   step = 0",
             "[eval_frame_callback] OriginCode: f", "  4           2 LOAD_FAST                0 (x)"),
            id="a layer among the locals",
        ),
        pytest.param(
            ("[Cache] meet global object: __object_1 : Net(", "  (first): Linear(in_features=4)", ")"), id="a global layer"
        ),
        pytest.param(
            ("[Guard] guard_fn for ConstantVariable(name", "second line, object_1), tracker=LocalTracker, value=name",
             "[Guard] lambda frame: frame.f_locals['name'] == 'a\\nb'"),
            id="a guarded string of two lines",
        ),
        pytest.param(
            ("[Cache] Guard tree: ", "ShapeMatchGuard(locals[x]) |", "    DtypeMatchGuard(locals[x]) |",
             "        (locals[step] >= 1)", "", "and", "ShapeMatchGuard(locals[x])", ""),
            id="two trees",
        ),
        pytest.param(
            ("{ // block_idx:0  parent_idx:-1  forward_idx:-1  backward_idx:-1", "    var x : LOD_TENSOR.shape(2, 4)", "",
             "    {Out=['x']} = tanh(inputs={X=['y']})", "}", ""),
            id="a program of 2.6",
        ),
        pytest.param(
            ("---------------- PaddleSOT graph info ----------------", "SubgraphNum: 1", "OpNum: 9",
             "------------------------------------------------------", "subgraph 0, OpNum: 9",
             "{ // block_idx:0  parent_idx:-1  forward_idx:-1  backward_idx:-1", "    var x : LOD_TENSOR", "}",
             "---------------- PaddleSOT graph info ----------------"),
            id="a box of 2.6 at level 5",
        ),
        pytest.param(
            ("find paddle function with __module__:  paddle.tensor.math ", "                     with __name__  :  tanh ",
             "                     with results   :  True", " False"),
            id="a look-up",
        ),
        pytest.param(
            ("Start analyse dynamic axes for frame.f_locals['x'] in " + CODE, "  frame.f_locals['x'].shape[0]: {2: 1, 3: 1}",
             "  -> Tensor frame.f_locals['x'] with dynamic axes [0]"),
            id="dynamic axes",
        ),
        pytest.param(("cache hit:  (<function tanh at 0x7f>, ((shape: [2],),), (), ()) ", "cache hit:  -123 "), id="caches"),
    ],
)  # fmt: skip
def test_what_stands_below_a_line_is_sots(texts):
    understood(*texts)


@pytest.mark.parametrize(
    "line",
    [
        "Fallback to the CPU",
        "cache hit: 0.93",
        "  frame.f_locals are gone",
        "[AMP] on",
        "add breakpoint at will",
        "{'default': [1, 2]}",
        " False alarm",
        "    inputs are fine",
        "         inputs: 3",
        "call paddle.api",
    ],
)
def test_what_only_begins_like_it_is_the_users(line):
    assert lines(line) == {"text": (0, 1, 0, 0)}


def test_an_unknown_line_of_a_known_family_is_not_the_users():
    assert lines("[eval_frame_callback] something new", "[Opcode Pass] something new") == {"text": (0, 0, 2, 0)}


@pytest.mark.parametrize(
    ("glued", "kind"),
    [
        ("get_py_value from SymbolicVariable SymbolicVariable(object_1) caused value need guard", "break-if"),
        ("[INLINE CALL] f with locals:  {'x': TensorVariable([2, 4], x)}", "break-if"),
        ("{'default': []}{'default': ['VariableBase']}", "break-if"),
    ],
)
def test_a_line_behind_one_without_a_newline_is_read(glued, kind):
    """Two of them, too: what ends the line is what is told."""
    break_line = "[BreakGraph] break graph for if jump tensor"
    for text in (glued + break_line, glued + glued + break_line):
        log = read(f"[eval_frame_callback] start to translate: {CODE}\n{text}\n".encode())
        assert totals(log) == {"sotlog": (2, 0, 0, 0)}
        assert [event.message for event in log.parts[0].events if event.kind == "break"] == [break_line]


def test_a_string_of_the_users_does_not_end_a_line_early():
    """The name of a frame stands behind the first line, not in the middle of it."""
    log = read(b"[INLINE CALL] f with locals:  {'text': ConstantVariable(a[EXECUTOR] b)}\n")
    assert totals(log) == {"sotlog": (1, 0, 0, 0)}


def test_the_users_lines_behind_a_cut_program_are_the_users():
    text = "{ // block_idx:0  parent_idx:-1  forward_idx:-1  backward_idx:-1\n    var x : LOD_TENSOR\nloss 0.5\n}\n"
    assert totals(read(text.encode())) == {"sotlog": (2, 0, 0, 0), "text": (0, 2, 0, 0)}


def test_cpp_lines_do_not_end_a_listing():
    glog = "I1130 06:21:43.515491 16548 pir_interpreter.cc:1606] New Executor is Running ..."
    found = lines("[Opcode Pass]: Original New Code f:", glog, "4            2 LOAD_CONST                    1   (a)", USER)
    assert found == {"sotlog": (2, 0, 0, 0), "glog": (1, 0, 0, 0), "text": (0, 1, 0, 0)}


@pytest.mark.parametrize(
    ("line", "level"),
    [
        ("[Cache] all guards missed", 2),
        ("[BreakGraph] break graph for if jump tensor", 3),
        ("[CompileCache] run sir forward success.", 4),
        ("find paddle function with __module__:  paddle ", 5),
        ("  frame.f_locals['x'].shape[0]: {2: 1}", 1),
        ("[SOT] Export SIR_0 Success with size 7", 0),
    ],
)
def test_a_line_proves_its_level(line, level):
    assert read(f"{line}\n".encode()).parts[0].level == level


def test_a_head_stands_for_one_kind():
    with pytest.raises(ValueError, match="two phrases"):
        by_head([Phrase("one", ("[SOT] a",)), Phrase("other", ("[SOT] a",))])


def test_what_never_comes_again_is_not_remembered():
    """Levels 4 and 5 would fill the memory with lines that differ by a number."""
    varies = {phrase.kind for phrase in (*sot.SOT, *listings.LISTINGS) if phrase.varies}
    assert varies >= {"guard-built", "guard-of", "locals", "inlined", "lookup", "api-inputs", "need-guard"}
