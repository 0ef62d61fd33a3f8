"""Comparisons of real runs: before and after a fix, with breaks and without, the same program twice, hooks and log."""

from __future__ import annotations

import pytest
from runs import Ask, Made
from shared_table import ALL_GRAPHS

from sotprobe.analyze.graph import build_graph, to_records
from sotprobe.analyze.graph_diff import Side, diff_graphs
from sotprobe.model.graph import DYNAMIC_REGION, SUBGRAPH, TENSOR
from sotprobe.model.graph_diff import GraphDiff
from sotprobe.readers.log import LogOptions, read_logs
from sotprobe.readers.rundir import read_run

PROGRAMS = "tests/paddle/programs"
FIVE = Ask(f"{PROGRAMS}/graph_five_breaks.py", ALL_GRAPHS, (), "record")
AGAIN = Ask(f"{PROGRAMS}/graph_five_breaks.py", ALL_GRAPHS, (), "record", attempt=1)
NONE = Ask(f"{PROGRAMS}/graph_no_breaks.py", ALL_GRAPHS, (), "record")
LOGGED = Ask(f"{PROGRAMS}/graph_five_breaks.py", (*ALL_GRAPHS, "--env", "SOT_LOG_LEVEL=2"), (), "record")
BEFORE = Ask("cases/detection_loss.py", (), (), "record")
AFTER = Ask("cases/detection_loss_fixed.py", (), (), "record")
FULL = Ask("cases/cache_limit.py", (), (), "record")
OTHER = Ask("cases/small_graph.py", (), (), "record")

pytestmark = pytest.mark.paddle


def side(made: Made, step: int | None = None) -> Side:
    run = read_run(made.directory)
    return Side(to_records(build_graph(run, step)), run.sources)


def pieces(diff: GraphDiff, status: str) -> list[tuple[str, str]]:
    """(kind, function) of the nodes of a status, without tensors."""
    return [(item.node.kind, item.node.name) for item in diff.nodes if item.status == status and item.node.kind != TENSOR]


@pytest.mark.asks(BEFORE, AFTER)
def test_before_and_after_the_fix_of_the_loss(runs) -> None:
    diff = diff_graphs(side(runs.made(BEFORE)), side(runs.made(AFTER)))
    assert pieces(diff, "changed") == [(SUBGRAPH, "Detector.forward")]
    assert pieces(diff, "gone") == [(DYNAMIC_REGION, "DetectionLoss.forward")]
    (gained,) = diff.moves
    assert gained.kind == "gained"
    assert gained.statements > 5
    differences = {figure.name: figure.difference for figure in diff.figures}
    assert differences["dynamic_regions"] == -1
    assert differences["captured_op_share"] > 0.5
    assert differences["bytes_to_dynamic"] < 0


@pytest.mark.asks(FIVE, NONE)
def test_five_breaks_and_none(runs) -> None:
    diff = diff_graphs(side(runs.made(FIVE)), side(runs.made(NONE)))
    assert pieces(diff, "changed") == [(SUBGRAPH, "Net.forward")]
    gone = pieces(diff, "gone")
    assert [kind for kind, _ in gone].count(DYNAMIC_REGION) == 5
    merged = next(move for move in diff.moves if move.kind == "merged")
    assert (len(merged.before), len(merged.after)) == (7, 1)
    back = diff_graphs(side(runs.made(NONE)), side(runs.made(FIVE)))
    split = next(move for move in back.moves if move.kind == "split")
    assert len(split.after) == 7


@pytest.mark.asks(FIVE, AGAIN)
def test_a_program_run_twice_does_not_differ(runs) -> None:
    one, two = runs.made(FIVE), runs.made(AGAIN)
    assert one.directory != two.directory
    diff = diff_graphs(side(one), side(two))
    assert diff.same
    assert any(item.changes for item in diff.nodes), "times do differ, and are no difference"


@pytest.mark.asks(LOGGED)
def test_the_log_of_a_run_beside_its_records(runs) -> None:
    made = runs.made(LOGGED)
    (run,) = read_logs([str(made.directory / "stdout.txt")], LogOptions()).runs
    diff = diff_graphs(side(made), Side(to_records(build_graph(run)), run.sources))
    subgraphs = [item for item in diff.nodes if item.node.kind == SUBGRAPH]
    assert {item.status for item in subgraphs} == {"kept"}
    assert len(subgraphs) == 7
    assert diff.moves == ()


@pytest.mark.asks(FULL)
def test_a_step_before_and_one_after_the_cache_is_full(runs) -> None:
    made = runs.made(FULL)
    last = read_run(made.directory).steps[-1].index
    diff = diff_graphs(side(made, 1), side(made, last))
    assert [item.node.why for item in diff.nodes if item.status == "new" and item.node.kind == DYNAMIC_REGION] == ["cache-full"]
    assert pieces(diff, "kept") == []


@pytest.mark.asks(FIVE, OTHER)
def test_two_programs_with_nothing_in_common(runs) -> None:
    diff = diff_graphs(side(runs.made(FIVE)), side(runs.made(OTHER)))
    assert pieces(diff, "kept") == []
    assert not diff.common
    assert diff.moves == ()
