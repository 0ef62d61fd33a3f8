"""The facts of the cases are written so that they can be checked. Needs no Paddle."""

from __future__ import annotations

from pathlib import Path

import pytest
from expectations import check_words, holds, read_facts, read_lines
from runs import REPOSITORY

from sotprobe.paddle_compat.causes import CAUSES

CASES = sorted((REPOSITORY / "cases").glob("*.py"))


@pytest.mark.parametrize("case", CASES, ids=[case.stem for case in CASES])
def test_facts_name_lines_and_causes_that_exist(case: Path) -> None:
    facts, lines = read_facts(case), read_lines(case)
    check_words(facts)
    for finding in facts["findings"]:
        assert finding.get("line") in (None, *lines)
        assert finding.get("cause") in (None, *CAUSES)


@pytest.mark.parametrize(
    ("python", "range_", "expected"),
    [
        ("3.11.7", ">=3.11", True),
        ("3.10.13", ">=3.11", False),
        ("3.12.1", ">=3.11,<3.13", True),
        ("3.13.0", ">=3.11,<3.13", False),
        ("3.9.1", "<3.11", True),
        ("3.11.7", "<3.11", False),
    ],
)
def test_version_ranges(monkeypatch: pytest.MonkeyPatch, python: str, range_: str, expected: bool) -> None:
    monkeypatch.setattr("platform.python_version", lambda: python)
    assert holds({"python": range_}) is expected


def test_a_misspelt_fact_is_refused() -> None:
    with pytest.raises(AssertionError):
        check_words({"findings": [{"slug": "fallback", "severity": "warning", "cuase": "item"}]})
