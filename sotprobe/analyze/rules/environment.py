"""``environment``: SOT variables that this Paddle ignores, and settings that distort or break what is measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sotprobe.analyze.facts import Facts
from sotprobe.analyze.rules.base import INFO, WARNING, Draft, make
from sotprobe.model import Evidence
from sotprobe.paddle_compat.flags import check_environment


def environment(facts: Facts) -> Iterator[Draft]:
    """One finding for each variable that is set to no or bad effect."""
    if facts.paddle is None:
        return
    for issue in check_environment(_variables(facts), facts.paddle):
        severity = INFO if issue.kind == "ignored" and issue.near is None else WARNING
        evidence = [Evidence("environment", f"{issue.name}={issue.value}")]
        yield Draft(make(facts, "environment", severity, issue.text, None, evidence, advice=issue.advice))


def _variables(facts: Facts) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for name in ("env", "given_env"):
        values = facts.environment.get(name)
        if isinstance(values, Mapping):
            found.update({str(key): str(value) for key, value in values.items()})
    return found
