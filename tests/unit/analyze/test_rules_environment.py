"""environment: variables without effect or with a bad one, and a Python that SOT does not support."""

from __future__ import annotations

import json

import pytest

TEXT = "def forward(x):  # <- def\n    return x * 2\n"


@pytest.mark.parametrize(
    ("name", "value", "severity", "word"),
    [
        ("GRAPH_SIZE", "0", "warning", "MIN_GRAPH_SIZE"),
        ("SOT_LOG_LEVEL", "3", "warning", "unset"),
        ("COST_MODEL", "False", "info", "remove"),
    ],
)
def test_variables(program, name, value, severity, word):
    case = program(TEXT)
    case.run().start(env={name: value}).steps(8)
    finding = case.only("environment")
    assert finding.severity == severity
    assert name in finding.title
    assert word in finding.advice


def test_a_variable_given_to_sotprobe_counts_too(program):
    case = program(TEXT)
    run = case.run().steps(8)
    manifest = json.loads((run.directory / "run.json").read_text())
    (run.directory / "run.json").write_text(json.dumps({**manifest, "env": {"GRAPH_SIZE": "0"}}))
    assert case.only("environment").severity == "warning"


def test_what_this_version_reads_is_no_finding(program):
    case = program(TEXT)
    case.run().start(env={"MIN_GRAPH_SIZE": "0", "SOT_ENABLE_COMPILE_TIME_LIMIT": "0"}).steps(8)
    assert case.findings() == []


def test_paddles_warning_that_it_used_ast(program):
    case = program(TEXT)
    message = "full_graph=False is not supported in Python 3.15+. Set full_graph=True automatically"
    run = case.run().steps(8).record("warning", message=message, category="UserWarning", site=None)
    run.record("eager-frame", step=2, phase="early", count=1, why="python-too-new", called_from=None, seen=False, **run.at("def"))
    finding = case.only("not-captured")
    assert (finding.cause, finding.severity) == ("python-too-new", "warning")


def as_script(run):
    manifest = json.loads((run.directory / "run.json").read_text())
    manifest["program"]["kind"] = "script"
    (run.directory / "run.json").write_text(json.dumps(manifest))
    return run


@pytest.mark.parametrize("source", ["optimizer", "call"])
def test_a_script_without_to_static_and_one_that_calls_a_library_only(program, source):
    case = program(TEXT)
    row = {"path": "/proj/model.py", "line": 2, "function": "forward", "hits": 1, "wall_ns": 5, "ops": []}
    run = as_script(case.run()).steps(8, source=source)
    run.record("lines", step_from=4, step_to=5, wall_ns=10, lines=[{**row, "inside": False}])
    finding = case.only("not-captured")
    expected = ("never-called", "warning") if source == "optimizer" else ("skip-prefix", "info")
    assert (finding.cause, finding.severity) == expected


def test_a_case_whose_model_is_a_librarys(program):
    case = program(TEXT)
    row = {"path": "/proj/model.py", "line": 2, "function": "forward", "hits": 1, "wall_ns": 5, "ops": []}
    case.run().steps(8).record("lines", step_from=4, step_to=5, wall_ns=10, lines=[{**row, "inside": False}])
    finding = case.only("not-captured")
    assert (finding.cause, finding.severity, finding.site) == ("skip-prefix", "info", None)
    assert "layer or function of your own" in finding.advice


def test_a_program_that_is_captured_whole_has_no_lines_below_to_static(program):
    case = program(TEXT)
    row = {"path": "/proj/model.py", "line": 2, "function": "forward", "hits": 1, "wall_ns": 5, "ops": []}
    run = case.run().steps(8).record("lines", step_from=4, step_to=5, wall_ns=10, lines=[{**row, "inside": False}])
    run.record("subgraph", step=0, name="SIR_0", code=0, statements=[{"text": "a", **run.at("def")}], ops=30, dropped=None)
    assert case.findings() == []


def test_the_same_name_in_an_older_paddle(program):
    case = program(TEXT)
    case.run().start(paddle="3.0.0", env={"SOT_ENABLE_COMPILE_TIME_LIMIT": "0"}).steps(8)
    assert "3.0.0" in case.only("environment").title
