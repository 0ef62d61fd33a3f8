"""The table of ``sotprobe graph`` without a file."""

from __future__ import annotations

import unicodedata

import pytest
from graph_sample import CONTEXT, GOLDEN, PICTURES, each_picture, each_sample, shown

from sotprobe.report import graph_text


@each_picture
def test_matches_its_golden(name):
    golden = (GOLDEN / f"graph_{name}.txt").read_text(encoding="utf-8")
    assert graph_text.render(PICTURES[name], CONTEXT) == golden, "if wanted: python tools/update_golden.py, and read the diff"


@each_sample
@pytest.mark.parametrize("width", [40, 80, 200])
def test_rows_fit_the_width_and_nothing_acts_on_a_terminal(name, width):
    text = graph_text.render(shown(name), CONTEXT, width=width)
    bad = {char for char in text if char != "\n" and unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp")}
    assert bad == set()
    rows = [line for line in text.splitlines() if line.startswith("  ")]
    assert max(map(len, rows)) <= width


def test_every_node_but_tensors_is_a_row_in_program_order():
    text = graph_text.render(shown("five_breaks"), CONTEXT)
    places = [line[2:20].strip() for line in text.splitlines() if line.startswith("  line")]
    assert places == [
        "lines 14-16", "line 16", "lines 17-21 (then)", "lines 19-21 (else)",
        "line 21", "line 23", "line 23", "line 26", "line 30", "line 34",
    ]  # fmt: skip


def test_a_recompiled_node_tells_its_guard_below():
    lines = graph_text.render(shown("cache_full"), CONTEXT).splitlines()
    at = next(index for index, line in enumerate(lines) if line.startswith("  lines 9-10"))
    assert lines[at].split() == ["lines", "9-10", "cache", "full:", "shape-churn", "24", "2.50", "20", "0.412"]
    assert lines[at + 1] == "      x20 recompiled: x.shape[0] 2, 3, 4…"


def test_a_folded_graph_has_a_row_for_each_group():
    text = graph_text.render(shown("thirty", depth=3), CONTEXT)
    assert "folded by the first 3 parts of the module path: 54 nodes drawn as 5" in text
    rows = [line for line in text.splitlines() if line.startswith("  ppdet.")]
    assert [row.split()[0] for row in rows] == [
        f"ppdet.modeling.{part}" for part in ("backbones", "necks", "heads", "transformers", "losses")
    ]
    assert "      4 of 9 are dynamic regions" in text


def test_colour_is_only_used_when_it_is_asked_for(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b" in graph_text.render(shown("one_subgraph"), color=True)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in graph_text.render(shown("one_subgraph"), color=True)
