"""What the syntax tree says about a line."""

from __future__ import annotations

import sys

import pytest

from sotprobe.analyze.source import SourceFile, Sources

TEXT = """\
import paddle

class Net:
    @paddle.no_grad()
    @other(
        1)
    def forward(self, x,
                y=None):
        with tag("a"), \\
             tag("b"):
            for i in range(3):
                x = call(
                    x,
                    i)
                while x:
                    y = 1
        def inner(z):
            for k in z:
                use(k)
            return z
        if self.flag:
            x = 1
        elif y:
            x = 2
        else:
            x, (a, b) = 3, z
        try:
            x = [t for t in x]
        except ValueError:
            x = 0
        return x

top = 1
"""


@pytest.fixture
def file():
    return SourceFile(TEXT)


def test_a_function_begins_at_its_first_decorator_as_code_objects_say(file):
    function = file.function_at(12)
    assert (function.name, function.defined, function.span.last) == ("forward", 4, 31)
    assert file.function_at(19).name == "inner"
    assert file.function_at(33) is None


def test_own_lines_leave_inner_functions_out(file):
    own = file.own_lines(file.function_at(12))
    assert 18 not in own
    assert {4, 12, 31} <= own


def test_loops_hold_their_body_not_their_header(file):
    assert [loop.line for loop in file.loops_at(13)] == [11]
    assert [loop.line for loop in file.loops_at(16)] == [15, 11]
    assert [loop.line for loop in file.loops_at(15)] == [11]
    assert file.loops_at(11) == []


def test_a_loop_around_a_function_is_not_the_functions(file):
    assert [loop.line for loop in file.loops_at(19)] == [18]
    wrapped = SourceFile("for i in x:\n    def f():\n        return 1\n")
    assert wrapped.loops_at(3) == []


def test_statement_over_several_lines_is_one(file):
    assert {file.statement_line(line) for line in (12, 13, 14)} == {12}
    assert file.statement_line(9) == 9
    assert file.statement_line(2) is None


def test_branches_have_two_sides(file):
    outer, inner = file.branches
    assert (outer.line, outer.side(22), outer.side(24), outer.side(26), outer.side(21), outer.side(28)) == (
        21,
        "if",
        "else",
        "else",
        None,
        None,
    )
    assert (inner.line, inner.side(24), inner.side(26), inner.side(22)) == (23, "if", "else", None)
    (alone,) = SourceFile("if a:\n    b\nc\n").branches
    assert (alone.orelse, alone.side(3)) == (None, None)


def test_generators(file):
    source = SourceFile("def f():\n    yield 1\n\ndef g():\n    def h():\n        yield 1\n    return h\n")
    assert [source.is_generator(function) for function in source.functions] == [True, False, True]


def test_constructs_of_the_function_itself(file):
    constructs = file.constructs(file.function_at(12))
    assert [(construct.kind, construct.line) for construct in constructs] == [("with", 9), ("try", 27), ("comprehension", 28)]
    assert 16 in constructs[0].span
    assert file.constructs(file.function_at(19)) == []


def test_names_assigned(file):
    assert file.names_assigned_at(26) == {"x", "a", "b"}
    assert file.names_assigned_at(13) == {"x"}


@pytest.mark.parametrize("text", ["def f(:\n    pass\n", "\x00", "x = 1\x00"])
def test_what_does_not_parse_has_lines_and_no_structure(text):
    file = SourceFile(text)
    assert file.line(1) is not None
    assert file.functions == []
    assert file.loops_at(1) == []
    assert file.statement_line(1) is None
    assert file.branches == []


def test_async_and_match():
    file = SourceFile("async def f(x):\n    async with x:\n        pass\n    match x:\n        case 1:\n            y = 1\n")
    assert [construct.kind for construct in file.constructs(file.function_at(2))] == ["with"]
    assert file.statement_line(6) == 6


@pytest.mark.skipif(sys.version_info < (3, 11), reason="except* is Python 3.11")
def test_except_star_is_a_try():
    file = SourceFile("def f(x):\n    try:\n        x()\n    except* ValueError:\n        pass\n")
    assert [construct.kind for construct in file.constructs(file.function_at(2))] == ["try"]


def test_sources_without_a_file_know_nothing():
    sources = Sources({"a.py": TEXT})
    assert sources.line("b.py", 1) is None
    assert sources.line("a.py", 999) is None
    assert sources.line("a.py", 12) == "x = call("
    assert sources.own_lines("b.py", 1) == frozenset()


def test_code_that_the_parser_gives_up_has_lines_and_no_structure():
    file = SourceFile("a = " + "-" * 100_000 + "1\n")
    assert file.line(1) is not None
    assert file.functions == []
