"""The sample graphs and how the tests draw them."""

from __future__ import annotations

import runpy
import shutil
from pathlib import Path

import pytest

from sotprobe.analyze.graph_fold import Picture, picture
from sotprobe.model import Finding, SourceSite
from sotprobe.report.graph_words import Context, FindingAt

GOLDEN = Path(__file__).parents[2] / "golden"
_MODULE = runpy.run_path(str(GOLDEN / "graph_samples.py"))
SAMPLES = _MODULE["SAMPLES"]
NASTY = _MODULE["NASTY"]
CONTEXT = Context(_MODULE["line_of"], _MODULE["url_of"])

needs_dot = pytest.mark.skipif(shutil.which("dot") is None, reason="graphviz (dot) is not installed")
# Every picture that has a golden: the samples, and one that is folded.
PICTURES = {**{name: picture(graph) for name, graph in SAMPLES.items()}, "thirty_folded": picture(SAMPLES["thirty"], depth=3)}
each_picture = pytest.mark.parametrize("name", PICTURES)
each_sample = pytest.mark.parametrize("name", SAMPLES)


def shown(name: str, **how: object) -> Picture:
    return picture(SAMPLES[name], **how)


def with_finding(name: str, text: str = "a title") -> Context:
    """A context in which every dynamic region of a sample is what one finding is about."""
    site = SourceSite("cases/net.py", 16, "forward")
    found = FindingAt(2, Finding("graph-break", "warning", text, site, f"Mend it: {text}", (), cost_ns=2e6), "d.json#/findings/1")
    nodes = [node.id for node in SAMPLES[name].nodes if node.kind == "dynamic"]
    return Context(CONTEXT.source_line, CONTEXT.source_url, dict.fromkeys(nodes, (found,)))
