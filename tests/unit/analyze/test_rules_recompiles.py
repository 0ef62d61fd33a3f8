"""recompile, cache-limit, compile-limit: causes told apart, and when it matters."""

from __future__ import annotations

import pytest
from fake_runs import MS

TEXT = """\
def forward(x, k):  # <- def
    y = x * 2
    s = y.sum().item()  # <- read
    return y * s * k  # <- use
"""


def recompiled(run, *steps, expression="frame.f_locals['k'] == 0.5", expected="0.5", code=0, site=None, ms=50):
    for step in steps:
        guard = {"expression": expression, "expected": expected, "seen": f"now {step}"}
        run.record("recompile", step=step, code=code, entries=step, guards=[guard], wall_ns=ms * MS, site=site)
    return run


@pytest.mark.parametrize(
    ("expression", "expected", "cause"),
    [
        ("frame.f_locals['x'].shape[0] == 2", "2", "shape-churn"),
        ("len(frame.f_locals['x'].shape) == 2", "2", "shape-churn"),
        ("frame.f_locals['x'].shape[1] >= 2", "2", "shape-churn"),
        ("frame.f_locals['xs'][1].shape[0] == 5", "5", "list-of-tensors"),
        ("frame.f_locals['k'] == 0.5", "0.5", "float-guard"),
        ("frame.f_locals['k'] == 1e-05", "1e-05", "float-guard"),
        ("id(type(frame.f_locals['k'])) == 94 and frame.f_locals['k'] == 'abc'", "'abc'", "str-guard"),
        ("frame.f_locals['k'] == 3", "3", "int-guard"),
        ("frame.f_locals['k'] == True", "True", "constant-guard"),
        ("frame.f_locals['k'] == None", "None", "constant-guard"),
        ("len(frame.f_locals['self'].hist) == 3", "3", "list-length"),
        ("frame.f_globals['G'] == 1.0", "1.0", "global-guard"),
        ("frame.f_locals['self'].steps == 3", "3", "attribute-guard"),
        ("frame.f_locals['self'].training == True", "True", "training-toggle"),
        ("__object_237() is not None and frame.f_locals['self'] == __object_237()", None, "object-identity"),
        ("frame.f_locals['self'] == __object_12", None, "object-identity"),
        ("frame.f_locals['k'] == nan", "nan", "nan-guard"),
        ("frame.f_locals['x'].dtype == paddle.core.DataType(10)", None, "type-guard"),
        ("frame.f_locals['x'].stop_gradient == True", "True", "type-guard"),
        ("id(type(frame.f_locals['k'])) == 9462", None, "type-guard"),
        ("isinstance(frame.f_locals['k'], range)", None, "type-guard"),
        ("frame.f_locals['resume_0_stack_1'] == 0.5", "0.5", "value-guard"),
    ],
)
def test_causes(program, expression, expected, cause):
    case = program(TEXT)
    run = case.run().steps(8).code(0, "def", "forward")
    recompiled(run, 1, 2, 3, 4, 5, 6, expression=expression, expected=expected, site=run.at("use"))
    finding = case.only("recompile")
    assert (finding.cause, finding.site.line) == (cause, case.line("use"))


def test_its_cost_is_the_translation_time_per_step(program):
    case = program(TEXT)
    run = case.run().steps(9, ms=60, first_ms=60).code(0, "def", "forward")
    recompiled(run, *range(1, 9), ms=45)
    finding = case.only("recompile")
    assert (finding.severity, finding.count_per_step) == ("warning", pytest.approx(8 / 9))
    assert finding.cost_ns == pytest.approx(8 * 45 * MS / 9)
    assert finding.cost_share == pytest.approx(finding.cost_ns / (60 * MS))


def test_one_that_then_stays_is_info_and_costs_nothing_per_step(program):
    case = program(TEXT)
    run = case.run().steps(40).code(0, "def", "forward")
    recompiled(run, 1, expression="frame.f_locals['x'].shape[0] == 2", expected="2")
    finding = case.only("recompile")
    assert (finding.severity, finding.cost_ns) == ("info", None)
    assert any("stays compiled" in evidence.text for evidence in finding.evidence)


@pytest.mark.parametrize(
    ("steps", "severity"), [((1, 2), "info"), ((1, 2, 3, 4), "warning"), ((1, 39), "warning"), ((39,), "info")]
)
def test_when_it_matters(program, steps, severity):
    case = program(TEXT)
    run = case.run().steps(40).code(0, "def", "forward")
    recompiled(run, *steps)
    assert case.only("recompile").severity == severity


def test_sizes_that_become_dynamic_one_after_the_other_are_info(program):
    case = program(TEXT)
    run = case.run().steps(40).code(0, "def", "forward")
    recompiled(run, *range(1, 8), expression="frame.f_locals['xs'][0].shape[0] == 5", expected="5")
    assert case.only("recompile").severity == "info"


def test_the_training_toggle_is_info_however_often(program):
    case = program(TEXT)
    run = case.run().steps(8).code(0, "def", "forward")
    recompiled(run, *range(1, 8), expression="frame.f_locals['self'].training == True", expected="True")
    assert case.only("recompile").severity == "info"


def test_a_value_read_in_a_break_is_blamed_on_the_read_and_stands_for_the_break(program):
    case = program(TEXT)
    run = case.run().steps(8).code(0, "def", "forward").code(1, "def", "forward", "read")
    run.record(
        "break", step=0, code=0, how="call", site=run.at("read"), reason="DataDependencyOperationBreak",
        message="Calling `Tensor.item` causes breakgraph.", opcode="CALL", stack=[run.at("read")], outer=[],
    )  # fmt: skip
    recompiled(run, *range(1, 8), expression="frame.f_locals['s'] == 0.44", expected="0.44", code=1)
    (finding,) = case.findings("error", "warning")
    assert (finding.slug, finding.cause, finding.site.line) == ("recompile", "value-guard", case.line("read"))
    assert any("Tensor.item" in evidence.text for evidence in finding.evidence)


def test_an_argument_guarded_behind_a_break_is_not_blamed_on_the_break(program):
    case = program(TEXT)
    run = case.run().steps(8).code(0, "def", "forward").code(1, "def", "forward", "read")
    run.record(
        "break", step=0, code=0, how="call", site=run.at("read"), reason="DataDependencyOperationBreak",
        message="Calling `Tensor.item` causes breakgraph.", opcode="CALL", stack=[run.at("read")], outer=[],
    )  # fmt: skip
    recompiled(run, *range(1, 8), code=1, site=run.at("use"))
    causes = {(finding.slug, finding.cause) for finding in case.findings("warning")}
    assert causes == {("recompile", "float-guard"), ("host-sync", "item")}


def test_a_settled_value_guard_leaves_the_break_a_finding(program):
    case = program(TEXT)
    run = case.run().steps(40).code(0, "def", "forward").code(1, "def", "forward", "read")
    run.record(
        "break", step=0, code=0, how="call", site=run.at("read"), reason="DataDependencyOperationBreak",
        message="Calling `Tensor.item` causes breakgraph.", opcode="CALL", stack=[run.at("read")], outer=[],
    )  # fmt: skip
    recompiled(run, 1, 2, expression="frame.f_locals['resume_0_stack_0'] == 0.44", expected="0.44", code=1)
    assert {(f.slug, f.severity) for f in case.findings()} == {("recompile", "info"), ("host-sync", "warning")}


def test_the_full_cache_is_its_own_finding_and_makes_the_recompiles_matter(program):
    case = program(TEXT)
    run = case.run().steps(60).code(0, "def", "forward")
    recompiled(run, *range(1, 20))
    for step in range(20, 60):
        run.frames(step, c0={"entered": 1, "cache_full": 1})
    limit = case.only("cache-limit")
    assert (limit.cause, limit.severity, limit.site.line) == ("cache-full", "warning", case.line("def"))
    assert any("40 calls" in evidence.text for evidence in limit.evidence)
    assert case.only("recompile").severity == "warning"


class TestLibraryFrames:
    """Paddle's own Sequential, called for one layer after the other because its caller is not captured."""

    def library(self, case, *steps):
        run = case.run().steps(40)
        run.record(
            "code", id=0, path="/site-packages/paddle/nn/container.py", line=790, function="forward", break_lines=[], user=False
        )
        head = "id(frame.f_locals['self']) == 14068101"
        recompiled(run, *steps, expression=head, expected="14068101")
        for step in range(40):
            run.frames(step, c0={"entered": 30, "cache_full": 10})
        return case

    def test_all_in_the_first_step_is_info_without_a_site(self, program):
        findings = self.library(program(TEXT), *[0] * 19).findings()
        assert {(f.slug, f.severity, f.site) for f in findings} == {("recompile", "info", None), ("cache-limit", "info", None)}
        assert all("layer or function of your own" in finding.advice for finding in findings)

    def test_on_and_on_is_a_warning(self, program):
        findings = self.library(program(TEXT), *range(19)).findings("warning")
        assert {finding.slug for finding in findings} == {"recompile", "cache-limit"}


def test_layers_of_one_class_in_one_step_are_info_but_not_when_they_fill_the_cache(program):
    case = program(TEXT)
    run = case.run().steps(40).code(0, "def", "forward")
    recompiled(run, *[0] * 19, expression="id(frame.f_locals['self']) == 14068101", expected="14068101")
    assert case.only("recompile").severity == "info"
    run.frames(30, c0={"entered": 30, "cache_full": 10})
    assert case.only("recompile").severity == "warning"


def test_the_compile_time_limit(program):
    case = program(TEXT)
    run = case.run().steps(8).code(0, "def", "forward")
    run.frames(5, c0={"entered": 1, "compile_limit": 1})
    finding = case.only("compile-limit")
    assert (finding.cause, finding.severity) == ("compile-time", "warning")


def test_the_cause_of_most_guards_wins(program):
    case = program(TEXT)
    run = case.run().steps(8).code(0, "def", "forward")
    guards = [
        {"expression": "frame.f_locals['x'].shape[0] == 2", "expected": "2", "seen": "3"},
        {"expression": "frame.f_locals['k'] == 0.5", "expected": "0.5", "seen": "0.6"},
        {"expression": "frame.f_locals['k'] == 0.4", "expected": "0.4", "seen": "0.6"},
    ]
    for step in range(1, 8):
        run.record("recompile", step=step, code=0, entries=1, guards=guards, wall_ns=MS, site=None)
    finding = case.only("recompile")
    assert finding.cause == "float-guard"
    assert finding.site.line == case.line("def")
    assert any("k == 0.5 and 1 older (now 0.6)" in evidence.text for evidence in finding.evidence)
