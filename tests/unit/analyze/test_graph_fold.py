"""What a picture shows of a graph: nothing folded while it is small, functions and modules when it is large."""

from __future__ import annotations

import runpy
from dataclasses import replace
from pathlib import Path

import pytest

from sotprobe.analyze.graph_fold import Group, module_parts, picture
from sotprobe.model import GraphEdge, GraphNode, GraphSummary, ProgramInfo, SourceSite, SubgraphGraph
from sotprobe.model.graph import CACHE_FULL, COMPILED, CONTROL, DROPPED, DYNAMIC_REGION, PASSES, RECOMPILED, SUBGRAPH, TENSOR

SAMPLES = runpy.run_path(str(Path(__file__).parents[2] / "golden" / "graph_samples.py"))["SAMPLES"]


def piece(
    name: str, path: str = "m.py", kind: str = SUBGRAPH, state: str | None = None, at: str = "", **more: object
) -> GraphNode:
    function = name.partition("@")[0]
    default = COMPILED if kind == SUBGRAPH else kind
    return GraphNode(f"{path}:{name}{at}", kind, function, state or default, SourceSite(path, 3, function), **more)


def graph(*nodes: GraphNode, edges: tuple[tuple[GraphNode, GraphNode, str], ...] = ()) -> SubgraphGraph:
    found = tuple(GraphEdge(source.id, target.id, kind, bytes=4) for source, target, kind in edges)
    return SubgraphGraph(nodes, found, GraphSummary(0, 0, 0, 0), ProgramInfo("m.py", "case"))


def names(shown) -> list[str]:
    return [node.name for node in shown.nodes]


def test_a_small_graph_is_shown_as_it_is():
    whole = SAMPLES["thirty"]
    shown = picture(whole)
    assert shown.nodes == whole.nodes
    assert shown.folded_by is None
    assert {edge for link in shown.links for edge in link.edges} == set(whole.edges)
    assert len({(link.source, link.target) for link in shown.links}) == len(shown.links)


def test_tensors_between_the_same_nodes_are_one_and_others_are_not():
    a, b, c = piece("f"), piece("f@5"), piece("f@5,9")
    one, two, three = (GraphNode(f"t{number}", TENSOR, f"var_{number}", TENSOR) for number in range(3))
    edges = ((a, one, PASSES), (one, b, PASSES), (a, two, PASSES), (two, b, PASSES), (a, three, PASSES), (three, c, PASSES))
    shown = picture(graph(a, one, b, two, three, c, edges=edges))
    bundle = shown.nodes[1]
    assert isinstance(bundle, Group)
    assert [member.id for member in bundle.members] == ["t0", "t1"]
    assert [node.id for node in shown.nodes if node is not bundle] == [a.id, b.id, "t2", c.id]
    assert [(link.source, link.target, len(link.edges)) for link in shown.links] == [
        (a.id, bundle.id, 2),
        (bundle.id, b.id, 2),
        (a.id, "t2", 1),
        ("t2", c.id, 1),
    ]


def test_a_large_graph_is_folded_by_function_unless_all_is_asked_for():
    nodes = [piece(f"f{number % 3}@{number}") for number in range(30)]
    large = graph(*nodes)
    assert names(picture(large, most=10)) == ["f0", "f1", "f2"]
    assert picture(large, most=10).folded_by == "function"
    assert [len(node.members) for node in picture(large, most=10).nodes] == [10, 10, 10]
    assert picture(large, most=30).folded_by is None
    assert picture(large, most=10, full=True).nodes == large.nodes


def test_functions_of_one_name_in_two_files_are_two():
    nodes = [piece(f"forward@{number}", path) for number in range(4) for path in ("a.py", "b.py")]
    shown = picture(graph(*nodes), most=2)
    assert [(node.name, node.path) for node in shown.nodes] == [("forward", "a.py"), ("forward", "b.py")]
    assert len({node.id for node in shown.nodes}) == 2
    assert not {node.id for node in shown.nodes} & {node.id for node in nodes}


def many_functions(parts: int, files: int, functions: int) -> SubgraphGraph:
    return graph(
        *(
            piece(f"f{number}@{side}", f"pkg/part{part}/file{file}.py")
            for part in range(parts)
            for file in range(files)
            for number in range(functions)
            for side in "ab"
        )
    )


def test_too_many_functions_are_folded_by_the_longest_module_path_that_is_short_enough():
    large = many_functions(20, 3, 4)
    shown = picture(large, most=70)
    assert (shown.folded_by, shown.depth) == ("module", 3)
    assert names(shown) == [f"pkg.part{part}.file{file}" for part in range(20) for file in range(3)]
    assert names(picture(large, most=20)) == [f"pkg.part{part}" for part in range(20)]


def test_a_fold_that_would_leave_nothing_to_see_is_not_taken():
    one_file = many_functions(1, 1, 150)
    assert names(picture(one_file)) == [f"f{number}" for number in range(150)]
    assert names(picture(many_functions(1, 1, 500))) == ["pkg.part0.file0"]


def test_collapse_folds_whatever_the_size():
    shown = picture(SAMPLES["thirty"], depth=3)
    assert names(shown) == [f"ppdet.modeling.{part}" for part in ("backbones", "necks", "heads", "transformers", "losses")]
    assert sum(group.subgraphs for group in shown.nodes) == 30
    assert sum(group.versions for group in shown.nodes) == 34
    assert sum(group.dynamic for group in shown.nodes) == 24
    assert [node.path for node in shown.nodes] == [
        "ppdet/modeling/backbones/resnet.py", "ppdet/modeling/necks/fpn.py", "ppdet/modeling/heads/detr_head.py",
        "ppdet/modeling/transformers/matchers.py", "ppdet/modeling/losses/detr_loss.py",
    ]  # fmt: skip


def test_a_group_adds_up_what_is_known():
    nodes = (
        piece("f", ops=10, runs_per_step=2.0, ms_per_step=1.5, compiles=3, state=RECOMPILED),
        piece("f@5", ops=4, runs_per_step=None, ms_per_step=None, compiles=1),
        piece("f", kind=DYNAMIC_REGION, at="!break:5", ops=7.0, ms_per_step=0.25),
        piece("f@5,7", state=DROPPED, ops=2, ms_per_step=0.25),
    )
    (group,) = picture(graph(*nodes), depth=2).nodes
    assert (group.subgraphs, group.versions, group.dynamic) == (2, 4, 2)
    assert (group.ops, group.runs_per_step, group.ms_per_step) == (14, 2.0, 2.0)
    assert group.state == RECOMPILED
    unknown = tuple(replace(node, ops=None, runs_per_step=None, ms_per_step=None) for node in nodes)
    (group,) = picture(graph(*unknown), depth=2).nodes
    assert (group.ops, group.runs_per_step, group.ms_per_step) == (None, None, None)


@pytest.mark.parametrize(
    ("states", "state"),
    [
        ((COMPILED, RECOMPILED, CACHE_FULL), CACHE_FULL),
        ((COMPILED, DROPPED), COMPILED),
        ((DROPPED, DROPPED), DROPPED),
    ],
)
def test_a_group_looks_like_the_worst_of_its_subgraphs(states, state):
    nodes = [piece(f"f@{number}", state=name) for number, name in enumerate(states)]
    region = piece("f", kind=DYNAMIC_REGION, at="!break:9")
    (group,) = picture(graph(*nodes, region), depth=2).nodes
    assert group.state == state


def test_links_inside_a_group_are_left_out_and_tensors_become_links_between_groups():
    a, a2, b = piece("f"), piece("f@5"), piece("g")
    made, taken = (GraphNode(name, TENSOR, "var_1", TENSOR) for name in ("made", "taken"))
    edges = (
        (a, a2, CONTROL), (a2, b, CONTROL), (a, made, PASSES), (made, a2, PASSES), (made, b, PASSES), (taken, b, PASSES)
    )  # fmt: skip
    shown = picture(graph(a, a2, made, taken, b, edges=edges), depth=2)
    assert names(shown) == ["m.f", "g"]
    (link,) = shown.links
    assert (link.source, link.target) == (shown.nodes[0].id, b.id)
    assert sorted(edge.kind for edge in link.edges) == [CONTROL, PASSES]


def test_a_node_that_leads_to_itself_shows_it_only_unfolded():
    a, b = piece("f"), piece("f@5")
    looped = graph(a, b, edges=((a, a, CONTROL), (a, b, CONTROL)))
    assert [(link.source, link.target) for link in picture(looped).links] == [(a.id, a.id), (a.id, b.id)]
    assert picture(looped, depth=1).links == ()


@pytest.mark.parametrize(
    ("path", "parts"),
    [
        ("model.py", ("model", "Net", "forward")),
        ("./ppdet/modeling/heads.py", ("ppdet", "modeling", "heads", "Net", "forward")),
        ("../other/net.py", ("other", "net", "Net", "forward")),
        ("ppdet/__init__.py", ("ppdet", "Net", "forward")),
        ("/usr/lib/python3/site-packages/paddle/nn/layer/norm.py", ("paddle", "nn", "layer", "norm", "Net", "forward")),
        ("/home/me/proj/a/net.py", ("net", "Net", "forward")),
        ("C:\\work\\proj\\net.py", ("net", "Net", "forward")),
    ],
)
def test_module_parts_of_a_path(path, parts):
    node = piece("Net.forward", path)
    assert module_parts([node])[node.id] == parts


def test_absolute_paths_begin_below_what_they_share():
    nodes = [piece("f", path) for path in ("/a/b/pkg/x/one.py", "/a/b/pkg/y/two.py", "/v/site-packages/lib/three.py")]
    assert [parts[:-1] for parts in module_parts(nodes).values()] == [("x", "one"), ("y", "two"), ("lib", "three")]


def test_a_node_without_a_place_is_folded_by_its_name():
    node = GraphNode("x", SUBGRAPH, "f", COMPILED)
    assert module_parts([node]) == {"x": ("f",)}
    assert names(picture(graph(node), depth=1)) == ["f"]
