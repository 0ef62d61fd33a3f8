"""The subgraph graph as JSON: the keys that others read, and back again."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from sotprobe.errors import InputError
from sotprobe.model import (
    GraphEdge,
    GraphNode,
    GraphSummary,
    GraphVersion,
    Guard,
    ProgramInfo,
    SourceSite,
    Statement,
    SubgraphGraph,
    TensorMeta,
)
from sotprobe.report.graph_json import parse, render, to_dict

SITE = SourceSite("model.py", 20, "forward", "near")
GRAPH = SubgraphGraph(
    nodes=(
        GraphNode(
            id='model.py:Net.forward@"20"\n<script>',
            kind="subgraph",
            name="Net.forward",
            state="recompiled",
            site=SITE,
            last_line=24,
            chain=(20,),
            ops=12,
            compiles=2,
            runs_per_step=1.5,
            compile_ms=30.25,
            versions=(GraphVersion("SIR_3", 4, (Guard("x.shape[0] == 2", "2", "3"),), 12, 9, 7.5, "shape-churn"),),
            statements=(Statement("api || y = tanh (x)", SITE), Statement("method || z", None)),
            inputs=(TensorMeta("x", "float32", (-1, 4), ((2, 4), (3, 4))),),
            outputs=(TensorMeta("y", "float32", None, (), True),),
        ),
        GraphNode(id="model.py:f!break:9", kind="dynamic", name="f", state="dynamic", why="break", cause="print"),
        GraphNode(id="t", kind="tensor", name="x", state="tensor"),
    ),
    edges=(
        GraphEdge("t", "model.py:f!break:9", "tensor", "x", (-1, 4), ((2, 4), ()), "float32", 32, 1.0),
        GraphEdge("model.py:f!break:9", "t", "control"),
    ),
    summary=GraphSummary(
        1, 2, 1, 1, runs_per_step=1.5, captured_op_share=0.5, min_ops=12, median_ops=12.0, bytes_to_dynamic=32.0
    ),
    program=ProgramInfo("model.py", "script", ("--batch", "4")),
    environment={"paddle": "3.3.1", "options": {"steps": None, "window": [1, 2]}},
    step=4,
)


def test_it_comes_back_as_it_was() -> None:
    assert parse(render(GRAPH)) == GRAPH


def test_the_keys_that_others_read() -> None:
    data = json.loads(render(GRAPH))
    assert {"format_version", "nodes", "edges", "summary"} <= data.keys()
    node, edge, summary = data["nodes"][0], data["edges"][0], data["summary"]
    assert {"id", "kind", "name", "site", "ops", "compiles", "runs_per_step"} <= node.keys()
    assert node["site"] == {"path": "model.py", "line": 20, "function": "forward", "precision": "near"}
    assert {"source", "target", "ir_shape", "real_shapes", "dtype"} <= edge.keys()
    assert (edge["ir_shape"], edge["real_shapes"], edge["dtype"]) == ([-1, 4], [[2, 4], []], "float32")
    wanted = "subgraphs subgraph_versions runs_per_step recompiles dynamic_regions captured_op_share median_ops"
    assert set(wanted.split()) <= summary.keys()


def test_the_text_is_ascii_and_has_no_infinity() -> None:
    strange = replace(GRAPH, summary=replace(GRAPH.summary, median_ops=float("nan")), environment={"name": "\u202eabc"})
    text = render(strange)
    assert text.isascii()
    assert json.loads(text)["summary"]["median_ops"] is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data.pop("nodes"), "no subgraph graph"),
        (lambda data: data.update(format_version=99), "format_version 99"),
        (lambda data: data["nodes"][0].pop("id"), "damaged"),
        (lambda data: data["nodes"].append(3), "damaged"),
        (lambda data: data.update(edges=None), "damaged"),
    ],
)
def test_what_is_no_graph_is_told(change, message: str) -> None:
    data = to_dict(GRAPH)
    change(data)
    with pytest.raises(InputError, match=message):
        parse(json.dumps(data))


def test_unknown_keys_are_left_out() -> None:
    data = to_dict(GRAPH)
    data["nodes"][0]["colour"] = data["edges"][0]["width"] = data["later"] = 1
    assert parse(json.dumps(data)) == GRAPH


def test_text_that_is_no_json_is_told() -> None:
    with pytest.raises(InputError, match="not JSON"):
        parse("digraph {}")
