"""Every case of cases/ yields its FACTS: slugs, causes, lines and counts."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from expectations import Facts, check, holds, page, read_facts, read_lines
from runs import REPOSITORY, Ask, Made, Runs

pytestmark = pytest.mark.paddle

CASES = REPOSITORY / "cases"


@dataclass(frozen=True)
class Case:
    name: str

    @property
    def path(self):
        return CASES / f"{self.name}.py"

    @property
    def facts(self) -> Facts:
        return read_facts(self.path)

    @property
    def ask(self) -> Ask:
        options = ("--rounds", "1") if "window" in self.facts else ("--rounds", "1", "--steps", str(self.facts["steps"]))
        return Ask(f"cases/{self.name}.py", options)


def _parameter(case: Case):
    requires = case.facts.get("requires", {})
    marks = [] if holds(requires) else [pytest.mark.skip(reason=f"is for {requires}")]
    return pytest.param(case, id=case.name, marks=marks)


@pytest.mark.parametrize("case", [_parameter(Case(path.stem)) for path in sorted(CASES.glob("*.py"))])
def test_case_yields_its_facts(case: Case, made: Made) -> None:
    check(made, case.facts, read_lines(case.path))


# --- the detection loss, before and after the repair

BEFORE = Ask("cases/detection_loss.py", ("--rounds", "3"), alone=True)
AFTER = Ask("cases/detection_loss_fixed.py", ("--rounds", "3"), alone=True)


@pytest.mark.asks(BEFORE, AFTER)
def test_repair_moves_the_ratio(runs: Runs) -> None:
    before, after = runs.made(BEFORE), runs.made(AFTER)
    ratios = [made.result["ratio"]["static_over_dynamic"] for made in (before, after)]
    assert ratios[1] > 1.3 * ratios[0], f"{ratios}\n{page(before)}\n{page(after)}"
    assert before.of("eager-loop")
    assert not after.of("eager-loop")
