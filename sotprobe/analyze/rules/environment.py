"""``environment``: SOT variables that this Paddle ignores, settings that distort or break what is measured, and the machine."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from sotprobe.analyze.facts import Facts
from sotprobe.analyze.rules.base import ERROR, INFO, WARNING, Draft, evidence_of, make, title_of
from sotprobe.analyze.rules.endings import cause_of
from sotprobe.model import Event, Evidence, ExitStatus, Run
from sotprobe.model.run import LOG
from sotprobe.paddle_compat.cause_table.machine import MACHINE_IDS
from sotprobe.paddle_compat.flags import check_environment
from sotprobe.paddle_compat.log_lines import machine

_AMP = "amp-no-effect"
_LOG_LEVEL = "log-level"
# The lowest level that prints in every step.
DISTORTING_LEVEL = 2


def environment(facts: Facts) -> Iterator[Draft]:
    """Variables of no or bad effect, trouble with the machine, and what makes a log's figures worthless."""
    yield from _variables_without_effect(facts)
    yield from _machine(facts)
    run = facts.static
    if run is not None and run.program.kind == LOG:
        yield from _distorted(facts, run)


def _variables_without_effect(facts: Facts) -> Iterator[Draft]:
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


def _machine(facts: Facts) -> Iterator[Draft]:
    """What Paddle says of the machine, by cause: an error where a program known by its log ended by it."""
    events: dict[str, list[Event]] = defaultdict(list)
    for event in facts.events("warning"):
        if event.cause in MACHINE_IDS or event.cause == _AMP:
            events[event.cause].append(event)
    ended = _ended_by(facts)
    causes = [*events, *([ended] if ended and ended not in events else [])]
    for cause in causes:
        status = facts.static.exit if facts.static is not None and cause == ended else None
        yield _machine_draft(facts, cause, events.get(cause, []), status)


def _ended_by(facts: Facts) -> str | None:
    run = facts.static
    if run is None or run.program.kind != LOG or run.exit.reason != "error":
        return None
    cause = cause_of(run)
    return cause if cause in MACHINE_IDS else None


def _machine_draft(facts: Facts, cause: str, events: list[Event], ended: ExitStatus | None) -> Draft:
    severity = INFO if cause == _AMP else WARNING
    evidence: list[Evidence] = []
    messages = [event.message for event in events]
    if ended is not None:
        severity = ERROR
        messages.insert(0, f"{ended.error_type}: {ended.error_message}")
        evidence.extend(ended.evidence)
        if ended.site is None and ended.stack:
            where = ended.stack[-1]
            evidence.append(Evidence("exit", f"the program happened to stand at {where} in {where.function} then"))
    visible = _variables(facts).get(machine.VISIBLE)
    said = dict.fromkeys(text for message in messages for text in machine.explain(cause, message, visible))
    explained = [Evidence("paddle", text) for text in said]
    evidence = [*explained, *evidence, *evidence_of(events, 3)]
    return Draft(make(facts, "environment", severity, title_of(cause), ended.site if ended else None, evidence, cause=cause))


def _distorted(facts: Facts, run: Run) -> Iterator[Draft]:
    """Figures of speed in a log that SOT wrote into in every step."""
    level, steps = run.environment.get("log_level"), int(run.counts.get("log.steps", 0))
    if not isinstance(level, int) or level < DISTORTING_LEVEL or not steps:
        return
    text = f"{steps} lines of a benchmark stand between lines that only SOT_LOG_LEVEL >= {level} prints"
    evidence = [Evidence("benchlog", text, run.directory)]
    yield Draft(make(facts, "environment", INFO, title_of(_LOG_LEVEL), None, evidence, cause=_LOG_LEVEL))
