"""The DOT text: what it shows, in what order, and that no text of others is anything but text in it."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from graph_sample import CONTEXT, GOLDEN, NASTY, PICTURES, SAMPLES, each_picture, each_sample, shown, with_finding

from sotprobe.analyze.graph_fold import Group, picture
from sotprobe.model.graph import CONTROL, SUBGRAPH
from sotprobe.report import graph_dot
from sotprobe.report.dot_text import BACKSLASH, escape
from sotprobe.report.graph_dot import LOOKS


def node_lines(text: str) -> dict[str, str]:
    return dict(re.findall(r"^ *(n\d+) \[(id=.*)\];$", text, re.MULTILINE))


def edge_lines(text: str) -> dict[tuple[str, str], str]:
    found = re.findall(r"^ *(n\d+) -> (n\d+) \[(id=.*)\];$", text, re.MULTILINE)
    return {(source, target): rest for source, target, rest in found}


def words_of(line: str) -> list[str]:
    """The texts of a label, cell by cell."""
    label = re.search(r"label=<(.*?)</TABLE>>", line)
    return re.findall(r">([^<>]+)<", label[1] if label else "")


@each_picture
def test_matches_its_golden(name):
    golden = (GOLDEN / f"graph_{name}.dot").read_text(encoding="utf-8")
    assert graph_dot.render(PICTURES[name], CONTEXT) == golden, "if wanted: python tools/update_golden.py, and read the diff"


def test_every_golden_belongs_to_a_picture():
    names = {path.stem.removeprefix("graph_") for path in GOLDEN.glob("graph_*.dot")}
    assert {name for name in names if not name.startswith("diff_")} == set(PICTURES)


@each_sample
def test_every_node_and_link_is_drawn_once(name):
    whole = shown(name)
    text = graph_dot.render(whole, CONTEXT)
    assert sorted(node_lines(text), key=lambda key: int(key[1:])) == [f"n{index}" for index in range(len(whole.nodes))]
    keys = {node.id: f"n{index}" for index, node in enumerate(whole.nodes)}
    assert list(edge_lines(text)) == [(keys[link.source], keys[link.target]) for link in whole.links]


def test_many_versions_are_one_node_that_tells_their_guards():
    lines = node_lines(graph_dot.render(shown("cache_full"), CONTEXT))
    assert len(lines) == 4
    assert words_of(lines["n1"]) == [
        "lines 9-10", "SIR_1 … SIR_39", "cache full: shape-churn", "24 ops, 2.50 runs per step", "fwd 0.412, bwd 0.833 ms",
        "x20 recompiled: x.shape[0] 2, 3, 4…", "x20 compiled in 1292 ms",
    ]  # fmt: skip
    assert "SIR_3: x.shape[0] == 2 (now 3)&#10;" in lines["n1"]


def test_a_dynamic_region_says_why_and_quotes_its_line():
    lines = node_lines(graph_dot.render(shown("five_breaks"), with_finding("five_breaks")))
    assert words_of(lines["n2"]) == [
        "line 16", "graph break: tensor-if", "if x.mean() &gt; 0: # &lt;- tensor-if", "1 op per step", "0.0340 ms per step",
        "finding 2: graph-break",
    ]  # fmt: skip
    assert 'HREF="d.json#/findings/1"' in lines["n2"]
    assert 'URL="../cases/net.py#L16"' in lines["n2"]
    assert "finding 2: a title: 2.00 ms per step" in lines["n2"]


def test_what_is_not_known_is_not_written():
    lines = node_lines(graph_dot.render(shown("from_log"), CONTEXT))
    assert [words_of(line) for line in lines.values()] == [
        ["def in line 12", "SIR_0", "1 run per step"],
        ["line 20", "graph break: builtin-call"],
        ["def in line 12, after line 20", "SIR_1", "1 run per step"],
    ]
    assert "None" not in "".join(lines.values())


@pytest.mark.parametrize("state", LOOKS)
def test_every_state_has_a_look_of_its_own_that_the_legend_shows(state):
    node = next((node for graph in SAMPLES.values() for node in graph.nodes if node.state == state), None)
    assert node is not None, "no sample has such a node"
    text = graph_dot.render(picture(replace(SAMPLES["one_subgraph"], nodes=(node,), edges=())))
    assert f'fillcolor="{LOOKS[state].fill}", color="{LOOKS[state].line}"' in node_lines(text)["n0"]
    assert f'BGCOLOR="{LOOKS[state].fill}" COLOR="{LOOKS[state].line}"' in text
    assert [look.fill for look in LOOKS.values()].count(LOOKS[state].fill) == 1


def test_control_edges_are_dashed_and_tensor_edges_say_what_passes():
    edges = edge_lines(graph_dot.render(shown("cache_full"), CONTEXT))
    assert words_of(edges["n0", "n1"]) == [" [?, 8] float32 ", " ? = 2, 3, 4… "]
    assert "dashed" not in edges["n0", "n1"]
    assert words_of(edges["n0", "n2"]) == []
    assert 'style="dashed"' in edges["n0", "n2"]


def test_a_tensor_node_says_once_what_passes():
    text = graph_dot.render(shown("five_breaks"), CONTEXT)
    assert words_of(node_lines(text)["n1"]) == ["var_12 [?, 128] float32 ? = 64"]
    assert all(words_of(rest) == [] for ends, rest in edge_lines(text).items() if "n1" in ends)


def test_a_folded_function_is_one_node_that_counts():
    whole = shown("thirty", most=10)
    lines = node_lines(graph_dot.render(whole, CONTEXT))
    assert isinstance(whole.nodes[0], Group)
    assert words_of(lines["n0"]) == [
        "ResNet.forward", "5 subgraphs, 6 versions", "4 dynamic regions", "265 ops, 5 runs per step", "2.30 ms per step",
    ]  # fmt: skip
    assert 'shape="folder"' in lines["n0"]


def test_a_page_has_its_own_head_and_links():
    text = graph_dot.render(shown("five_breaks"), with_finding("five_breaks"), page=True)
    assert "URL=" not in text
    assert "HREF=" not in text
    assert "compiled once</TD>" not in text  # the legend
    assert node_lines(text).keys() == node_lines(graph_dot.render(shown("five_breaks"), CONTEXT)).keys()


# --- order -----------------------------------------------------------------------------------------------------------


def test_a_node_that_nothing_leads_to_comes_after_the_one_before_it():
    sample = SAMPLES["from_log"]
    apart = replace(sample, edges=())
    assert re.findall(r"(n\d) -> (n\d) \[style=\"invis\"", graph_dot.render(picture(apart))) == [("n0", "n1"), ("n1", "n2")]
    assert "invis" not in graph_dot.render(picture(sample))


def test_an_edge_back_does_not_turn_the_order_round():
    sample = SAMPLES["from_log"]
    back = replace(sample.edges[0], source=sample.nodes[2].id, target=sample.nodes[0].id, kind=CONTROL)
    edges = edge_lines(graph_dot.render(picture(replace(sample, edges=(*sample.edges, back)))))
    assert "constraint" not in edges["n0", "n1"]
    assert 'constraint="false"' in edges["n2", "n0"]


def test_thirty_subgraphs_fill_columns_with_whole_functions():
    text = graph_dot.render(shown("thirty"), CONTEXT)
    (tops,) = re.findall(r'\{ rank="same"; (.*) \}', text)
    columns = len(tops.split())
    assert 3 <= columns <= 6
    assert text.count("subgraph cluster_") == 6
    across = [rest for rest in edge_lines(text).values() if "constraint" in rest]
    assert len(across) == columns - 1


def test_a_function_that_is_longer_than_a_column_is_split_and_says_so():
    one = SAMPLES["thirty"]
    name, path = "Net.forward", "net.py"
    nodes = tuple(replace(node, name=name, site=replace(node.site, path=path)) for node in one.nodes if node.kind == SUBGRAPH)
    text = graph_dot.render(picture(replace(one, nodes=nodes, edges=())))
    assert re.findall(r"Net.forward  net.py  \((\d of \d)\)", text) == ["1 of 3", "2 of 3", "3 of 3"]


# --- escaping --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("a < b && c > \"d\"", "a &lt; b &amp;&amp; c &gt; &quot;d&quot;"),
        ("&lt;", "&amp;lt;"),
        ("\\N\\G", f"{BACKSLASH}N{BACKSLASH}G"),
        ("a\nb", f"a{BACKSLASH}nb"),
        ("\x00\x1b[31m", f"{BACKSLASH}x00{BACKSLASH}x1b[31m"),
        ("\u202e\u2028\ud800", f"{BACKSLASH}u202e{BACKSLASH}u2028{BACKSLASH}ud800"),
        ("\ufffe\uffff", "\ufffd\ufffd"),
        ("plain, 中文, אבג", "plain, 中文, אבג"),
    ],
)  # fmt: skip
def test_escape(text, escaped):
    assert escape(text) == escaped


def test_nothing_of_a_hostile_name_is_left_for_dot_to_act_on():
    text = graph_dot.render(shown("hostile"), with_finding("hostile", NASTY[0]))
    assert "\\" not in text
    assert set(re.findall(r"</?([A-Za-z]+)", text)) == {"TABLE", "TR", "TD", "B", "FONT"}
    assert all(char == "\n" or char.isprintable() for char in text)
    assert max(len(line) for line in text.splitlines()) < 6000
    assert "window.hit" in text  # it is shown all the same
    assert not re.search(r'(HREF|URL)="javascript', text)


def test_no_text_is_too_long_for_a_node():
    lines = node_lines(graph_dot.render(shown("hostile"), CONTEXT))
    for line in lines.values():
        assert all(len(re.sub("&[a-z]+;", "x", cell)) < 130 for cell in words_of(line))
