"""graph-break, host-sync, eager-loop, mode-divergent-path: from records to lines."""

from __future__ import annotations

import pytest

TEXT = """\
def forward(x):  # <- def
    y = x * 2
    line(y)  # <- bad
    return y + 1  # <- tail
"""


def broken(run, marker, *, reason=None, message="", how="call", opcode="CALL", step=0, code=0, **fields):
    base = {"stack": [run.at(marker)], "outer": [], "site": run.at(marker)}
    return run.record(
        "break",
        step=step,
        code=code,
        how=how,
        reason=reason,
        message=message,
        opcode=opcode,
        **{**base, **fields},
    )


@pytest.mark.parametrize(
    ("line", "how", "opcode", "cause"),
    [
        ("if y.sum() > 0: y = y + 1", "if", "POP_JUMP_FORWARD_IF_FALSE", "tensor-if"),
        ("while y < 3: y = y + 1", "if", "POP_JUMP_IF_FALSE", "tensor-while"),
        ("assert y.sum() > 0", "if", "POP_JUMP_FORWARD_IF_TRUE", "tensor-assert"),
        ("if y is None: y = x", "if", "POP_JUMP_FORWARD_IF_NOT_NONE", "is-none-on-tensor"),
    ],
)
def test_jumps_on_tensors(program, line, how, opcode, cause):
    case = program(TEXT.replace("line(y)", line))
    broken(case.run().steps(8).code(0, "def", "forward"), "bad", how=how, opcode=opcode, reason="DataDependencyControlFlowBreak")
    finding = case.only("graph-break")
    assert (finding.cause, finding.site.line, finding.severity) == (cause, case.line("bad"), "warning")


@pytest.mark.parametrize(
    ("reason", "message", "slug", "cause"),
    [
        ("BuiltinFunctionBreak", "Not support builtin function: print with args: Args(TensorVariable)", "host-sync", "print"),
        ("DataDependencyOperationBreak", "Calling `Tensor.item` causes breakgraph.", "host-sync", "item"),
        ("DataDependencyOperationBreak", "Calling `Tensor.numpy` causes breakgraph.", "host-sync", "numpy-read"),
        ("DataDependencyOperationBreak", "Calling `Tensor.tolist` causes breakgraph.", "host-sync", "numpy-read"),
        (
            "BuiltinFunctionBreak",
            "Not support builtin function: <class 'float'> with args: Args(TensorVariable)",
            "host-sync",
            "float-read",
        ),
        (
            "BuiltinFunctionBreak",
            "Not support builtin function: <class 'int'> with args: Args(TensorVariable)",
            "host-sync",
            "int-read",
        ),
        ("BuiltinFunctionBreak", "Not support builtin function: time with args: Args()", "graph-break", "builtin-call"),
        (
            "BuiltinFunctionBreak",
            "Not support builtin function: id with args: Args(TensorVariable)",
            "graph-break",
            "builtin-call",
        ),
        (
            "BuiltinFunctionBreak",
            "Not support builtin function: Random.random with args: Args(ModuleVariable)",
            "graph-break",
            "random-api",
        ),
        (
            "BuiltinFunctionBreak",
            "Not support builtin function: RandomState.rand with args: Args(ModuleVariable)",
            "graph-break",
            "random-api",
        ),
        ("UnsupportedRandomAPIBreak", "Random function rand is not supported.", "graph-break", "random-api"),
        ("UnsupportedNumPyAPIBreak", "NumPy API sum is not supported.", "graph-break", "numpy-api"),
        (
            "BuiltinFunctionBreak",
            "Not support builtin function: ndarray.__getitem__ with args: Args(NumPyArrayVariable, TupleVariable)",
            "graph-break",
            "numpy-api",
        ),
        ("UnsupportedIteratorBreak", "Can not simulate iterator of <class 'ObjectVariable'>.", "graph-break", "iterator"),
        (
            "DataDependencyDynamicShapeBreak",
            "Getting shape for a dynamic shape tensor causes graph break. shape = [-1]",
            "graph-break",
            "data-dependent-shape",
        ),
        ("UnsupportedPaddleAPIBreak", "Not support Paddlepaddle API: Tensor.foo", "graph-break", "unsupported-api"),
        ("ForceBreak", "Force run h_fd", "graph-break", "forced"),
        ("SomethingNew", "never seen", "graph-break", "unknown"),
    ],
)
def test_calls(program, reason, message, slug, cause):
    case = program(TEXT)
    broken(case.run().steps(8).code(0, "def", "forward"), "bad", reason=reason, message=message)
    assert [(f.slug, f.cause, f.site.line) for f in case.findings()] == [(slug, cause, case.line("bad"))]


def test_thirty_breaks_of_one_line_are_one_finding(program):
    case = program(TEXT)
    run = case.run().steps(8).code(0, "def", "forward")
    for step in range(30):
        broken(
            run, "bad", reason="BuiltinFunctionBreak", message="Not support builtin function: time with args: Args()", step=step
        )
    finding = case.only("graph-break")
    assert any("(30 times)" in evidence.text for evidence in finding.evidence)
    assert case.diagnose().modes["static"].breaks == 1


def test_counted_by_what_is_entered_behind_it(program):
    case = program(TEXT)
    run = case.run().steps(8, compile_steps=1).code(0, "def", "forward").code(1, "def", "forward", "bad")
    broken(run, "bad", reason="BuiltinFunctionBreak", message="Not support builtin function: print with args")
    for step in range(8):
        run.frames(step, c0={"entered": 1, "callback_ns": 5000}, c1={"entered": 3, "callback_ns": 30_000})
    finding = case.only("host-sync")
    assert finding.count_per_step == 3.0
    assert any("0.030 ms" in evidence.text for evidence in finding.evidence)


def test_a_line_that_breaks_three_times_is_counted_three_times(program):
    """The hooks write one record; the resume functions are one inside the other."""
    case = program(TEXT)
    run = case.run().steps(8, compile_steps=1).code(0, "def", "forward")
    for number in (1, 2, 3):
        run.code(number, "def", "forward", *["bad"] * number)
    broken(run, "bad", reason="BuiltinFunctionBreak", message="Not support builtin function: print with args")
    for step in range(8):
        run.frames(step, c0={"entered": 1}, c1={"entered": 1}, c2={"entered": 1}, c3={"entered": 1})
    assert case.only("host-sync").count_per_step == 3.0


def test_a_break_in_a_callee_is_counted_where_its_caller_goes_on(program):
    case = program(
        "def forward(x):  # <- def\n    print(x)  # <- first\n    helper(x)  # <- call\n"
        "\ndef helper(x):\n    print(x)  # <- inside\n"
    )
    run = case.run().steps(8, compile_steps=1).code(0, "def", "forward")
    run.code(1, "def", "forward", "first").code(2, "def", "forward", "first", "call")
    inside = {**run.at("inside"), "function": "helper"}
    broken(
        run, "inside", reason="BuiltinFunctionBreak", message="Not support builtin function: print", code=1, site=inside,
        outer=[run.at("first")], stack=[run.at("call"), inside],
    )  # fmt: skip
    for step in range(8):
        run.frames(step, c0={"entered": 1}, c1={"entered": 5}, c2={"entered": 2})
    assert case.only("host-sync").count_per_step == 2.0


def test_a_break_that_steady_steps_do_not_reach_is_info(program):
    case = program(TEXT)
    run = case.run().steps(8, compile_steps=1).code(0, "def", "forward").code(1, "def", "forward", "bad")
    broken(run, "bad", reason="BuiltinFunctionBreak", message="Not support builtin function: print with args")
    run.frames(0, c1={"entered": 1})
    for step in range(1, 8):
        run.frames(step, c0={"entered": 1}, c1={"entered": 0})
    finding = case.only("host-sync")
    assert (finding.severity, finding.count_per_step) == ("info", 0.0)


LOOP = """\
def forward(x):  # <- def
    with tag():  # <- with
        for i in range(40):  # <- loop
            row = x[i]  # <- get
            if True:
                x[i] = row * 2  # <- set
    return x
"""


class TestEagerLoop:
    def test_the_loops_line_with_operators_and_names(self, program):
        case = program(LOOP)
        run = case.run().steps(8)
        run.lines(("loop", 41, 0.1, {}), ("get", 40, 2, {"slice": 40}), ("set", 40, 3, {"scale": 40, "set_value": 40}))
        finding = case.only("eager-loop")
        assert (finding.site.line, finding.count_per_step) == (case.line("loop"), 120.0)
        text = " ".join(evidence.text for evidence in finding.evidence)
        assert "40 iterations" in text
        assert all(name in text for name in ("slice", "scale", "set_value"))

    def test_a_loop_that_runs_once_a_step_is_no_loop(self, program):
        """The training loop itself: its body is a step."""
        case = program(LOOP)
        case.run().steps(8).lines(("get", 1, 2, {"slice": 40}), ("set", 1, 3, {"scale": 40}))
        assert case.findings() == []

    def test_few_operators_are_none_of_its_business(self, program):
        case = program(LOOP)
        case.run().steps(8).lines(("get", 2, 2, {"slice": 2}), ("set", 2, 3, {"scale": 2}))
        assert case.findings() == []

    def test_a_captured_loop_has_no_eager_operators(self, program):
        case = program(LOOP)
        case.run().steps(8).lines(("get", 40, 2, {}), ("set", 40, 2, {}))
        assert case.findings() == []

    def test_nested_loops_are_one_finding(self, program):
        case = program(
            "def forward(x):\n    for i in x:  # <- outer\n        for j in i:  # <- inner\n            use(j)  # <- use\n"
        )
        case.run().steps(8).lines(("outer", 5, 1, {}), ("inner", 20, 1, {}), ("use", 16, 1, {"add": 48}))
        assert case.only("eager-loop").site.line == case.line("outer")

    def test_not_without_the_source(self, program):
        case = program(LOOP)
        run = case.run().steps(8).lines(("get", 40, 2, {"slice": 40}))
        (run.directory / "sources" / "index.json").unlink()
        assert case.findings() == []


DIVERGENT = """\
def forward(self, x):
    if self.to_static:  # <- branch
        for t in x:  # <- loop
            y = slow(  # <- slow
                t)  # <- arg
    else:
        y = fast(x)  # <- fast
    return y  # <- tail
"""


class TestDivergentPath:
    def both(self, program, static, dynamic, text=DIVERGENT):
        case = program(text)
        case.run("dynamic").steps(8).coverage(1, *dynamic)
        case.run("static").steps(8).coverage(1, *static)
        return case

    def test_the_branch_that_both_reached(self, program):
        case = self.both(program, ["branch", "loop", "slow", "tail"], ["branch", "fast", "tail"])
        finding = case.only("mode-divergent-path")
        assert (finding.site.line, finding.severity) == (case.line("branch"), "warning")
        text = " ".join(evidence.text for evidence in finding.evidence)
        assert f"only the static mode runs line {case.line('loop')}-{case.line('arg')}" in text
        assert f"only the dynamic mode runs line {case.line('fast')}" in text

    def test_one_statement_over_several_lines_is_one(self, program):
        case = self.both(program, ["branch", "slow", "tail"], ["branch", "slow", "arg", "tail"])
        assert case.findings() == []

    def test_the_same_lines_are_no_finding(self, program):
        case = self.both(program, ["branch", "fast", "tail"], ["branch", "fast", "tail"])
        assert case.findings() == []

    def test_only_steps_traced_in_both_modes_count(self, program):
        case = program(DIVERGENT)
        case.run("dynamic").steps(8).coverage(1, "branch", "fast", "tail").coverage(5, "branch", "loop", "slow", "tail")
        case.run("static").steps(8).coverage(1, "branch", "fast", "tail")
        assert case.findings() == []

    def test_lines_that_no_branch_explains_are_left_alone(self, program):
        case = self.both(program, ["branch", "fast"], ["branch", "fast", "tail"])
        assert case.findings() == []

    def test_what_was_captured_shows_by_its_statements(self, program):
        case = program(DIVERGENT)
        case.run("dynamic").steps(8).coverage(0, "branch", "fast", "tail")
        run = case.run("static").steps(8).coverage(1, "tail")
        run.record("subgraph", step=0, name="SIR_0", code=0, ops=20, statements=[{"text": "a", **run.at("slow")}], dropped=None)
        assert case.only("mode-divergent-path").site.line == case.line("branch")

    def test_lines_without_operators_say_nothing_about_captured_code(self, program):
        """The subgraph has statements of one line only; the pure Python lines beside it ran as well."""
        case = program(DIVERGENT)
        case.run("dynamic").steps(8).coverage(0, "branch", "loop", "slow", "tail")
        run = case.run("static").steps(8)
        run.record("subgraph", step=0, name="SIR_0", code=0, ops=20, statements=[{"text": "a", **run.at("slow")}], dropped=None)
        assert case.findings() == []

    def test_a_body_that_one_mode_skips(self, program):
        case = self.both(
            program,
            ["if", "body", "end"],
            ["if", "end"],
            "def f(x):\n    if x.flag:  # <- if\n        x = 1  # <- body\n    return x  # <- end\n",
        )
        finding = case.only("mode-divergent-path")
        assert any("dynamic mode skips" in evidence.text for evidence in finding.evidence)

    def test_a_branch_that_one_mode_never_reached_says_nothing(self, program):
        case = self.both(program, ["tail"], ["branch", "fast", "tail"])
        assert case.findings() == []
