"""Tracing of user lines on this Python, without Paddle."""

from __future__ import annotations

import importlib.util
import os
import sys
import threading
from collections import Counter

import pytest

from sotprobe.capture.child.linetrace import make_tracer
from sotprobe.capture.child.usercode import UserCodes

PROGRAM = """\
import functools
import threading


def loop(n):
    total = 0
    for i in range(n):
        total += i
    return total


def nested(n):
    first = loop(n)
    second = [loop(1) for _ in range(2)]
    return first + sum(second)


def through_library(values):
    return functools.reduce(add, values)


def add(a, b):
    return a + b


def numbers(n):
    for number in range(n):
        yield number


def consume(n):
    return [number for number in numbers(n)]


def raises(n):
    if n == 0:
        raise ValueError("deep")
    raises(n - 1)


def catches():
    try:
        raises(3)
    except ValueError as error:
        return str(error)


def threaded():
    out = []
    worker = threading.Thread(target=lambda: out.append(loop(2)))
    worker.start()
    worker.join()
    return out[0]


def deep(n):
    return n if n == 0 else deep(n - 1)
"""


class Recorder:
    """Collects what a tracer says; ``where`` follows the innermost user line."""

    def __init__(self, codes: UserCodes):
        self._codes = codes
        self.lines: Counter[tuple[str, int]] = Counter()
        self.entered: Counter[str] = Counter()
        self.started: Counter[str] = Counter()
        self.left = 0
        self.returned_to: list[tuple[str, int] | None] = []
        self.threads: set[int] = set()

    def enter(self, user, frame):
        self.entered[user.function] += 1
        self.started[user.function] += user.starts(frame)
        self.threads.add(threading.get_ident())

    def line(self, user, line):
        self.lines[user.function, line] += 1

    def leave(self, frame):
        self.left += 1
        above = self._codes.above(frame.f_back)
        self.returned_to.append(None if above is None else (above[0].function, above[1].f_lineno))


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "user_program.py"
    path.write_text(PROGRAM)
    spec = importlib.util.spec_from_file_location("user_program", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def tracing(program):
    codes = UserCodes(lambda path: path == program.__file__)
    notes: list[str] = []
    tracer = make_tracer(codes, notes.append)
    recorder = Recorder(codes)
    recorder.notes = notes
    recorder.tracer = tracer
    recorder.codes = codes
    yield recorder
    tracer.stop()


def run(tracing, function, *args):
    tracing.tracer.start(tracing)
    try:
        return function(*args)
    finally:
        tracing.tracer.stop()


def line_of(text: str) -> int:
    (line,) = [number for number, line in enumerate(PROGRAM.splitlines(), 1) if line.strip() == text]
    return line


def test_every_line_of_a_loop_is_counted(program, tracing):
    assert run(tracing, program.loop, 5) == 10
    assert tracing.lines["loop", line_of("total += i")] == 5
    assert tracing.lines["loop", line_of("for i in range(n):")] == 6
    assert tracing.lines["loop", line_of("return total")] == 1
    assert tracing.left == tracing.entered["loop"] == 1
    assert tracing.notes == []


def test_frames_return_to_the_line_that_called_them(program, tracing):
    run(tracing, program.nested, 3)
    assert tracing.entered["loop"] == 3
    assert tracing.returned_to[0] == ("nested", line_of("first = loop(n)"))
    assert ("nested", line_of("second = [loop(1) for _ in range(2)]")) in tracing.returned_to or sys.version_info < (3, 12)


def test_library_frames_are_walked_out_to_the_users_line(program, tracing):
    assert run(tracing, program.through_library, [1, 2, 3]) == 6
    assert tracing.entered["add"] == 2
    here = ("through_library", line_of("return functools.reduce(add, values)"))
    assert tracing.returned_to[:2] == [here, here]
    assert set(tracing.entered) == {"through_library", "add"}


def test_generators_start_once_and_are_resumed(program, tracing):
    assert run(tracing, program.consume, 3) == [0, 1, 2]
    assert tracing.started["numbers"] == 1
    assert tracing.entered["numbers"] == 4
    assert tracing.left == sum(tracing.entered.values())


def test_exceptions_leave_every_frame_they_pass(program, tracing):
    assert run(tracing, program.catches) == "deep"
    assert tracing.entered["raises"] == 4
    assert tracing.left == sum(tracing.entered.values()) == 5
    assert tracing.lines["catches", line_of("return str(error)")] == 1


def test_threads_started_meanwhile_are_watched(program, tracing):
    assert run(tracing, program.threaded) == 1
    assert tracing.entered["loop"] == 1
    assert len(tracing.threads) == 2
    assert threading.gettrace() is None


def test_deep_recursion_still_works(program, tracing):
    limit = sys.getrecursionlimit()
    assert run(tracing, program.deep, limit - 200) == 0
    assert tracing.entered["deep"] == limit - 199


def test_recursion_that_overflows_overflows_in_the_program(program, tracing):
    with pytest.raises(RecursionError):
        run(tracing, program.deep, sys.getrecursionlimit() * 2)
    assert sys.gettrace() is None


def test_frames_already_running_are_watched(program, tracing, tmp_path):
    path = program.__file__
    source = "def running(start, stop):\n    start()\n    a = 1\n    b = a + 1\n    stop()\n    return b\n"
    scope: dict = {}
    exec(compile(source, path, "exec"), scope)
    scope["running"](lambda: tracing.tracer.start(tracing), tracing.tracer.stop)
    assert tracing.lines["running", 3] == 1
    assert tracing.lines["running", 4] == 1
    assert tracing.lines["running", 6] == 0


def test_what_was_installed_before_is_put_back(program, tracing):
    events = []

    def theirs(frame, event, argument):
        events.append(event)
        return theirs

    sys.settrace(theirs)
    threading.settrace(theirs)
    try:
        run(tracing, program.loop, 2)
        assert sys.gettrace() is theirs
        assert threading.gettrace() is theirs
        events.clear()
        program.loop(1)
        assert "line" in events
    finally:
        sys.settrace(None)
        threading.settrace(None)
    assert tracing.entered["loop"] == 1
    assert bool(tracing.notes) == (sys.version_info < (3, 12))


def test_a_trace_function_of_the_program_stays(program, tracing):
    def theirs(frame, event, argument):
        return None

    tracing.tracer.start(tracing)
    try:
        sys.settrace(theirs)
        program.loop(1)
        tracing.tracer.stop()
        assert sys.gettrace() is theirs
    finally:
        sys.settrace(None)
    if sys.version_info < (3, 12):
        assert any("of its own" in note for note in tracing.notes)
    else:
        assert tracing.entered["loop"] == 1


def test_a_profile_function_is_left_alone(program, tracing):
    calls = []
    sys.setprofile(lambda frame, event, argument: calls.append(event))
    try:
        run(tracing, program.loop, 1)
        assert sys.getprofile() is not None
    finally:
        sys.setprofile(None)
    assert "call" in calls


def test_a_watcher_that_fails_ends_the_tracing_and_not_the_program(program, tracing):
    def fails(user, line):
        raise KeyError("a bug")

    tracing.line = fails
    assert run(tracing, program.nested, 3) == 3
    assert sys.gettrace() is None
    (note,) = tracing.notes
    assert "KeyError" in note


def test_a_second_window_sees_everything_again(program, tracing):
    run(tracing, program.loop, 2)
    run(tracing, program.loop, 3)
    assert tracing.lines["loop", line_of("total += i")] == 5


def test_nothing_is_seen_after_the_end(program, tracing):
    run(tracing, program.loop, 1)
    program.loop(7)
    assert tracing.entered["loop"] == 1
    assert tracing.lines["loop", line_of("total += i")] == 1


def test_a_thread_that_outlives_the_window_goes_on_untraced(program, tracing):
    go, out = threading.Event(), []
    worker = threading.Thread(target=lambda: (go.wait(10), out.append(program.loop(3)), out.append(sys.gettrace())))
    tracing.tracer.start(tracing)
    worker.start()
    tracing.tracer.stop()
    go.set()
    worker.join()
    assert out == [3, None]
    assert tracing.entered["loop"] == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_child_is_not_traced(program, tracing):
    tracing.tracer.start(tracing)
    child = os.fork()
    if child == 0:
        tracing.tracer.abandon()
        before = tracing.entered["loop"]
        ok = program.loop(2) == 1 and sys.gettrace() is None and tracing.entered["loop"] == before
        os._exit(0 if ok else 1)
    _, status = os.waitpid(child, 0)
    tracing.tracer.stop()
    assert os.waitstatus_to_exitcode(status) == 0


@pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring is new in Python 3.12")
def test_no_free_tool_number_is_a_note(program, tracing):
    taken = [tool for tool in range(6) if sys.monitoring.get_tool(tool) is None]
    for tool in taken:
        sys.monitoring.use_tool_id(tool, "someone")
    try:
        assert run(tracing, program.loop, 1) == 0
    finally:
        for tool in taken:
            sys.monitoring.free_tool_id(tool)
    assert tracing.entered["loop"] == 0
    assert len(tracing.notes) == 1
