"""The subgraph graph of recorded sessions: the counts of the comparison, and what each program is known to be."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import pytest
from test_golden_sessions import RUNS, mangled, marked

from sotprobe.analyze.compare import summarise
from sotprobe.analyze.graph import build_graph, to_records
from sotprobe.errors import InputError
from sotprobe.model import SubgraphGraph
from sotprobe.model.graph import STATES
from sotprobe.readers.rundir import read_run
from sotprobe.report import graph_json

SESSIONS = sorted(path.name for path in RUNS.iterdir() if (path / "static-diagnosis").is_dir())


def graph_of(session: str, step: int | None = None) -> SubgraphGraph:
    return to_records(build_graph(read_run(RUNS / session / "static-diagnosis"), step))


@pytest.mark.parametrize("session", SESSIONS)
def test_counts_are_those_of_the_comparison(session: str) -> None:
    run = read_run(RUNS / session / "static-diagnosis")
    counted, summary = summarise("static", [run]), graph_of(session).summary
    assert (summary.subgraph_versions, summary.recompiles) == (counted.subgraphs, counted.recompiles)


@pytest.mark.parametrize("session", SESSIONS)
def test_every_step_has_a_graph(session: str) -> None:
    run = read_run(RUNS / session / "static-diagnosis")
    for step in run.steps:
        graph = graph_of(session, step.index)
        ran = sum(count for subgraph in run.subgraphs for at, count in subgraph.runs if at == step.index)
        assert graph.summary.runs_per_step == ran
    assert sum(graph_of(session, step.index).summary.recompiles for step in run.steps) == graph_of(session).summary.recompiles


@pytest.mark.parametrize("session", SESSIONS)
def test_json_gives_the_graph_back(session: str) -> None:
    graph = graph_of(session)
    assert graph_json.parse(graph_json.render(graph)) == graph


def test_the_item_storm_is_two_places() -> None:
    graph = graph_of("item_storm_py311")
    first, read, second = graph.nodes
    assert (first.state, second.state, second.compiles) == ("compiled", "recompiled", 14)
    assert (read.why, read.cause, read.site.line) == ("break", "item", marked("item_storm_py311", "item"))
    assert [edge.target for edge in graph.edges] == [read.id, second.id]
    seen = [version.guards[0].seen for version in second.versions[1:]]
    assert len(set(seen)) == 13, "a new value each time"
    assert graph.summary.runs_per_step == 2.0


@pytest.mark.parametrize("session", ["detection_loss_py310", "detection_loss_py311"])
def test_the_lost_loss_comes_after_the_captured_model(session: str) -> None:
    graph = graph_of(session)
    captured, loss = graph.nodes
    assert (captured.name, captured.state) == ("Detector.forward", "compiled")
    assert (loss.name, loss.cause, loss.site.line) == ("DetectionLoss.forward", "no-grad", marked(session, "no-grad-block"))
    assert loss.ops > 200
    assert [(edge.source, edge.target) for edge in graph.edges] == [(captured.id, loss.id)]


def test_five_breaks_and_what_passes_at_them() -> None:
    graph = graph_of("five_breaks_py311")
    lines = {name: marked("five_breaks_py311", name) for name in ("one", "numpy", "if", "print", "helper")}
    regions = {node.site.line: node for node in graph.nodes if node.kind == "dynamic"}
    assert set(regions) == set(lines.values())
    assert {node.cause for node in regions.values()} == {"print", "numpy-read", "tensor-if"}
    summary = graph.summary
    assert (summary.subgraphs, summary.dynamic_regions, summary.runs_per_step) == (7, 5, 7.0)
    assert summary.captured_op_share == 1.0
    assert (summary.bytes_to_dynamic, summary.bytes_from_dynamic) == (133.0, 128.0)
    read = {edge.source for edge in graph.edges if edge.target == regions[lines["numpy"]].id and edge.kind == "tensor"}
    (tensor,) = read
    taken = {edge.target for edge in graph.edges if edge.source == tensor}
    assert len(taken) == 2, "numpy reads it, and the next subgraph goes on with it"


def test_a_cache_that_fills_up() -> None:
    graph = graph_of("cache_limit_py311")
    full = next(node for node in graph.nodes if node.state == "cache-full")
    assert (full.compiles, full.runs_per_step, full.cause) == (20, 0.0, "float-guard")
    whys = {node.why: node for node in graph.nodes if node.kind == "dynamic"}
    assert set(whys) == {"cache-full", "not-captured"}
    assert whys["cache-full"].runs_per_step == 1.0
    assert whys["not-captured"].cause == "without-graph", "SOT forgot the function that it had captured"
    assert whys["not-captured"].ops is None, "the lines were measured before that"


def test_damaged_records_are_no_traceback(tmp_path: Path) -> None:
    for seed in range(25):
        source = random.Random(seed)
        copy = tmp_path / str(seed)
        shutil.copytree(RUNS / SESSIONS[seed % len(SESSIONS)] / "static-diagnosis", copy)
        records = copy / "records.jsonl"
        lines = records.read_text().splitlines()
        records.write_text("".join(mangled(line, source) for line in lines if source.random() < 0.97))
        try:
            graph = to_records(build_graph(read_run(copy)))
        except InputError:
            continue
        assert {node.state for node in graph.nodes} <= set(STATES)
        json.loads(graph_json.render(graph))
