"""The golden pages of the shared cases: ``python tools/update_golden.py`` writes them anew; read the diff."""

from __future__ import annotations

from difflib import unified_diff

import pytest
from golden_pages import GOLDEN, page
from shared_cases import ABSENT, CASES, all_logs

pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason=ABSENT)
NAMES = sorted({path.parent.name for path in all_logs()})


@pytest.mark.parametrize("name", NAMES)
def test_golden_page(name: str) -> None:
    golden = (GOLDEN / f"{name}.txt").read_text().splitlines()
    now = page(name).splitlines()
    diff = list(unified_diff(golden, now, "golden", "now", lineterm="", n=1))
    assert not diff, "\n".join(diff[:80])


def test_every_golden_page_is_of_a_case() -> None:
    assert sorted(path.stem for path in GOLDEN.glob("*.txt")) == NAMES
