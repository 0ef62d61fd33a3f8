"""Joining operators to lines, on timelines made by hand."""

from __future__ import annotations

from sotprobe.capture.child.opjoin import WHOLE_PROGRAM, Execution, Operator, join
from sotprobe.capture.child.timeline import NOWHERE, Keys, Line, Track

MAIN, WORKER = 100, 200


class Code:
    """What the timeline reads of a user's code object."""

    path = "/p/model.py"
    function = "forward"
    compiled = False

    def __init__(self) -> None:
        self.key_tables = ({}, {})


def a_line(number: int, *, inside: bool = False) -> Line:
    return Line("/p/model.py", number, "forward", inside, False)


def track(keys: Keys, *stays: tuple[int, int | str | None], hit: bool = True) -> Track:
    """(time, line or subgraph or nothing) in order."""
    made, code = Track(), Code()
    for time, where in stays:
        if where is None:
            number = NOWHERE
        elif isinstance(where, str):
            number = keys.subgraph(where)
        else:
            number = keys.line(code, where, False)
        made.times.append(time)
        made.marks.append(number * 2 + (hit and where is not None))
    return made


def joined(stays, operators=(), *, spans=((0, 1000),), executions=(), forwards=(), others=()):
    keys = Keys()
    tracks = {MAIN: track(keys, *stays)}
    tracks.update((thread, track(keys, *more)) for thread, more in others)
    return join(tracks, keys, MAIN, spans, operators, executions, forwards)


def operator(name: str, start: int, ns: int = 5, thread: int = MAIN, *, compiled: bool = False) -> Operator:
    return Operator(name, start, ns, thread, compiled)


def test_an_operator_belongs_to_the_line_that_was_running_when_it_began():
    result = joined([(0, 10), (100, 11), (200, 10)], [operator("scale", 50), operator("scale", 100), operator("add", 999)])
    assert result.lines[a_line(10)].operators == {"scale": [1, 5], "add": [1, 5]}
    assert result.lines[a_line(11)].operators == {"scale": [1, 5]}
    assert (result.operators, result.attributed) == (3, 3)


def test_wall_time_and_hits_add_up_to_the_window():
    result = joined([(0, 10), (100, 11), (250, 10)])
    assert {line.line: (cost.hits, cost.wall_ns) for line, cost in result.lines.items()} == {10: (2, 850), 11: (1, 150)}


def test_only_what_lies_inside_the_steps_counts():
    stays = [(0, 10), (150, 11), (450, 12), (550, 10)]
    result = joined(stays, [operator("a", 50), operator("b", 250), operator("c", 500)], spans=((100, 200), (400, 500)))
    assert {line.line: (cost.hits, cost.wall_ns) for line, cost in result.lines.items()} == {
        10: (0, 50),
        11: (1, 100),
        12: (1, 50),
    }
    assert result.operators == 0  # 50 is before, 250 between, 500 no longer in


def test_a_stay_that_spans_the_pause_counts_in_both_steps():
    result = joined([(0, 10)], spans=((100, 200), (400, 450)))
    assert result.lines[a_line(10)].wall_ns == 150


def test_subgraph_runs_are_no_lines():
    result = joined(
        [(0, 10), (100, "SIR_0"), (300, 10), (400, "SIR_0"), (500, 11)],
        [operator("matmul", 150, compiled=True), operator("cast", 160), operator("relu", 50)],
    )
    assert result.subgraphs["SIR_0"].count == 2
    assert result.subgraphs["SIR_0"].forward_ns == 300
    assert result.subgraphs["SIR_0"].backward_ns is None
    assert result.lines[a_line(10)].wall_ns == 200
    assert (result.operators, result.compiled, result.attributed) == (3, 2, 1)
    assert result.compiled_forward == 2


def test_operators_of_a_backward_run_are_compiled_but_not_forward():
    stays = [(0, 10), (100, "SIR_0"), (300, 10)]
    work = [operator("tanh", 150, thread=WORKER, compiled=True), operator("tanh_grad", 400, compiled=True), operator("add", 120)]
    result = joined(stays, work)
    assert (result.compiled, result.compiled_forward) == (3, 2)


def test_backward_runs_match_forward_runs_in_reverse_and_leave_their_line():
    result = joined(
        [(0, 10), (10, "SIR_0"), (20, 10), (30, "SIR_1"), (40, 10), (100, 20)],
        executions=[Execution(110, 7, MAIN, backward=True), Execution(120, 3, MAIN, backward=True)],
        forwards=[(20, "SIR_0"), (40, "SIR_1")],
    )
    assert result.subgraphs["SIR_1"].backward_ns == 7
    assert result.subgraphs["SIR_0"].backward_ns == 3
    assert result.lines[a_line(20)].wall_ns == 900 - 10
    assert result.loose_backward == 0


def test_branches_are_told_apart_by_their_operators():
    """Both heads feed one sum: the backward pass visits the first head first."""
    first, second = frozenset({"pd_op.tanh_", "pd_op.matmul"}), frozenset({"pd_op.exp_", "pd_op.add"})
    result = joined(
        [(0, 10), (10, "SIR_0"), (20, 10), (30, "SIR_1"), (40, 10), (100, 20)],
        executions=[
            Execution(12, 5, MAIN, False, first),
            Execution(32, 5, MAIN, False, second),
            Execution(110, 7, MAIN, True, frozenset({"pd_op.tanh_grad_", "pd_op.matmul_grad", "pd_op.full"})),
            Execution(120, 3, MAIN, True, frozenset({"pd_op.exp_grad_"})),
        ],
        forwards=[(20, "SIR_0"), (40, "SIR_1")],
    )
    assert (result.subgraphs["SIR_0"].backward_ns, result.subgraphs["SIR_1"].backward_ns) == (7, 3)
    assert (result.subgraphs["SIR_0"].count, result.subgraphs["SIR_0"].forward_ns) == (1, 10)


def test_a_backward_run_only_matches_what_ran_before_it():
    result = joined(
        [(0, 10)],
        executions=[Execution(100, 7, MAIN, backward=True), Execution(300, 5, MAIN, backward=True)],
        forwards=[(200, "SIR_1")],
    )
    assert result.loose_backward == 1
    assert result.subgraphs["SIR_1"].backward_ns == 5


def test_an_execution_without_subgraph_belongs_to_the_whole_program():
    result = joined(
        [(0, 10), (100, 11)],
        executions=[Execution(20, 30, MAIN, backward=False), Execution(200, 40, MAIN, backward=True)],
    )
    whole = result.subgraphs[WHOLE_PROGRAM]
    assert (whole.count, whole.forward_ns, whole.backward_ns) == (1, 30, 40)
    assert result.lines[a_line(10)].wall_ns == 70
    assert result.lines[a_line(11)].wall_ns == 860


def test_other_threads_have_operators_but_no_wall_time():
    result = joined(
        [(0, 10)],
        [operator("scale", 60, thread=WORKER), operator("scale", 60, thread=999), operator("pd", 60, thread=999, compiled=True)],
        others=[(WORKER, [(50, 30), (70, None)])],
    )
    assert result.lines[a_line(30)].operators == {"scale": [1, 5]}
    assert result.lines[a_line(30)].wall_ns == 0
    assert result.lines[a_line(30)].hits == 1
    assert (result.operators, result.attributed, result.strangers, result.compiled) == (3, 1, 1, 1)


def test_time_and_operators_without_a_user_line_are_kept_apart():
    result = joined([(100, None), (400, 10)], [operator("sgd_", 50), operator("sgd_", 150), operator("sgd_", 450)])
    assert result.nowhere.operators == {"sgd_": [2, 10]}
    assert result.nowhere.wall_ns == 300
    assert (result.operators, result.attributed) == (3, 1)


def test_no_timeline_at_all():
    result = join({}, Keys(), MAIN, [(0, 10)], [operator("scale", 5)])
    assert (result.operators, result.strangers, result.attributed) == (1, 1, 0)
