"""Behaviours by version: those measured, on the versions they were measured on."""

from __future__ import annotations

import pytest

from sotprobe.paddle_compat.traits import NEWEST_KNOWN, parse_version, traits


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("3.3.1", (3, 3, 1)),
        ("3.2.2.post120", (3, 2, 2)),
        ("3.3.0.dev20250901", (3, 3, 0)),
        ("3.3.0rc1", (3, 3, 0)),
        ("3.0.0-beta2", (3, 0, 0)),
        ("3.0.0b1", (3, 0, 0)),
        ("2.6", (2, 6, 0)),
        ("3.3.0+cpu", (3, 3, 0)),
        ("0.0.0", NEWEST_KNOWN),
        ("0.0.0.dev20251101", NEWEST_KNOWN),
        (" 3.14.0a1+", (3, 14, 0)),
    ],
)
def test_parse_version(text: str, version: tuple[int, int, int]) -> None:
    assert parse_version(text) == version


@pytest.mark.parametrize("text", ["", "develop", "v", "-3"])
def test_not_a_version(text: str) -> None:
    with pytest.raises(ValueError, match="not a version"):
        parse_version(text)


# (paddle, python): what holds there; every name not listed does not.
BREAKING = ("loop_body_break_is_fallback", "item_breaks", "tensor_is_none_breaks", "broken_value_is_guarded")
MEASURED = {
    ("3.0.0", "3.10.13"): ("broken_value_is_guarded",),
    ("3.0.0", "3.11.7"): ("broken_value_is_guarded", "tensor_is_none_breaks"),
    ("3.2.2", "3.11.7"): ("broken_value_is_guarded", "item_breaks", "tensor_is_none_breaks"),
    ("3.3.1", "3.10.13"): ("broken_value_is_guarded", "item_breaks", "loop_body_break_is_fallback"),
    ("3.3.1", "3.13.0"): BREAKING,
}


@pytest.mark.parametrize(("paddle", "python"), list(MEASURED))
def test_breaks(paddle: str, python: str) -> None:
    here = traits(paddle, python)
    assert {name for name in BREAKING if getattr(here, name)} == set(MEASURED[paddle, python])


@pytest.mark.parametrize(
    ("paddle", "python", "poisoned"),
    [
        ("3.3.1", "3.10", False),
        ("3.3.1", "3.11", True),
        ("3.3.1", "3.12", True),
        ("3.3.1", "3.13", False),
        ("3.2.2", "3.11", True),
        ("3.0.0", "3.11", False),
    ],
)
def test_trampoline_poison(paddle: str, python: str, poisoned: bool) -> None:
    assert traits(paddle, python).trampoline_poison is poisoned


@pytest.mark.parametrize(("paddle", "limit"), [("2.6.2", (3, 12)), ("3.0.0", (3, 14)), ("3.2.2", (3, 14)), ("3.3.1", (3, 15))])
def test_python_limit(paddle: str, limit: tuple[int, int]) -> None:
    major, minor = limit
    assert traits(paddle, f"{major}.{minor}").sot_python_limit == limit
    assert not traits(paddle, f"{major}.{minor}").sot_supported
    assert traits(paddle, f"{major}.{minor - 1}").sot_supported


def test_frames_that_are_skipped() -> None:
    assert not traits("3.3.1", "3.10").exception_table_skips
    assert traits("3.3.1", "3.11").exception_table_skips
    assert not traits("3.3.1", "3.11").comprehension_makes_exception_table
    assert traits("3.3.1", "3.12").comprehension_makes_exception_table
    assert traits("3.3.1", "3.10").try_block_is_captured
    assert not traits("3.0.0", "3.10").try_block_is_captured


def test_limits() -> None:
    old, middle, new = (traits(version, "3.11") for version in ("3.0.0", "3.2.2", "3.3.1"))
    assert [here.compile_time_limit for here in (old, middle, new)] == [False, True, True]
    assert [here.compile_time_limit_switch for here in (old, middle, new)] == [False, False, True]
    assert [here.late_entry_goes_eager for here in (old, middle, new)] == [True, False, False]
    assert [here.collect_subgraph_relation_crashes for here in (old, middle, new)] == [False, True, True]
