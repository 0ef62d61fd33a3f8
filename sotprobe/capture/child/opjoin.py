"""Joins operators, as Paddle's profiler saw them, to the user lines that were running when they began."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from sotprobe.capture.child.timeline import Key, Keys, Line, SubgraphRun, Track

Span = tuple[int, int]

WHOLE_PROGRAM = "program"  # what full_graph=True compiled: it has no subgraph of SOT


class Operator(NamedTuple):
    """An operator event. ``self_ns`` is without the operators that ran inside it. ``compiled``: part of a subgraph."""

    name: str
    start_ns: int
    self_ns: int
    thread: int
    compiled: bool


class Execution(NamedTuple):
    """A run of Paddle's executor: a subgraph forward, or backward with its whole gradient node.

    ``operators`` are the names of what ran in it, as far as it ran in the same thread.
    """

    start_ns: int
    duration_ns: int
    thread: int
    backward: bool
    operators: frozenset[str] = frozenset()


@dataclass
class LineCost:
    """What a line did in the window: how often it began, wall time of the stepping thread outside subgraphs, operators as
    {name: [count, ns]}."""

    hits: int = 0
    wall_ns: int = 0
    operators: dict[str, list[int]] = field(default_factory=dict)

    def add(self, operator: Operator) -> None:
        total = self.operators.setdefault(operator.name, [0, 0])
        total[0] += 1
        total[1] += operator.self_ns


@dataclass
class SubgraphCost:
    """Runs of a subgraph. ``backward_ns`` is None when no backward run was seen."""

    count: int = 0
    forward_ns: int = 0
    backward_ns: int | None = None


@dataclass
class Joined:
    """The totals of a window.

    Wall times are those of the thread that does the steps, so they add up to the steps. ``nowhere`` is what ran with no
    user line on the stack. ``operators`` counts all operator events inside the steps, ``compiled`` those that belong to
    subgraphs, ``compiled_forward`` those of their forward runs, ``strangers`` those of threads whose lines could not be watched.
    ``loose_backward`` counts backward runs that match no forward run.
    """

    lines: dict[Line, LineCost] = field(default_factory=dict)
    subgraphs: dict[str, SubgraphCost] = field(default_factory=dict)
    nowhere: LineCost = field(default_factory=LineCost)
    operators: int = 0
    compiled: int = 0
    compiled_forward: int = 0
    strangers: int = 0
    loose_backward: int = 0

    @property
    def attributed(self) -> int:
        """Operators on a user line."""
        return sum(count for cost in self.lines.values() for count, _ in cost.operators.values())


def join(
    tracks: Mapping[int, Track],
    keys: Keys,
    owner: int,
    spans: Sequence[Span],
    operators: Iterable[Operator],
    executions: Iterable[Execution] = (),
    forwards: Sequence[tuple[int, str]] = (),
) -> Joined:
    """Totals over the steps ``spans`` ((start, end) in the clock of the tracks, in order) of the thread ``owner``.

    ``forwards`` are (end, name) of those subgraph runs that built a node for the backward pass, in order. Executions
    outside the subgraph runs of the tracks belong to ``WHOLE_PROGRAM``.
    """
    result = Joined()
    for thread, track in tracks.items():
        _add_stays(result, track, keys, spans, count_wall=thread == owner)
    for operator in operators:
        if _inside(spans, operator.start_ns):
            _add_operator(result, tracks, keys, operator, owner)
    inside = [execution for execution in sorted(executions) if _inside(spans, execution.start_ns)]
    _add_executions(result, tracks, keys, inside, forwards)
    return result


def _add_stays(result: Joined, track: Track, keys: Keys, spans: Sequence[Span], *, count_wall: bool) -> None:
    """Clip every stay on a line to the steps and add it up."""
    walls: Counter[int] = Counter()
    hits: Counter[int] = Counter()
    times, marks = track.times, track.marks
    last = len(times) - 1
    position = 0
    for start, end in spans:
        # The stay that is in progress when the step starts counts from there on.
        position = max(bisect_right(times, start) - 1, 0)
        while position <= last and times[position] < end:
            until = times[position + 1] if position < last else end
            mark = marks[position]
            stay = min(until, end) - max(times[position], start)
            if count_wall and stay > 0:
                walls[mark >> 1] += stay
            if mark & 1 and times[position] >= start:
                hits[mark >> 1] += 1
            position += 1
    for number in walls.keys() | hits.keys():
        key = keys[number]
        if isinstance(key, SubgraphRun):
            cost = result.subgraphs.setdefault(key.name, SubgraphCost())
            cost.count += hits[number]
            cost.forward_ns += walls[number]
        else:
            line = _line(result, key)
            line.hits += hits[number]
            line.wall_ns += walls[number]


def _add_operator(result: Joined, tracks: Mapping[int, Track], keys: Keys, operator: Operator, owner: int) -> None:
    result.operators += 1
    if operator.compiled:  # whichever thread the executor ran it in
        result.compiled += 1
        steps = tracks.get(owner)
        if steps is not None and isinstance(_key_at(steps, keys, operator.start_ns), SubgraphRun):
            result.compiled_forward += 1
        return
    track = tracks.get(operator.thread)
    if track is None:
        result.strangers += 1
        return
    key = _key_at(track, keys, operator.start_ns)
    if isinstance(key, SubgraphRun):
        result.compiled += 1
        result.compiled_forward += 1
    else:
        _line(result, key).add(operator)


def _add_executions(
    result: Joined,
    tracks: Mapping[int, Track],
    keys: Keys,
    executions: Sequence[Execution],
    forwards: Sequence[tuple[int, str]],
) -> None:
    """Give every execution to a subgraph; its time is taken off the line (``loss.backward()``) that was running meanwhile."""
    waiting: list[str] = []
    operators: dict[str, frozenset[str]] = {}
    position = 0
    for execution in executions:
        track = tracks.get(execution.thread)
        key = None if track is None else _key_at(track, keys, execution.start_ns)
        if isinstance(key, SubgraphRun):
            operators[key.name] = execution.operators
        elif track is not None:
            _line(result, key).wall_ns -= execution.duration_ns
        if not execution.backward:
            if not isinstance(key, SubgraphRun):
                cost = result.subgraphs.setdefault(WHOLE_PROGRAM, SubgraphCost())
                cost.count += 1
                cost.forward_ns += execution.duration_ns
                waiting.append(WHOLE_PROGRAM)
            continue
        while position < len(forwards) and forwards[position][0] <= execution.start_ns:
            waiting.append(forwards[position][1])
            position += 1
        name = _take_forward(waiting, operators, execution)
        if name is None:
            result.loose_backward += 1
            continue
        cost = result.subgraphs.setdefault(name, SubgraphCost())
        cost.backward_ns = (cost.backward_ns or 0) + execution.duration_ns


def _take_forward(waiting: list[str], operators: Mapping[str, frozenset[str]], backward: Execution) -> str | None:
    """The forward run a backward run belongs to: the last one that has the operators it differentiates.

    Where one subgraph feeds the next, the backward pass visits them in reverse order; branches it visits in any order.
    """
    wanted = {_plain(name).removesuffix("_grad") for name in backward.operators if _plain(name).endswith("_grad")}
    for position in range(len(waiting) - 1, -1, -1):
        if wanted <= {_plain(name) for name in operators.get(waiting[position], ())}:
            return waiting.pop(position)
    return waiting.pop() if waiting else None


def _plain(name: str) -> str:
    """``pd_op.tanh_`` is tanh, in place."""
    return name.rpartition(".")[2].rstrip("_")


def _line(result: Joined, key: Key) -> LineCost:
    return result.nowhere if key is None else result.lines.setdefault(key, LineCost())


def _key_at(track: Track, keys: Keys, time_ns: int) -> Key:
    position = bisect_right(track.times, time_ns) - 1
    return keys[track.marks[position] >> 1] if position >= 0 else None


def _inside(spans: Sequence[Span], time_ns: int) -> bool:
    position = bisect_right(spans, (time_ns, float("inf"))) - 1
    return position >= 0 and time_ns < spans[position][1]
