from __future__ import annotations

import pytest
from fake_runs import Program


@pytest.fixture
def program(tmp_path):
    """program(text) -> a Program with no runs yet."""
    return lambda text, function="forward": Program(tmp_path / "runs", text, function)
