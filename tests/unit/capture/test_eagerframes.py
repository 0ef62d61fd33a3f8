"""Which frames count as eager and why, without Paddle: SOT's callbacks and its generated names are played."""

from __future__ import annotations

import sys
import threading
from types import CodeType, FunctionType

import pytest

from sotprobe.capture.child.coverage import Survey
from sotprobe.capture.child.eagerframes import EagerFrames, StaticCalls
from sotprobe.capture.child.linetrace import make_tracer
from sotprobe.capture.child.usercode import UserCodes

OLD = sys.version_info < (3, 11)


class Sot:
    """Plays SOT: ``shows(f)`` makes f's starts callbacks, ``compiles(f)`` runs f under the name of generated code."""

    def __init__(self) -> None:
        self.seen: dict[CodeType, int] = {}
        self.always_compiled: set[CodeType] = set()
        self.calls = StaticCalls()
        self.codes = UserCodes(lambda path: path == __file__)
        self.frames = EagerFrames(self.codes, self.calls, self.seen, self.always_compiled.__contains__)
        self.notes: list[str] = []
        self.tracer = make_tracer(self.codes, self.notes.append)

    def show(self, function) -> None:
        self.seen[function.__code__] = self.seen.get(function.__code__, 0) + 1

    def compiled(self, function, name: str | None = None) -> FunctionType:
        """The function as SOT would have written it."""
        code = function.__code__.replace(co_name=name or f"#{function.__name__}_84ae0")
        return FunctionType(code, function.__globals__, closure=function.__closure__)

    def step(self, function, *args, sot_supported: bool = True) -> dict[str, dict]:
        """One traced step whose to_static call runs ``function``: the records by function name."""
        self.frames.begin_step()
        self.tracer.start(Survey(self.frames))
        self.call(function, *args)
        self.tracer.stop()
        assert self.notes == []
        records = self.frames.end_step(sot_supported=sot_supported)
        assert len({(record["raw"], record["why"]) for record in records}) == len(records)
        return {record["raw"]: record for record in records}

    def call(self, function, *args) -> None:
        self.calls.enter(sys._getframe())
        try:
            function(*args)
        finally:
            self.calls.leave()


@pytest.fixture
def sot():
    return Sot()


def leaf():
    return 1


def with_block(action):
    with threading.Lock():
        return action()


def generator():
    yield leaf()


def test_a_frame_that_sot_was_shown(sot):
    def fallback():
        sot.show(fallback)

    sot.show(fallback)  # the callback comes before the frame starts
    sot.seen.clear()

    def outer():
        sot.show(leaf)
        leaf()

    record = sot.step(outer)["leaf"]
    assert (record["why"], record["seen"], record["count"]) == ("seen", True, 1)
    assert record["line"] == leaf.__code__.co_firstlineno
    assert record["called_from"]["function"] == "outer"
    assert record["called_from"]["line"] == outer.__code__.co_firstlineno + 2


def test_compiled_frames_are_not_eager_but_count_as_shown(sot):
    def outer():
        sot.show(leaf)
        sot.compiled(leaf)()
        leaf()  # with the hook off: not shown

    record = sot.step(outer)["leaf"]
    assert (record["why"], record["seen"], record["count"]) == ("hook-off", False, 1)


@pytest.mark.skipif(OLD, reason="code has no exception table before Python 3.11")
def test_an_exception_table_explains_a_frame_that_was_not_shown(sot):
    records = sot.step(lambda: with_block(leaf))
    assert records["with_block"]["why"] == "exception-table"
    assert records["leaf"]["why"] == "hook-off"


def test_generators_and_what_they_call(sot):
    records = sot.step(lambda: list(generator()))
    assert records["generator"]["why"] == "generator"
    assert records["generator"]["count"] == 1
    assert records["leaf"]["why"] == "called-from-generator"


def test_a_generator_above_the_to_static_call_explains_nothing(sot):
    def training_loop():
        sot.call(leaf)
        yield

    sot.frames.begin_step()
    sot.tracer.start(Survey(sot.frames))
    list(training_loop())
    sot.tracer.stop()
    (record,) = sot.frames.end_step()
    assert (record["raw"], record["why"], record["called_from"]) == ("leaf", "hook-off", None)


def test_coroutines(sot):
    async def body():
        return leaf()

    def run():
        with pytest.raises(StopIteration):
            body().send(None)

    assert sot.step(run)["body"]["why"] == "coroutine"


def test_threads_started_by_the_call(sot):
    def run():
        worker = threading.Thread(target=leaf)
        worker.start()
        worker.join()

    record = sot.step(run)["leaf"]
    assert record["why"] == "thread"


def test_a_frame_called_straight_from_compiled_code_belongs_to_a_dropped_graph(sot):
    def forward():
        return leaf()

    assert sot.step(sot.compiled(forward))["leaf"]["why"] == "too-small"


def test_the_rest_of_a_function_that_sot_never_saw(sot):
    def forward():
        return sot.compiled(leaf, "$resume_0@leaf_84ae0")()

    record = sot.step(sot.compiled(forward))["$resume_0@leaf_84ae0"]
    assert (record["function"], record["why"]) == ("leaf", "hook-off")


def test_the_rest_of_a_function_that_sot_let_run_is_told_by_its_own_records(sot):
    rest = sot.compiled(leaf, "$resume_0@leaf_84ae0")

    def forward():
        sot.show(rest)
        return rest()

    assert "$resume_0@leaf_84ae0" not in sot.step(forward)


def test_a_callee_that_is_no_longer_shown_has_lost_the_hook(sot):
    shown = True

    def forward():
        if shown:
            sot.show(leaf)
        leaf()

    assert sot.step(forward)["leaf"]["why"] == "seen"
    shown = False
    assert sot.step(forward)["leaf"]["why"] == "without-graph"


def test_a_callee_that_used_to_run_compiled_has_lost_the_hook(sot):
    early = True

    def forward():
        if early:
            sot.show(leaf)
            sot.compiled(leaf)()
        else:
            leaf()

    assert "leaf" not in sot.step(forward)
    early = False
    assert sot.step(forward)["leaf"]["why"] == "without-graph"


def test_a_shown_frame_whose_translations_are_not_used(sot):
    def forward():
        sot.show(leaf)
        leaf()

    sot.always_compiled.add(leaf.__code__)
    record = sot.step(forward)["leaf"]
    assert (record["why"], record["seen"]) == ("without-graph", True)


def test_the_same_frame_is_reported_once_with_its_count(sot):
    def first():
        leaf()

    def forward():
        first()
        for _ in range(3):
            leaf()

    assert sot.step(forward)["leaf"]["count"] == 4


def test_what_runs_outside_the_call_is_not_eager(sot):
    sot.frames.begin_step()
    sot.tracer.start(Survey(sot.frames))
    leaf()
    sot.tracer.stop()
    assert sot.frames.end_step() == []


def test_a_python_too_new_explains_everything(sot):
    assert sot.step(leaf, sot_supported=False)["leaf"]["why"] == "python-too-new"


def test_lambdas_are_named_by_their_line(sot):
    act = lambda: leaf()  # noqa: E731
    records = sot.step(act)
    assert records["<lambda>"]["line"] == act.__code__.co_firstlineno


def test_coverage_leaves_compiled_code_to_the_simulation(sot):
    survey = Survey(None)

    def plain():
        a = 1
        return a

    sot.tracer.start(survey)
    plain()
    sot.compiled(leaf)()
    sot.tracer.stop()
    first = plain.__code__.co_firstlineno
    ((path, lines, functions),) = survey.coverage.rows()
    assert path == __file__
    assert {first + 1, first + 2} <= set(lines)
    assert leaf.__code__.co_firstlineno + 1 not in lines
    assert functions[str(first + 1)] == "plain"
