"""What a diagnosing child says about lines, operators, eager frames and subgraph times of real programs."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import defaultdict

import pytest
from child_runs import PROGRAMS, run_child

pytestmark = pytest.mark.paddle

PYTHON = sys.version_info[:2]
STEPS = 5  # of the late window


def paddle_at_least(*version: int) -> bool:
    import paddle

    return tuple(int(part) for part in paddle.__version__.split(".")[:2]) >= version


@pytest.fixture(scope="module")
def diagnosed(tmp_path_factory):
    """Runs a program in a diagnosing child, once for all tests of this module."""
    made = {}

    def run(program: str, mode: str, *arguments: str, keep_graphs: bool = False, **options):
        key = (program, mode, arguments, keep_graphs, tuple(sorted(options.items())))
        if key not in made:
            before = os.environ.get("MIN_GRAPH_SIZE")
            os.environ["MIN_GRAPH_SIZE"] = "0" if keep_graphs else "10"
            try:
                directory = tmp_path_factory.mktemp(program)
                made[key] = run_child(directory, PROGRAMS / f"{program}.py", mode, "diagnosis", arguments=arguments, **options)
            finally:
                del os.environ["MIN_GRAPH_SIZE"]
                if before is not None:
                    os.environ["MIN_GRAPH_SIZE"] = before
        return made[key]

    return run


class Lines:
    """The last attribution window of a run, by the marks in the program's source."""

    def __init__(self, run, program: str):
        self.record = run.of("lines")[-1]
        self.steps = self.record["step_to"] - self.record["step_from"]
        self._path = str(PROGRAMS / f"{program}.py")
        source = (PROGRAMS / f"{program}.py").read_text().splitlines()
        self._marks = {line.rpartition("# ")[2]: number for number, line in enumerate(source, 1) if "  # " in line}

    def entries(self, mark: str) -> list[dict]:
        return [e for e in self.record["lines"] if e["line"] == self._marks[mark] and e["path"] == self._path]

    def operators(self, mark: str) -> dict[str, float]:
        """Counts per step."""
        counts: defaultdict[str, float] = defaultdict(float)
        for entry in self.entries(mark):
            for name, count, ns in entry["ops"]:
                assert ns > 0
                counts[name] += count / self.steps
        return dict(counts)

    def function(self, mark: str) -> str:
        (name,) = {entry["function"] for entry in self.entries(mark)}
        return name

    @property
    def with_operators(self) -> set[int]:
        return {entry["line"] for entry in self.record["lines"] if entry["ops"]}

    def adds_up(self) -> None:
        """Every operator is somewhere and the wall times make up the window."""
        record = self.record
        nowhere = sum(count for _, count, _ in record["nowhere"]["ops"])
        listed = sum(count for entry in record["lines"] for _, count, _ in entry["ops"])
        assert listed == record["attributed"]
        assert record["operators"] == record["attributed"] + record["compiled_operators"] + nowhere
        assert {entry["path"] for entry in record["lines"]} == {self._path}


def walls(run) -> tuple[int, int]:
    """Wall time of the last window, and the sum of everything in it."""
    lines, times = run.of("lines")[-1], run.of("subgraph-time")
    total = sum(entry["wall_ns"] for entry in lines["lines"]) + lines["nowhere"]["wall_ns"]
    if times:
        total += sum(t["forward_ns"] + (t["backward_ns"] or 0) for t in times[-1]["times"])
    return lines["wall_ns"], total


# Operators on lines


def test_dynamic_mode_puts_every_operator_on_its_line(diagnosed):
    run = diagnosed("attribution_lines", "dynamic")
    lines = Lines(run, "attribution_lines")
    assert (lines.record["step_from"], lines.record["step_to"]) == (25, 30)
    assert lines.operators("set") == {"set_value_": 16}
    assert lines.operators("scale") == {"scale": 4}
    assert lines.operators("helper") == {"add": 1, "tanh": 1}
    assert lines.operators("linear") == {"matmul": 1}
    assert lines.operators("library") == {"scale": 2, "relu": 1}
    assert lines.operators("loss") == {"sum": 2, "add": 1}
    assert lines.operators("optimizer") == {"sgd_": 1}
    assert lines.operators("backward")["Global_ScaleGradNode"] == 6
    assert lines.record["operators"] == lines.record["attributed"] == 215
    lines.adds_up()
    assert run.of("note") == []


def test_lines_carry_hits_functions_and_whether_they_are_inside(diagnosed):
    lines = Lines(diagnosed("attribution_lines", "dynamic"), "attribution_lines")
    (entry,) = lines.entries("set")
    assert (entry["hits"], entry["inside"], entry["function"]) == (16 * STEPS, True, "write")
    (entry,) = lines.entries("backward")
    assert (entry["hits"], entry["inside"], entry["function"]) == (STEPS, False, "train")


@pytest.mark.parametrize(("mode", "keep"), [("dynamic", False), ("static", False), ("static", True)])
def test_the_window_is_made_of_its_lines_and_subgraphs(diagnosed, mode, keep):
    window, total = walls(diagnosed("attribution_lines", mode, keep_graphs=keep))
    assert total == window


def test_the_early_window_is_there_too(diagnosed):
    first, _ = diagnosed("attribution_lines", "dynamic").of("lines")
    assert (first["step_from"], first["step_to"]) == (4, 7)
    assert first["operators"] == first["attributed"] == 129


def test_static_mode_leaves_the_compiled_operators_to_their_subgraphs(diagnosed):
    run = diagnosed("attribution_lines", "static", keep_graphs=True)
    lines = Lines(run, "attribution_lines")
    assert lines.record["translations"] == 0
    assert lines.operators("set") == {"set_value_": 16}
    assert lines.operators("optimizer") == {"sgd_": 1}
    assert lines.operators("backward") == {"Global_GradNodeAccumulation": 1}
    for mark in ("scale", "helper", "linear", "library", "loss"):
        assert lines.operators(mark) == {}
    assert lines.record["compiled_operators"] == 180
    lines.adds_up()
    assert run.of("note") == []


def test_every_subgraph_has_forward_and_backward_time(diagnosed):
    run = diagnosed("attribution_lines", "static", keep_graphs=True)
    times = run.of("subgraph-time")[-1]["times"]
    runs = {item["name"]: item["count"] for item in run.of("subgraph-runs")[26]["runs"]}
    assert {time["name"]: time["count"] for time in times} == {name: count * STEPS for name, count in runs.items()}
    assert all(time["forward_ns"] > 0 and time["backward_ns"] > 0 for time in times)


def test_what_compiled_code_runs_eagerly_is_on_the_true_line(diagnosed):
    """The first graph is too small to be kept: its operators run from code that SOT wrote."""
    lines = Lines(diagnosed("attribution_lines", "static"), "attribution_lines")
    assert lines.operators("linear") == {"matmul": 1}
    assert lines.operators("library") == {"scale": 2, "relu": 1}
    assert {entry["compiled"] for entry in lines.entries("linear")} == {True}
    assert {entry["compiled"] for entry in lines.entries("set")} == {False}
    assert lines.function("library") == "forward"
    lines.adds_up()


@pytest.mark.parametrize("mode", ["dynamic", "static"])
def test_full_graph_has_one_program(diagnosed, mode):
    run = diagnosed("attribution_case", mode, kind="case", full_graph=True, steps=32)
    lines = Lines(run, "attribution_case")
    lines.adds_up()
    if mode == "dynamic":
        assert lines.operators("scale") == {"scale": 2}
        return
    assert lines.operators("scale") == {}
    (time,) = run.of("subgraph-time")[-1]["times"]
    assert (time["name"], time["count"]) == ("program", STEPS)
    assert time["forward_ns"] > 0
    assert time["backward_ns"] > 0
    window, total = walls(run)
    assert total == window


def test_what_the_harness_of_a_case_runs_is_on_no_line_and_no_news(diagnosed):
    run = diagnosed("attribution_case", "dynamic", kind="case", full_graph=True, steps=32)
    lines = Lines(run, "attribution_case")
    assert lines.operators("mean") == {"mean": 1}
    assert any(name.startswith("sgd_") for name, _, _ in lines.record["nowhere"]["ops"])
    assert not any("no line of the program on the stack" in note["text"] for note in run.of("note"))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_threads_generators_exceptions_recursion_and_forks(diagnosed):
    run = diagnosed("attribution_threads", "dynamic")
    assert run.code == 0
    assert "children [0] trace None None" in run.stdout
    lines = Lines(run, "attribution_threads")
    assert lines.operators("recursion") == {"scale": 50}
    assert lines.operators("generator") == {"scale": 3}
    assert lines.operators("consumer") == {"abs": 3}
    assert lines.operators("before") == {"scale": 1}
    assert lines.operators("after") == {"tanh": 1}
    assert lines.operators("thread") == {"exp": 1}
    assert {entry["wall_ns"] for entry in lines.entries("thread")} == {0}  # the stepping thread only waits
    lines.adds_up()
    assert run.of("note") == []


# Tracing must not disturb


@pytest.mark.parametrize("keep", [False, True])
def test_tracing_is_never_translated_and_changes_no_subgraph_run(diagnosed, keep):
    run = diagnosed("attribution_lines", "static", keep_graphs=keep)
    assert all(code["user"] for code in run.of("code")), [code["path"] for code in run.of("code")]
    assert {record["step"] for record in run.of("translate")} == {0}
    runs = [sorted((item["name"], item["count"]) for item in record["runs"]) for record in run.of("subgraph-runs")]
    assert len(runs) >= 31
    assert all(step == runs[0] for step in runs[:31])


def test_both_modes_print_the_same(diagnosed):
    dynamic = diagnosed("attribution_lines", "dynamic").stdout.splitlines()
    static = diagnosed("attribution_lines", "static", keep_graphs=True).stdout.splitlines()
    assert dynamic[-1].startswith("loss ")
    assert dynamic.count("forward") == static.count("forward") == 32
    assert dynamic[-1] == static[-1]


@pytest.mark.parametrize("mode", ["dynamic", "static"])
def test_a_profiler_of_the_program_goes_first(diagnosed, mode):
    run = diagnosed("attribution_profiler", mode, "5", "8", keep_graphs=True)
    bare = subprocess.run(
        [sys.executable, str(PROGRAMS / "attribution_profiler.py"), "5", "8"],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "MIN_GRAPH_SIZE": "0", "ENABLE_FALL_BACK": "True"},
    )
    assert run.code == bare.returncode == 0
    counted = [line for line in run.stdout.splitlines() if line.startswith("operators")]
    assert len(counted) == 1
    if mode == "static":
        assert counted[0] in bare.stdout
    early, late = run.of("lines")
    assert (early["step_from"], early["step_to"]) == (4, 5)
    assert (late["step_from"], late["step_to"]) == (25, 30)
    (note,) = run.of("note")
    assert "of its own" in note["text"]


def test_a_profiler_that_is_always_alive_is_left_alone(diagnosed):
    run = diagnosed("attribution_profiler", "dynamic", "1", "30")
    assert run.code == 0
    assert "operators" in run.stdout
    assert run.of("lines") == []
    assert any("is alive" in note["text"] for note in run.of("note"))
    assert run.of("coverage")


# Coverage


def test_dynamic_mode_says_which_lines_ran(diagnosed):
    run = diagnosed("attribution_lines", "dynamic")
    marks = Lines(run, "attribution_lines")._marks
    records = run.of("coverage")
    assert [record["step"] for record in records] == [0, 1, 2, 22, 23, 24]
    for record in records:
        assert record["simulated"] is False
        ((path, lines, functions),) = record["lines"]
        assert path == str(PROGRAMS / "attribution_lines.py")
        assert {marks[mark] for mark in ("scale", "helper", "set", "linear", "library", "print", "loss")} <= set(lines)
        assert functions[str(marks["scale"])] == "scaled"


def test_static_mode_covers_what_ran_eagerly(diagnosed):
    run = diagnosed("attribution_lines", "static", keep_graphs=True)
    marks = Lines(run, "attribution_lines")._marks
    records = [record for record in run.of("coverage") if not record["simulated"]]
    assert [record["step"] for record in records] == [1, 2, 22, 23, 24]
    for record in records:
        ((_, lines, _),) = record["lines"]
        assert {marks["set"], marks["backward"]} <= set(lines)
        assert not {marks["scale"], marks["helper"], marks["linear"]} & set(lines)


# Eager frames


def eager(run, phase: str) -> dict[str, list[dict]]:
    """The records of one step of a phase, by function (rests of functions left out)."""
    steps = sorted({record["step"] for record in run.of("eager-frame") if record["phase"] == phase})
    assert set(steps) <= ({2} if phase == "early" else {22, 23, 24, 38})
    found = defaultdict(list)
    for record in run.of("eager-frame"):
        if record["phase"] == phase and record["step"] == steps[-1] and not record["raw"].startswith("$"):
            found[record["function"]].append(record)
    return found


@pytest.mark.parametrize("phase", ["early", "late"])
def test_frames_that_sot_does_not_take(diagnosed, phase):
    run = diagnosed("attribution_frames", "static")
    found = eager(run, phase)
    (with_block,) = found["with_block"]
    assert with_block["why"] == ("seen" if PYTHON == (3, 10) else "exception-table")
    assert with_block["seen"] == (PYTHON == (3, 10))
    assert with_block["count"] == 1
    assert with_block["called_from"]["function"] == "forward"
    (generator,) = found["generator"]
    assert (generator["why"], generator["count"]) == ("generator", 1)
    (worker,) = found["<lambda>"]
    assert worker["why"] == "thread"
    by_why = {record["why"]: record["count"] for record in found["ops"]}
    assert by_why["called-from-generator"] == 2
    assert by_why["thread"] == 1
    assert "captured" not in found
    assert "forward" not in found


def test_below_a_caller_that_turned_the_hook_off(diagnosed):
    found = eager(diagnosed("attribution_frames", "static"), "early")
    (record,) = [record for record in found["ops"] if record["why"] == "hook-off"]
    assert (record["seen"], record["count"], record["called_from"]["function"]) == (False, 1, "hook_off")


def test_called_from_is_the_exact_line(diagnosed):
    source = (PROGRAMS / "attribution_frames.py").read_text().splitlines()
    found = eager(diagnosed("attribution_frames", "static"), "early")
    for name in ("with_block", "in_thread"):
        (record,) = found[name]
        assert f"{name}(x)" in source[record["called_from"]["line"] - 1]


def test_the_trampoline_that_is_no_longer_looked_into(diagnosed):
    run = diagnosed("attribution_poison", "static", "ten")
    if PYTHON not in ((3, 11), (3, 12)):
        assert "helper" not in eager(run, "late")
        return
    for phase in ("early", "late"):
        (record,) = eager(run, phase)["helper"]
        assert record["called_from"]["function"] == "ten"
        assert record["seen"] is False
        if phase == "early" or paddle_at_least(3, 2):
            assert record["why"] == "without-graph"
    assert run.of("subgraph-runs") == [] or all(not record["runs"] for record in run.of("subgraph-runs"))


def test_what_was_compiled_late_and_is_no_longer_used(diagnosed):
    run = diagnosed("attribution_late", "static")
    found = eager(run, "late")
    if paddle_at_least(3, 2):
        assert "forward" not in found
        return
    (record,) = found["forward"]
    assert (record["step"], record["why"], record["seen"]) == (38, "without-graph", True)


def test_one_break_before_the_helper_does_no_harm(diagnosed):
    run = diagnosed("attribution_poison", "static", "few")
    assert run.of("eager-frame") == []
    assert all(sum(item["count"] for item in record["runs"]) == 2 for record in run.of("subgraph-runs"))


def test_dynamic_mode_has_no_eager_frames(diagnosed):
    run = diagnosed("attribution_lines", "dynamic")
    assert run.of("eager-frame") == []
    assert run.of("subgraph-time") == []
