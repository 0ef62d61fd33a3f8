"""not-captured, fallback, no-grad-block, small-graph: from records to one finding for each root cause."""

from __future__ import annotations

import pytest

NO_GRAD = """\
def forward(x):  # <- def
    y = x * 2
    with paddle.no_grad():  # <- with
        z = helper(y)  # <- call
    return z + y  # <- tail

def helper(y):  # <- helper
    return y * 3  # <- work
"""


def eager(run, marker, why, function="forward", **fields):
    base = {**run.at(marker), "function": function, "count": 1, "called_from": None, "seen": False}
    return run.record("eager-frame", step=2, phase="early", why=why, **{**base, **fields})


def fallback(run, marker, message, **fields):
    base = {"code": 0, "reason": None, "error": "FallbackError", "final_message": message, "outer": []}
    at = {"site": run.at(marker), "stack": [run.at(marker)]}
    return run.record("fallback", step=0, message=message, **{**base, **at, **fields})


def test_what_a_too_small_frame_calls_is_told_by_small_graph(program):
    case = program(NO_GRAD)
    run = case.run().steps(8).code(0, "def", "forward")
    run.record("translate", step=0, code=0, nth=1, outcome="too-small", wall_ns=1, message="", nested_disabled=True)
    eager(run, "def", "seen", seen=True)
    eager(run, "helper", "hook-off", "helper", called_from=run.at("call"))
    eager(run, "work", "hook-off", "deeper", called_from={**run.at("work"), "function": "helper"})
    run.record("subgraph", step=0, name="SIR_0", code=0, statements=[{"text": "a", **run.at("call")}], ops=2, dropped="too-small")
    assert [finding.slug for finding in case.findings()] == ["small-graph"]


class TestNoGrad:
    def test_silent_on_python_311(self, program):
        case = program(NO_GRAD)
        run = case.run().steps(8)
        eager(run, "def", "exception-table")
        finding = case.only("no-grad-block")
        assert (finding.site.line, finding.cause, finding.severity, finding.count_per_step) == (
            case.line("with"),
            "no-grad",
            "warning",
            1.0,
        )
        assert finding.source_line == "with paddle.no_grad():  # <- with"
        assert "own function" in finding.advice

    def test_said_on_python_310(self, program):
        case = program(NO_GRAD)
        run = case.run().start(python="3.10.13").steps(8).code(0, "def", "forward")
        fallback(run, "with", "opcode: SETUP_WITH is not supported.")
        assert case.only("no-grad-block").site.line == case.line("with")

    def test_is_the_only_finding_about_it(self, program):
        """The break in the caller, the fallback and the frame itself are one cause."""
        case = program(NO_GRAD)
        run = case.run().steps(8).code(0, "def", "forward")
        eager(run, "def", "exception-table")
        run.record(
            "break", step=0, code=0, how="call", site=run.at("with"), reason="FallbackInlineCallBreak",
            message="opcode: BEFORE_WITH is not supported.", stack=[run.at("with")], outer=[],
        )  # fmt: skip
        assert [finding.slug for finding in case.findings()] == ["no-grad-block"]

    def test_a_break_at_a_block_whose_function_was_not_seen_eager(self, program):
        case = program(NO_GRAD)
        run = case.run().steps(8).code(0, "def", "forward")
        run.record(
            "break", step=0, code=0, how="call", site=run.at("with"), reason="FallbackInlineCallBreak",
            message="opcode: BEFORE_WITH is not supported.", stack=[run.at("with")], outer=[],
        )  # fmt: skip
        assert [(f.slug, f.site.line) for f in case.findings()] == [("no-grad-block", case.line("with"))]

    def test_what_it_keeps_eager_is_evidence(self, program):
        case = program(NO_GRAD)
        run = case.run().steps(8)
        eager(run, "def", "exception-table")
        eager(run, "helper", "hook-off", "helper", called_from=run.at("call"))
        (finding,) = case.findings()
        assert any("helper" in evidence.text for evidence in finding.evidence)


def test_a_frame_below_one_of_the_same_name_is_its_damage(program):
    case = program(
        "class Model:\n"
        "    def forward(self, x):  # <- model\n"
        "        with tag(x):  # <- with\n"
        "            return self.attention(x)  # <- call\n\n\n"
        "class Attention:\n"
        "    def forward(self, x):  # <- attention\n"
        "        return x * 2\n"
    )
    run = case.run().steps(8)
    eager(run, "model", "exception-table")
    eager(run, "attention", "hook-off", called_from=run.at("call"))
    finding = case.only("not-captured")
    assert finding.site.line == case.line("with")
    assert any(f"model.py:{case.line('attention')}" in evidence.text for evidence in finding.evidence)


@pytest.mark.parametrize(
    ("statement", "cause"),
    [
        ("with tag(x):  # <- bad", "with-block"),
        ("with paddle.amp.auto_cast():  # <- bad", "with-block"),
        ("try:  # <- bad", "try-block"),
    ],
)
def test_silent_frames_are_blamed_on_their_statement(program, statement, cause):
    tail = "    except ValueError:\n        pass\n" if statement.startswith("try") else ""
    case = program(f"def forward(x):  # <- def\n    {statement}\n        y = x * 2\n{tail}    return y\n")
    run = case.run().steps(8)
    eager(run, "def", "exception-table")
    finding = case.only("not-captured")
    assert (finding.cause, finding.site.line) == (cause, case.line("bad"))


def test_several_statements_are_told_at_once(program):
    case = program(
        "def forward(x):  # <- def\n    with a:  # <- first\n        pass\n"
        "    try:  # <- second\n        pass\n    finally:\n        pass\n"
    )
    run = case.run().steps(8)
    eager(run, "def", "exception-table")
    finding = case.only("not-captured")
    assert finding.site.line == case.line("first")
    assert any(f"line {case.line('second')}" in evidence.text for evidence in finding.evidence)


def test_a_comprehension_is_to_blame_from_python_312_only(program):
    text = "def forward(xs):  # <- def\n    ys = [x * 2 for x in xs]  # <- comp\n    return ys\n"
    case = program(text)
    run = case.run().start(python="3.12.1").steps(8)
    eager(run, "def", "exception-table")
    finding = case.only("not-captured")
    assert (finding.cause, finding.site.line) == ("comprehension", case.line("comp"))


@pytest.mark.parametrize("why", ["generator", "thread", "without-graph", "called-from-generator"])
def test_other_reasons_keep_their_words(program, why):
    case = program("def forward(x):  # <- def\n    return x * 2\n")
    eager(case.run().steps(8), "def", why)
    finding = case.only("not-captured")
    assert (finding.cause, finding.site.line) == (why, case.line("def"))


@pytest.mark.parametrize("why", ["seen", "too-small"])
def test_a_frame_that_reached_sot_is_not_silent(program, why):
    case = program("def forward(x):  # <- def\n    return x * 2\n")
    eager(case.run().steps(8), "def", why, seen=True)
    assert case.findings() == []
    assert case.diagnose().modes["static"].not_captured == 0


def test_a_function_without_operators_of_its_own_is_info(program):
    """What it calls is captured on its own: the graph is only in more pieces."""
    case = program("def forward(x):  # <- def\n    with tag():  # <- with\n        return layer(x)  # <- call\n")
    run = case.run().steps(8)
    eager(run, "def", "exception-table")
    run.lines(("call", 1, 1, {}))
    assert case.only("not-captured").severity == "info"


def test_what_runs_in_a_thread_is_told_once_at_its_function(program):
    case = program(
        "def forward(x):\n    def body():  # <- body\n        work(x)  # <- call\n"
        "\ndef work(x):  # <- work\n    return x * 2  # <- op\n"
    )
    run = case.run().steps(8)
    eager(run, "body", "thread", "body")
    eager(run, "work", "thread", "work", called_from={**run.at("call"), "function": "body"})
    run.lines(("op", 1, 1, {"scale": 1}))
    finding = case.only("not-captured")
    assert (finding.severity, finding.site.line) == ("warning", case.line("body"))


def test_a_generator_that_began_earlier_is_found_by_its_callees(program):
    case = program(
        "def stream():  # <- stream\n    while True:\n        yield work(1)  # <- call\n"
        "\ndef work(x):  # <- work\n    return x * 2  # <- op\n"
    )
    run = case.run().steps(8)
    eager(run, "work", "called-from-generator", "work", called_from={**run.at("call"), "function": "stream"})
    finding = case.only("not-captured")
    assert (finding.cause, finding.site.line) == ("generator", case.line("stream"))


def test_a_context_manager_that_runs_no_operator_is_a_side_effect(program):
    case = program(
        "def forward(x):  # <- def\n    with tag():  # <- with\n        return x * 2  # <- op\n"
        "\ndef tag():  # <- tag\n    yield\n"
    )
    run = case.run().steps(8)
    eager(run, "def", "exception-table")
    eager(run, "tag", "generator", "tag", called_from=run.at("with"))
    run.lines(("op", 1, 1, {"scale": 1}), ("tag", 1, 0.1, {}))
    assert [(finding.slug, finding.cause) for finding in case.findings()] == [("not-captured", "with-block")]


class TestFallback:
    def test_a_comprehension_of_a_lost_function_is_part_of_it(self, program):
        case = program("def forward(x):  # <- def\n    return [float(i) for i in range(int(x))]  # <- bad\n")
        run = case.run().steps(8).code(0, "def", "forward").code(1, "bad", "<listcomp>")
        fallback(run, "bad", "Not support builtin function: <class 'int'> with args: Args(TensorVariable)")
        stack = [{**run.at("bad"), "function": "<listcomp>"}]
        fallback(
            run, "bad", "Can not simulate iterator of <class 'ObjectVariable'>.", code=1, stack=stack, outer=[run.at("bad")],
            site=stack[0], final_message="Encountered BreakGraphError during FOR_ITER simulation, falling back.",
        )  # fmt: skip
        assert [(finding.slug, finding.cause) for finding in case.findings()] == [("fallback", "int-read")]
        assert case.diagnose().modes["static"].fallbacks == 2

    def test_the_generator_of_a_context_manager_is_a_side_effect(self, program):
        case = program(
            "def forward(x):  # <- def\n    with tag():  # <- with\n        return x * 2\n\ndef tag():  # <- tag\n    yield\n"
        )
        run = case.run().steps(3).code(0, "tag", "tag")
        eager(run, "def", "exception-table")
        tag = {**run.at("tag"), "function": "tag"}
        fallback(run, "tag", "opcode: RETURN_GENERATOR is not supported.", stack=[tag], outer=[run.at("with")], site=tag)
        assert [(finding.slug, finding.cause) for finding in case.findings()] == [("not-captured", "with-block")]

    @pytest.mark.parametrize(
        ("message", "cause"),
        [
            ("Not support builtin function: dict.update with args: Args(DictVariable)", "dict-update"),
            ("Can not support call builtin function `locals`", "locals-call"),
            ("Not support builtin function: <class 'int'> with args: Args(TensorVariable)", "int-read"),
            ("Calling `Tensor.register_hook` causes breakgraph.", "callback-hook"),
            ("Not support builtin function: PyCapsule.__init__ with args: Args(ObjectVariable[_RecordEvent])", "record-event"),
            ("opcode: IMPORT_NAME is not supported.", "unsupported-opcode"),
            ("something new", "unknown"),
        ],
    )
    def test_at_the_line_of_the_root_cause(self, program, message, cause):
        case = program("def forward(x):  # <- def\n    y = x * 2\n    bad(y)  # <- bad\n    return y\n")
        run = case.run().steps(8).code(0, "def", "forward")
        fallback(run, "bad", message, final_message='BuiltinVariable does not implement "_reconstruct" method')
        finding = case.only("fallback")
        assert (finding.cause, finding.site.line, finding.severity) == (cause, case.line("bad"), "warning")
        assert any(message in evidence.text for evidence in finding.evidence)

    def test_a_break_in_a_loop_takes_the_frame_down(self, program):
        case = program("def forward(ps):  # <- def\n    for p in ps:\n        p.set_value(p * 2)  # <- set\n")
        run = case.run().steps(8).code(0, "def", "forward")
        fallback(
            run, "set", "Calling `Tensor.set_value` causes breakgraph.", reason="DataDependencyOperationBreak",
            final_message="Encountered BreakGraphError during FOR_ITER simulation, falling back.",
        )  # fmt: skip
        finding = case.only("fallback")
        assert (finding.cause, finding.site.line) == ("loop-body-break", case.line("set"))
        assert "3.3" in finding.advice

    def test_the_break_at_the_same_line_is_part_of_it(self, program):
        case = program("def forward(d):  # <- def\n    d.update(a=1)  # <- bad\n")
        run = case.run().steps(8).code(0, "def", "forward")
        message = "Not support builtin function: dict.update with args: Args(DictVariable)"
        fallback(run, "bad", message)
        run.record("break", step=0, code=0, how="call", site=run.at("bad"), message=message, stack=[run.at("bad")], outer=[])
        assert [finding.slug for finding in case.findings()] == ["fallback"]

    @pytest.mark.parametrize(
        ("line", "message", "error", "cause"),
        [
            ('s = f"{x.shape}"', "Do not support format <class 'SizeVariable'> now", "FallbackError", "f-string"),
            ('log.info("x")', "", "SotCapturedKeyError", "logging"),
        ],
    )
    def test_formatting_and_logging_are_reads_on_the_host(self, program, line, message, error, cause):
        case = program(f"def forward(x):  # <- def\n    {line}  # <- bad\n    return x\n")
        run = case.run().steps(8).code(0, "def", "forward")
        fallback(run, "bad", message, error=error)
        assert [(f.slug, f.cause, f.site.line) for f in case.findings()] == [("host-sync", cause, case.line("bad"))]

    def test_a_zero_size_tensor_is_info(self, program):
        case = program("def forward(x):  # <- def\n    return x * 2\n")
        run = case.run().steps(8).code(0, "def", "forward")
        fallback(run, "def", "zero-size tensor", error="ConditionalFallbackError")
        assert case.only("fallback").severity == "info"

    def test_the_same_fallback_at_every_translation_is_one_finding(self, program):
        case = program("def forward(x):  # <- def\n    bad(x)  # <- bad\n")
        run = case.run().steps(8).code(0, "def", "forward")
        for _ in range(3):
            fallback(run, "bad", "opcode: IMPORT_NAME is not supported.")
        finding = case.only("fallback")
        assert any("(3 times)" in evidence.text for evidence in finding.evidence)


class TestSmallGraph:
    def graph(self, run, name, ops, dropped, statements=1):
        rows = [{"text": "add", **run.at("op")}] * statements
        return run.record("subgraph", step=0, name=name, code=0, statements=rows, ops=ops, inputs=[], outputs=[], dropped=dropped)

    def test_nothing_ran_statically(self, program):
        case = program("def forward(x):  # <- def\n    return x + 1  # <- op\n")
        run = case.run().steps(8).code(0, "def", "forward")
        self.graph(run, "SIR_0", 3, "too-small")
        finding = case.only("small-graph")
        assert finding.severity == "info"
        assert "nothing ran statically" in finding.title
        assert case.diagnose().modes["static"].subgraphs == 0

    def test_beside_a_subgraph_that_runs(self, program):
        case = program("def forward(x):  # <- def\n    return x + 1  # <- op\n")
        run = case.run().steps(8).code(0, "def", "forward")
        self.graph(run, "SIR_0", 3, "too-small")
        self.graph(run, "SIR_1", 30, None)
        run.record("subgraph-runs", step=3, runs=[{"name": "SIR_1", "count": 1}])
        assert "nothing" not in case.only("small-graph").title
        assert case.diagnose().modes["static"].subgraphs == 1

    def test_empty_subgraphs_are_no_subgraphs(self, program):
        case = program("def forward(x):  # <- def\n    return x + 1  # <- op\n")
        run = case.run().steps(8).code(0, "def", "forward")
        self.graph(run, "SIR_0", 0, "too-small", statements=0)
        self.graph(run, "SIR_1", 0, None, statements=0)
        assert case.findings() == []
        assert case.diagnose().modes["static"].subgraphs == 0
