"""Every rule of the tuple: quiet when there is nothing to say, and well-formed when there is."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from sotprobe.analyze.facts import Facts
from sotprobe.analyze.rules import RULES
from sotprobe.model import ExitStatus, ProgramInfo, Run
from sotprobe.paddle_compat.causes import CAUSES

sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "analyze"))
from fake_runs import MS, Program

SLUGS = {
    "not-captured", "fallback", "graph-break", "recompile", "cache-limit", "compile-limit", "small-graph", "eager-loop",
    "no-grad-block", "host-sync", "guard-cost", "compile-cost", "mode-divergent-path", "accuracy-mismatch", "not-comparable",
    "benign-exit", "environment",
}  # fmt: skip

BUSY = """\
def forward(self, x):  # <- def
    with paddle.no_grad():  # <- with
        if self.flag:  # <- branch
            for i in x:  # <- loop
                use(i)  # <- use
        else:
            use(x)  # <- else
    print(x)  # <- print
    if x > 0:  # <- if
        x = 0
    return x  # <- tail

def helper(x):  # <- helper
    return x

def other(x):  # <- other
    with a:  # <- other-with
        return x
"""


def bare(mode: str, reason: str = "returned") -> Run:
    return Run("d", mode, "diagnosis", 0, ProgramInfo("model.py", "case"), {}, ExitStatus(reason))


def every_kind_of_trouble(tmp_path: Path) -> Program:
    case = Program(tmp_path, BUSY)
    case.timing("dynamic", 1, 1, 1)
    for round_ in range(3):
        run = case.run("static", "timing", round_).steps(20, 20, first_ms=19000, compile_steps=1).ended("system-exit", 3)
    case.run("dynamic").steps(40).coverage(1, "branch", "else").lines(("tail", 1, 1, {}))
    run = case.run("static").start(env={"GRAPH_SIZE": "0"}).steps(40, 10, compile_steps=1).code(0, "def", "forward")
    run.code(1, "helper", "helper")
    run.coverage(1, "branch", "loop", "use")
    run.lines(("loop", 9, 1, {}), ("use", 8, 4, {"add": 80}), ("print", 1, 1, {}), ("other-with", 1, 1, {"add": 1}))
    where = {**run.at("def"), "count": 1, "called_from": None, "seen": False}
    run.record("eager-frame", step=2, phase="early", why="exception-table", **where)
    run.record("eager-frame", step=2, phase="early", why="exception-table", **{**where, **run.at("other"), "function": "other"})
    said = {"step": 0, "code": 1, "error": "FallbackError", "stack": [], "outer": []}
    run.record("fallback", site=run.at("tail"), message="opcode: X is not supported.", final_message="", **said)
    break_ = {"step": 0, "code": 0, "stack": [], "outer": []}
    run.record("break", site=run.at("print"), message="Not support builtin function: print", how="call", **break_)
    run.record("break", site=run.at("if"), message="", how="if", opcode="POP_JUMP_IF_FALSE", **break_)
    guard = {"expression": "frame.f_locals['k'] == 0.5", "expected": "0.5", "seen": "1.0"}
    for step in range(1, 20):
        run.record("recompile", step=step, code=0, entries=1, guards=[guard], wall_ns=MS, site=None)
    for step in range(40):
        run.frames(step, c0={"entered": 1, "callback_ns": 3 * MS, "cache_full": 1}, c1={"entered": 1, "compile_limit": 1})
    graph = {"code": 0, "ops": 2, "statements": [{"text": "a", **run.at("print")}], "dropped": "too-small"}
    run.record("subgraph", step=0, name="SIR_0", **graph)
    run.record("parity", what="output", name="o", step=0, equal=False, max_abs_error=1.0, max_rel_error=1.0, mismatch=None)
    case.run("static", "parity").steps(1).exit(signal="SIGSEGV")
    return case


def name(rule) -> str:
    return rule.__name__


@pytest.mark.parametrize("rule", RULES, ids=name)
@pytest.mark.parametrize(
    "runs",
    [(), (bare("static"),), (bare("dynamic"),), (bare("dynamic"), bare("static"))],
    ids=["nothing", "static", "dynamic", "both"],
)
def test_runs_without_records_say_nothing(rule, runs):
    assert list(rule(Facts(runs))) == []


def test_every_slug_is_found_and_every_finding_is_well_formed(tmp_path):
    findings = every_kind_of_trouble(tmp_path).findings()
    assert {finding.slug for finding in findings} == SLUGS
    for finding in findings:
        assert finding.severity in ("error", "warning", "info")
        assert finding.title
        assert finding.advice
        assert finding.evidence
        assert all(evidence.text for evidence in finding.evidence)
        assert finding.cause is None or finding.cause in CAUSES
        assert finding.cost_ns is None or finding.cost_ns >= 0.0
        assert finding.site is None or finding.site.path == "model.py"


def test_one_finding_for_each_slug_cause_and_site(tmp_path):
    findings = every_kind_of_trouble(tmp_path).findings()
    keys = [(finding.slug, finding.cause, finding.site, finding.title) for finding in findings]
    assert len(keys) == len(set(keys))
