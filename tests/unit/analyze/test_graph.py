"""The subgraph graph of runs written by hand: what becomes a node, what leads where, what passes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from fake_runs import MS, PATH, FakeRun

from sotprobe.analyze.compare import summarise
from sotprobe.analyze.graph import build_graph, from_records, to_records
from sotprobe.errors import InputError
from sotprobe.model import Event, GraphEdge, GraphNode, SourceSite, Statement, Subgraph, SubgraphGraph
from sotprobe.readers.rundir import read_run

SOURCE = """\
import paddle


def helper(h):  # <- helper
    v = h * 2  # <- helper-work
    print("in helper")  # <- helper-print
    return v + 1  # <- helper-rest


class Net(paddle.nn.Layer):
    def forward(self, x):  # <- forward
        h = x + 1  # <- work
        print("one")  # <- one
        h = h * 2  # <- more
        if h.sum() > 0:  # <- if
            h = h + 3  # <- then
        else:
            h = h - 3  # <- else
        h = helper(h)  # <- call
        return h.mean()  # <- last


class Loss(paddle.nn.Layer):
    def forward(self, x):  # <- loss
        with paddle.no_grad():  # <- with
            return x.abs()  # <- eager
"""


class Story:
    """A static diagnosing run of SOURCE. ``code`` 0 is Net.forward."""

    def __init__(self, run: FakeRun, steps: int = 6):
        self.run = run
        self.program = run.program
        self._numbers = 0
        run.steps(steps, compile_steps=1)
        self.code(0, "forward")

    def code(self, number: int, marker: str, *chain: str, function: str = "forward", sides: tuple[str, ...] = ()) -> Story:
        lines = [self.program.line(name) for name in chain]
        self.run.record(
            "code", id=number, path=PATH, line=self.program.line(marker), function=function, raw=function, user=True,
            break_lines=lines, break_sides=list(sides or ("",) * len(lines)), flags=[],
        )  # fmt: skip
        return self

    def translate(self, code: int, *outer: str, outcome: str = "compiled") -> Story:
        stack = [self.at(marker) for marker in outer]
        self.run.record("translate", step=0, code=code, nth=1, outcome=outcome, wall_ns=MS, message="", outer=stack)
        return self

    def at(self, marker: str) -> dict[str, Any]:
        return {**self.program.at(marker), "function": "helper" if marker.startswith("helper") else "forward"}

    def subgraph(
        self, name: str, code: int, *markers: str, step: int = 0, ops: int | None = 10, runs: range | None = range(6),
        inputs: tuple[str, ...] = (), outputs: tuple[str, ...] = (), taken: tuple[str, ...] = (), dropped: str | None = None,
    ) -> Story:  # fmt: skip
        statements = [{"text": f"api || {marker}", **self.at(marker)} for marker in markers]
        described = [[{"name": text, "ir_shape": [2, -1], "dtype": "float32"} for text in texts] for texts in (inputs, outputs)]
        for item in described[1]:
            item["at_break"] = item["name"] in taken
        self.run.record(
            "subgraph", step=step, name=name, code=code, statements=statements, ops=ops, inputs=described[0],
            outputs=described[1], compile_ns=5 * MS, dropped=dropped,
        )  # fmt: skip
        for ran in runs or ():
            self.run.record("subgraph-runs", step=ran, runs=[{"name": name, "count": 1}])
        return self

    def breaks(self, code: int, marker: str, *stack: str, step: int = 0, reason: str | None = None) -> Story:
        sites = [self.at(name) for name in (stack or (marker,))]
        self.run.record("break", step=step, code=code, how="call", site=self.at(marker), reason=reason, message="", stack=sites)
        return self

    def flows(self, step: int, *links: tuple) -> Story:
        """(from, output, to, input, origin): one tensor of 32 bytes each."""
        names = ("from", "output", "to", "input", "origin")
        more = {"count": 1, "shape": [2, 4], "dtype": "float32", "bytes": 32}
        self.run.record("subgraph-flow", step=step, links=[{**dict(zip(names, link, strict=True)), **more} for link in links])
        return self

    def entered(self, **counts: int) -> Story:
        for step in range(1, 6):
            self.run.frames(step, **{name: {"entered": count} for name, count in counts.items()})
        return self

    def graph(self, step: int | None = None) -> SubgraphGraph:
        graph = build_graph(self.read(), step)
        records = to_records(graph)
        assert to_records(from_records(records)) == records
        return records

    def read(self):
        if not (self.run.directory / "exit.json").exists():
            self.run.ended()
        return read_run(self.run.directory)


@pytest.fixture
def story(program) -> Story:
    return Story(program(SOURCE).run())


def ids(graph: SubgraphGraph, kind: str | None = None) -> list[str]:
    return [node.id.removeprefix("model.py:") for node in graph.nodes if kind in (None, node.kind)]


def node(graph: SubgraphGraph, name: str) -> GraphNode:
    return next(found for found in graph.nodes if found.id == f"model.py:{name}")


def edges(graph: SubgraphGraph, kind: str) -> dict[tuple[str, str], GraphEdge]:
    short = [(edge.source.removeprefix("model.py:"), edge.target.removeprefix("model.py:"), edge) for edge in graph.edges]
    return {(source, target): edge for source, target, edge in short if edge.kind == kind}


def two_pieces(story: Story) -> Story:
    """Net.forward, a print, and what comes after it."""
    one = story.program.line("one")
    story.code(1, "forward", "one").translate(0).translate(1, "one").breaks(0, "one")
    assert one
    return story.subgraph("SIR_0", 0, "work", outputs=("a",)).subgraph("SIR_1", 1, "more", "last", inputs=("b",), ops=20)


def test_breaks_lead_from_subgraph_to_subgraph(story: Story) -> None:
    two_pieces(story).entered(c0=1, c1=1)
    graph = story.graph()
    line = story.program.line("one")
    assert ids(graph) == ["Net.forward", f"Net.forward!break:{line}", f"Net.forward@{line}"]
    assert list(edges(graph, "control")) == [
        ("Net.forward", f"Net.forward!break:{line}"),
        (f"Net.forward!break:{line}", f"Net.forward@{line}"),
    ]
    region = node(graph, f"Net.forward!break:{line}")
    assert (region.why, region.state, region.name, region.runs_per_step) == ("break", "dynamic", "Net.forward", 1.0)
    assert (region.ops, region.ms_per_step) == (None, None), "lines were not measured"
    behind = node(graph, f"Net.forward@{line}")
    assert (behind.site.line, behind.last_line) == (story.program.line("more"), story.program.line("last"))
    assert (behind.ops, behind.compiles, behind.runs_per_step, behind.compile_ms) == (20, 1, 1.0, 5.0)
    assert (behind.state, behind.chain) == ("compiled", (line,))
    assert graph.summary.subgraphs == graph.summary.subgraph_versions == 2
    assert (graph.summary.dynamic_regions, graph.summary.runs_per_step) == (1, 2.0)
    assert (graph.summary.min_ops, graph.summary.median_ops) == (10, 15.0)


def test_a_line_range_is_that_of_the_own_function(story: Story) -> None:
    story.translate(0).subgraph("SIR_0", 0, "work", "helper-work", "helper-rest", "last")
    found = node(story.graph(), "Net.forward")
    assert (found.site.line, found.last_line) == (story.program.line("work"), story.program.line("last"))
    assert [statement.site.line for statement in found.statements][1] == story.program.line("helper-work")


def test_what_is_all_inlined_has_the_range_of_the_called_function(story: Story) -> None:
    story.translate(0).subgraph("SIR_0", 0, "helper-work", "helper-rest")
    found = node(story.graph(), "Net.forward")
    assert (found.site.line, found.last_line) == (story.program.line("helper-work"), story.program.line("helper-rest"))


def test_translations_of_one_place_are_versions_of_one_node(story: Story) -> None:
    story.translate(0)
    for number in range(4):
        story.subgraph(f"SIR_{number}", 0, "work", step=number, ops=10 + number, runs=range(number, number + 1))
        if number:
            guard = {"expression": f"x.shape[0] == {number}", "expected": str(number), "seen": str(number + 1)}
            story.run.record("recompile", step=number, code=0, entries=number, guards=[guard], wall_ns=MS, site=None)
    graph = story.graph()
    found = node(graph, "Net.forward")
    assert ids(graph) == ["Net.forward"]
    assert (found.state, found.compiles, found.ops, found.compile_ms) == ("recompiled", 4, 13, 20.0)
    assert [version.name for version in found.versions] == ["SIR_0", "SIR_1", "SIR_2", "SIR_3"]
    assert [[guard.seen for guard in version.guards] for version in found.versions] == [[], ["2"], ["3"], ["4"]]
    assert [version.runs for version in found.versions] == [1, 1, 1, 1]
    assert found.runs_per_step == 3 / 5, "steps 1 to 5 are steady"
    counted = summarise("static", [story.read()])
    summary = graph.summary
    assert (summary.subgraphs, summary.subgraph_versions, summary.recompiles) == (1, counted.subgraphs, counted.recompiles)


def test_both_sides_of_a_branch_are_two_nodes_and_no_recompile(story: Story) -> None:
    story.translate(0).breaks(0, "if").subgraph("SIR_0", 0, "more")
    story.code(1, "forward", "if", sides=("then",)).code(2, "forward", "if", sides=("else",))
    story.subgraph("SIR_1", 1, "then", runs=range(3)).subgraph("SIR_2", 2, "else", runs=range(3, 6))
    line = story.program.line("if")
    graph = story.graph()
    assert ids(graph, "subgraph") == ["Net.forward", f"Net.forward@{line}then", f"Net.forward@{line}else"]
    assert {found.state for found in graph.nodes} == {"compiled", "dynamic"}
    assert len(edges(graph, "control")) == 3


def test_a_place_whose_translations_are_all_in_use(story: Story) -> None:
    story.translate(0).subgraph("SIR_0", 0, "work", runs=range(2)).entered(c0=1)
    story.run.frames(5, c0={"entered": 1, "cache_full": 1})
    graph = story.graph()
    assert node(graph, "Net.forward").state == "cache-full"
    region = node(graph, "Net.forward!cache-full")
    assert (region.why, region.cause) == ("cache-full", "cache-full")
    assert region.runs_per_step == pytest.approx(6 / 5 - 1 / 5), "entered without running what is compiled"
    assert graph.summary.dynamic_regions == 1


def test_the_compile_time_limit_is_a_region_too(story: Story) -> None:
    story.translate(0).subgraph("SIR_0", 0, "work")
    story.run.frames(5, c0={"entered": 1, "compile_limit": 1})
    assert node(story.graph(), "Net.forward!compile-limit").why == "compile-limit"


def test_a_dropped_subgraph_is_shown_and_not_counted_as_one(story: Story) -> None:
    story.translate(0, outcome="too-small").subgraph("SIR_0", 0, "work", ops=3, runs=None, dropped="too-small")
    story.entered(c0=1)
    graph = story.graph()
    found = node(graph, "Net.forward")
    assert (found.kind, found.state, found.why, found.ops, found.runs_per_step) == ("subgraph", "dropped", "too-small", 3, 1.0)
    summary = graph.summary
    assert (summary.subgraphs, summary.subgraph_versions, summary.dynamic_regions) == (0, 0, 1)
    assert summary.median_ops is None


def test_an_empty_subgraph_is_passed_through(story: Story) -> None:
    story.code(1, "forward", "one").code(2, "forward", "one", "if", sides=("", "then"))
    story.breaks(0, "one").breaks(1, "if").subgraph("SIR_2", 2, "then")
    one, branch = story.program.line("one"), story.program.line("if")
    graph = story.graph()
    assert list(edges(graph, "control")) == [
        (f"Net.forward!break:{one}", f"Net.forward!break:{branch}"),
        (f"Net.forward!break:{branch}", f"Net.forward@{one},{branch}then"),
    ]


def test_a_line_that_breaks_again_and_again_is_one_region(story: Story) -> None:
    story.breaks(0, "one").entered(c0=1, c1=1, c2=1, c3=1)
    for number in (1, 2, 3):
        story.code(number, "forward", *("one",) * number).breaks(number, "one", step=number)
    story.subgraph("SIR_0", 0, "work").subgraph("SIR_3", 3, "last")
    line = story.program.line("one")
    graph = story.graph()
    assert ids(graph) == ["Net.forward", f"Net.forward!break:{line}", f"Net.forward@{line}x3"]
    assert node(graph, f"Net.forward!break:{line}").runs_per_step == 3.0


def called_helper(story: Story) -> Story:
    """Net.forward calls helper, which prints: both are captured around it."""
    story.code(1, "forward", "call").code(2, "helper", function="helper").code(3, "helper", "helper-print", function="helper")
    story.translate(0).translate(2, "call").translate(3, "call", "helper-print").translate(1, "call")
    story.breaks(0, "helper-print", "call", "helper-print")
    story.subgraph("SIR_0", 0, "work").subgraph("SIR_1", 2, "helper-work").subgraph("SIR_2", 3, "helper-rest")
    return story.subgraph("SIR_3", 1, "last")


def test_a_function_captured_on_its_own_lies_between(story: Story) -> None:
    graph = called_helper(story).graph()
    call, line = story.program.line("call"), story.program.line("helper-print")
    assert list(edges(graph, "control")) == [
        ("Net.forward", "helper"),
        ("helper", f"helper!break:{line}"),
        (f"helper!break:{line}", f"helper@{line}"),
        (f"helper@{line}", f"Net.forward@{call}"),
    ]
    assert graph.summary.dynamic_regions == 1, "the call itself is none"


def lost_loss(story: Story) -> Story:
    """Loss.forward is never captured: it has a with block. Net.forward calls it at ``call``."""
    story.run.record(
        "eager-frame", step=2, phase="early", path=PATH, line=story.program.line("loss"), function="forward", raw="forward",
        count=1, why="exception-table", called_from=story.at("call"), seen=False,
    )  # fmt: skip
    return story.translate(0).subgraph("SIR_0", 0, "work", outputs=("a",))


def test_a_function_that_was_not_captured_is_a_region(story: Story) -> None:
    lost_loss(story).breaks(0, "with", "call", "with")
    graph = story.graph()
    own = f"Loss.forward!not-captured:{story.program.line('with')}"
    assert list(edges(graph, "control")) == [("Net.forward", own)]
    region = node(graph, own)
    assert (region.why, region.cause, region.runs_per_step) == ("not-captured", "no-grad", 1.0)
    assert ids(graph, "dynamic") == [own], "the break inside it is no region of its own"


def test_what_is_captured_below_a_lost_function_returns_to_it(story: Story) -> None:
    lost_loss(story).code(2, "helper", function="helper").translate(2, "eager")
    story.subgraph("SIR_1", 2, "helper-work", inputs=("c",), outputs=("d",))
    story.flows(1, ("SIR_1", 0, "SIR_1", 0, "dynamic"), ("SIR_1", 0, None, None, "subgraph"))
    own = f"Loss.forward!not-captured:{story.program.line('with')}"
    graph = story.graph()
    assert (own, "helper") in edges(graph, "control")
    tensors = edges(graph, "tensor")
    assert sorted(tensors) == [(own, "helper.in0"), ("helper", "helper.out0"), ("helper.in0", "helper"), ("helper.out0", own)]
    assert (graph.summary.bytes_to_dynamic, graph.summary.bytes_from_dynamic) == (32.0, 32.0)


def test_a_frame_given_up_is_a_region_that_ends_the_function(story: Story) -> None:
    story.code(1, "forward", "one").breaks(0, "one").translate(0).translate(1, "one", outcome="fallback")
    site = story.at("last")
    story.run.record("fallback", step=0, code=1, site=site, reason=None, message="dict.update", error="FallbackError",
                     final_message="", stack=[site])  # fmt: skip
    story.subgraph("SIR_0", 0, "work").entered(c0=1, c1=1)
    one, last = story.program.line("one"), story.program.line("last")
    graph = story.graph()
    own = f"Net.forward@{one}!fallback:{last}"
    assert list(edges(graph, "control")) == [
        ("Net.forward", f"Net.forward!break:{one}"),
        (f"Net.forward!break:{one}", own),
    ]
    assert (node(graph, own).why, node(graph, own).runs_per_step) == ("fallback", 1.0)


def test_lines_give_regions_their_operators_and_time(story: Story) -> None:
    two_pieces(story).entered(c0=1, c1=1)
    story.run.lines(("one", 1, 2.0, {"add": 3}), ("work", 1, 0.5, {}), ("eager", 1, 4.0, {"abs": 5}), first=2, wall_ms=10.0)
    region = node(story.graph(), f"Net.forward!break:{story.program.line('one')}")
    assert (region.ops, region.ms_per_step) == (3.0, 2.0)
    assert node(story.graph(step=3), region.id.removeprefix("model.py:")).ops == 3.0, "step 3 is in the window"
    assert node(story.graph(step=5), region.id.removeprefix("model.py:")).ops is None, "step 5 is not"


def test_shares_are_of_what_ran_below_to_static_calls(story: Story) -> None:
    two_pieces(story)
    rows = [("one", 4.0, {"add": 10}, True), ("eager", 90.0, {"sgd": 50}, False)]
    story.run.record(
        "lines", step_from=2, step_to=4, wall_ns=20 * MS, operators=100, attributed=100, compiled_forward=60,
        lines=[
            {**story.at(marker), "hits": 2, "wall_ns": int(2 * ms * MS), "inside": inside,
             "ops": [[name, 2 * count, 1000] for name, count in ops.items()]}
            for marker, ms, ops, inside in rows
        ],
    )  # fmt: skip
    times = [
        {"name": name, "count": 2, "forward_ns": ns * 2 * MS, "backward_ns": None} for name, ns in (("SIR_0", 5), ("SIR_1", 7))
    ]
    story.run.record("subgraph-time", step_from=2, step_to=4, times=times)
    summary = story.graph().summary
    assert summary.captured_op_share == pytest.approx(30 / 40)
    assert summary.captured_time_share == pytest.approx(12 / 16)


def test_without_flow_records_there_are_only_control_edges(story: Story) -> None:
    graph = two_pieces(story).graph()
    assert edges(graph, "tensor") == {}
    assert (graph.summary.bytes_to_dynamic, graph.summary.bytes_from_dynamic) == (None, None)
    assert (graph.summary.captured_op_share, graph.summary.captured_time_share) == (None, None)


def test_a_tensor_with_one_taker_is_an_edge(story: Story) -> None:
    two_pieces(story).flows(0, ("SIR_0", 0, "SIR_1", 0, "subgraph")).flows(1, ("SIR_0", 0, "SIR_1", 0, "subgraph"))
    graph = story.graph()
    ((ends, edge),) = edges(graph, "tensor").items()
    assert ends == ("Net.forward", f"Net.forward@{story.program.line('one')}")
    assert (edge.name, edge.ir_shape, edge.real_shapes, edge.dtype) == ("a", (2, -1), ((2, 4),), "float32")
    assert (edge.bytes, edge.per_step) == (32, 1.0)
    assert ids(graph, "tensor") == []
    assert (graph.summary.bytes_to_dynamic, graph.summary.bytes_from_dynamic) == (0.0, 0.0)


def test_what_the_break_reads_crosses_although_a_subgraph_takes_it_too(story: Story) -> None:
    story.code(1, "forward", "one").translate(0).translate(1, "one").breaks(0, "one")
    story.subgraph("SIR_0", 0, "work", outputs=("a",), taken=("a",)).subgraph("SIR_1", 1, "more", inputs=("b",))
    story.flows(1, ("SIR_0", 0, "SIR_1", 0, "subgraph"))
    graph = story.graph()
    line = story.program.line("one")
    assert set(edges(graph, "tensor")) == {
        ("Net.forward", "Net.forward.out0"),
        ("Net.forward.out0", f"Net.forward@{line}"),
        ("Net.forward.out0", f"Net.forward!break:{line}"),
    }
    assert graph.summary.bytes_to_dynamic == 32.0


def test_what_no_subgraph_takes_goes_to_the_region_behind_or_back_to_the_caller(story: Story) -> None:
    two_pieces(story).flows(1, ("SIR_0", 0, None, None, "subgraph"), ("SIR_1", 0, None, None, "subgraph"))
    graph = story.graph()
    line = story.program.line("one")
    assert set(edges(graph, "tensor")) == {
        ("Net.forward", "Net.forward.out0"),
        ("Net.forward.out0", f"Net.forward!break:{line}"),
        (f"Net.forward@{line}", f"Net.forward@{line}.out0"),
    }
    assert graph.summary.bytes_to_dynamic == 32.0


def test_dynamic_code_hands_on_what_it_made(story: Story) -> None:
    two_pieces(story).flows(1, ("SIR_1", 0, "SIR_1", 0, "dynamic"), ("SIR_0", 0, "SIR_0", 0, "input"))
    graph = story.graph()
    line = story.program.line("one")
    assert set(edges(graph, "tensor")) == {
        (f"Net.forward!break:{line}", f"Net.forward@{line}.in0"),
        (f"Net.forward@{line}.in0", f"Net.forward@{line}"),
        ("Net.forward.in0", "Net.forward"),
    }, "the caller's has no maker"
    assert graph.summary.bytes_from_dynamic == 32.0


def test_steady_steps_decide_where_a_tensor_comes_from(story: Story) -> None:
    two_pieces(story)
    story.flows(0, ("SIR_1", 0, "SIR_1", 0, "dynamic")).flows(1, ("SIR_1", 0, "SIR_1", 0, "input"))
    assert story.graph().summary.bytes_from_dynamic == 0.0
    assert story.graph(step=0).summary.bytes_from_dynamic == 32.0


def test_inputs_are_the_same_in_every_version(story: Story) -> None:
    """SOT sorts them by name as text, so var_10 comes before var_9: the first input of one version is the second of another."""
    story.translate(0)
    story.subgraph("SIR_0", 0, "work", inputs=("var_1", "var_2"), runs=range(1))
    story.subgraph("SIR_1", 0, "work", inputs=("var_10", "var_9"), runs=range(1, 6), step=1)
    story.flows(0, ("SIR_0", 0, "SIR_0", 0, "input"), ("SIR_0", 1, "SIR_0", 1, "dynamic"))
    story.flows(1, ("SIR_1", 0, "SIR_1", 0, "dynamic"), ("SIR_1", 1, "SIR_1", 1, "input"))
    graph = story.graph()
    assert [meta.name for meta in node(graph, "Net.forward").inputs] == ["var_9", "var_10"]
    assert set(edges(graph, "tensor")) == {("Net.forward.in0", "Net.forward"), ("Net.forward.in1", "Net.forward")}
    assert graph.summary.bytes_from_dynamic == 32.0


def test_one_step_shows_what_ran_in_it(story: Story) -> None:
    story.translate(0).breaks(0, "if").subgraph("SIR_0", 0, "more")
    story.code(1, "forward", "if", sides=("then",)).code(2, "forward", "if", sides=("else",))
    story.subgraph("SIR_1", 1, "then", runs=range(3)).subgraph("SIR_2", 2, "else", runs=range(3, 6), step=3)
    line = story.program.line("if")
    graph = story.graph(step=4)
    assert ids(graph) == ["Net.forward", f"Net.forward!break:{line}", f"Net.forward@{line}else"]
    assert (graph.step, graph.summary.subgraphs, graph.summary.runs_per_step) == (4, 2, 2.0)
    assert node(graph, f"Net.forward@{line}else").versions[0].runs == 1


def test_a_step_that_there_is_not_is_told(story: Story) -> None:
    with pytest.raises(InputError, match="no step 77") as error:
        two_pieces(story).graph(step=77)
    assert "0 to 5" in error.value.hint


@pytest.mark.parametrize(("mode", "purpose"), [("dynamic", "diagnosis"), ("static", "timing")])
def test_other_runs_have_no_graph(program, mode: str, purpose: str) -> None:
    run = program(SOURCE).run(mode, purpose).steps(3).ended()
    with pytest.raises(InputError, match=f"{mode} {purpose}"):
        build_graph(read_run(run.directory))


def test_full_graph_has_no_subgraphs(program) -> None:
    run = program(SOURCE).run(full_graph=True).steps(3).ended()
    with pytest.raises(InputError, match="full_graph"):
        build_graph(read_run(run.directory))


def test_functions_of_one_name_are_told_apart(story: Story) -> None:
    story.code(1, "loss").translate(0).translate(1)
    story.subgraph("SIR_0", 0, "work").subgraph("SIR_1", 1, "eager")
    assert ids(story.graph()) == ["Net.forward", "Loss.forward"]


def test_functions_of_one_name_without_source_are_told_apart_by_line(story: Story) -> None:
    story.code(1, "loss").translate(0).translate(1)
    story.subgraph("SIR_0", 0, "work").subgraph("SIR_1", 1, "eager")
    (story.run.directory / "sources" / "index.json").unlink()
    lines = [story.program.line(marker) for marker in ("forward", "loss")]
    assert ids(story.graph()) == [f"forward:{line}" for line in lines]


def test_a_break_of_another_function_of_the_same_name_is_not_its_own(program) -> None:
    story = Story(program(SOURCE).run())
    story.code(1, "loss").code(2, "forward", "call").translate(0).translate(1, "call").translate(2, "call")
    story.breaks(0, "eager", "call", "eager").subgraph("SIR_0", 0, "work").subgraph("SIR_1", 1, "with")
    story.subgraph("SIR_2", 2, "last")
    call = story.program.line("call")
    assert ("Loss.forward", f"Net.forward@{call}") in edges(story.graph(), "control")


def test_nothing_captured_is_an_empty_graph(story: Story) -> None:
    graph = story.graph()
    assert (graph.nodes, graph.edges) == ((), ())
    assert (graph.summary.subgraphs, graph.summary.runs_per_step, graph.summary.min_ops) == (0, 0, None)


def test_a_deep_chain_does_not_end_in_recursion(story: Story) -> None:
    depth = 2000
    frame = SourceSite("deep.py", 1, "forward")
    lines = tuple(range(2, depth + 2))
    breaks = tuple(
        Event("break", number, 0, replace(frame, line=line), frame, break_lines=lines[:number])
        for number, line in enumerate(lines)
    )
    ends = [
        Subgraph(name, frame, frame, 5, (Statement("api || x", frame),), built_at_step=0, runs=((1, 1),), break_lines=chain)
        for name, chain in (("SIR_0", ()), ("SIR_1", lines))
    ]
    graph = to_records(build_graph(replace(story.read(), events=breaks, subgraphs=tuple(ends))))
    assert (len(graph.nodes), len(graph.edges)) == (depth + 2, depth + 1)
    assert [found.kind for found in graph.nodes[:2]] == ["subgraph", "dynamic"]
    assert graph.nodes[-1].kind == "subgraph", "nodes are in program order"


METHODS = """\
class Model:
    def forward(self, x):  # <- model
        for block in self.blocks:  # <- loop
            x = block(x)  # <- block-call
        return x  # <- after


class Block:
    def forward(self, x):  # <- block
        x = x + 1  # <- block-work
        print(x)  # <- block-print
        return x * 2  # <- block-rest
"""


@pytest.fixture
def methods(program) -> Story:
    """Model.forward calls Block.forward, and both are called forward."""
    story = Story.__new__(Story)
    story.run = program(METHODS).run()
    story.program = story.run.program
    story.run.steps(6, compile_steps=1)
    return story.code(0, "model").code(1, "block").code(2, "block", "block-print")


def test_methods_of_one_name_are_functions_of_their_own(methods: Story) -> None:
    """The fallback of Model.forward is blamed on a line of Block.forward, which is captured all the same."""
    site, call = methods.at("block-print"), methods.at("block-call")
    methods.run.record("fallback", step=0, code=0, site=site, reason=None, message="", error="FallbackError", final_message="",
                       stack=[call, site])  # fmt: skip
    methods.translate(0, outcome="fallback").translate(1, "block-call").translate(2, "block-call", "block-print")
    methods.breaks(1, "block-print", "block-call", "block-print")
    methods.subgraph("SIR_0", 1, "block-work").subgraph("SIR_1", 2, "block-rest")
    own = f"Model.forward!fallback:{methods.program.line('block-call')}"
    printed = methods.program.line("block-print")
    graph = methods.graph()
    assert list(edges(graph, "control")) == [
        (own, "Block.forward"),
        ("Block.forward", f"Block.forward!break:{printed}"),
        (f"Block.forward!break:{printed}", f"Block.forward@{printed}"),
    ]
    assert node(graph, own).site.line == methods.program.line("block-call"), "its own line, not the one that it is blamed on"


def test_a_broken_loop_runs_its_body_before_what_comes_after(methods: Story) -> None:
    loop = methods.program.line("loop")
    methods.code(3, "model", "loop", sides=("after",)).code(4, "model", "loop", sides=("body",))
    methods.code(5, "model", "loop", "block-call", sides=("body", ""))
    methods.translate(0).translate(1, "block-call").translate(2, "block-call", "block-print").breaks(0, "loop")
    methods.breaks(4, "block-print", "block-call", "block-print")
    methods.subgraph("SIR_0", 1, "block-work").subgraph("SIR_1", 3, "after")
    graph = methods.graph()
    broken, printed = f"Model.forward!break:{loop}", f"Block.forward!break:{methods.program.line('block-print')}"
    assert ids(graph) == [broken, "Block.forward", printed, f"Model.forward@{loop}after"]
    assert set(edges(graph, "control")) == {
        (broken, "Block.forward"),
        ("Block.forward", printed),
        (broken, f"Model.forward@{loop}after"),
    }
