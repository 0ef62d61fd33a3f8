"""The SVG as graphviz draws it: what is in it, and that a hostile name is nothing but text."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from graph_sample import CONTEXT, each_sample, needs_dot, shown, with_finding

from sotprobe.errors import EXIT_FAILED, ToolMissing
from sotprobe.report import graph_dot, graph_svg
from sotprobe.report.dot_text import NOT_XML

SVG = "{http://www.w3.org/2000/svg}"
HREF = "{http://www.w3.org/1999/xlink}href"
ALLOWED = {"svg", "g", "title", "polygon", "polyline", "path", "text", "a", "ellipse"}


def drawn(name: str, context=CONTEXT, **how: object) -> ElementTree.Element:
    return ElementTree.fromstring(graph_svg.render(graph_dot.render(shown(name, **how), context)))


def groups(root: ElementTree.Element, kind: str) -> dict[str, ElementTree.Element]:
    return {group.get("id"): group for group in root.iter(f"{SVG}g") if kind in group.get("class", "").split()}


def texts(element: ElementTree.Element) -> list[str]:
    return [text.text or "" for text in element.iter(f"{SVG}text")]


@needs_dot
@each_sample
def test_every_node_and_link_is_there(name):
    root, whole = drawn(name), shown(name)
    assert groups(root, "node").keys() == {f"n{index}" for index in range(len(whole.nodes))}
    assert groups(root, "edge").keys() == {f"e{index}" for index in range(len(whole.links))}
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= ALLOWED
    assert not [name for element in root.iter() for name in element.attrib if name.startswith("on")]


@needs_dot
@each_sample
def test_every_node_says_in_its_title_what_the_tooltip_says(name):
    nodes = groups(drawn(name), "node")
    titles = [nodes[f"n{index}"].find(f"{SVG}title").text for index in range(len(nodes))]
    expected = ["\n".join(graph_dot.tooltip(node, CONTEXT)) for node in shown(name).nodes]
    assert titles == [NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text) for text in expected]


@needs_dot
def test_a_node_links_to_its_line_and_to_its_finding():
    root = drawn("five_breaks", with_finding("five_breaks", "<i>\\N"))
    region = groups(root, "node")["n2"]
    links = {anchor.get(HREF): anchor for anchor in region.iter(f"{SVG}a")}
    assert links.keys() == {"../cases/net.py#L16", "d.json#/findings/1"}
    assert links["d.json#/findings/1"].find(f"{SVG}title").text == "<i>\\N"
    assert "finding 2: graph-break" in texts(region)


@needs_dot
def test_the_classes_are_those_of_the_style_sheet():
    nodes = groups(drawn("five_breaks"), "node")
    assert nodes["n0"].get("class") == "node subgraph compiled"
    assert nodes["n2"].get("class") == "node dynamic"
    assert nodes["n1"].get("class") == "node tensor"
    assert groups(drawn("thirty", depth=3), "node")["n0"].get("class") == "node group recompiled"


@needs_dot
def test_hostile_names_are_shown_as_they_are():
    nodes = groups(drawn("hostile"), "node")
    shown_texts = [text for node in nodes.values() for text in texts(node)]
    assert "</script><script>window.hit=1</script>" in shown_texts
    assert "\"'`&amp;&lt;<b>bold</b>" in shown_texts
    assert "\\N\\G\\l\\n\\\\ \\" in shown_texts
    assert "line one line two tab\\x00\\x1b[31mred\\x07" in shown_texts
    assert "<img src=x onerror=window.hit=1>" in shown_texts
    assert "]]><!-- -- > --> {{ 7 * 7 }} {% raw %} %s {0} $…" in shown_texts
    assert not any(len(text) > 130 for text in shown_texts)


@needs_dot
def test_reading_order_goes_down_in_one_column():
    nodes = groups(drawn("five_breaks"), "node")
    tops = [float(next(nodes[f"n{index}"].iter(f"{SVG}text")).get("y")) for index in (0, 2, 3, 5, 6, 7, 8, 9, 11)]
    assert tops == sorted(tops)


@needs_dot
def test_thirty_subgraphs_fit_three_screens():
    root = drawn("thirty")
    width, height = (float(root.get(name).removesuffix("pt")) * 96 / 72 for name in ("width", "height"))
    assert (width, height) < (3200, 2600)
    assert min(float(text.get("font-size")) for text in root.iter(f"{SVG}text")) >= 10


def test_without_graphviz_the_user_is_told_how_to_get_it(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolMissing) as raised:
        graph_svg.render("digraph { a }")
    assert raised.value.message == "graphviz is not installed: there is no `dot` on PATH"
    assert "apt-get install graphviz" in raised.value.hint
    assert raised.value.exit_code == EXIT_FAILED


@needs_dot
def test_what_graphviz_refuses_is_told_in_its_words():
    with pytest.raises(ToolMissing, match=r"graphviz cannot draw this: .*syntax error"):
        graph_svg.render("digraph { a -> }")
