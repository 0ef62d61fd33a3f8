"""The parts of the hooks that need no Paddle: guards as text, line tables, observers that fail."""

from __future__ import annotations

import sys
from types import CodeType, SimpleNamespace
from typing import Any

import pytest

from sotprobe.paddle_compat.hooks.breaks import _taken
from sotprobe.paddle_compat.hooks.guards import describe, failed_guards, guard_parts
from sotprobe.paddle_compat.hooks.lines import location_table
from sotprobe.paddle_compat.hooks.session import Session
from sotprobe.paddle_compat.hooks.watch import Watch


def make_guard(text: str, **free: object) -> Any:
    """A guard as Paddle's make_guard builds it: a lambda that carries its own text."""
    guard = eval(text, dict(free))  # noqa: S307 - the texts stand in this file
    guard.expr = text
    return guard


def frame(**f_locals: object) -> SimpleNamespace:
    return SimpleNamespace(f_locals=f_locals, f_globals={"scale": 3})


def test_every_failed_part_is_told() -> None:
    guard = make_guard(
        "lambda frame: frame.f_locals['k'] == 0.5 and frame.f_locals['n'] >= 2 and frame.f_globals['scale'] == 2"
        " and frame.f_locals['text'] == 'this and that'"
    )
    assert failed_guards([guard], frame(k=1.5, n=3, text="x and y")) == [
        {"expression": "frame.f_locals['k'] == 0.5", "expected": "0.5", "seen": "1.5"},
        {"expression": "frame.f_globals['scale'] == 2", "expected": "2", "seen": "3"},
        {
            "expression": "frame.f_locals['text'] == 'this and that'",
            "expected": "'this and that'",
            "seen": "'x and y'",
        },
    ]


def test_temporaries_are_resolved() -> None:
    guard = make_guard(
        "lambda frame: (___t_1 := (len((___t_0 := (frame.f_locals['x'])).shape) == 1)) and (___t_2 := (___t_0.shape[0] == 2))"
    )
    seen = failed_guards([guard], frame(x=SimpleNamespace(shape=[3])))
    assert seen == [{"expression": "frame.f_locals['x'].shape[0] == 2", "expected": "2", "seen": "3"}]


def test_an_error_that_follows_from_a_miss_is_not_told() -> None:
    guard = make_guard("lambda frame: frame.f_locals['xs'][1] == 5 and len(frame.f_locals['xs']) == 2")
    seen = failed_guards([guard], frame(xs=[5]))
    assert seen == [{"expression": "len(frame.f_locals['xs']) == 2", "expected": "2", "seen": "1"}]


def test_an_error_alone_is_told() -> None:
    guard = make_guard("lambda frame: frame.f_locals['x'].n == 1")
    (part,) = failed_guards([guard], frame(x=None))
    assert part["expected"] == "1"
    assert part["seen"] == "AttributeError: 'NoneType' object has no attribute 'n'"


def test_nan_is_written_as_a_bare_name() -> None:
    guard = make_guard("lambda frame: frame.f_locals['x'] == nan")
    (part,) = failed_guards([guard], frame(x=float("nan")))
    assert (part["expected"], part["seen"]) == ("nan", "nan")


def test_newest_guard_first_and_each_part_once() -> None:
    guards = [make_guard(f"lambda frame: frame.f_locals['s'] == 'a' and frame.f_locals['k'] == {k}") for k in (1, 2)]
    seen = failed_guards(guards, frame(s="b", k=3))
    assert [part["expected"] for part in seen] == ["'a'", "2", "1"]


def test_identity_and_classes() -> None:
    weak = make_guard("lambda frame: __obj_1() is not None and frame.f_locals['f'] == __obj_1()", __obj_1=lambda: describe)
    (part,) = failed_guards([weak], frame(f=failed_guards))
    assert part["expected"].startswith("<function describe at 0x")
    assert part["seen"].startswith("<function failed_guards at 0x")
    typed = make_guard("lambda frame: id(type(frame.f_locals['x'])) == 12345")
    (part,) = failed_guards([typed], frame(x=2))
    assert (part["expected"], part["seen"]) == (None, "<class builtins.int>")


def test_a_user_object_that_fails_to_show_itself() -> None:
    class Hostile:
        def __eq__(self, other: object) -> bool:
            raise OSError("no comparison")

        __hash__ = None  # type: ignore[assignment]

        def __repr__(self) -> str:
            raise OSError("no text")

    guard = make_guard("lambda frame: frame.f_locals['x'] == 1")
    (part,) = failed_guards([guard], frame(x=Hostile()))
    assert part["seen"].startswith("<test_a_user_object")
    listed = failed_guards([make_guard("lambda frame: frame.f_locals['x'] == [1]")], frame(x=[Hostile()]))
    assert len(listed) == 1


def test_a_guard_without_text_says_nothing() -> None:
    assert failed_guards([lambda frame: False], frame()) == []


def test_not_a_lambda() -> None:
    with pytest.raises(ValueError, match="not a guard"):
        guard_parts("1 + 1")


def test_describe_is_short_and_on_one_line() -> None:
    assert describe(0.5) == "0.5"
    assert describe("a\nb") == "'a\\nb'"
    assert len(describe("x" * 1000)) < 200
    assert len(describe(list(range(1000)))) < 200
    assert describe(test_a_guard_without_text_says_nothing.__code__).startswith("<code test_a_guard_without_text")


@pytest.mark.skipif(sys.version_info < (3, 11), reason="the location table is that of Python 3.11 and later")
def test_location_table_gives_back_its_lines() -> None:
    instructions = [(1, 10), (5, 10), (9, 12), (20, 9), (1, 300), (2, 5)]
    units = sum(size for size, _ in instructions)
    nop = compile("pass", "x", "exec").co_code[:2]
    code = (lambda: None).__code__.replace(co_code=nop * units, co_firstlineno=10, co_linetable=location_table(instructions, 10))
    lines = [line for start, end, line in code.co_lines() for _ in range((end - start) // 2)]
    assert lines == [line for size, line in instructions for _ in range(size)]


class Owner:
    def greet(self) -> str:
        return "hello"


def test_a_failing_observer_is_noted_once_and_the_program_goes_on() -> None:
    notes: list[str] = []
    watch = Watch(notes.append)

    def fails(value: object) -> None:
        raise KeyError(value)

    def make(original: Any) -> Any:
        def greet(self: Owner) -> str:
            watch.observe(fails, "x")
            return original(self) + "!"

        return greet

    watch.replace(Owner, "greet", make)
    assert [Owner().greet() for _ in range(3)] == ["hello!"] * 3
    (note,) = notes
    assert "fails failed: KeyError: 'x'" in note
    watch.restore()
    assert Owner().greet() == "hello"


def test_what_paddle_does_not_have_is_noted() -> None:
    notes: list[str] = []
    Watch(notes.append).replace(Owner, "absent", lambda original: original)
    assert notes == ["hook: Owner.absent does not exist in this Paddle"]


def session() -> tuple[Session, list[dict]]:
    records: list[dict] = []
    here = Session(lambda kind, **fields: records.append({"kind": kind, **fields}), lambda path: path.endswith(".py"), lambda: 7)
    return here, records


def code_of(source: str) -> CodeType:
    namespace: dict[str, Any] = {}
    exec(compile(source, "/somewhere/model.py", "exec"), namespace)
    return namespace["f"].__code__


def test_code_is_recorded_once_by_identity() -> None:
    here, records = session()
    first, second = code_of("def f(): pass"), code_of("def f(): pass")
    assert first == second
    assert [here.code_id(first), here.code_id(second), here.code_id(first)] == [0, 1, 0]
    assert [record["id"] for record in records] == [0, 1]
    assert records[0] == {
        "kind": "code",
        "id": 0,
        "path": "/somewhere/model.py",
        "line": 1,
        "function": "f",
        "raw": "f",
        "user": True,
        "break_lines": [],
        "break_sides": [],
        "flags": [],
    }


def test_flags_and_break_lines() -> None:
    here, records = session()
    with_block = code_of("def f():\n    with x:\n        pass")
    here.code_id(with_block)
    assert records[-1]["flags"] == (["exception-table"] if sys.version_info >= (3, 11) else [])
    here.code_id(code_of("def f():\n    yield"))
    assert "generator" in records[-1]["flags"]
    here.code_id(code_of("async def f():\n    pass"))
    assert "coroutine" in records[-1]["flags"]
    rest, last = code_of("def f(): return 1"), code_of("def f(): return 2")
    here.resumed(rest, with_block, 4)
    here.resumed(last, rest, 9, "else")
    assert here.break_lines(last) == [4, 9]
    assert here.break_sides(last) == ["", "else"]
    assert here.origin(last) is with_block


class Variable:
    """As much of a variable of SOT as is looked at; ``flatten_inner_vars`` is not to be called."""

    def __init__(self, **fields: object):
        self.__dict__.update(fields)

    def flatten_inner_vars(self) -> None:
        raise AssertionError("this wraps items that the program has not touched")


class TensorVariable(Variable):
    def get_symbol(self) -> SimpleNamespace:
        return SimpleNamespace(name=self.name)


def test_a_break_at_a_branch_takes_the_condition() -> None:
    assert _taken("if", None, (TensorVariable(name="var_3"), None)) == {"var_3"}
    assert _taken("for", None, ()) == frozenset()


@pytest.mark.parametrize("pushed", [1, lambda argument: argument - 1])
def test_a_break_at_a_call_takes_its_arguments_and_what_it_is_bound_to(monkeypatch, pushed: object) -> None:
    from sotprobe.paddle_compat.hooks import breaks

    instruction = SimpleNamespace(opname="CALL", arg=2)
    executor = SimpleNamespace(_instructions=[instruction], indexof=lambda _: 0)
    monkeypatch.setattr(breaks, "module", lambda name: SimpleNamespace(calc_stack_effect=lambda _: -3))
    below, method = TensorVariable(name="below"), Variable(bound_instance=TensorVariable(name="self"))
    listed = Variable(value=[TensorVariable(name="a"), 3, Variable(value={"k": TensorVariable(name="b")})])
    cycle = Variable()
    cycle.value = (cycle,)
    assert _taken("call", executor, ([below, method, listed, Variable(), cycle], instruction, pushed)) == {"self", "a", "b"}
