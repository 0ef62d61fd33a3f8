"""Sessions of real programs, recorded once (tests/golden/runs, each with its PROVENANCE): what must be concluded from them."""

from __future__ import annotations

import json
import random
import re
import shutil
from pathlib import Path

import pytest

from sotprobe.analyze import diagnose
from sotprobe.analyze.graph import build_graph
from sotprobe.readers.rundir import read_session

RUNS = Path(__file__).parents[2] / "golden" / "runs"
ROOT = Path(__file__).parents[3]


def session(name):
    return diagnose(read_session(RUNS / name))


def marked(session_name: str, marker: str) -> int:
    """The line of a marker in the source as it was when the session was recorded."""
    source = RUNS / session_name / "static-diagnosis" / "sources"
    text = next(file.read_text() for file in sorted(source.iterdir()) if f"<- {marker}" in file.read_text())
    return next(number for number, line in enumerate(text.splitlines(), 1) if re.search(rf"# <- {marker}$", line))


def mangled(line: str, source: random.Random) -> str:
    """A record with some of its values replaced by values of other types."""
    record = json.loads(line)
    for name in record:
        if name != "kind" and source.random() < 0.1:
            record[name] = source.choice([None, 3, "x", [], {}, [None], [[1]], {"a": 1}, -1, 1e30, True])
    return json.dumps(record) + "\n"


@pytest.mark.parametrize("name", ["detection_loss_py310", "detection_loss_py311"])
def test_the_seed_story(name):
    """A no_grad block and a loop that only the static branch takes: three findings at their lines, and nothing else to do."""
    diagnosis = session(name)
    found = {finding.slug: finding for finding in diagnosis.findings if finding.severity != "info"}
    assert set(found) == {"no-grad-block", "eager-loop", "mode-divergent-path"}
    lines = {slug: finding.site.line for slug, finding in found.items()}
    assert lines == {
        "no-grad-block": marked(name, "no-grad-block"),
        "eager-loop": marked(name, "set-item-loop"),
        "mode-divergent-path": marked(name, "static-branch"),
    }
    assert {finding.site.path for finding in found.values()} == {"cases/detection_loss.py"}
    assert found["eager-loop"].count_per_step == 192.0
    assert diagnosis.findings[0].slug == "eager-loop", "the loop costs most"
    assert found["eager-loop"].cost_share > 0.1
    assert sum(finding.cost_share for finding in diagnosis.findings if finding.cost_share is not None) <= 1.0
    assert diagnosis.parity.outputs_equal


def test_an_item_storm():
    diagnosis = session("item_storm_py311")
    (finding,) = [finding for finding in diagnosis.findings if finding.slug in ("recompile", "host-sync", "graph-break")]
    assert (finding.slug, finding.cause, finding.severity) == ("recompile", "value-guard", "warning")
    assert finding.site.line == marked("item_storm_py311", "item")
    assert finding.source_line.startswith("scale = x.mean().item()")
    assert finding.cost_share > 0.5
    assert diagnosis.verdict.slug == "slower"


@pytest.mark.parametrize("name", ["detection_loss_py311", "item_storm_py311", "five_breaks_py311", "cache_limit_py311"])
def test_the_comparison_has_the_figures_of_the_graph(name):
    runs = read_session(RUNS / name)
    static = diagnose(runs).modes["static"]
    graph = build_graph(next(run for run in runs if (run.mode, run.purpose) == ("static", "diagnosis"))).graph["summary"]
    assert static.graph == graph
    assert (graph.subgraph_versions, graph.recompiles) == (static.subgraphs, static.recompiles)
    assert graph.runs_per_step > 0


@pytest.mark.parametrize("directory", sorted(path for path in RUNS.iterdir() if path.is_dir()), ids=lambda path: path.name)
class TestEverySession:
    def test_every_line_is_understood(self, directory):
        stats = diagnose(read_session(directory)).read_stats["records.jsonl"]
        assert (stats.unrecognised, stats.malformed) == (0, 0), stats.samples
        assert stats.matched > 100

    def test_it_says_where_it_came_from(self, directory):
        provenance = (directory / "PROVENANCE").read_text()
        for word in ("command: sotprobe compare", "paddlepaddle: 3.", "python: 3.", "date: 20"):
            assert word in provenance

    def test_records_of_the_wrong_shape_are_counted_and_change_nothing_else(self, directory, tmp_path):
        source = random.Random(7)
        copy = tmp_path / "session"
        shutil.copytree(directory, copy)
        for records in copy.glob("*/records.jsonl"):
            records.write_text("".join(mangled(line, source) for line in records.read_text().splitlines()))
        diagnosis = diagnose(read_session(copy))
        assert diagnosis.read_stats["records.jsonl"].malformed > 10
        assert diagnosis.verdict.text

    def test_cut_off_anywhere_it_is_still_read(self, directory, tmp_path):
        """kill -9 at any moment: what was flushed by then is a session."""
        records = (directory / "static-diagnosis" / "records.jsonl").read_bytes()
        copy = tmp_path / "session"
        shutil.copytree(directory, copy)
        for part in (0.01, 0.3, 0.77):
            (copy / "static-diagnosis" / "records.jsonl").write_bytes(records[: int(len(records) * part)])
            (copy / "static-diagnosis" / "exit.json").write_text('{"code": null, "signal": "SIGKILL", "timed_out": false}')
            diagnosis = diagnose(read_session(copy))
            assert any(finding.cause == "signal" for finding in diagnosis.findings)
            assert diagnosis.modes["dynamic"].step_ms_median
