"""Run directories and sessions: what is read, what is refused with a next step, what a kill leaves behind."""

from __future__ import annotations

import json

import pytest
from fake_runs import MS, PATH, SHOWN, Program

from sotprobe.errors import InputError
from sotprobe.model import SourceSite, TensorFlow
from sotprobe.readers.rundir import read_run, read_session

TEXT = """\
def forward(x):  # <- def
    y = x * 2  # <- body
    print(y)  # <- print
    return y + 1
"""


@pytest.fixture
def program(tmp_path):
    return Program(tmp_path / "runs", TEXT)


def test_a_run_is_read_whole(program):
    run = program.run("static", batch_size=None).steps(4, compile_steps=1, batch_size=8)
    run.code(0, "def", "forward").record("translate", step=0, code=0, nth=1, outcome="compiled", wall_ns=7).ended()
    read = read_run(run.directory)
    assert (read.mode, read.purpose, read.round, read.program.path, read.batch_size) == ("static", "diagnosis", 0, SHOWN, 8)
    assert [step.kind for step in read.steps] == ["compile", "steady", "steady", "steady"]
    assert read.events[0].frame == SourceSite(SHOWN, 1, "forward")
    assert (read.exit.reason, read.exit.code) == ("returned", 0)
    assert read.sources == {SHOWN: TEXT}
    assert read.lines is None
    assert read.environment["paddle"] == "3.3.1"


def test_paths_are_shown_as_given_or_relative_to_where_the_user_ran_it(program):
    run = program.run()
    for number, path in enumerate([PATH, "/proj/lib/net.py", "/elsewhere/a.py", "/project/b.py"]):
        run.record("code", id=number, path=path, line=1, function="f", break_lines=[])
        run.record("translate", step=0, code=number, outcome="compiled")
    shown = [event.frame.path for event in read_run(run.directory).events]
    assert shown == [SHOWN, "lib/net.py", "/elsewhere/a.py", "/project/b.py"]


@pytest.mark.parametrize(
    ("sources", "chosen"),
    [
        (["call", "optimizer", "nvprof"], "nvprof"),
        (["call", "optimizer"], "optimizer"),
        (["optimizer", "function"], "function"),
        (["call"], "call"),
    ],
)
def test_the_best_clock_counts_alone(program, sources, chosen):
    run = program.run()
    for source in sources:
        run.steps(2, source=source)
    assert {step.source for step in read_run(run.directory).steps} == {chosen}


def test_a_partial_step_is_no_step(program):
    run = program.run().steps(3).record("step", index=3, source="case", wall_ns=1, translations=0, partial=True)
    assert [step.index for step in read_run(run.directory).steps] == [0, 1, 2]


def test_losses_read_late_reach_their_steps(program):
    run = program.run().steps(2).record("step-loss", index=1, loss=0.5)
    assert [step.loss for step in read_run(run.directory).steps] == [None, 0.5]


def test_unknown_translations_stay_unknown(program):
    run = program.run().record("step", index=0, source="case", wall_ns=1, translations=None)
    assert read_run(run.directory).steps[0].translations is None


class TestEnds:
    def test_killed_by_a_signal(self, program):
        run = program.run().steps(2).exit(signal="SIGKILL")
        (run.directory / "stacks.txt").write_text("Thread 0x1:\n")
        ended = read_run(run.directory).exit
        assert (ended.reason, ended.signal, ended.stacks) == ("signal", "SIGKILL", "Thread 0x1:\n")

    def test_timeout_wins_over_the_signal_that_ended_it(self, program):
        run = program.run().exit(signal="SIGKILL", timed_out=True)
        assert read_run(run.directory).exit.reason == "timeout"

    def test_an_exception_with_the_users_line(self, program):
        run = program.run().record(
            "error", type="ValueError", message="bad", site=program.at("print"), stack=[program.at("print")], simulated=True
        )
        ended = read_run(run.ended("error", 1).directory).exit
        assert (ended.reason, ended.error_type, ended.site, ended.simulated) == (
            "error",
            "ValueError",
            SourceSite(SHOWN, 3, "forward"),
            True,
        )

    def test_a_parent_killed_before_it_wrote_exit_json(self, program):
        assert read_run(program.run().steps(1).directory).exit.reason == "unknown"

    def test_a_child_that_never_started(self, program):
        run = program.run()
        ended = read_run(run.exit(code=1).directory).exit
        assert (ended.reason, ended.code) == ("no-start", 1)

    def test_refused(self, program):
        run = program.run().record("refused", message="no func", hint="define func", slug="no-callable").exit(code=3)
        ended = read_run(run.directory).exit
        assert (ended.reason, ended.error_message) == ("no-start", "no func")

    def test_an_exit_without_a_word(self, program):
        ended = read_run(program.run().steps(1).exit(code=3).directory).exit
        assert (ended.reason, ended.code) == ("system-exit", 3)


class TestRefused:
    def check(self, path, *words: str) -> None:
        with pytest.raises(InputError) as caught:
            read_session(path)
        assert all(word in caught.value.message for word in words), caught.value.message
        assert caught.value.hint

    def test_no_such_directory(self, tmp_path):
        self.check(tmp_path / "nothing", "no directory")

    def test_not_a_run_directory(self, tmp_path):
        self.check(tmp_path, "not a run directory")

    def test_a_file(self, tmp_path):
        (tmp_path / "x").write_text("")
        self.check(tmp_path / "x", "no directory")

    @pytest.mark.parametrize("text", ["", "{", "[]", '{"kind": "run"}', '{"format_version": "1", "kind": "run"}', "\x00"])
    def test_a_damaged_manifest(self, tmp_path, text):
        (tmp_path / "run.json").write_text(text)
        self.check(tmp_path, "run.json")

    def test_of_another_kind(self, tmp_path):
        (tmp_path / "run.json").write_text('{"format_version": 1, "kind": "session"}')
        self.check(tmp_path, "does not describe a run")

    def test_without_a_program(self, tmp_path):
        (tmp_path / "run.json").write_text('{"format_version": 1, "kind": "run", "program": 3}')
        self.check(tmp_path, "no program")

    def test_of_a_newer_format(self, program):
        run = program.run()
        manifest = json.loads((run.directory / "run.json").read_text())
        (run.directory / "run.json").write_text(json.dumps({**manifest, "format_version": 99}))
        self.check(run.directory, "format 99")

    def test_a_session_whose_runs_never_started(self, tmp_path):
        (tmp_path / "session.json").write_text('{"format_version": 1, "kind": "session", "runs": ["static-0"]}')
        self.check(tmp_path, "no runs")


def test_a_session_is_its_runs_that_were_started(tmp_path, program):
    program.run("dynamic").steps(1)
    program.run("static").steps(1)
    runs = ["dynamic-diagnosis-0", "static-diagnosis-0", "static-diagnosis-1"]
    (tmp_path / "runs" / "session.json").write_text(json.dumps({"format_version": 1, "kind": "session", "runs": runs}))
    assert [run.mode for run in read_session(tmp_path / "runs")] == ["dynamic", "static"]


def test_a_run_cut_off_mid_record_says_so(program):
    run = program.run().steps(2)
    with (run.directory / "records.jsonl").open("a") as stream:
        stream.write('{"kind": "st')
    read = read_run(run.directory)
    assert len(read.steps) == 2
    assert any("cut off" in note.text for note in read.notes)


class TestAttribution:
    def test_lines_are_per_step_and_compiled_code_does_not_count_twice(self, program):
        row = {"path": PATH, "line": 3, "function": "forward", "inside": True}
        run = program.run().steps(8).record(
            "lines", step_from=4, step_to=6, wall_ns=20 * MS,
            lines=[{**row, "hits": 2, "wall_ns": 4 * MS, "ops": [["add", 6, 600]]},
                   {**row, "hits": 10, "wall_ns": 2 * MS, "compiled": True, "ops": [["add", 2, 200]]}],
        )  # fmt: skip
        (total,) = read_run(run.directory).lines
        assert (total.hits, total.wall_ns, total.operators) == (1.0, 3.0 * MS, {"add": (4.0, 400.0)})

    def test_the_last_window_without_translations_counts(self, program):
        run = program.run().steps(40)
        for first, translations, ms in ((4, 0, 1), (12, 0, 2), (25, 3, 9)):
            row = {"path": PATH, "line": 3, "function": "forward", "inside": True, "hits": 1, "wall_ns": ms * MS, "ops": []}
            run.record("lines", step_from=first, step_to=first + 1, wall_ns=10 * MS, lines=[row], translations=translations)
        assert read_run(run.directory).lines[0].wall_ns == 2 * MS

    def test_frame_times_are_those_of_steady_untraced_steps(self, program):
        run = program.run().steps(6, compile_steps=1).code(0, "def", "forward")
        for step, ns in enumerate([900, 100, 100, 700, 100, 100]):
            run.frames(step, c0={"entered": 2, "callback_ns": ns})
        run.coverage(3, "print")
        read = read_run(run.directory)
        key = (SourceSite(SHOWN, 1, "forward"), ())
        assert (read.guard_ns[key], read.entries[key]) == (100.0, 2.0)

    def test_nothing_is_known_without_a_steady_untraced_step(self, program):
        run = program.run().steps(1, compile_steps=1).code(0, "def", "forward").frames(0, c0={"entered": 1, "callback_ns": 5})
        read = read_run(run.directory)
        assert (read.guard_ns, read.entries) == ({}, {})

    def test_subgraphs_with_shapes_runs_and_times(self, program):
        run = program.run().steps(2).code(0, "def", "forward")
        run.record(
            "subgraph", step=0, name="SIR_0", code=0, ops=2, compile_ns=5,
            statements=[{"text": "matmul", **program.at("body")}, {"text": "x", "path": None, "line": None}],
            inputs=[{"name": "x", "ir_shape": [-1, 3], "dtype": "float32"}], outputs=[],
        )  # fmt: skip
        for shape in ([2, 3], [4, 3], [2, 3]):
            run.record("subgraph-shapes", step=0, name="SIR_0", inputs=[[shape, "float32", True]], outputs=[])
        run.record("subgraph-runs", step=1, runs=[{"name": "SIR_0", "count": 2}])
        run.record(
            "subgraph-time", step_from=0, step_to=2, times=[{"name": "SIR_0", "count": 4, "forward_ns": 80, "backward_ns": None}]
        )
        (graph,) = read_run(run.directory).subgraphs
        assert graph.inputs[0].ir_shape == (-1, 3)
        assert graph.inputs[0].real_shapes == ((2, 3), (4, 3))
        assert graph.runs == ((1, 2),)
        assert (graph.forward_ns, graph.backward_ns) == (20.0, None)
        assert graph.site == SourceSite(SHOWN, 2, "forward")
        assert graph.statements[1].site is None

    def test_sides_of_a_branch_and_what_its_break_takes(self, program):
        run = program.run().steps(1)
        run.record("code", id=0, path=PATH, line=1, function="forward", user=True, break_lines=[2, 3], break_sides=["else", ""])
        run.record(
            "subgraph", step=0, name="SIR_0", code=0, statements=[],
            outputs=[{"name": name, "ir_shape": [], "dtype": "bool", "at_break": name == "y"} for name in ("x", "y")],
        )  # fmt: skip
        run.record("recompile", step=0, code=0, guards=[])
        read = read_run(run.directory)
        (graph,) = read.subgraphs
        assert (graph.break_lines, graph.break_sides) == ((2, 3), ("else", ""))
        assert [meta.at_break for meta in graph.outputs] == [False, True]
        assert [event.break_sides for event in read.events] == [("else", "")]

    def test_what_passes_between_subgraphs(self, program):
        run = program.run().steps(1)
        link = {"to": "SIR_1", "input": 2, "from": "SIR_0", "output": 1, "origin": "subgraph", "count": 3, "shape": [2, 3],
                "dtype": "float32", "bytes": 24}  # fmt: skip
        run.record("subgraph-flow", step=0, links=[link, {**link, "to": None, "input": None, "shape": None}])
        run.record("subgraph-flow", step=0, links=[{**link, "from": None}])
        read = read_run(run.directory)
        first, second = read.flow
        assert first == TensorFlow(0, "subgraph", "SIR_0", 1, "SIR_1", 2, 3, (2, 3), "float32", 24)
        assert (second.target, second.input, second.shape) == (None, None, None)
        assert read.read_stats["records.jsonl"].malformed == 1, "a tensor has a source"
