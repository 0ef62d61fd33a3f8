"""Costs: what a line loses, to whom it goes, and that it never exceeds the step."""

from __future__ import annotations

import pytest
from fake_runs import MS

TEXT = """\
def forward(x):  # <- def
    with paddle.no_grad():  # <- with
        for i in range(64):  # <- loop
            x[i] = i  # <- set
    y = x + 1  # <- add
    print(y)  # <- print
    return y * 2  # <- tail

def other():
    return 1  # <- other
"""


@pytest.fixture
def case(program):
    return program(TEXT)


def eager(run):
    return run.record(
        "eager-frame", step=2, phase="early", count=1, why="exception-table", called_from=None, seen=False, **run.at("def")
    )


def costs(case):
    return {(finding.slug, finding.site.line if finding.site else None): finding.cost_ns for finding in case.findings()}


def test_each_line_goes_to_the_most_specific_finding(case):
    dynamic = case.run("dynamic").steps(8)
    dynamic.lines(("loop", 65, 1, {}), ("set", 64, 1, {"set_value": 64}), ("add", 1, 1, {"add": 1}), ("print", 1, 1, {}))
    static = eager(case.run().steps(8))
    static.lines(("loop", 65, 2, {}), ("set", 64, 4, {"set_value": 64}), ("add", 1, 1.5, {"add": 1}), ("print", 1, 1, {}))
    found = costs(case)
    assert found["eager-loop", case.line("loop")] == pytest.approx(4 * MS)
    assert found["no-grad-block", case.line("with")] == pytest.approx(0.5 * MS)
    texts = [evidence.text for evidence in case.only("no-grad-block").evidence]
    assert f"the time of some of its lines is counted with eager-loop at model.py:{case.line('loop')}" in texts


def test_lines_that_only_static_ran_cost_all_they_took(case):
    case.run("dynamic").steps(8).lines(("add", 1, 1, {"add": 1}))
    eager(case.run().steps(8)).lines(("loop", 65, 1, {}), ("set", 64, 4, {"set_value": 64}), ("add", 1, 1, {"add": 1}))
    assert costs(case)["eager-loop", case.line("loop")] == pytest.approx(5 * MS)


def test_what_is_faster_in_static_mode_costs_nothing(case):
    case.run("dynamic").steps(8).lines(("add", 1, 5, {"add": 1}))
    eager(case.run().steps(8)).lines(("add", 1, 1, {"add": 1}))
    assert costs(case)["no-grad-block", case.line("with")] == 0.0


@pytest.mark.parametrize("measured", ["dynamic", "static"])
def test_without_both_modes_nothing_is_measured(case, measured):
    for mode in ("dynamic", "static"):
        run = case.run(mode).steps(8)
        if mode == "static":
            eager(run)
        if mode == measured:
            run.lines(("add", 1, 5, {"add": 1}))
    finding = case.only("no-grad-block")
    assert (finding.cost_ns, finding.cost_share) == (None, None)


def test_a_finding_whose_lines_never_ran_outside_subgraphs_is_not_measured(case):
    case.run("dynamic").steps(8).lines(("tail", 1, 1, {}))
    eager(case.run().steps(8)).lines(("other", 1, 1, {}))
    assert case.only("no-grad-block").cost_ns is None


def test_time_that_is_all_counted_elsewhere_is_not_called_nothing(case):
    case.run("dynamic").steps(8).lines(("tail", 1, 1, {}))
    eager(case.run().steps(8)).lines(("loop", 65, 1, {}), ("set", 64, 4, {"set_value": 64}))
    finding = case.only("no-grad-block")
    assert finding.cost_ns is None
    assert finding.cost_note == f"counted with eager-loop at model.py:{case.line('loop')}"


def test_lines_outside_of_to_static_calls_cost_too(case):
    run = case.run("dynamic").steps(8).coverage(4, "def", "with", "tail")
    run.lines(("tail", 1, 1, {}))
    run = case.run().steps(8).coverage(4, "def", "with", "tail")
    run.record("break", step=0, code=0, how="call", site=run.at("print"), message="Not support builtin function: foo",
               stack=[], outer=[], reason="BuiltinFunctionBreak", opcode="CALL").code(0, "def", "forward")
    run.lines(("print", 1, 3, {"add": 2}), inside=False)
    assert case.only("graph-break").cost_ns == pytest.approx(3 * MS)


def test_tracing_is_taken_out(case):
    """A traced step took 40 ms, an untraced one 10: the line's 8 ms are 2."""
    case.run("dynamic").steps(8).lines(("tail", 1, 1, {}))
    eager(case.run().steps(8)).lines(("add", 1, 8, {"add": 1}), wall_ms=40)
    finding = case.only("no-grad-block")
    assert finding.cost_ns == pytest.approx(2 * MS)
    assert finding.cost_share == pytest.approx(0.2)
    assert any("x0.25 in static mode" in evidence.text for evidence in finding.evidence)


def test_without_an_untraced_step_the_slowdown_stays_and_is_told(case):
    run = case.run().steps(3)
    run.lines(("add", 1, 8, {"add": 1}), first=0, steps=3)
    assert any("include the slowdown" in note.text for note in case.diagnose().notes)


def test_costs_are_in_the_milliseconds_of_a_timed_step(case):
    case.timing("static", 20, 20, 20)
    case.run("dynamic").steps(8).lines(("tail", 1, 1, {}))
    eager(case.run().steps(8)).lines(("add", 1, 2, {"add": 1}))
    finding = case.only("no-grad-block")
    assert (finding.cost_ns, finding.cost_share) == (pytest.approx(4 * MS), pytest.approx(0.2))


def test_all_costs_together_never_exceed_the_step(case):
    case.run("dynamic").steps(8).lines(("tail", 1, 0, {}))
    run = eager(case.run().steps(8, ms=10))
    run.lines(("set", 64, 8, {"set_value": 64}), ("loop", 65, 3, {}), ("add", 1, 7, {"add": 1}), ("print", 1, 4, {}))
    findings = [finding for finding in case.findings() if finding.cost_ns is not None]
    assert sum(finding.cost_ns for finding in findings) == pytest.approx(10 * MS)
    assert sum(finding.cost_share for finding in findings) == pytest.approx(1.0)


def test_findings_come_errors_first_then_by_cost_then_info(case):
    case.run("dynamic").steps(8).lines(("tail", 1, 0, {}))
    run = eager(case.run().steps(8)).code(0, "def", "forward")
    run.lines(("set", 64, 4, {"set_value": 64}), ("add", 1, 1, {"add": 1}))
    run.record("subgraph", step=0, name="SIR_0", code=0, statements=[{"text": "a", **run.at("add")}], ops=1, dropped="too-small")
    run.record("parity", what="output", name="o", step=0, equal=False, max_abs_error=1.0, max_rel_error=1.0, mismatch=None)
    slugs = [finding.slug for finding in case.findings()]
    assert slugs == ["accuracy-mismatch", "eager-loop", "no-grad-block", "small-graph"]


class TestGuardCost:
    def run(self, case, ms):
        run = case.run().steps(8, ms=10).code(0, "def", "forward")
        for step in range(8):
            run.frames(step, c0={"entered": 1, "callback_ns": int(ms * MS)})

    def test_a_small_share_is_no_finding(self, case):
        self.run(case, 0.2)
        assert case.findings() == []

    def test_a_large_share_is_info(self, case):
        self.run(case, 2)
        finding = case.only("guard-cost")
        assert (finding.severity, finding.cost_ns, finding.site.line) == ("info", pytest.approx(2 * MS), case.line("def"))

    def test_and_a_warning_when_static_lost(self, case):
        case.timing("dynamic", 5, 5, 5).timing("static", 10, 10, 10)
        self.run(case, 2)
        assert case.only("guard-cost").severity == "warning"


def test_compilation_that_is_worth_many_steps_is_told_with_when_it_pays(case):
    for round_ in range(3):
        run = case.run("static", "timing", round_).record("step", index=0, source="case", wall_ns=5000 * MS, translations=1)
        for index in range(1, 20):
            run.record("step", index=index, source="case", wall_ns=5 * MS, translations=0)
    case.timing("dynamic", 10, 10, 10)
    finding = case.only("compile-cost")
    assert finding.severity == "info"
    assert any("after 999 steps" in evidence.text for evidence in finding.evidence)
