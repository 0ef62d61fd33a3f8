"""``not-captured`` and ``fallback``: functions that run eagerly although to_static was asked for.

One finding for each function and line to blame. Frames lost to a ``with paddle.no_grad()`` are ``no-grad-block``. Formatting and
logging take frames down too, but are ``host-sync``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sotprobe.analyze import lost as lost_of
from sotprobe.analyze.facts import Facts
from sotprobe.analyze.lost import SILENT, LostFrame
from sotprobe.analyze.rules.base import FUNCTION_LINES, INFO, WARNING, Claim, Draft, evidence_of, make, rest_of, title_of
from sotprobe.analyze.suspects import Suspect, is_context_manager, suspects
from sotprobe.model import Evidence
from sotprobe.paddle_compat.traits import LOOKS

# Reported by rules of their own: reads on the host that lose the frame, and small graphs.
HOST_SYNC_FRAMES = frozenset({"f-string", "logging"})
# What runs eagerly as part of something else, and matters only for the operators it runs.
_HELPERS = frozenset({"generator", "called-from-generator", "thread", "hook-off", "without-graph", "skip-prefix"})
# A frame that is eager for a moment, or by design.
_HARMLESS = frozenset({"zero-size", "forced"})


def not_captured(facts: Facts) -> Iterator[Draft]:
    """Frames that SOT never took, without a word."""
    for lost in reported(facts):
        if lost.how == SILENT and lost.cause != "no-grad":
            yield lost_draft(facts, lost, "not-captured", f"{lost.frame.function} is not captured: {title_of(lost.cause)}")
    for suspect in suspects_left(facts):
        if suspect.cause != "no-grad":
            is_not = "is not" if suspect.proven else "may not be"
            title = f"{suspect.frame.function} {is_not} captured: {title_of(suspect.cause)}"
            yield suspect_draft(facts, suspect, "not-captured", title)


def suspects_left(facts: Facts) -> Iterator[Suspect]:
    """Suspected functions of which nothing is known."""
    lost = {lost.frame for lost in lost_of.lost_frames(facts)}
    return (suspect for suspect in suspects(facts) if suspect.frame not in lost)


def suspect_draft(facts: Facts, suspect: Suspect, slug: str, title: str) -> Draft:
    severity = WARNING if suspect.proven else INFO
    finding = make(facts, slug, severity, title, suspect.site, suspect.evidence, cause=suspect.cause)
    return Draft(replace(finding, suspected=not suspect.proven))


def fallback(facts: Facts) -> Iterator[Draft]:
    """Frames that SOT gave up with a FallbackError."""
    for lost in reported(facts):
        if lost.how != SILENT and lost.cause != "no-grad" and lost.cause not in HOST_SYNC_FRAMES:
            yield lost_draft(facts, lost, "fallback", f"{_what(lost)} runs eagerly: {title_of(lost.cause)}")
    yield from _nameless(facts)


def _nameless(facts: Facts) -> Iterator[Draft]:
    """Fallbacks that a log tells without a frame: below SOT_LOG_LEVEL=2 it names none."""
    for event in facts.events("fallback"):
        if event.frame is None:
            title = f"a function that the log does not name runs eagerly: {title_of(event.cause)}"
            advice = f"SOT_LOG_LEVEL=2 names the function. {facts.advice(event.cause)}"
            evidence = evidence_of([event])
            yield Draft(make(facts, "fallback", WARNING, title, event.site, evidence, cause=event.cause, advice=advice))


def _what(lost: LostFrame) -> str:
    if lost.break_lines:
        return rest_of(lost.frame.function, lost.break_lines)
    return f"all of {lost.frame.function}"


def reported(facts: Facts) -> Iterator[LostFrame]:
    """Lost frames that matter: a generator or thread that runs no operators is a side effect of what uses it."""
    for lost in lost_of.lost_frames(facts):
        if lost.cause not in _HELPERS or lost_of.has_work(facts, lost):
            yield lost


def lost_draft(facts: Facts, lost: LostFrame, slug: str, title: str) -> Draft:
    """A finding about a lost frame; its cost is that of the function's lines."""
    idle = lost.how == SILENT and not lost_of.has_work(facts, lost)
    side_effect = facts.is_log and lost.cause == "generator" and _is_context_manager(facts, lost)
    severity = INFO if idle or side_effect or lost.cause in _HARMLESS else WARNING
    evidence = [*evidence_of(lost.events), *lost_of.notes(lost)]
    if side_effect:
        evidence.append(Evidence("source", "it is a context manager's: a side effect of the with that uses it"))
    elif facts.is_log and lost.cause == "generator":
        text = "if it is a context manager's: the function whose with uses it is skipped without a line (Python 3.11+)"
        evidence.append(Evidence("source", text))
    if idle:
        evidence.append(Evidence("lines", "no operators ran on its own lines: what it calls is captured on its own"))
    finding = make(facts, slug, severity, title, lost.site, evidence, cause=lost.cause, count_per_step=lost_count(facts, lost))
    return Draft(finding, lost_claim(facts, lost))


def _is_context_manager(facts: Facts, lost: LostFrame) -> bool:
    place = facts.program.place(lost.frame.path, lost.frame.line, lost.frame.function)
    return place is not None and is_context_manager(place)


def lost_claim(facts: Facts, lost: LostFrame) -> Claim:
    """All lines that are eager because of it."""
    return Claim(lines=lost_of.lines_of(facts, lost), rank=FUNCTION_LINES)


def _logged_count(facts: Facts, lost: LostFrame) -> float | None:
    """How often per call, as far as a log tells: of one that never was a frame, as often as its caller ran there."""
    if lost.how == SILENT:
        callers = {(event.frame, event.break_lines) for event in lost.events if event.kind == "break"}
        return sum(facts.entries(caller) or 0.0 for caller in callers) or None
    count = facts.entries((lost.frame, lost.break_lines))
    total = round((count or 0.0) * facts.step_count)
    return None if total == LOOKS < facts.step_count else count  # no more of it is logged then


def lost_count(facts: Facts, lost: LostFrame) -> float | None:
    """How often the frame runs per step: as itself in a traced step, else as often as it reaches SOT."""
    if facts.is_log:
        return _logged_count(facts, lost)
    starts = [event.count for event in facts.events("eager-frame") if event.frame == lost.frame]
    if starts and not lost.break_lines:
        return float(max(starts))
    return facts.entries((lost.frame, lost.break_lines)) if lost.how != SILENT else None
