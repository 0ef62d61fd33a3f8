"""environment: variables without effect or with a bad one, and a Python that SOT does not support."""

from __future__ import annotations

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
    import json

    case = program(TEXT)
    run = case.run().steps(8)
    manifest = json.loads((run.directory / "run.json").read_text())
    (run.directory / "run.json").write_text(json.dumps({**manifest, "env": {"GRAPH_SIZE": "0"}}))
    assert case.only("environment").severity == "warning"


def test_what_this_version_reads_is_no_finding(program):
    case = program(TEXT)
    case.run().start(env={"MIN_GRAPH_SIZE": "0", "SOT_ENABLE_COMPILE_TIME_LIMIT": "0"}).steps(8)
    assert case.findings() == []


def test_the_same_name_in_an_older_paddle(program):
    case = program(TEXT)
    case.run().start(paddle="3.0.0", env={"SOT_ENABLE_COMPILE_TIME_LIMIT": "0"}).steps(8)
    assert "3.0.0" in case.only("environment").title
