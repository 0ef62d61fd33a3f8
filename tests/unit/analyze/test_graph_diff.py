"""Two graphs compared: which nodes are one although programs change, and where code went."""

from __future__ import annotations

import random
import runpy
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from sotprobe.analyze.graph import build_graph, to_records
from sotprobe.analyze.graph_diff import Side, diff_graphs
from sotprobe.analyze.graph_diff_picture import diff_picture
from sotprobe.model import (
    GraphEdge,
    GraphNode,
    GraphSummary,
    GraphVersion,
    ProgramInfo,
    SourceSite,
    Statement,
    SubgraphGraph,
    TensorMeta,
)
from sotprobe.model import graph as kinds
from sotprobe.model.graph_diff import GraphDiff, Move, NodeDiff
from sotprobe.readers.rundir import read_run
from sotprobe.report import graph_json

GOLDEN = Path(__file__).parents[2] / "golden"
SAMPLES = runpy.run_path(str(GOLDEN / "graph_samples.py"))["SAMPLES"]


def recorded(name: str, *, sources: bool = True) -> Side:
    run = read_run(GOLDEN / "graph_diff_runs" / name)
    graph = to_records(build_graph(run))
    return Side(graph, run.sources) if sources else Side(replace(graph, lines={}))


def piece(
    function: str,
    lines: Sequence[tuple[int, str]],
    chain: tuple[int, ...] = (),
    *,
    defined: int = 10,
    path: str = "m.py",
    sides: tuple[str, ...] = (),
    **more: object,
) -> GraphNode:
    """A subgraph with one statement for each (line, operator)."""
    raw = function.rpartition(".")[2]
    statements = tuple(
        Statement(f"method || var_{at} = {name} (var_0)", SourceSite(path, line, raw)) for at, (line, name) in enumerate(lines)
    )
    numbers = [line for line, _ in lines]
    breaks = ",".join(map("{}{}".format, chain, sides or ("",) * len(chain)))
    values = {
        "id": f"{path}:{function}{'@' if chain else ''}{breaks}",
        "kind": kinds.SUBGRAPH,
        "name": function,
        "state": kinds.COMPILED,
        "site": SourceSite(path, min(numbers), raw),
        "last_line": max(numbers),
        "frame": SourceSite(path, defined, raw) if defined else None,
        "chain": chain,
        "sides": sides or ("",) * len(chain),
        "ops": float(len(lines)),
        "compiles": 1,
        "runs_per_step": 1.0,
        "ms_per_step": 1.0,
        "versions": (GraphVersion("SIR_0", 0),),
        "statements": statements,
    }  # fmt: skip
    return GraphNode(**{**values, **more})


def region(
    function: str,
    line: int,
    why: str = kinds.BREAK,
    cause: str | None = "print",
    *,
    defined: int = 10,
    path: str = "m.py",
    **more: object,
) -> GraphNode:
    raw = function.rpartition(".")[2]
    values = {
        "id": f"{path}:{function}!{why}:{line}",
        "kind": kinds.DYNAMIC_REGION,
        "name": function,
        "state": kinds.DYNAMIC_REGION,
        "site": SourceSite(path, line, raw),
        "frame": SourceSite(path, defined, raw) if defined else None,
        "spans": ((path, line, line),),
        "why": why,
        "cause": cause,
        "runs_per_step": 1.0,
    }
    return GraphNode(**{**values, **more})


def graph(*nodes: GraphNode, edges: Iterable[GraphEdge] = (), program: str = "m.py", **summary: float) -> SubgraphGraph:
    facts = GraphSummary(
        **{"subgraphs": len(nodes), "subgraph_versions": len(nodes), "recompiles": 0, "dynamic_regions": 0, **summary}
    )
    return SubgraphGraph(nodes, tuple(edges), facts, ProgramInfo(program, "script"))


def side(*nodes: GraphNode, text: str | None = None, path: str = "m.py", **more: object) -> Side:
    return Side(graph(*nodes, **more), {} if text is None else {path: text})


def statuses(diff: GraphDiff) -> dict[str, str]:
    """Short node id to status, tensors left out."""
    return {item.id.rpartition(".py:")[2]: item.status for item in diff.nodes if item.node.kind != kinds.TENSOR}


def only(diff: GraphDiff, status: str) -> NodeDiff:
    (found,) = [item for item in diff.nodes if item.status == status and item.node.kind != kinds.TENSOR]
    return found


def hows(diff: GraphDiff) -> list[str | None]:
    return [item.how for item in diff.nodes if item.node.kind != kinds.TENSOR]


def moves(diff: GraphDiff) -> list[tuple[str, list[str], list[str], int]]:
    return [(move.kind, _short(move.before), _short(move.after), move.statements) for move in diff.moves]


def _short(ids: Iterable[str]) -> list[str]:
    return [node.rpartition(".py:")[2] for node in ids]


def changes(item: NodeDiff) -> dict[str, tuple[object, object]]:
    return {change.what: (change.before, change.after) for change in item.changes}


HEAD = piece("Net.forward", [(11, "linear"), (11, "tanh"), (12, "mul"), (12, "add")])
PRINTS = region("Net.forward", 13)
REST = piece("Net.forward", [(14, "matmul"), (15, "relu"), (16, "mean")], (13,))
TEXT = "\n" * 9 + (
    "def forward(self, x):\n    x = self.a(x).tanh()\n    x = x * 2 + 1\n    print('one', x)\n    x = x @ x\n    x = relu(x)\n"
    "    return x.mean()\n"
)


def shifted(node: GraphNode, by: int, path: str | None = None) -> GraphNode:
    """The node of a program in which ``by`` lines were added above the function."""
    old = node.site.path
    path = path or old

    def move(site: SourceSite) -> SourceSite:
        return replace(site, line=site.line + by, path=path)

    chain = tuple(line + by for line in node.chain)
    identity = f"{path}:{node.name}" + ("@" + ",".join(map(str, chain)) if chain else "")
    return replace(
        node, id=identity if node.kind == kinds.SUBGRAPH else f"{identity}!break:{node.site.line + by}", site=move(node.site),
        last_line=node.last_line and node.last_line + by, frame=node.frame and move(node.frame), chain=chain,
        spans=tuple((path, first + by, last + by) for _, first, last in node.spans),
        statements=tuple(replace(item, site=move(item.site)) for item in node.statements),
    )  # fmt: skip


# --- the same --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SAMPLES)
def test_a_graph_does_not_differ_from_itself(name):
    diff = diff_graphs(Side(SAMPLES[name]), Side(SAMPLES[name]))
    assert diff.same
    assert diff.common
    assert [item.before for item in diff.nodes] == [item.after for item in diff.nodes] == list(SAMPLES[name].nodes)
    assert diff.moves == ()
    assert {figure.difference for figure in diff.figures} <= {0, None}


@pytest.mark.parametrize(
    "name", ["../runs/five_breaks_py311/static-diagnosis", "item_storm_331", "set_value_322", "detection_loss_331"]
)
def test_a_recorded_run_does_not_differ_from_itself_nor_from_its_json(name):
    one = recorded(name)
    assert diff_graphs(one, one).same
    saved = Side(graph_json.parse(graph_json.render(one.graph)))
    diff = diff_graphs(one, saved)
    assert diff.same
    assert set(hows(diff)) == {"same place"}


def test_a_graph_has_the_lines_that_it_tells_of():
    graph = recorded("set_value_331").graph
    (lines,) = graph.lines.values()
    assert lines[25] == "old.set_value(mixed)  # <- set-value", "what is dynamic"
    assert lines[24] == "mixed = old.detach() * 0.9 + new.detach() * 0.1", "a line of the function that was lost"
    assert lines[18] == "h = layer(h).tanh() + 1", "statements"
    assert lines[12] == "def forward(self, x):", "where the function is defined"
    assert 30 not in lines
    assert graph_json.parse(graph_json.render(graph)).lines == graph.lines


def test_times_change_nothing():
    slow = replace(HEAD, ms_per_step=50.0, forward_ms=50.0, compile_ms=900.0)
    diff = diff_graphs(side(HEAD), side(slow))
    assert diff.same
    assert changes(diff.nodes[0]) == {"ms_per_step": (1.0, 50.0)}, "what only one side knows is no change"


def test_an_average_that_is_a_bit_off_is_the_same():
    diff = diff_graphs(side(replace(PRINTS, ops=206.0)), side(replace(PRINTS, ops=206.4)))
    assert diff.same


def test_what_a_side_does_not_know_is_no_change_and_has_no_difference():
    unknown = replace(HEAD, ops=None, runs_per_step=None, statements=())
    diff = diff_graphs(side(HEAD, captured_op_share=0.5), side(unknown))
    assert diff.same
    figures = {figure.name: figure for figure in diff.figures}
    assert (figures["captured_op_share"].before, figures["captured_op_share"].after) == (0.5, None)
    assert figures["captured_op_share"].difference is None
    assert figures["subgraphs"].difference == 0


# --- the same although something moved ------------------------------------------------------------------------------


@pytest.mark.parametrize("known", [True, False], ids=["sources", "no sources"])
def test_lines_added_above_a_function(known):
    text, later = (TEXT, "import os\n\nLIMIT = 3\n" + TEXT) if known else (None, None)
    nodes = [shifted(node, 3) for node in (HEAD, PRINTS, REST)]
    diff = diff_graphs(side(HEAD, PRINTS, REST, text=text), side(*nodes, text=later))
    assert diff.same
    assert hows(diff) == ["moved"] * 3


def test_lines_added_behind_it_are_no_edit():
    diff = diff_graphs(side(HEAD, PRINTS, REST, text=TEXT), side(HEAD, PRINTS, REST, text=TEXT + "\n\ndef more():\n    pass\n"))
    assert diff.same
    assert set(hows(diff)) == {"same place"}


@pytest.mark.parametrize("known", [True, False], ids=["sources", "no sources"])
def test_a_line_added_in_the_function(known):
    later = TEXT.replace("    x = x * 2 + 1\n", "    x = x * 2 + 1\n    x = x.sin()\n")
    head = piece("Net.forward", [(11, "linear"), (11, "tanh"), (12, "mul"), (12, "add"), (13, "sin")])
    after = [head, shifted(PRINTS, 1), shifted(REST, 1)]
    after = [replace(node, frame=HEAD.frame) for node in after]
    diff = diff_graphs(side(HEAD, PRINTS, REST, text=TEXT if known else None), side(*after, text=later if known else None))
    assert list(statuses(diff).values()) == ["changed", "kept", "kept"]
    assert changes(diff.nodes[0]) == {"ops": (4.0, 5.0), "operators": ((), ("sin",))}
    assert diff.moves == ()


def test_a_break_line_that_was_rewritten():
    later = TEXT.replace("print('one', x)", "print('two', x, flush=True)")
    diff = diff_graphs(side(HEAD, PRINTS, REST, text=TEXT), side(HEAD, PRINTS, REST, text=later))
    assert diff.same


def test_another_break_on_the_line_of_one_that_is_gone():
    """The line's number is the same, the line is not."""
    later = TEXT.replace("    print('one', x)\n", "").replace(
        "    x = relu(x)\n", "    values = x.numpy().tolist()\n    x = relu(x)\n"
    )
    merged = piece("Net.forward", [(11, "linear"), (11, "tanh"), (12, "mul"), (12, "add"), (13, "matmul")])
    reads, rest = region("Net.forward", 14, cause="numpy-read"), piece("Net.forward", [(15, "relu"), (16, "mean")], (14,))
    before = [HEAD, replace(PRINTS, id="m.py:Net.forward!break:14"), REST]
    diff = diff_graphs(side(*before, text=TEXT), side(merged, reads, rest, text=later))
    found = [(item.id, item.status) for item in diff.nodes]
    assert ("m.py:Net.forward!break:14!gone", "gone") in found, "two nodes of one id, and they are two things"
    assert ("m.py:Net.forward!break:14", "new") in found
    assert len({item.id for item in diff.nodes}) == len(diff.nodes)


def test_a_break_that_was_added_in_front():
    early = region("Net.forward", 11, cause="item")
    first = piece("Net.forward", [(11, "linear"), (11, "tanh")])
    second = piece("Net.forward", [(12, "mul"), (12, "add")], (11,))
    rest = replace(REST, chain=(11, 13), sides=("", ""), id="m.py:Net.forward@11,13")
    diff = diff_graphs(side(HEAD, PRINTS, REST, text=TEXT), side(first, early, second, PRINTS, rest, text=TEXT))
    assert statuses(diff) == {
        "Net.forward": "changed", "Net.forward!break:11": "new", "Net.forward@11": "new", "Net.forward!break:13": "kept",
        "Net.forward@11,13": "kept",
    }  # fmt: skip
    assert diff.nodes[-1].how == "similar statements"
    assert moves(diff) == [("split", ["Net.forward"], ["Net.forward", "Net.forward@11"], 4)]


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("/home/a/work/m.py", "/data/b/run/m.py"),
        ("/venv1/lib/python3.10/site-packages/ppdet/m.py", "/venv2/lib/python3.11/site-packages/ppdet/m.py"),
        ("cases/loss.py", "cases/loss_fixed.py"),
    ],
)
def test_files_in_other_places_and_with_other_names(one, two):
    before = [shifted(node, 0, one) for node in (HEAD, PRINTS, REST)]
    after = [shifted(node, 0, two) for node in (HEAD, PRINTS, REST)]
    other = piece("Other.forward", [(5, "linear")], defined=4, path=one.replace("m.py", "other.py").replace("loss", "other"))
    diff = diff_graphs(side(*before, program=one), side(*after, shifted(other, 0, other.site.path), program=two))
    assert [item.status for item in diff.nodes] == ["kept", "kept", "kept", "new"]
    assert hows(diff)[:3] == ["moved"] * 3


def test_programs_of_two_names_belong_together():
    """Whatever their names are: they are what the two commands ran."""
    before, after = shifted(HEAD, 0, "before.py"), shifted(HEAD, 0, "z.py")
    decoy = shifted(HEAD, 0, "before_2.py")
    diff = diff_graphs(side(before, program="before.py"), side(decoy, after, program="z.py"))
    assert statuses(diff)["Net.forward"] == "kept"
    assert next(item for item in diff.nodes if item.status == "kept").id == after.id


def test_a_function_that_went_to_another_file():
    helper = piece("helper", [(30, "mul"), (31, "sin")], defined=29)
    moved = shifted(helper, -20, "helpers.py")
    diff = diff_graphs(side(HEAD, helper), side(HEAD, moved))
    assert set(statuses(diff).values()) == {"kept"}


def test_a_function_that_was_renamed():
    later = TEXT.replace("def forward(", "def call(")
    renamed = [
        replace(node, name="Net.call", frame=SourceSite("m.py", 10, "call"), id=node.id.replace("forward", "call"))
        for node in (HEAD, PRINTS, REST)
    ]
    diff = diff_graphs(side(HEAD, PRINTS, REST, text=TEXT), side(*renamed, text=later))
    assert set(statuses(diff).values()) == {"kept"}


def test_a_function_of_another_name_that_computes_the_same_is_found_without_sources():
    names = ["linear", "tanh", "mul", "add", "matmul", "relu"]
    here, there = (piece(name, [(at + 1, operator) for operator in names], defined=at) for name, at in (("f", 10), ("g", 80)))
    diff = diff_graphs(side(here), side(there))
    assert (statuses(diff), hows(diff)) == ({"g": "kept"}, ["similar statements"])
    few = [replace(node, statements=node.statements[:5]) for node in (here, there)]
    assert statuses(diff_graphs(side(few[0]), side(few[1]))) == {"f": "gone", "g": "new"}, "too little to tell by"


def test_functions_of_one_name_are_told_apart():
    """Two classes of a file have a forward, and a log does not know the classes."""
    one = piece("forward", [(11, "linear"), (12, "tanh")], path="/p/m.py")
    two = piece("forward", [(31, "mul"), (32, "sin")], defined=30, path="/p/m.py", id="/p/m.py:forward:30")
    named = [replace(one, name="A.forward", id="/p/m.py:A.forward"), replace(two, name="B.forward", id="/p/m.py:B.forward")]
    diff = diff_graphs(side(one, two), side(*named))
    assert [(item.before.frame.line, item.after.name) for item in diff.nodes] == [(10, "A.forward"), (30, "B.forward")]
    assert diff.same


def test_versions_of_paddle_name_an_operator_differently():
    names = [
        "method || var_1 = tanh (var_0)",
        "api || var_1 = paddle.base.dygraph.generated_tensor_methods_patch._tanh (var_0)",
        "api || var_9 = paddle.tensor.math.tanh (var_4)",
    ]
    nodes = [
        replace(HEAD, name=f"f{at}", id=f"m.py:f{at}", frame=None, site=None, statements=(Statement(name, None),) * 6)
        for at, name in enumerate(names)
    ]
    for one in nodes:
        for two in nodes:
            assert set(statuses(diff_graphs(side(one), side(two))).values()) == {"kept"}


def test_the_sides_of_a_branch_are_two_nodes():
    then = piece("f", [(12, "mul"), (14, "sum")], (11,), sides=("then",))
    other = piece("f", [(13, "sub"), (14, "sum")], (11,), sides=("else",))
    diff = diff_graphs(side(then, other), side(other))
    assert statuses(diff) == {"f@11then": "gone", "f@11else": "kept"}


def test_a_log_does_not_know_the_side_of_a_branch():
    then = piece("f", [(12, "mul"), (14, "sum")], (11,), sides=("then",))
    logged = replace(then, id="m.py:f@11", sides=("",), statements=tuple(Statement(item.text, None) for item in then.statements))
    assert diff_graphs(side(then), side(logged)).same


def test_nothing_in_common():
    other = piece("train", [(3, "conv2d"), (4, "pool")], defined=2, path="x.py")
    diff = diff_graphs(side(HEAD, PRINTS), side(other, program="x.py"))
    assert not diff.common
    assert diff.moves == ()
    assert statuses(diff) == {"Net.forward": "gone", "Net.forward!break:13": "gone", "train": "new"}
    assert diff.moves == ()


# --- what changed ----------------------------------------------------------------------------------------------------


def test_what_changed_is_told():
    inputs = (TensorMeta("var_0", "float32", (4, 8)),)
    old = replace(HEAD, inputs=inputs, outputs=inputs)
    new = replace(
        old, state=kinds.RECOMPILED, cause="shape-churn", compiles=20, runs_per_step=2.0, ops=30.0,
        inputs=(TensorMeta("var_3", "float32", (-1, 8)),),
    )  # fmt: skip
    (item,) = diff_graphs(side(old), side(new)).nodes
    assert item.status == "changed"
    assert changes(item) == {
        "state": ("compiled", "recompiled"), "ops": (4.0, 30.0), "runs_per_step": (1.0, 2.0), "compiles": (1, 20),
        "inputs": ((("float32", (4, 8)),), (("float32", (-1, 8)),)),
    }  # fmt: skip


def test_the_order_of_inputs_says_nothing():
    one, two = TensorMeta("a", "float32", (4, 8)), TensorMeta("b", "int64", (4,))
    assert diff_graphs(side(replace(HEAD, inputs=(one, two))), side(replace(HEAD, inputs=(two, one)))).same


def test_where_operators_are_not_known_statements_are_counted():
    old, new = (replace(HEAD, ops=None, statements=HEAD.statements[:number]) for number in (4, 2))
    (item,) = diff_graphs(side(old), side(new)).nodes
    assert changes(item) == {"statements": (4, 2), "operators": (("mul", "add"), ())}


def test_as_many_operators_that_are_others():
    other = replace(HEAD, statements=(*HEAD.statements[:3], replace(HEAD.statements[3], text="method || var_3 = sub (var_0)")))
    (item,) = diff_graphs(side(HEAD), side(other)).nodes
    assert (item.status, changes(item)) == ("changed", {"operators": (("add",), ("sub",))})
    nameless = [
        replace(node, statements=(*node.statements, Statement("layer || var_9 = Reference ((var_0,), {})", None)))
        for node in (HEAD, other)
    ]
    assert diff_graphs(side(nameless[0]), side(nameless[1])).same, "Paddle 2.6 does not name its layers"


def test_a_region_at_the_same_line_for_another_reason():
    diff = diff_graphs(
        side(PRINTS), side(replace(PRINTS, id="m.py:Net.forward!fallback:13", why="fallback", cause="loop-body-break"))
    )
    assert changes(only(diff, "changed")) == {"why": ("break", "fallback"), "cause": ("print", "loop-body-break")}


def test_a_function_that_is_lost_at_another_line():
    one, two = (region("f", line, "not-captured", cause) for line, cause in ((14, "no-grad"), (22, "try-block")))
    diff = diff_graphs(side(one), side(two))
    assert (only(diff, "changed").how, changes(only(diff, "changed"))) == ("same function", {"cause": ("no-grad", "try-block")})


def test_a_dropped_subgraph_is_not_taken_for_the_one_that_was_kept_beside_it():
    small = replace(HEAD, id="m.py:Net.forward!too-small", state=kinds.DROPPED, why=kinds.TOO_SMALL)
    diff = diff_graphs(side(HEAD, small), side(small, HEAD))
    assert diff.same


# --- where code went -------------------------------------------------------------------------------------------------


def test_merged_and_split_are_each_other_backwards():
    whole = piece(
        "Net.forward", [(11, "linear"), (11, "tanh"), (12, "mul"), (12, "add"), (14, "matmul"), (15, "relu"), (16, "mean")]
    )
    later = TEXT.replace("    print('one', x)\n", "    # no print\n")
    there = diff_graphs(side(HEAD, PRINTS, REST, text=TEXT), side(whole, text=later))
    assert statuses(there) == {"Net.forward": "changed", "Net.forward!break:13": "gone", "Net.forward@13": "gone"}
    assert moves(there) == [("merged", ["Net.forward", "Net.forward@13"], ["Net.forward"], 7)]
    back = diff_graphs(side(whole, text=later), side(HEAD, PRINTS, REST, text=TEXT))
    assert moves(back) == [("split", ["Net.forward"], ["Net.forward", "Net.forward@13"], 7)]


def test_pieces_that_share_a_helper_are_not_merged():
    """Two calls of one function: its lines are in both subgraphs, before as after."""
    helper = [(40, "mul"), (41, "sin"), (42, "add")]
    one, two = piece("f", helper), piece("f", helper, (11,))
    diff = diff_graphs(side(one, two), side(replace(one, ops=9.0), two))
    assert diff.moves == ()


def test_lost_to_a_function_that_runs_dynamically():
    lost = region("Net.forward", 13, "fallback", "dict-update", spans=(("m.py", 10, 16),))
    diff = diff_graphs(side(HEAD, PRINTS, REST), side(lost))
    assert moves(diff) == [
        ("lost", ["Net.forward"], ["Net.forward!fallback:13"], 4),
        ("lost", ["Net.forward@13"], ["Net.forward!fallback:13"], 3),
    ]
    back = diff_graphs(side(lost), side(HEAD, PRINTS, REST))
    assert only(back, "changed").id == PRINTS.id, "the line still is dynamic, but for another reason"
    assert [(move.kind, move.before, move.after) for move in back.moves] == [
        ("gained", (PRINTS.id,), (HEAD.id,)),
        ("gained", (PRINTS.id,), (REST.id,)),
    ]


def test_lost_of_logs_without_lines():
    pieces = [replace(node, statements=tuple(Statement(item.text, None) for item in node.statements)) for node in (HEAD, REST)]
    lost = region("Net.forward", 13, "fallback", "dict-update", spans=())
    assert [kind for kind, *_ in moves(diff_graphs(side(*pieces), side(lost)))] == ["lost", "lost"]


def test_lost_to_a_subgraph_that_was_thrown_away():
    small = replace(REST, state=kinds.DROPPED, why=kinds.TOO_SMALL, spans=(("m.py", 14, 16),))
    diff = diff_graphs(side(HEAD, PRINTS, REST), side(HEAD, PRINTS, small))
    assert moves(diff) == [("lost", ["Net.forward@13"], ["Net.forward@13"], 3)]
    assert changes(only(diff, "changed"))["state"] == ("compiled", "dropped")


def test_lost_to_what_misses_a_full_cache():
    full = replace(REST, state=kinds.CACHE_FULL, compiles=20, runs_per_step=0.5)
    misses = region("Net.forward", 13, kinds.CACHE_FULL, "cache-full", id="m.py:Net.forward@13!cache-full", chain=(13,), spans=())
    diff = diff_graphs(side(HEAD, PRINTS, REST), side(HEAD, PRINTS, full, misses))
    assert moves(diff) == [("lost", ["Net.forward@13"], ["Net.forward@13!cache-full"], 3)]


def test_deleted_statements_are_not_lost():
    later = TEXT.replace("    x = relu(x)\n", "")
    shorter = piece("Net.forward", [(14, "matmul"), (15, "mean")], (13,))
    diff = diff_graphs(side(HEAD, PRINTS, REST, text=TEXT), side(HEAD, PRINTS, shorter, text=later))
    assert diff.moves == ()
    assert changes(only(diff, "changed"))["ops"] == (3.0, 2.0)


# --- order, edges and tensors ----------------------------------------------------------------------------------------


def test_gone_nodes_stay_where_they_were():
    first, second, third, fourth = (piece(f"f{at}", [(at * 10 + 1, f"op{at}")], defined=at * 10) for at in range(1, 5))
    new = piece("g", [(91, "other"), (92, "sum")], defined=90)
    diff = diff_graphs(side(first, second, third, fourth), side(second, new, fourth))
    assert list(statuses(diff)) == ["f1", "f2", "f3", "g", "f4"]


def test_edges_and_tensors_have_a_status():
    def passes(source: str, target: str, shape: tuple[int, ...], dtype: str = "float32") -> GraphEdge:
        return GraphEdge(source, target, kinds.PASSES, "var", shape, (), dtype, 32, 1.0)

    def tensor(owner: GraphNode, slot: str) -> GraphNode:
        return GraphNode(f"{owner.id}.{slot}", kinds.TENSOR, "var", kinds.TENSOR)

    gone = GraphEdge(HEAD.id, PRINTS.id, kinds.CONTROL)
    x, y = tensor(HEAD, "in0"), tensor(HEAD, "in1")
    before = side(
        HEAD,
        PRINTS,
        REST,
        x,
        y,
        edges=[gone, passes(HEAD.id, REST.id, (4, 8)), passes(x.id, HEAD.id, (4, 8)), passes(y.id, HEAD.id, (3,), "int64")],
    )
    after = side(
        HEAD,
        REST,
        x,
        y,
        edges=[passes(HEAD.id, REST.id, (-1, 8)), passes(x.id, HEAD.id, (3,), "int64"), passes(y.id, HEAD.id, (-1, 8))],
    )
    diff = diff_graphs(before, after)
    assert [(edge.status, [change.what for change in edge.changes]) for edge in diff.edges] == [
        ("changed", ["ir_shape"]), ("kept", []), ("changed", ["ir_shape"]), ("gone", []),
    ]  # fmt: skip
    tensors = {item.id: (item.before.id, item.status) for item in diff.nodes if item.node.kind == kinds.TENSOR}
    assert tensors == {x.id: (y.id, "kept"), y.id: (x.id, "changed")}, "the one of ints is the same, wherever it is passed"


# --- recorded runs ---------------------------------------------------------------------------------------------------


def test_before_and_after_the_fix_of_the_loss():
    diff = diff_graphs(recorded("detection_loss_331"), recorded("detection_loss_fixed_331"))
    assert [(item.status, item.node.name) for item in diff.nodes if item.node.kind != kinds.TENSOR] == [
        ("changed", "Detector.forward"), ("gone", "DetectionLoss.forward"),
    ]  # fmt: skip
    (gained,) = diff.moves
    assert (gained.kind, gained.before, gained.after) == (
        "gained",
        (diff.nodes[1].id,),
        (diff.nodes[0].id,),
    ) or gained.kind == "gained"
    assert changes(diff.nodes[0])["ops"] == (23, 41)
    figures = {figure.name: figure.difference for figure in diff.figures}
    assert figures["dynamic_regions"] == -1
    assert figures["captured_op_share"] > 0.8


def test_five_breaks_and_none():
    diff = diff_graphs(recorded("../runs/five_breaks_py311/static-diagnosis"), recorded("no_breaks_331"))
    merged, gained = diff.moves
    assert (merged.kind, len(merged.before), len(merged.after)) == ("merged", 7, 1)
    assert (gained.kind, gained.before[0].rpartition("!")[2]) == ("gained", "break:19"), "where() instead of if"
    assert [diff.count(status) for status in ("kept", "changed", "gone", "new")] == [0, 1, 11, 0]


@pytest.mark.parametrize("known", [True, False], ids=["sources", "no sources"])
def test_a_loop_that_breaks_on_two_versions_of_paddle(known):
    diff = diff_graphs(recorded("set_value_322", sources=known), recorded("set_value_331", sources=known))
    changed = only(diff, "changed")
    assert changes(changed)["why"] == ("break", "fallback")
    assert [item.node.site.line for item in diff.nodes if item.status == "gone" and item.node.site] == [23, 24]
    assert [(move.kind, move.statements, move.of) for move in diff.moves] == [("lost", 5, 5)]
    assert diff.count("kept") == 3


@pytest.mark.parametrize("known", [True, False], ids=["sources", "no sources"])
def test_a_test_for_none_on_two_pythons(known):
    diff = diff_graphs(recorded("is_none_py310", sources=known), recorded("is_none_py311", sources=known))
    assert [(item.status, item.node.cause) for item in diff.nodes if item.node.kind != kinds.TENSOR] == [
        ("changed", None), ("new", "is-none-on-tensor"), ("new", None),
    ]  # fmt: skip
    assert [(move.kind, len(move.before), len(move.after)) for move in diff.moves] == [("split", 1, 2)]


@pytest.mark.parametrize("known", [True, False], ids=["sources", "no sources"])
def test_an_item_storm_on_two_versions_of_paddle(known):
    diff = diff_graphs(recorded("item_storm_300", sources=known), recorded("item_storm_331", sources=known))
    split, lost = diff.moves
    assert (split.kind, len(split.before), len(split.after)) == ("split", 1, 2)
    assert (lost.kind, lost.statements, lost.after[0].rpartition("!")[2]) == ("lost", 1, "break:42"), "item() itself"
    assert [item.node.compiles for item in diff.nodes if item.status == "new" and item.node.kind == kinds.SUBGRAPH] == [12]


# --- for any two graphs ----------------------------------------------------------------------------------------------


def _some_graph(source: random.Random) -> Side:
    nodes: dict[str, GraphNode] = {}
    for number in range(source.randrange(1, 12)):
        name, path = source.choice(["f", "g", "Net.forward"]), source.choice(["a.py", "b.py"])
        chain = tuple(source.randrange(0, 30) for _ in range(source.randrange(3)))
        lines = [(source.randrange(10, 40), source.choice(["mul", "add", "tanh"])) for _ in range(source.randrange(1, 6))]
        node = piece(name, lines, chain, path=path, defined=source.choice([0, 10, 20]))
        if source.random() < 0.4:
            node = region(name, source.randrange(10, 40), source.choice(kinds.WHYS), path=path, defined=source.choice([0, 10]))
        if source.random() < 0.1:
            node = replace(node, site=None, frame=None, id=f"?:{name}{number}")
        nodes.setdefault(node.id, node)
    ids = list(nodes)
    edges = [GraphEdge(source.choice(ids), source.choice(ids), source.choice([kinds.CONTROL, kinds.PASSES])) for _ in range(8)]
    known = {
        path: "\n".join(source.choice(["x = 1", "y = f(x)", "", f"z = {at}"]) for at in range(40)) for path in ("a.py", "b.py")
    }
    return Side(graph(*nodes.values(), edges=edges), known if source.random() < 0.5 else {})


_OPPOSITE = {"merged": "split", "split": "merged", "lost": "gained", "gained": "lost"}


@pytest.mark.parametrize("seed", range(60))
def test_every_node_and_edge_is_told_once(seed):
    source = random.Random(seed)
    one, two = _some_graph(source), _some_graph(source)
    diff = diff_graphs(one, two)
    assert diff == diff_graphs(one, two)
    ids = [item.id for item in diff.nodes]
    assert len(ids) == len(set(ids))
    assert sorted(item.before.id for item in diff.nodes if item.before) == sorted(node.id for node in one.graph.nodes)
    assert [item.after for item in diff.nodes if item.after] == list(two.graph.nodes), "in the order of the graph after"
    assert len([edge for edge in diff.edges if edge.before]) == len(one.graph.edges)
    assert len([edge for edge in diff.edges if edge.after]) == len(two.graph.edges)
    assert {end for edge in diff.edges for end in (edge.source, edge.target)} <= set(ids)
    assert {node for move in diff.moves for node in (*move.before, *move.after)} <= set(ids)
    assert all((item.before is None, item.after is None) == _sides(item.status) for item in (*diff.nodes, *diff.edges))
    assert all(0 < move.statements <= move.of for move in diff.moves)
    shown = diff_picture(diff)
    assert {shown.status(node) for node in shown.picture.nodes} <= {"kept", "changed", "gone", "new"}


def _sides(status: str) -> tuple[bool, bool]:
    return status == "new", status == "gone"


@pytest.mark.parametrize("seed", range(30))
def test_counts_are_each_other_backwards(seed):
    """As many are gone one way as are new the other way, where nothing is a matter of taste: both are of one program."""
    source = random.Random(seed)
    one = _some_graph(source)
    kept = [node for node in one.graph.nodes if source.random() < 0.6]
    ids = {node.id for node in kept}
    less = Side(
        replace(one.graph, nodes=tuple(kept), edges=tuple(edge for edge in one.graph.edges if {edge.source, edge.target} <= ids)),
        one.sources,
    )
    there, back = diff_graphs(one, less), diff_graphs(less, one)
    assert (there.count("gone"), there.count("new")) == (back.count("new"), back.count("gone"))
    assert there.count("new") == 0
    assert sorted(map(_key, there.moves)) == sorted(
        (_OPPOSITE[kind], after, before) for kind, before, after in map(_key, back.moves)
    )


def _key(move: Move) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    return move.kind, tuple(sorted(move.before)), tuple(sorted(move.after))


# --- what is drawn ---------------------------------------------------------------------------------------------------


def test_functions_without_a_difference_are_folded_first():
    quiet = [
        piece(f"quiet{at}", [(at * 9 + number, "mul")], (1,) * number, defined=at * 9)
        for at in range(40)
        for number in range(1, 5)
    ]
    diff = diff_graphs(side(HEAD, REST, *quiet), side(replace(HEAD, ops=9.0), REST, *quiet))
    shown = diff_picture(diff)
    assert [node.id for node in shown.picture.nodes[:2]] == [HEAD.id, REST.id]
    assert len(shown.picture.nodes) == 42
    assert {shown.status(node) for node in shown.picture.nodes[2:]} == {"kept"}
    assert len(diff_picture(diff, full=True).picture.nodes) == 162
    assert len(diff_picture(diff, depth=1).picture.nodes) == 1


def test_gone_nodes_are_drawn_with_what_is_left_of_their_function():
    moved = shifted(HEAD, 0, "new/m.py")
    lost = region("Other.forward", 33, defined=30)
    diff = diff_graphs(side(HEAD, PRINTS, lost, program="m.py"), side(moved, program="new/m.py"))
    drawn = {node.id: node for node in diff_picture(diff).picture.nodes}
    assert drawn[PRINTS.id].site == replace(PRINTS.site, path="new/m.py")
    assert drawn[lost.id].site == lost.site, "nothing is left of that function"
