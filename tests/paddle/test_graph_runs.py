"""The subgraph graph of real runs: what Paddle's own picture would show, where it crashes and where it does not."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from expectations import read_lines
from runs import REPOSITORY, Ask, Made, paddle_version
from shared_table import ALL_GRAPHS

from sotprobe.analyze.graph import build_graph, to_records
from sotprobe.model import GraphNode, SubgraphGraph
from sotprobe.readers.log import LogOptions, read_logs
from sotprobe.readers.rundir import read_run
from sotprobe.report import graph_json

CASES = Path(os.environ.get("SOTPROBE_SHARED", REPOSITORY.parent / "shared")) / "cases"
PROGRAMS = "tests/paddle/programs"

pytestmark = pytest.mark.paddle
shared = pytest.mark.skipif(
    not CASES.is_dir(), reason="the shared cases are not beside the clone (SOTPROBE_SHARED names another place)"
)


def graph_of(made: Made, step: int | None = None) -> SubgraphGraph:
    return to_records(build_graph(read_run(made.directory), step))


def of(graph: SubgraphGraph, **wanted: Any) -> list[GraphNode]:
    return [node for node in graph.nodes if all(getattr(node, name) == value for name, value in wanted.items())]


def control(graph: SubgraphGraph) -> list[tuple[str, str]]:
    """Control edges without the path."""
    return [(_short(edge.source), _short(edge.target)) for edge in graph.edges if edge.kind == "control"]


def tensors(graph: SubgraphGraph) -> set[tuple[str, str]]:
    return {(_short(edge.source), _short(edge.target)) for edge in graph.edges if edge.kind == "tensor"}


def _short(node: str) -> str:
    return node.rpartition(".py:")[2]


def check_counts(made: Made, graph: SubgraphGraph) -> None:
    """The graph counts what the comparison counts, and is the same after JSON."""
    static = made.result["modes"]["static"]
    assert (graph.summary.subgraph_versions, graph.summary.recompiles) == (static["subgraphs"], static["recompiles"])
    assert graph_json.parse(graph_json.render(graph)) == graph


def case(number: str, *arguments: str) -> Ask:
    program = next((path / "repro.py" for path in CASES.glob(f"{number}_*")), CASES)
    return Ask(os.path.relpath(program, REPOSITORY), ALL_GRAPHS, arguments, "record")


# (case, subgraphs, versions, recompiles, runs per step) as the cases' README counts them on Paddle 3.x
_ROWS = [
    (case("05", "batch", "24"), 1, 2, 1, 1.0),
    (case("05", "two", "24"), 1, 2, 1, 1.0),
    (case("05", "pad", "24"), 1, 1, 0, 1.0),
    (case("06", "attr", "24"), 1, 2, 1, 1.0),
    (case("06", "tensor", "24"), 1, 1, 0, 1.0),
    (case("23"), 2, 2, 0, 2.0),
    (case("40", "if"), 3, 3, 0, 2.0),
    (case("40", "where"), 1, 1, 0, 1.0),
    (case("41"), 2, 2, 0, 2.0),
]


@shared
@pytest.mark.parametrize(("ask", "subgraphs", "versions", "recompiles", "runs_per_step"), _ROWS, ids=lambda value: str(value))
def test_shared_cases_have_the_counts_of_their_readme(
    ask: Ask, subgraphs: int, versions: int, recompiles: int, runs_per_step: float, made: Made
) -> None:
    graph = graph_of(made)
    summary = graph.summary
    assert (summary.subgraphs, summary.subgraph_versions, summary.recompiles) == (subgraphs, versions, recompiles)
    assert summary.runs_per_step == runs_per_step
    check_counts(made, graph)


@shared
@pytest.mark.parametrize("ask", [case("40", "item")], ids=str)
def test_a_read_value_is_guarded_from_paddle_3_2_on(ask: Ask, made: Made) -> None:
    graph = graph_of(made)
    guarded = made.result["environment"]["paddle"] >= "3.2"
    assert (graph.summary.subgraphs, graph.summary.subgraph_versions) == ((2, 3) if guarded else (2, 2))
    assert of(graph, why="break")[0].site.line == 24
    check_counts(made, graph)


@shared
@pytest.mark.parametrize("ask", [case("05", "two", "24")], ids=str)
def test_changing_sizes_are_dynamic_in_the_graph(ask: Ask, made: Made) -> None:
    graph = graph_of(made)
    (subgraph,) = of(graph, kind="subgraph")
    assert (subgraph.state, subgraph.cause) == ("recompiled", "shape-churn")
    assert [len(version.guards) for version in subgraph.versions] == [0, 2]
    (edge,) = [edge for edge in graph.edges if edge.target == subgraph.id]
    assert edge.ir_shape == (-1, -1, 8)
    assert len(edge.real_shapes) == 24, "one for each call"
    assert of(graph, id=edge.source)[0].kind == "tensor", "it is the caller's"


@shared
@pytest.mark.parametrize("ask", [case("40", "if")], ids=str)
def test_both_sides_of_a_branch(ask: Ask, made: Made) -> None:
    graph = graph_of(made)
    assert {node.state for node in of(graph, kind="subgraph")} == {"compiled"}
    assert sorted(control(graph)) == [
        ("Net.forward", "Net.forward!break:19"),
        ("Net.forward!break:19", "Net.forward@19else"),
        ("Net.forward!break:19", "Net.forward@19then"),
    ]
    assert ("Net.forward.out0", "Net.forward!break:19") in tensors(graph), "the condition"
    assert {("Net.forward.out1", "Net.forward@19then"), ("Net.forward.out1", "Net.forward@19else")} <= tensors(graph)
    for step, side in ((0, "then"), (1, "else")):
        names = {_short(node.id) for node in of(graph_of(made, step), kind="subgraph")}
        assert names == {"Net.forward", f"Net.forward@19{side}"}, f"step {step}"


FIVE = Ask(f"{PROGRAMS}/graph_five_breaks.py", ALL_GRAPHS, (), "record")


@pytest.mark.parametrize("ask", [FIVE], ids=str)
def test_five_breaks_in_program_order(ask: Ask, made: Made) -> None:
    graph = graph_of(made)
    at = read_lines(REPOSITORY / ask.program)
    one, numpy, branch, printed, call, helper = (at[name] for name in ("one", "numpy", "if", "print", "call", "helper"))
    regions = {node.site.line: node for node in of(graph, kind="dynamic")}
    assert set(regions) == {one, numpy, branch, printed, helper}
    assert {node.why for node in regions.values()} == {"break"}
    assert {node.runs_per_step for node in regions.values()} == {1.0}
    behind = f"Net.forward@{one},{numpy},{branch}then"
    wanted = [
        ("Net.forward", f"Net.forward!break:{one}"),
        (f"Net.forward!break:{one}", f"Net.forward@{one}"),
        (f"Net.forward@{one}", f"Net.forward!break:{numpy}"),
        (f"Net.forward!break:{numpy}", f"Net.forward@{one},{numpy}"),
        (f"Net.forward@{one},{numpy}", f"Net.forward!break:{branch}"),
        (f"Net.forward!break:{branch}", behind),
        (behind, f"Net.forward!break:{printed}"),
        (f"Net.forward!break:{printed}", "helper"),
        ("helper", f"helper!break:{helper}"),
        (f"helper!break:{helper}", f"helper@{helper}"),
        (f"helper@{helper}", f"{behind},{printed},{call}"),
    ]
    assert control(graph) == wanted
    check_counts(made, graph)


@pytest.mark.parametrize("ask", [FIVE], ids=str)
def test_what_passes_at_five_breaks(ask: Ask, made: Made) -> None:
    graph = graph_of(made)
    at = read_lines(REPOSITORY / ask.program)
    one, numpy, branch = at["one"], at["numpy"], at["if"]
    passes = tensors(graph)
    assert ("Net.forward", f"Net.forward@{one}") in passes, "one taker: no node of its own"
    read = f"Net.forward@{one}.out0"
    assert {(read, f"Net.forward!break:{numpy}"), (read, f"Net.forward@{one},{numpy}")} <= passes, (
        "numpy reads it, then it goes on"
    )
    behind = f"Net.forward@{one},{numpy},{branch}then"
    shared_by = {target for source, target in passes if source.startswith(f"{behind}.out")}
    assert f"helper@{at['helper']}" in shared_by, "h.detach() goes to both parts of helper"
    inputs = {source for source, _ in passes if ".in" in source and not any(target == source for _, target in passes)}
    assert {"Net.forward.in0", f"Net.forward@{one}.in1"} <= inputs, "the caller's x, and self.scale"
    assert graph.summary.bytes_to_dynamic == pytest.approx(4 * 8 * 4 + 1 + 4), "what numpy, if and print read"


@pytest.mark.parametrize("ask", [Ask(f"{PROGRAMS}/graph_tensors.py", ALL_GRAPHS, (), "record")], ids=str)
def test_what_dynamic_code_changed_or_made_comes_from_it(ask: Ask, made: Made) -> None:
    at = read_lines(REPOSITORY / ask.program)
    graph = graph_of(made)
    (region,) = of(graph, kind="dynamic")
    assert region.site.line == at["with"]
    last = f"forward@{at['call']}"
    own = _short(region.id)
    from_dynamic = {target for source, target in tensors(graph) if source == own}
    into_last = {source for source, target in tensors(graph) if target == last}
    assert len(from_dynamic) == 2, "what was changed in place, and what was made"
    assert from_dynamic < into_last
    assert len(into_last) == 3, "and what was left alone"
    assert graph.summary.bytes_from_dynamic == 2 * 24


@pytest.mark.parametrize("ask", [Ask("cases/cache_limit.py", (), (), "record")], ids=str)
def test_a_cache_that_fills_up(ask: Ask, made: Made) -> None:
    graph = graph_of(made)
    (full,) = of(graph, state="cache-full")
    assert (full.kind, full.compiles, len(full.versions)) == ("subgraph", 20, 20)
    assert full.runs_per_step == 0.0, "in the end nothing of it runs"
    assert all(version.guards for version in full.versions[1:])
    (region,) = of(graph, why="cache-full")
    assert region.runs_per_step == 1.0
    assert graph.summary.recompiles == 19
    check_counts(made, graph)


@pytest.mark.parametrize("ask", [Ask("cases/small_graph.py", (), (), "record")], ids=str)
def test_a_subgraph_that_was_thrown_away(ask: Ask, made: Made) -> None:
    graph = graph_of(made)
    (node,) = graph.nodes
    assert (node.state, node.why) == ("dropped", "too-small")
    assert (graph.summary.subgraphs, graph.summary.dynamic_regions) == (0, 1)
    assert graph.summary.captured_op_share == 0.0
    check_counts(made, graph)


BEFORE = Ask("cases/detection_loss.py", (), (), "record")
AFTER = Ask("cases/detection_loss_fixed.py", (), (), "record")


@pytest.mark.skipif((paddle_version() or "9") < "3.2", reason="the fix is for Paddle 3.2 and later")
@pytest.mark.asks(BEFORE, AFTER)
def test_before_and_after_the_fix_of_the_loss(runs) -> None:
    before, after = graph_of(runs.made(BEFORE)), graph_of(runs.made(AFTER))
    (lost,) = of(before, kind="dynamic")
    assert lost.name == "DetectionLoss.forward"
    assert lost.why in ("not-captured", "fallback"), "Python 3.10 says so"
    assert lost.ops > 100
    assert of(after, kind="dynamic") == []
    (whole,) = of(after, kind="subgraph")
    assert whole.ops > of(before, kind="subgraph")[0].ops
    assert before.summary.captured_op_share < 0.5 < after.summary.captured_op_share == 1.0
    assert before.summary.bytes_to_dynamic > 0 == after.summary.bytes_to_dynamic


LOGGED = Ask(f"{PROGRAMS}/graph_five_breaks.py", (*ALL_GRAPHS, "--env", "SOT_LOG_LEVEL=2"), (), "record")
STORM = Ask("cases/item_storm.py", ("--env", "SOT_LOG_LEVEL=2", "--steps", "26"), (), "record")


@pytest.mark.parametrize("ask", [LOGGED, STORM], ids=str)
def test_a_log_of_the_same_run_has_the_same_counts(ask: Ask, made: Made) -> None:
    (run,) = read_logs([str(made.directory / "stdout.txt")], LogOptions()).runs
    logged, hooked = to_records(build_graph(run)).summary, graph_of(made).summary
    assert (logged.subgraphs, logged.subgraph_versions) == (hooked.subgraphs, hooked.subgraph_versions)
    assert logged.recompiles == hooked.recompiles
