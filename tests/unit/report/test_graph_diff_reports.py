"""A comparison of two graphs as table, picture, page and JSON."""

from __future__ import annotations

import html
import json
import re
import runpy
import shutil
import unicodedata
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from sotprobe.analyze.graph_diff import Side, diff_graphs
from sotprobe.analyze.graph_diff_picture import DiffPicture, diff_picture
from sotprobe.errors import InputError
from sotprobe.model import GraphSummary
from sotprobe.model.graph_diff import STATUSES, Change, EdgeDiff, NodeDiff
from sotprobe.report import (
    graph_diff_dot,
    graph_diff_html,
    graph_diff_json,
    graph_diff_result,
    graph_diff_text,
    graph_html,
    graph_json,
    graph_svg,
)
from sotprobe.report import graph_diff_words as words
from sotprobe.report.graph_diff_words import DiffContext

GOLDEN = Path(__file__).parents[2] / "golden"
_MODULE = runpy.run_path(str(GOLDEN / "graph_diff_samples.py"))
SHOWN: dict[str, DiffPicture] = _MODULE["SHOWN"]
CONTEXTS: dict[str, DiffContext] = _MODULE["CONTEXTS"]
SIDES = _MODULE["SIDES"]
GRAPHS = runpy.run_path(str(GOLDEN / "graph_samples.py"))["SAMPLES"]
SVG = "{http://www.w3.org/2000/svg}"
HREF = "{http://www.w3.org/1999/xlink}href"
NO_SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"></svg>'

each = pytest.mark.parametrize("name", SHOWN)
needs_dot = pytest.mark.skipif(shutil.which("dot") is None, reason="graphviz (dot) is not installed")


def compared(before, after) -> DiffPicture:
    return diff_picture(diff_graphs(Side(before), Side(after)))


def nodes_of(text: str) -> dict[str, str]:
    return dict(re.findall(r"^ *(n\d+) \[(id=.*)\];$", text, re.MULTILINE))


def words_of(line: str) -> list[str]:
    label = re.search(r"label=<(.*?)</TABLE>>", line)
    return [html.unescape(text).strip() for text in re.findall(r">([^<>]+)<", label[1] if label else "")]


# --- goldens ---------------------------------------------------------------------------------------------------------

_HINT = "if wanted: python tools/update_golden.py, and read the diff"


@each
def test_matches_its_golden(name):
    for extension, reporter in (("dot", graph_diff_dot), ("txt", graph_diff_text)):
        golden = (GOLDEN / f"graph_diff_{name}.{extension}").read_text(encoding="utf-8")
        assert reporter.render(SHOWN[name], CONTEXTS[name]) == golden, _HINT


def test_json_matches_its_golden():
    golden = (GOLDEN / "graph_diff_is_none.json").read_text(encoding="utf-8")
    assert graph_diff_json.render(SHOWN["is_none"].diff) == golden, _HINT


def test_every_golden_belongs_to_a_sample():
    assert {path.stem.removeprefix("graph_diff_") for path in GOLDEN.glob("graph_diff_*.dot")} == set(SHOWN)


# --- picture ---------------------------------------------------------------------------------------------------------


def test_a_node_tells_both_sides_and_where_code_went():
    lines = nodes_of(graph_diff_dot.render(SHOWN["item_storm"], CONTEXTS["item_storm"]))
    found = [words_of(line) for line in lines.values()]
    assert found[:3] == [
        ["lines 42-43 -> line 42", "changed", "43 -> 22 ops, 1 run per step", "outputs 1 -> 2", *_ms(found[0]),
         "split into 2 subgraphs", "1 of 27 statements run dynamically now: line 42 of func"],
        ["line 42", "new", "graph break: item", "scale = x.mean().item() # <- item", "0 ops, 1 run per step", *_ms(found[1]),
         "took 1 of 27 statements of lines 42-43 of func"],
        ["line 43", "new", "recompiled: value-guard", "22 ops, 1 run per step",
         "x12 compiled: (value from the break) 0.4492, 0.4605, 0.4649…", *_ms(found[2]), "split from lines 42-43 of func"],
    ]  # fmt: skip


def _ms(texts: list[str]) -> list[str]:
    return [text for text in texts if text.endswith("ms per step")]


def test_the_border_says_what_a_node_is_and_the_colour_what_became_of_it():
    lines = nodes_of(graph_diff_dot.render(SHOWN["set_value"], CONTEXTS["set_value"]))
    by_place = {words_of(line)[0]: line for line in lines.values()}
    kept, gone, changed = by_place["line 16"], by_place["line 24"], by_place["line 25"]
    assert 'fillcolor="#f1f3f5"' in kept
    assert 'style="filled,rounded,dashed"' in kept
    assert 'fillcolor="#f9d3d0"' in gone
    assert 'style="filled,rounded"' in gone
    assert "graph break: unsupported-api -> fallback: loop-body-break" in words_of(changed)
    assert "0 -> 18 ops, runs 15 -> 1 per step" in words_of(changed)


def test_edges_have_the_colour_of_their_status():
    text = graph_diff_dot.render(SHOWN["five_breaks"], CONTEXTS["five_breaks"])
    classes = re.findall(r'class="(?:passes|control) (\w+)".*?color="(#\w+)"', text)
    assert set(classes) == {("kept", "#8a949c"), ("new", "#2f7d4f"), ("gone", "#b3261e")}


def test_a_shape_that_became_dynamic_is_on_its_edge():
    graph = GRAPHS["cache_full"]
    fixed = replace(graph, edges=tuple(replace(edge, ir_shape=(2, 8)) if edge.ir_shape else edge for edge in graph.edges))
    shown = compared(fixed, graph)
    assert "[2, 8] -&gt; [?, 8] float32" in graph_diff_dot.render(shown)
    assert [edge.status for edge in shown.diff.edges].count("changed") == 2


def test_the_head_tells_what_is_compared_and_what_differs():
    head = graph_diff_dot.render(SHOWN["set_value"], CONTEXTS["set_value"]).splitlines()[1]
    assert head.count("BGCOLOR") == len(STATUSES)
    head = html.unescape(head)
    for text in (
        "before: tests/paddle/programs/graph_set_value.py, Paddle 3.2.2 (CPU build), Python 3.11.7",
        "after: tests/paddle/programs/graph_set_value.py, Paddle 3.3.1 (CPU build), Python 3.11.7",
        "1 changed, 2 gone, 3 kept; 5 statements lost to dynamic code",
        "subgraphs 3 -> 2, subgraph versions 4 -> 2, recompiles 2 -> 0, dynamic regions 3 -> 2, runs per step 8 -> 2",
    ):
        assert text in head


@needs_dot
@each
def test_graphviz_draws_every_node_and_edge(name):
    shown = SHOWN[name]
    root = ElementTree.fromstring(graph_svg.render(graph_diff_dot.render(shown, CONTEXTS[name])))
    groups = [(group.get("class", "").split(), group.get("id")) for group in root.iter(f"{SVG}g")]
    assert sorted(id_ for classes, id_ in groups if "node" in classes) == sorted(
        f"n{at}" for at in range(len(shown.picture.nodes))
    )
    assert len([id_ for classes, id_ in groups if "edge" in classes and id_]) >= len(shown.picture.links)
    statuses = {id_: set(classes) & set(STATUSES) for classes, id_ in groups if "node" in classes}
    assert statuses == {f"n{at}": {shown.status(node)} for at, node in enumerate(shown.picture.nodes)}
    assert not [key for element in root.iter() for key in element.attrib if key.startswith("on")]


@needs_dot
def test_a_gone_node_links_to_the_program_before():
    root = ElementTree.fromstring(graph_svg.render(graph_diff_dot.render(SHOWN["detection_loss"], CONTEXTS["detection_loss"])))
    links = {anchor.get(HREF) for anchor in root.iter(f"{SVG}a") if anchor.get(HREF)}
    assert links == {"cases/detection_loss.py#L45", "cases/detection_loss_fixed.py#L40"}


# --- table -----------------------------------------------------------------------------------------------------------


def test_no_difference():
    same = compared(GRAPHS["five_breaks"], GRAPHS["five_breaks"])
    text = graph_diff_text.render(same)
    assert text.splitlines()[2] == "no difference"
    assert graph_diff_result.verdict(same.diff) == "no difference"
    assert "where code went" not in text


def test_nothing_in_common():
    apart = compared(GRAPHS["one_subgraph"], GRAPHS["cache_full"])
    text = graph_diff_text.render(apart)
    assert text.splitlines()[2] == "nothing in common: no file and function is in both graphs"
    assert "  - lines 14-34" in text, "still a table"
    assert "  + lines 9-10" in text


def test_what_a_side_does_not_know_is_a_question_mark():
    text = graph_diff_text.render(compared(GRAPHS["five_breaks"], GRAPHS["from_log"]))
    (line,) = [line for line in text.splitlines() if "ops captured" in line]
    assert line.split() == ["ops", "captured", "87%", "?"]


def test_differences_have_a_sign_and_a_unit():
    before = replace(GRAPHS["one_subgraph"], summary=GraphSummary(3, 9, 6, 2, 2.5, 0.2, 0.91, 4, 7.5, 2_000_000.0, 0.0))
    after = replace(before, summary=GraphSummary(1, 1, 0, 2, 1.0, 1.0, 0.9, 30, 30.0, 0.0, 512.0))
    assert list(graph_diff_result.figures(compared(before, after).diff)) == [
        ("subgraphs", "3", "1", "-2"),
        ("subgraph versions", "9", "1", "-8"),
        ("recompiles", "6", "0", "-6"),
        ("dynamic regions", "2", "2", "0"),
        ("runs per step", "2.50", "1", "-1.50"),
        ("ops captured", "20%", "100%", "+80 points"),
        ("time captured", "91%", "90%", "-1 points"),
        ("ops per subgraph, min", "4", "30", "+26"),
        ("ops per subgraph, median", "7.50", "30", "+22.5"),
        ("to dynamic code per step", "2.00 MB", "0 B", "-2.00 MB"),
        ("back per step", "0 B", "512 B", "+512 B"),
    ]


def test_a_weak_match_says_how_it_was_found():
    text = (GOLDEN / "graph_diff_is_none.txt").read_text()
    assert "found by" not in text
    renamed = GRAPHS["one_subgraph"].nodes[0]
    other = replace(renamed, name="Other.call", id="cases/net.py:Other.call", site=replace(renamed.site, function="call"))
    text = graph_diff_text.render(compared(GRAPHS["one_subgraph"], replace(GRAPHS["one_subgraph"], nodes=(other,))))
    assert "found by: similar statements (it computes the same or nearly)" in text


@each
def test_text_has_nothing_that_a_terminal_acts_on(name):
    text = graph_diff_text.render(SHOWN[name], CONTEXTS[name], width=80)
    assert {char for char in text if char != "\n" and unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp")} == set()
    assert text.endswith("\n")


def test_a_colour_for_a_terminal_and_none_with_no_color(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[1;31m" in graph_diff_text.render(SHOWN["set_value"], color=True)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in graph_diff_text.render(SHOWN["set_value"], color=True)


def test_a_large_graph_is_folded_and_says_so():
    graph = GRAPHS["thirty"]
    shown = diff_picture(diff_graphs(Side(graph), Side(graph)), depth=3)
    text = graph_diff_text.render(shown)
    assert "54 nodes drawn as 5" in text
    assert "ppdet.modeling.losses" in text
    (row,) = [words_of(line) for line in nodes_of(graph_diff_dot.render(shown)).values() if "losses" in line]
    assert row == ["ppdet.modeling.losses", "18 kept", "10 subgraphs", "8 dynamic regions"]


# --- words -----------------------------------------------------------------------------------------------------------


def _item(before, after, *changes: Change) -> NodeDiff:
    return NodeDiff("x", "changed", before, after, "moved", changes)


def test_places_that_differ_are_told_shortly():
    node = GRAPHS["one_subgraph"].nodes[0]
    moved = replace(node, site=replace(node.site, line=20), last_line=40)
    one_line = replace(node, last_line=14)
    assert words.place(_item(node, node)) == "lines 14-34"
    assert words.place(_item(node, moved)) == "lines 14-34 -> 20-40"
    assert words.place(_item(one_line, moved)) == "line 14 -> lines 20-40"
    assert words.place(NodeDiff("x", "gone", before=node)) == "lines 14-34"


def test_borders_name_the_tensor_that_differs():
    node = GRAPHS["one_subgraph"].nodes[0]
    old, new = ("float32", (4, 8)), ("float32", (-1, 8))
    same_number = _item(node, node, Change("inputs", (old, old), (old, new)))
    assert list(words.other_facts(same_number)) == ["inputs [4, 8] -> [?, 8]"]
    other_type = _item(node, node, Change("outputs", (old,), (("int64", (4, 8)),)))
    assert list(words.other_facts(other_type)) == ["outputs [4, 8] float32 -> [4, 8] int64"]
    more = _item(node, node, Change("inputs", (old,), (old, new)))
    assert list(words.other_facts(more)) == ["inputs 1 -> 2"]
    unknown = _item(node, node, Change("inputs", (("float32", None),), (("int64", None),)))
    assert list(words.other_facts(unknown)) == ["inputs float32 -> int64"]


def test_many_merged_pieces_are_counted():
    shown = SHOWN["five_breaks"]
    assert words.move_line(shown.diff.moves[0], shown) == (
        "line 14, line 16, lines 18-19, lines 20-24 (then) of Net.forward and 3 more -> lines 14-19 of Net.forward, "
        "16 of 19 statements"
    )
    verdict = graph_diff_result.verdict(shown.diff)
    assert verdict == "1 changed, 11 gone; 7 subgraphs merged into 1, 3 statements gained from dynamic code"


# --- JSON ------------------------------------------------------------------------------------------------------------


@each
def test_json_has_everything_and_keeps_what_is_not_known_null(name):
    diff = SHOWN[name].diff
    data = json.loads(graph_diff_json.render(diff), parse_constant=lambda text: pytest.fail(text))
    assert (data["format_version"], data["kind"], data["same"], data["common"]) == (1, "graph-diff", diff.same, diff.common)
    assert [(node["id"], node["status"]) for node in data["nodes"]] == [(item.id, item.status) for item in diff.nodes]
    assert [node["before"] for node in data["nodes"] if node["status"] == "new"] == [None] * len(
        [item for item in diff.nodes if item.status == "new"]
    )
    assert sum(data["counts"].values()) == len([item for item in diff.nodes if item.node.kind != "tensor"])
    assert [(figure["name"], figure["difference"]) for figure in data["figures"]] == [
        (figure.name, figure.difference) for figure in diff.figures
    ]
    assert data["before"]["summary"] == graph_json.to_dict(SIDES[name][0].graph)["summary"]
    assert len(data["edges"]) == len(diff.edges)
    assert {key for move in data["moves"] for key in move} <= {"kind", "before", "after", "statements", "of"}


def test_a_node_in_the_json_is_one_of_the_graphs():
    data = json.loads(graph_diff_json.render(SHOWN["is_none"].diff))
    before = {node["id"]: node for node in json.loads(graph_json.render(SIDES["is_none"][0].graph))["nodes"]}
    found = [node["before"] for node in data["nodes"] if node["before"]]
    assert sorted(found, key=str) == sorted(before.values(), key=str)


def test_a_comparison_is_no_graph():
    with pytest.raises(InputError, match="a comparison of two graphs, not a graph"):
        graph_json.parse(graph_diff_json.render(SHOWN["is_none"].diff))


# --- page ------------------------------------------------------------------------------------------------------------


def data_of(text: str) -> dict:
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)[1])


def test_the_pages_colours_are_those_of_the_picture():
    text = graph_diff_html.render(SHOWN["is_none"], CONTEXTS["is_none"], NO_SVG)
    light = text[: text.index("@media")]
    for status, look in graph_diff_dot.DIFF_LOOKS.items():
        assert re.search(f"--{status}: (#[0-9a-f]+);", light)[1] == look.fill
        assert re.search(f"--{status}-line: (#[0-9a-f]+);", light)[1] == look.line


def test_a_page_has_both_sides_of_a_node():
    items = {
        item["key"]: item for item in data_of(graph_diff_html.render(SHOWN["set_value"], CONTEXTS["set_value"], NO_SVG))["items"]
    }
    changed = next(item for item in items.values() if item.get("state") == "changed")
    assert changed["state_text"] == "changed: graph break: unsupported-api -> fallback: loop-body-break"
    assert ["runs per step", "15", "1"] in changed["figures"]
    assert changed["notes"][0] == "took 5 of 5 statements of line 24 of update"
    gone = next(item for item in items.values() if item.get("old_statements"))
    assert (gone["state"], "statements" in gone, len(gone["figures"][0])) == ("gone", False, 3)
    kept = next(item for item in items.values() if item.get("state") == "kept" and item.get("statements"))
    assert "old_statements" not in kept
    assert {row[0] for row in kept["versions"]} == {"before SIR_0", "after SIR_0"}


def test_a_page_tells_how_a_node_was_found():
    items = data_of(graph_diff_html.render(SHOWN["detection_loss"], CONTEXTS["detection_loss"], NO_SVG))["items"]
    changed = next(item for item in items if item.get("state") == "changed")
    assert changed["notes"][-1] == "found by: moved (the same function and breaks, on other lines or in another file)"
    assert changed["place"] == ("cases/detection_loss.py:72-74, lines 72-74 -> cases/detection_loss_fixed.py:40-61, lines 40-61")


@needs_dot
@each
def test_a_page_opens_without_a_word_and_without_the_network(chromium, tmp_path, name):
    file = tmp_path / "diff.html"
    svg = graph_svg.render(graph_diff_dot.render(SHOWN[name], CONTEXTS[name], page=True))
    file.write_text(graph_diff_html.render(SHOWN[name], CONTEXTS[name], svg), encoding="utf-8")
    chromium.open(file, "")
    assert chromium.complaints == []
    assert [url for url in chromium.requests if not url.startswith("file:")] == []
    assert chromium.value("window.hit === undefined")
    assert chromium.value("document.querySelectorAll('#details button').length") == len(SHOWN[name].picture.nodes)


@needs_dot
def test_a_click_shows_before_and_after(chromium, tmp_path):
    shown, context = SHOWN["set_value"], CONTEXTS["set_value"]
    file = tmp_path / "diff.html"
    svg = graph_svg.render(graph_diff_dot.render(shown, context, page=True))
    file.write_text(graph_diff_html.render(shown, context, svg), encoding="utf-8")
    key = next(f"n{at}" for at, node in enumerate(shown.picture.nodes) if shown.status(node) == "changed")
    chromium.open(file, f"#{key}")
    text = chromium.value("document.getElementById('details').innerText").splitlines()
    assert "changed: graph break: unsupported-api -> fallback: loop-body-break" in text
    assert "\tbefore\tafter" in text
    assert "ops per step\t0\t18" in text
    chromium.click("#details .items button.gone")
    text = chromium.value("document.getElementById('details').innerText").splitlines()
    assert any(line.startswith("gone: ") for line in text)


def test_findings_of_both_sides_say_whose_they_are():
    sample = GRAPHS["five_breaks"]
    region = next(node for node in sample.nodes if node.kind == "dynamic")
    found = runpy.run_path(str(GOLDEN.parent / "unit" / "report" / "graph_sample.py"))["with_finding"]("five_breaks")
    shown = compared(sample, sample)
    items = data_of(graph_diff_html.render(shown, DiffContext(found, found), NO_SVG))["items"]
    (item,) = [item for item in items if item.get("id") == region.id]
    assert [entry["head"] for entry in item["findings"]] == [
        "before: finding 2: warning graph-break", "after: finding 2: warning graph-break",
    ]  # fmt: skip


def test_the_page_of_one_run_has_no_columns_for_two():
    whole = graph_html.PageData(compared(GRAPHS["thirty"], GRAPHS["thirty"]).picture, words.DiffContext().after).all()
    assert whole["figures_head"] == []


def test_edges_tell_their_status():
    shown = SHOWN["five_breaks"]
    gone = next(link for link in shown.picture.links if link.passes and shown.link_status(link) == "gone")
    assert words.edge_text(gone.edges[0], shown).startswith("gone: ")
    assert isinstance(shown.edge(gone.edges[0]), EdgeDiff)
