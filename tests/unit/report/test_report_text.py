from __future__ import annotations

import math

import pytest

from sotprobe.report.text import code_line, count, figure, one_line, percent, plural, visible


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (None, "not measured"),
        (0.0, "0"),
        (0.00042, "4.20e-04"),
        (0.001, "0.00100"),
        (0.99951, "1.00"),
        (4.7101, "4.71"),
        (-4.7101, "-4.71"),
        (212.31, "212"),
        (999.6, "1000"),
        (123456.0, "123456"),
        (2.5e9, "2.50e+09"),
        (math.inf, "inf"),
        (math.nan, "nan"),
    ],
)
def test_figure(value, written):
    assert figure(value) == written


@pytest.mark.parametrize(("value", "written"), [(97.0, "97"), (0.5, "0.500"), (0, "0"), (math.inf, "inf")])
def test_count(value, written):
    assert count(value) == written


@pytest.mark.parametrize(("value", "written"), [(0.38324, "38%"), (1.0, "100%"), (0.0004, "0.04%"), (0.0, "0%")])
def test_percent(value, written):
    assert percent(value) == written


def test_plural():
    assert [plural(number, "pair") for number in (0, 1, 2)] == ["0 pairs", "1 pair", "2 pairs"]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("plain [red] text", "plain [red] text"),
        ("\x1b[31m", r"\x1b[31m"),
        ("a\rb\x00\x9b", r"a\rb\x00\x9b"),
        ("\u202e\u2066\u200b\u2028\ufeff", r"\u202e\u2066\u200b\u2028\ufeff"),
        ("\ud800", r"\ud800"),
        ("数据集 é", "数据集 é"),
    ],
)
def test_visible_escapes_what_a_terminal_acts_on_and_only_that(text, written):
    assert visible(text) == written


def test_one_line_folds_and_says_what_it_left_out():
    assert one_line(" a\n\tb  c ") == "a b c"
    assert one_line("x" * 410) == "x" * 400 + "… (+10 characters)"


def test_code_line_loses_its_indentation_only():
    assert code_line("\tif a  ==  b:\n") == "if a  ==  b:"
