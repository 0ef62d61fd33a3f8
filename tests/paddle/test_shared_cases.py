"""The programs of ../shared/cases give what their README says; shared_table.py is the table."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from expectations import check
from runs import REPOSITORY, Ask, Made, cache_directory
from shared_table import TABLE, Shared

CASES = Path(os.environ.get("SOTPROBE_SHARED", REPOSITORY.parent / "shared")) / "cases"

pytestmark = [
    pytest.mark.paddle,
    pytest.mark.skipif(
        not CASES.is_dir(), reason="the shared cases are not beside the clone (SOTPROBE_SHARED names another place)"
    ),
]


class Variant:
    """A row of the table and the run that it is about."""

    def __init__(self, shared: Shared):
        self.shared = shared
        (directory,) = CASES.glob(f"{shared.case}_*")
        program = _with_its_trace_elsewhere(directory) if shared.arguments == ("on",) else directory / "repro.py"
        program = os.path.relpath(program, REPOSITORY)
        both = "parity" in shared.facts
        options = ("--rounds", "1", *shared.options) if both else shared.options
        self.ask = Ask(program, options, shared.arguments, "compare" if both else "record")


def _with_its_trace_elsewhere(directory: Path) -> Path:
    """Case 08 exports its trace to a fixed place at the root of the disk: a copy that writes beside the runs."""
    copy = cache_directory() / "programs" / directory.name / "repro.py"
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_text((directory / "repro.py").read_text().replace("/proj/", f"{cache_directory()}/programs/"))
    return copy


def _variants():
    return [pytest.param(Variant(shared), id=str(shared)) for shared in TABLE] if CASES.is_dir() else []


@pytest.mark.parametrize("variant", _variants())
def test_shared_case(variant: Variant, made: Made) -> None:
    check(made, variant.shared.facts, {})
