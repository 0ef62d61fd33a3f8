"""When which tracing is on, with a played profiler."""

from __future__ import annotations

import sys
import threading

import pytest
from played_events import PlayedEvents, PlayedRuns

from sotprobe.capture.child.attribution import Attribution


class Program:
    """A program whose every step runs one line with one operator."""

    def __init__(self, mode: str = "dynamic", **options):
        self.records: list[dict] = []
        self.attribution = Attribution(self._emit, lambda path: path == __file__, mode=mode, **options)
        self.events = self.attribution._events = PlayedEvents()
        self.attribution._runs = PlayedRuns()

    def _emit(self, kind: str, **fields) -> None:
        self.records.append({"kind": kind, **fields})

    def of(self, kind: str) -> list[dict]:
        return [record for record in self.records if record["kind"] == kind]

    def run(self, *steps: int) -> Program:
        for index in steps:
            self.attribution.begin_step(index)
            self.attribution.enter_static()
            self._forward(index)
            self.attribution.leave_static()
            self.attribution.end_step(index)
        return self

    def close(self) -> Program:
        self.attribution.close()
        return self

    def _forward(self, index: int) -> None:
        self.events.operator()  # the line


@pytest.fixture
def line():
    return Program._forward.__code__.co_firstlineno + 1


def test_dynamic_mode_covers_early_and_late_steps(line):
    program = Program().run(*range(40)).close()
    assert [record["step"] for record in program.of("coverage")] == [0, 1, 2, 22, 23, 24, 38]
    assert all(line in record["lines"][0][1] for record in program.of("coverage"))
    assert [(record["step_from"], record["step_to"]) for record in program.of("lines")] == [(4, 7), (25, 30)]
    assert program.of("note") == program.of("subgraph-time") == []


def test_a_window_has_exact_counts(line):
    program = Program().run(*range(40)).close()
    for record, steps in zip(program.of("lines"), (3, 5), strict=True):
        (found,) = [item for item in record["lines"] if item["line"] == line]
        assert found["ops"] == [["scale", steps, steps]]
        assert found["hits"] == steps
        assert found["inside"] is True
        assert found["compiled"] is False
        assert record["operators"] == record["attributed"] == steps
        total = sum(item["wall_ns"] for item in record["lines"]) + record["nowhere"]["wall_ns"]
        assert total == record["wall_ns"]


def test_static_mode_does_not_trace_the_first_step():
    program = Program("static").run(*range(8)).close()
    assert [record["step"] for record in program.of("coverage")] == [1, 2]
    assert len(program.of("subgraph-time")) == 1


def test_a_program_that_ends_in_a_window_keeps_what_was_complete():
    program = Program().run(*range(6))
    program.attribution.begin_step(6)
    program._forward(6)
    program.close()
    (record,) = program.of("lines")
    assert (record["step_from"], record["step_to"], record["operators"]) == (4, 6, 2)
    assert not program.events.running


def test_too_few_steps_are_a_note():
    program = Program().run(*range(4)).close()
    assert program.of("lines") == []
    assert "after 4 steps" in program.of("note")[0]["text"]


def test_a_step_that_never_ends_is_no_coverage():
    program = Program().run(0)
    program.attribution.begin_step(1)
    program._forward(1)
    program.close()
    assert [record["step"] for record in program.of("coverage")] == [0]


def test_a_step_that_begins_again_leaves_no_trace_function_behind():
    program = Program()
    program.attribution.begin_step(0)
    program.run(*range(1, 4)).close()
    assert [record["step"] for record in program.of("coverage")] == [1, 2]
    assert threading.gettrace() is sys.gettrace() is None


def test_a_window_waits_for_translations_to_end():
    program = Program("static")
    translated = 0
    program.attribution._translations = lambda: translated
    for index in range(12):
        program.attribution.begin_step(index)
        if index in (3, 4):
            translated += 1
        program.attribution.end_step(index)
    (record,) = program.close().of("lines")
    assert (record["step_from"], record["translations"]) == (6, 0)


def test_a_window_does_not_wait_for_ever():
    program = Program("static")
    translated = 0
    program.attribution._translations = lambda: translated
    for index in range(16):
        program.attribution.begin_step(index)
        translated += 2
        program.attribution.end_step(index)
    (record,) = program.close().of("lines")
    assert (record["step_from"], record["step_to"], record["translations"]) == (10, 13, 6)


def test_a_living_profiler_of_the_program_is_waited_for_and_noted_once():
    program = Program()
    program.events.refuse = True
    program.run(*range(7))
    program.events.refuse = False
    program.run(*range(7, 12)).close()
    assert [(record["step_from"], record["step_to"]) for record in program.of("lines")] == [(7, 10)]
    assert len(program.of("note")) == 1


def test_giving_way_keeps_the_complete_steps():
    program = Program().run(*range(6))
    program.attribution.begin_step(6)
    program.attribution._give_way()
    assert not program.events.running
    program.attribution.end_step(6)
    (record,) = program.of("lines")
    assert (record["step_from"], record["step_to"]) == (4, 6)
    assert "of its own" in program.of("note")[0]["text"]


def test_a_failure_is_a_note_and_never_reaches_the_program():
    program = Program().run(*range(5))

    def fails():
        raise KeyError("a bug")

    program.events.stop = fails
    program.run(*range(5, 9)).close()
    (note,) = program.of("note")
    assert "KeyError" in note["text"]
    assert not program.events.running
    assert program.of("lines") == []


def test_what_harness_code_runs_is_nowhere():
    program = Program()
    for index in range(8):
        program.attribution.begin_step(index)
        thread = threading.Thread(target=program.events.operator)  # no line of the program on its stack
        thread.start()
        thread.join()
        program.attribution.end_step(index)
    program.close()
    (record,) = program.of("lines")
    assert (record["operators"], record["attributed"]) == (3, 0)
    (note,) = program.of("note")
    assert note["text"].startswith("steps 4-6: 3 operators ran")


def test_a_profiler_that_sees_nothing_is_noted():
    program = Program()
    program.events.operator = lambda: None
    program.run(*range(8)).close()
    assert program.of("lines")[0]["operators"] == 0
    (note,) = program.of("note")
    assert "no operator" in note["text"]
