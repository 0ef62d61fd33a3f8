"""Paddle 3.0's own drawings of a step as graphs."""

from __future__ import annotations

from pathlib import Path

import pytest

from sotprobe.analyze.graph import from_records
from sotprobe.analyze.graph_drawing import drawn_graph
from sotprobe.errors import UsageError
from sotprobe.model.graph import CONTROL, PASSES, SUBGRAPH, TENSOR
from sotprobe.readers import relation
from sotprobe.report import graph_json
from sotprobe.workflows.graph_source import read_source

LOGS = Path(__file__).parents[2] / "golden" / "logs"
FIRST, THIRD = (LOGS / f"3.0.0_py311_collect_relation_{step}.svg" for step in (1, 3))


@pytest.fixture
def third():
    return drawn_graph(relation.read(str(THIRD)))


def test_the_subgraphs_are_those_of_the_drawing(third):
    found = [(node.name, node.ops, node.runs_per_step) for node in third.nodes if node.kind == SUBGRAPH]
    assert found == [("SIR_2", 1, 1.0), ("SIR_3", 2, 1.0), ("SIR_4", 2, 1.0), ("SIR_5", 2, 1.0)]


def test_what_ran_next_and_what_passed_are_told_apart(third):
    order = [(edge.source, edge.target) for edge in third.edges if edge.kind == CONTROL]
    assert order == [("!SIR_2", "!SIR_3"), ("!SIR_3", "!SIR_4"), ("!SIR_4", "!SIR_5")]
    drawn = relation.read(str(THIRD))
    tensors = [node for node in third.nodes if node.kind == TENSOR]
    passing = [edge for edge in third.edges if edge.kind == PASSES]
    both = len(drawn.tensors) - len(tensors)  # from one subgraph to one other: an edge instead of a node with two
    assert len(passing) == len(drawn.edges) - both
    assert {edge.ir_shape for edge in passing} == {edge.ir_shape for edge in drawn.edges}
    assert all(edge.real_shapes for edge in passing)


def test_what_a_drawing_does_not_tell_is_unknown(third):
    assert (third.summary.subgraphs, third.summary.runs_per_step) == (4, 4.0)
    assert (third.summary.recompiles, third.summary.dynamic_regions, third.summary.captured_time_share) == (None, None, None)
    assert all(node.site is None for node in third.nodes)


def test_it_is_a_graph_like_any_other(third):
    assert set(from_records(third).nodes) == {node.id for node in third.nodes}
    assert graph_json.parse(graph_json.render(third)) == third


def test_the_command_reads_it(tmp_path):
    source = read_source(str(FIRST))
    assert [node.name for node in source.graph.nodes if node.kind == SUBGRAPH] == ["SIR_0", "SIR_1"]
    assert "drawing of one step" in source.notes[0]
    with pytest.raises(UsageError, match="drawing of one step"):
        read_source(str(FIRST), step=2)
