"""What passes between subgraphs, with tensors that are none: identity, changes in place, which steps are looked at."""

from __future__ import annotations

import gc
import weakref
from types import SimpleNamespace
from typing import Any

import pytest

from sotprobe.paddle_compat.hooks.flow import Flow


class Tensor:
    """As much of a tensor as is looked at."""

    __slots__ = ("__weakref__", "dtype", "inplace_version", "persistable", "shape")

    def __init__(self, *shape: int, persistable: bool = False):
        self.shape = list(shape)
        self.dtype = "paddle.float32"
        self.persistable = persistable
        self.inplace_version = 0

    def element_size(self) -> int:
        return 4


class Watched:
    """A Flow and what it emitted, links as (from, output, to, input, origin)."""

    def __init__(self) -> None:
        self.records: list[dict[str, Any]] = []
        self.flow = Flow(SimpleNamespace(emit=lambda kind, **fields: self.records.append({"kind": kind, **fields})), Tensor)

    def run(self, name: str, inputs: list[Tensor], *shapes: tuple[int, ...]) -> list[Tensor]:
        if not self.flow.recording:
            return [Tensor(*shape) for shape in shapes]
        self.flow.before(name, inputs)
        outputs = [Tensor(*shape) for shape in shapes]
        self.flow.after(name, outputs)
        return outputs

    def end(self, index: int = 0, ran: tuple[str, ...] = ("A",), *, translated: bool = False) -> list[tuple]:
        before = len(self.records)
        self.flow.end_step(index, ran, translated=translated)
        links = [link for record in self.records[before:] for link in record["links"]]
        return [(link["from"], link["output"], link["to"], link["input"], link["origin"]) for link in links]


@pytest.fixture
def watched() -> Watched:
    return Watched()


def test_an_output_becomes_an_input(watched: Watched) -> None:
    x, y = watched.run("A", [], (2, 3), (4,))
    watched.run("B", [y, x], ())
    assert watched.end() == [
        ("A", 1, "B", 0, "subgraph"),
        ("A", 0, "B", 1, "subgraph"),
        ("B", 0, None, None, "subgraph"),
    ]
    (record,) = watched.records
    first = record["links"][0]
    assert (record["kind"], record["step"]) == ("subgraph-flow", 0)
    assert (first["shape"], first["dtype"], first["bytes"], first["count"]) == ([4], "float32", 16, 1)
    assert record["links"][2]["bytes"] == 4, "a scalar"


def test_equal_passes_are_one_with_a_count(watched: Watched) -> None:
    (x,) = watched.run("A", [], (2,))
    for _ in range(3):
        (x,) = watched.run("L", [x], (2,))
    assert watched.end() == [
        ("A", 0, "L", 0, "subgraph"),
        ("L", 0, "L", 0, "subgraph"),
        ("L", 0, None, None, "subgraph"),
    ]
    assert [link["count"] for link in watched.records[0]["links"]] == [1, 2, 1]


def test_what_no_subgraph_made_is_of_dynamic_code(watched: Watched) -> None:
    made = Tensor(2)
    watched.run("A", [Tensor(2), made])
    watched.run("B", [made])
    assert watched.end() == [
        ("A", 0, "A", 0, "dynamic"),
        ("A", 1, "A", 1, "dynamic"),
        ("A", 1, "B", 0, "dynamic"),
    ], "the third is the second one again"


def test_what_was_changed_in_place_is_of_dynamic_code(watched: Watched) -> None:
    (x,) = watched.run("A", [], (2,))
    x.inplace_version += 1
    watched.run("B", [x])
    assert watched.end() == [("B", 0, "B", 0, "dynamic"), ("A", 0, None, None, "subgraph")]


def test_arguments_and_parameters_are_inputs(watched: Watched) -> None:
    direct, nested, named = Tensor(1), Tensor(1), Tensor(1)
    watched.flow.called((direct, [{"deep": (nested,)}], object()), {"named": named})
    watched.run("A", [direct, nested, named, Tensor(1, persistable=True)])
    assert {link[-1] for link in watched.end()} == {"input"}


def test_what_outlives_a_step_is_an_input_from_then_on(watched: Watched) -> None:
    kept = Tensor(1)
    watched.run("A", [kept, Tensor(1)])
    assert [link[-1] for link in watched.end(0)] == ["dynamic", "dynamic"]
    watched.run("A", [kept, Tensor(1)])
    assert [link[-1] for link in watched.end(1)] == ["input", "dynamic"]


def test_an_output_of_the_step_before_is_an_input(watched: Watched) -> None:
    (state,) = watched.run("A", [], (2,))
    watched.end(0)
    watched.run("A", [state])
    assert watched.end(1) == [("A", 0, "A", 0, "input")]


def test_a_freed_tensor_is_not_taken_for_a_new_one(watched: Watched) -> None:
    """CPython gives the id of a freed object to a new one of its size."""
    outputs = watched.run("A", [], (2,))
    number = id(outputs[0])
    outputs.clear()
    kept = []
    for _ in range(1000):
        kept.append(Tensor(2))
        if id(kept[-1]) == number:
            break
    else:
        pytest.skip("this Python did not use the id again")
    watched.run("B", [kept[-1]])
    assert watched.end() == [("B", 0, "B", 0, "dynamic"), ("A", 0, None, None, "subgraph")]


def test_nothing_lives_longer_for_being_watched(watched: Watched) -> None:
    outputs = watched.run("A", [Tensor(1)], (2,))
    reference = weakref.ref(outputs[0])
    outputs.clear()
    gc.collect()
    assert reference() is None


def test_two_quiet_steps_are_looked_at_and_no_third(watched: Watched) -> None:
    looked_at = []
    for step in range(6):
        watched.run("A", [], (1,))
        if watched.end(step, translated=step < 2):
            looked_at.append(step)
    assert looked_at == [0, 1, 2, 3]


def test_a_later_translation_has_the_next_two_steps_looked_at(watched: Watched) -> None:
    looked_at = []
    for step in range(10):
        watched.run("A", [], (1,))
        if watched.end(step, translated=step in (0, 5)):
            looked_at.append(step)
    assert looked_at == [0, 1, 2, 6, 7]


def test_subgraphs_that_never_ran_together_are_looked_at_once(watched: Watched) -> None:
    """Two sides of a branch that take turns are no news after the first time."""
    looked_at = []
    for step in range(12):
        name = "B" if step >= 5 and step % 2 else "A"
        watched.run(name, [], (1,))
        if watched.end(step, (name,), translated=step == 0):
            looked_at.append(step)
    assert looked_at == [0, 1, 2, 6, 7]


def test_a_step_without_subgraphs_writes_nothing(watched: Watched) -> None:
    assert watched.end(0, ()) == []
    assert watched.records == []
