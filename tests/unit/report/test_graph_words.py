"""What is written on nodes and edges."""

from __future__ import annotations

from dataclasses import replace

import pytest
from graph_sample import SAMPLES, shown

from sotprobe.analyze.graph_fold import Link
from sotprobe.model import GraphEdge, GraphNode, GraphSummary, GraphVersion, Guard, SourceSite
from sotprobe.model.graph import (
    BREAK,
    CACHE_FULL,
    COMPILE_LIMIT,
    COMPILED,
    CONTROL,
    DROPPED,
    DYNAMIC_REGION,
    PASSES,
    RECOMPILED,
    SUBGRAPH,
    TOO_SMALL,
)
from sotprobe.report import graph_words as words
from sotprobe.report.text import size
from sotprobe.report.words import measures

REGION = {"kind": DYNAMIC_REGION, "state": DYNAMIC_REGION}


def node(identity: str = "m.py:Net.forward", **more: object) -> GraphNode:
    values = {"kind": SUBGRAPH, "name": "Net.forward", "state": COMPILED, "site": SourceSite("m.py", 7, "forward")}
    return GraphNode(identity, **{**values, **more})


def version(*values: str, expression: str = "frame.f_locals['x'].shape[0]", seen: str | None = None) -> GraphVersion:
    """A version that came after the guards for ``values`` failed, the newest first as Paddle tells them."""
    return GraphVersion("SIR_1", 1, tuple(Guard(f"{expression} == {value}", value, seen) for value in values))


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({}, "line 7"),
        ({"last_line": 7}, "line 7"),
        ({"last_line": 30}, "lines 7-30"),
        ({"site": None}, "line not known"),
        ({"site": SourceSite("m.py", 7, "forward", "function")}, "def in line 7"),
        ({"site": SourceSite("m.py", 7, "forward", "function"), "chain": (12, 20)}, "def in line 7, after line 20"),
        ({"site": SourceSite("m.py", 7, "forward", "function"), "chain": (0,)}, "def in line 7, after a break"),
        ({"site": SourceSite("m.py", 22, "work"), "last_line": 25}, "lines 22-25 of work"),
        ({"site": SourceSite("m.py", 22, "work"), "last_line": 25, "chain": (30,)}, "lines 22-25 of work, after line 30"),
    ],
)
def test_lines(changes, text):
    assert words.lines(node(**changes)) == text


@pytest.mark.parametrize(
    ("identity", "side"),
    [
        ("m.py:f@20then", "then"),
        ("m.py:f@20then,35else", "else"),
        ("m.py:f@20then,35", ""),
        ("m.py:f@20", ""),
        ("m.py:and_then", ""),
        ("m@2then.py:f", ""),
        ("m.py:f@20then!break:22", ""),
    ],
)
def test_the_side_of_an_if_is_read_from_the_chain_only(identity, side):
    assert words.side(node(identity)) == side


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({}, "compiled once"),
        ({"compiles": 2}, "compiled"),
        ({"state": RECOMPILED, "cause": "shape-churn"}, "recompiled: shape-churn"),
        ({"state": CACHE_FULL, "cause": "float-guard"}, "cache full: float-guard"),
        ({"state": CACHE_FULL, "why": COMPILE_LIMIT, "cause": "compile-time"}, "compile-time limit"),
        ({"state": DROPPED, "why": TOO_SMALL}, "too small, runs dynamically"),
        ({**REGION, "why": BREAK, "cause": "item"}, "graph break: item"),
        ({**REGION, "why": CACHE_FULL, "cause": "cache-full"}, "cache full, runs dynamically"),
    ],
)
def test_why(changes, text):
    assert words.why(node(**changes)) == text


def test_versions_are_told_by_the_values_that_their_guards_met():
    versions = (
        GraphVersion("SIR_0", 0), version("2", seen="3"), version("3", "2", seen="4"), version("4", "3", "2", seen="5")
    )  # fmt: skip
    assert words.guard_values(versions[:1]) == ""
    assert words.guard_values(versions[:2]) == "x.shape[0] 2, 3"
    assert words.guard_values(versions) == "x.shape[0] 2, 3, 4…"
    assert words.guard_values(versions[3:]) == "x.shape[0] 2, 3, 4…"  # one step of it
    assert words.recompiles(node(state=RECOMPILED, compiles=4, versions=versions)) == "x4 recompiled: x.shape[0] 2, 3, 4…"
    assert words.recompiles(node(state=RECOMPILED, compiles=4)) == "x4 recompiled"
    assert words.recompiles(node(compiles=1, versions=versions[:1])) == ""
    assert words.recompiles(node(compiles=2)) == ""  # the two sides of a branch, where they cannot be told apart


def test_a_log_knows_the_values_from_the_guards_text_only():
    versions = [GraphVersion("SIR_0", 0), *(GraphVersion("S", n, (Guard(f"x.shape[0] == {n}", None, None),)) for n in (2, 3))]
    assert words.guard_values(versions) == "x.shape[0] 2, 3"


def test_the_guard_with_most_values_speaks_for_the_others():
    versions = (version("0.44921737909317017", expression="scale", seen="0.5"), version("1", seen="2"), version("2", seen="3"))
    assert words.guard_values(versions) == "x.shape[0] 1, 2, 3 and 1 more guard"
    assert words.guard_values(versions[:1]) == "scale 0.4492, 0.5"


@pytest.mark.parametrize(
    ("ir", "real", "shape", "seen"),
    [
        ((-1, 128), ((64, 128),), "[?, 128] float32", "? = 64"),
        ((-1, 8), tuple((n, 8) for n in range(2, 9)), "[?, 8] float32", "? = 2, 3, 4…"),
        ((-1, 8, -1), ((2, 8, 3), (4, 8, 5)), "[?, 8, ?] float32", "? = (2, 3), (4, 5)"),
        ((-1,), (), "[?] float32", ""),
        ((4, 8), ((4, 8),), "[4, 8] float32", ""),
        ((-1, 8), ((2,),), "[?, 8] float32", ""),
        ((), ((),), "[] float32", ""),
        (None, ((2, 3),), "[2, 3] float32", ""),
        (None, ((2, 3), (4, 3)), "float32", "seen [2, 3], [4, 3]"),
        (None, (), "float32", ""),
    ],
)
def test_shapes(ir, real, shape, seen):
    edge = GraphEdge("a", "b", PASSES, "var_1", ir, real, "float32")
    assert (words.shape(edge), words.seen(edge)) == (shape, seen)


def test_an_edge_in_one_line_has_all_that_is_known():
    edge = GraphEdge("a", "b", PASSES, "var_1", (-1, 8), ((2, 8), (3, 8)), "float32", 96, 1.0)
    assert words.edge_text(edge) == "var_1 [?, 8] float32, seen [2, 8], [3, 8], 96 B, 1 per step"
    assert words.edge_text(GraphEdge("a", "b", PASSES)) == "a tensor"


def test_a_link_lists_few_tensors_and_counts_many():
    edge = GraphEdge("a", "b", PASSES, "var_1", (4, 8), ((4, 8),), "float32", 128, 2.0)
    control = GraphEdge("a", "b", CONTROL)
    other = replace(edge, ir_shape=(3,), dtype="int64")
    assert words.link_lines(Link("a", "b", (control,))) == []
    assert words.link_lines(Link("a", "b", (control, edge, other))) == ["[4, 8] float32", "[3] int64"]
    assert words.link_lines(Link("a", "b", (edge,) * 3)) == ["[4, 8] float32"]
    assert words.link_lines(Link("a", "b", (*(edge,) * 4, replace(edge, bytes=None)))) == ["5 tensors", "1.02 kB per step"]
    assert words.link_lines(Link("a", "b", (replace(edge, bytes=None),) * 4)) == ["4 tensors"]


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.00 kB"), (2.5e6, "2.50 MB"), (3.21e9, "3.21 GB"), (5e12, "5000 GB")],
)
def test_sizes(number, text):
    assert size(number) == text


def test_a_summary_says_only_what_was_measured():
    bare = GraphSummary(2, 2, 0, 1)
    assert words.summary(bare) == ["2 subgraphs", "0 recompiles", "1 dynamic region"]
    assert measures(bare) == []
    assert words.summary(SAMPLES["cache_full"].summary)[0] == "3 subgraphs (22 versions)"
    assert measures(SAMPLES["cache_full"].summary) == [
        "55% of ops captured",
        "40% of time captured",
        "ops per subgraph: min 11, median 12",
        "to dynamic code 1.60 kB, back 1.60 kB per step",
    ]


def test_a_caption_says_how_much_is_folded():
    assert words.folding(shown("thirty")) == ""
    by_module = "30 runs per step; folded by the first 3 parts of the module path: 54 nodes drawn as 5"
    assert words.caption(shown("thirty", depth=3)).endswith(by_module)
    assert words.folding(shown("thirty", most=10)) == "folded by function: 54 nodes drawn as 6"


@pytest.mark.parametrize(
    ("text", "limit", "result"),
    [
        ("  two\n words\t", 20, "two words"),
        ("abcdefghij", 10, "abcdefghij"),
        ("abcdefghijk", 10, "abcdefghi…"),
        ("a\u202eb\x1b", 20, "a\\u202eb\\x1b"),
        ("", 5, ""),
    ],
)
def test_cut(text, limit, result):
    assert words.cut(text, limit) == result
