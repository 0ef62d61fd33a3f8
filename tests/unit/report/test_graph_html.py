"""The page in a real browser: what it shows on a click and on a search, and that a hostile name does nothing."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import browser
import pytest
from graph_sample import CONTEXT, NASTY, SAMPLES, each_sample, needs_dot, shown, with_finding

from sotprobe.analyze.graph_fold import Picture
from sotprobe.report import graph_dot, graph_html, graph_svg
from sotprobe.report.graph_words import Context

NO_SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 10"></svg>'


def page(whole: Picture, context: Context = CONTEXT) -> str:
    return graph_html.render(whole, context, graph_svg.render(graph_dot.render(whole, context, page=True)))


class Elements(HTMLParser):
    """Every start tag with its attributes, and the text of scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data):
        if self.lasttag == "script" and self.scripts:
            self.scripts[-1] += data


def data_of(text: str) -> dict:
    return json.loads(Elements(text).scripts[0])


# --- the file --------------------------------------------------------------------------------------------------------


@each_sample
def test_the_file_names_nothing_outside_itself(name):
    elements = Elements(graph_html.render(shown(name), CONTEXT, NO_SVG))
    tags = [tag for tag, _ in elements.tags]
    assert tags.count("script") == 2
    assert tags.count("style") == 1
    assert not {"link", "img", "iframe", "object", "base"} & set(tags)
    for _, attributes in elements.tags:
        assert not {"src", "href", "style"} & attributes.keys()
        assert not [key for key in attributes if key.startswith("on")]


def test_only_the_pages_own_script_may_run():
    text = graph_html.render(shown("hostile"), CONTEXT, NO_SVG)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1].replace("&#39;", "'")
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert re.search(r"script-src 'sha256-[A-Za-z0-9+/=]{44}';", policy)


def test_the_data_has_every_node_and_the_members_of_groups():
    data = data_of(graph_html.render(shown("thirty", depth=3), CONTEXT, NO_SVG))
    items = {item["key"]: item for item in data["items"]}
    assert data["order"] == [f"n{index}" for index in range(5)]
    assert [len(items[key]["members"]) for key in data["order"]] == [9, 7, 11, 9, 18]
    assert items["m0"]["drawn"] == "n0"
    assert items["m53"]["drawn"] == "n4"
    assert items["m0"]["id"] == SAMPLES["thirty"].nodes[0].id


def test_no_text_can_end_the_data():
    text = graph_html.render(shown("hostile"), with_finding("hostile", NASTY[0]), NO_SVG)
    script = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)[1]
    assert json.loads(script)["items"]
    assert script.isascii()
    assert not set("<>&\u2028\u2029") & set(script)


def test_the_pages_colours_are_those_of_the_picture():
    text = graph_html.render(shown("one_subgraph"), CONTEXT, NO_SVG)
    light = text[: text.index("@media")]
    for state, look in graph_dot.LOOKS.items():
        fill, line = (re.search(f"--{state}{part}: (#[0-9a-f]+);", light)[1] for part in ("", "-line"))
        full = [color if len(color) == 7 else "#" + "".join(digit * 2 for digit in color[1:]) for color in (fill, line)]
        assert full == [look.fill, look.line]


def test_many_statements_are_cut_and_counted(monkeypatch):
    monkeypatch.setattr(graph_html, "MOST_STATEMENTS", 5)
    item = data_of(graph_html.render(shown("one_subgraph"), CONTEXT, NO_SVG))["items"][0]
    assert sum(len(group["texts"]) for group in item["statements"]) == 6
    assert item["statements"][-1]["texts"] == ["and 33 more"]


# --- in a browser ----------------------------------------------------------------------------------------------------


@pytest.fixture
def view(chromium, tmp_path):
    """view(picture, context) opens its page and gives the browser."""

    def show(whole: Picture, context: Context = CONTEXT, fragment: str = "") -> browser.Browser:
        file = tmp_path / "graph.html"
        file.write_text(page(whole, context), encoding="utf-8")
        chromium.open(file, fragment)
        return chromium

    return show


def details(opened: browser.Browser) -> list[str]:
    return [line for line in opened.value("document.getElementById('details').innerText").splitlines() if line]


def matched(opened: browser.Browser) -> list[str]:
    return opened.value("[...document.querySelectorAll('.node.match')].map((node) => node.id)")


def view_box(opened: browser.Browser) -> list[float]:
    return [float(part) for part in opened.value("document.querySelector('svg').getAttribute('viewBox')").split()]


@needs_dot
@each_sample
def test_a_page_opens_without_a_word_and_without_the_network(view, name):
    opened = view(shown(name))
    assert opened.complaints == []
    assert [url for url in opened.requests if not url.startswith("file:")] == []
    assert len(opened.requests) == 1
    assert details(opened)[0] == "Nodes in program order"
    assert opened.value("document.querySelectorAll('#details button').length") == len(shown(name).nodes)


@needs_dot
def test_a_click_on_a_subgraph_shows_all_of_it(view):
    opened = view(shown("cache_full"), with_finding("cache_full"))
    opened.click("#n1")
    text = details(opened)
    assert text[:6] == [
        "all nodes",
        "func",
        "cases/storm.py:9-10, lines 9-10",
        "cache full: shape-churn",
        "x20 recompiled: x.shape[0] 2, 3, 4…",
        "figures",
    ]
    assert {"ops\t24", "runs per step\t2.50", "compiles\t20", "compile ms, all of them\t1292"} <= set(text)
    assert "SIR_1\t0\t24\t3\t61.0\t" in text
    assert "SIR_3\t1\t24\t3\t59.0\tx.shape[0] == 2 (now 3)" in text
    assert "SIR_39\t19\t24\t3\t77.0\tx.shape[0] == 20 and 18 older (now 21)" in text
    assert text[text.index("inputs") + 2].startswith("var_14\tfloat32\t[?, 8]\t[2, 8], [3, 8]")
    assert text[text.index("comes from") + 1] == "func lines 7-9: compiled once: [?, 8] float32, ? = 2, 3, 4…"
    at = text.index("cases/storm.py:9 in func for size in sizes:")
    assert text[at + 1].startswith("api || var_1 = paddle.matmul (var_0)")
    assert text[-2:] == ["identity across runs", "cases/storm.py:func@9"]
    assert opened.value("document.querySelector('#details a').getAttribute('href')") == "../cases/storm.py#L9"
    assert opened.value("[...document.querySelectorAll('.current')].map((found) => found.id).sort()") == ["e0", "e2", "n1"]


@needs_dot
def test_a_click_on_a_dynamic_region_shows_its_line_and_finding(view):
    opened = view(shown("five_breaks"), with_finding("five_breaks"))
    opened.click("#n2")
    text = details(opened)
    assert text[1:10] == [
        "Net.forward",
        "cases/net.py:16, line 16",
        "graph break: tensor-if",
        "if x.mean() > 0: # <- tensor-if",
        "finding 2: warning graph-break",
        "a title",
        "cost: 2.00 ms per step",
        "Mend it: a title",
        "figures",
    ]
    assert opened.value("[...document.querySelectorAll('#details a')].map((a) => a.getAttribute('href'))") == [
        "../cases/net.py#L16",
        "d.json#/findings/1",
    ]


@needs_dot
def test_details_lead_from_node_to_node_and_back(view):
    opened = view(shown("five_breaks"))
    opened.click("#n2")
    opened.click("#details .items button")
    assert details(opened)[1:3] == ["Net.forward", "cases/net.py:14-16, lines 14-16"]
    opened.click("#details .back")
    assert details(opened)[0] == "Nodes in program order"
    opened.click("#e0 path")
    assert details(opened)[:2] == ["all nodes", "what runs next"] or details(opened)[1] == "a tensor"


@needs_dot
def test_a_group_leads_to_its_members(view):
    opened = view(shown("thirty", depth=3))
    opened.click("#n1")
    text = details(opened)
    assert text[1:5] == ["ppdet.modeling.necks", "ppdet/modeling/necks/fpn.py", "4 subgraphs", "3 dynamic regions"]
    opened.value("[...document.querySelectorAll('#details button')].find((b) => b.textContent.includes('line 82')).click()")
    assert details(opened)[1:4] == ["FPN.forward", "ppdet/modeling/necks/fpn.py:82, line 82", "graph break: numpy-api"]
    assert opened.value("document.querySelector('.node.current').id") == "n1"


@needs_dot
def test_a_search_marks_what_it_finds_and_steps_through_it(view):
    opened = view(shown("five_breaks"))
    opened.press("/")
    opened.type("NUMPY clip")
    assert matched(opened) == ["n8"]
    assert opened.value("document.getElementById('found').textContent") == "1 found"
    assert float(opened.value("getComputedStyle(document.getElementById('n2')).opacity")) < 0.5
    opened.press("Enter")
    assert details(opened)[2:4] == ["cases/net.py:26, line 26", "graph break: numpy-api"]
    opened.press("Escape")
    assert matched(opened) == []
    assert opened.value("getComputedStyle(document.getElementById('n2')).opacity") == "1"
    assert details(opened)[0] == "Nodes in program order"


@needs_dot
@pytest.mark.parametrize(
    ("sought", "found"),
    [
        ("scale ==", ["n11"]),
        ("graph break", ["n2", "n5", "n7", "n8", "n9"]),
        ("SIR_6", ["n4"]),
        ("matmul then", ["n3"]),
        ("zz", []),
    ],
)
def test_a_search_looks_at_guards_causes_names_and_statements(view, sought, found):
    opened = view(shown("five_breaks"))
    opened.click("#search")
    opened.type(sought)
    assert sorted(matched(opened), key=lambda key: int(key[1:])) == found


@needs_dot
def test_a_search_finds_what_is_folded(view):
    opened = view(shown("thirty", depth=3))
    opened.click("#search")
    opened.type("target.shape")
    opened.press("Enter")
    assert opened.value("document.getElementById('found').textContent") == "1 of 4"
    assert details(opened)[2] == "ppdet/modeling/backbones/resnet.py:132-149, lines 132-149"
    assert matched(opened) == ["n0", "n2", "n3", "n4"]
    opened.press("Enter")
    assert details(opened)[1] == "DETRHead.forward"
    assert "current" in opened.value("document.getElementById('n2').getAttribute('class')")


@needs_dot
def test_the_wheel_zooms_where_the_mouse_is_and_dragging_moves(view):
    opened = view(shown("thirty"))
    left, top, width, _ = view_box(opened)
    scale = opened.value("document.getElementById('stage').clientWidth") / width
    assert scale == pytest.approx(96 / 72)  # 100 %: a point of the picture is a point of the screen
    x, y, frame_x, frame_y = opened.value(
        "(() => { const node = document.getElementById('n0').getBoundingClientRect();"
        " const frame = document.getElementById('stage').getBoundingClientRect();"
        " return [node.left + 20, node.top + 10, frame.left, frame.top]; })()"
    )
    opened.mouse("mouseWheel", x, y, deltaX=0, deltaY=-500)
    zoomed = view_box(opened)
    assert zoomed[2] < width
    new_scale = scale * width / zoomed[2]
    before = (left + (x - frame_x) / scale, top + (y - frame_y) / scale)
    after = (zoomed[0] + (x - frame_x) / new_scale, zoomed[1] + (y - frame_y) / new_scale)
    assert after == pytest.approx(before, abs=0.5)
    opened.mouse("mousePressed", x, y)
    opened.mouse("mouseMoved", x + 100, y + 50)
    opened.mouse("mouseReleased", x + 100, y + 50)
    moved = view_box(opened)
    assert (zoomed[0] - moved[0], zoomed[1] - moved[1]) == pytest.approx((100 / new_scale, 50 / new_scale), abs=0.5)
    assert details(opened)[0] == "Nodes in program order"  # the end of a drag is no click
    opened.press("f")
    assert view_box(opened)[2] > width
    opened.press("0")
    assert view_box(opened)[2] == pytest.approx(width)


@needs_dot
def test_an_address_opens_its_node(view):
    opened = view(shown("thirty"), fragment="#ppdet%2Fmodeling%2Flosses%2Fdetr_loss.py%3ADETRLoss.forward%4059")
    assert details(opened)[1:3] == ["DETRLoss.forward", "ppdet/modeling/losses/detr_loss.py:63-80, lines 63-80"]
    box, frame = (
        opened.value(
            f"(() => {{ const b = document.querySelector('{what}').getBoundingClientRect(); return [b.left, b.right]; }})()"
        )
        for what in (".node.current", "#stage")
    )
    assert frame[0] <= box[0]
    assert box[1] <= frame[1]


@needs_dot
def test_a_broken_address_opens_the_list(view):
    opened = view(shown("one_subgraph"), fragment="#%E0%A4%A")
    assert details(opened)[0] == "Nodes in program order"
    assert opened.complaints == []


@needs_dot
def test_nodes_can_be_reached_by_the_keyboard(view):
    opened = view(shown("five_breaks"))
    opened.value("document.getElementById('n2').focus()")
    opened.press("Enter")
    assert details(opened)[2] == "cases/net.py:16, line 16"


@needs_dot
def test_hostile_names_are_text_wherever_they_are_shown(view):
    opened = view(shown("hostile"), with_finding("hostile", NASTY[0]))
    nodes = len(shown("hostile").nodes)
    for index in range(nodes):
        opened.value(f"document.getElementById('n{index}').dispatchEvent(new MouseEvent('click', {{bubbles: true}}))")
        assert details(opened)[0] == "all nodes"
    opened.click("#search")
    opened.type("<script>window.hit=1</script>")
    assert "n0" in matched(opened)
    assert opened.value("typeof window.hit") == "undefined"
    assert opened.value("document.querySelectorAll('script').length") == 2
    assert opened.value("document.querySelectorAll('#details b, #details img, #details script, #stage img').length") == 0
    assert opened.complaints == []
    assert len(opened.requests) == 1


@needs_dot
def test_a_hostile_name_is_told_in_full_in_its_details(view):
    opened = view(shown("hostile"))
    for index, text in ((0, NASTY[0]), (3, NASTY[1]), (24, NASTY[8])):
        opened.value(f"document.getElementById('n{index}').dispatchEvent(new MouseEvent('click', {{bubbles: true}}))")
        assert details(opened)[1] == text
        assert f"api || var_1 = {text} (var_0)" in details(opened)


@needs_dot
@pytest.mark.parametrize("name", ["five_breaks", "thirty", "hostile"])
def test_texts_fit_into_their_nodes(view, name):
    opened = view(shown(name))
    too_wide = opened.value(
        "[...document.querySelectorAll('.node')].flatMap((node) => {"
        " const frame = node.querySelector('path, polygon, ellipse').getBoundingClientRect();"
        " return [...node.querySelectorAll('text')].filter((text) => { const box = text.getBoundingClientRect();"
        " return box.left < frame.left - 1 || box.right > frame.right + 1 || box.bottom > frame.bottom + 1; })"
        ".map((text) => text.textContent); })"
    )
    # graphviz rounds each glyph to a pixel, so a line of sixty n's comes out too narrow; the errors of other words cancel out.
    assert [text for text in too_wide if "nnnnnnnn" not in text] == []


@needs_dot
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_stand_out_from_what_is_behind_them(view, scheme):
    view(shown("one_subgraph")).call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    opened = view(shown("five_breaks"))
    colors = opened.value(
        "[...document.querySelectorAll('.node')].map((node) => [getComputedStyle(node.querySelector('text')).fill,"
        " getComputedStyle(node.querySelector('path, polygon, ellipse')).fill])"
        ".concat([[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]])"
    )
    opened.call("Emulation.setEmulatedMedia", features=[])
    assert all(contrast(*pair) > 7 for pair in colors), colors
    assert (luminance(colors[-1][1]) < 0.1) == (scheme == "dark")


def luminance(color: str) -> float:
    """The relative luminance of WCAG 2."""
    parts = [int(part) / 255 for part in re.findall(r"\d+", color)[:3]]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)
