"""Inputs that tools/fuzz_log.py found to fail once."""

from __future__ import annotations

from pathlib import Path

import pytest
from log_damage import check, check_memory

FOUND = sorted((Path(__file__).parent / "found_by_fuzzing").glob("*.log"))


@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.stem)
def test_what_failed_once(path):
    check(path.read_bytes())
    check_memory(path.read_bytes())
