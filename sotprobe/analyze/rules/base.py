"""What a rule gives back, and what every rule needs to say it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sotprobe.analyze.facts import Facts, Line
from sotprobe.model import Event, Evidence, Finding, SourceSite
from sotprobe.model.run import FrameKey
from sotprobe.paddle_compat import causes

ERROR = "error"
WARNING = "warning"
INFO = "info"

# Who gets a line's cost when several findings claim it: the most specific first.
LOOP_LINES = 0
BRANCH_LINES = 1
BREAK_LINES = 2
FUNCTION_LINES = 3

# Steps without a recompile after which it counts as settled, when they are as many as those before.
SETTLED_STEPS = 3


@dataclass(frozen=True)
class Claim:
    """What a finding's cost is made of: lines (allotted by ``rank``), translations per step, frame-callback time of frames."""

    lines: frozenset[Line] = frozenset()
    rank: int = FUNCTION_LINES
    translation_ns: float | None = None
    guard_frames: frozenset[FrameKey] = frozenset()


@dataclass(frozen=True)
class Draft:
    """A finding without its cost, and what its cost will be made of."""

    finding: Finding
    claim: Claim = Claim()


def make(
    facts: Facts,
    slug: str,
    severity: str,
    title: str,
    site: SourceSite | None,
    evidence: Iterable[Evidence],
    *,
    cause: str | None = None,
    advice: str | None = None,
    count_per_step: float | None = None,
) -> Finding:
    """A finding with its source line and, unless given, the advice of its cause."""
    return Finding(
        slug=slug,
        severity=severity,
        title=title,
        site=site,
        advice=facts.advice(cause) if advice is None else advice,
        evidence=tuple(evidence),
        cause=cause,
        count_per_step=count_per_step,
        source_line=facts.source_line(site),
    )


def title_of(cause: str | None) -> str:
    return causes.cause(cause).title


def evidence_of(events: Iterable[Event], limit: int = 5) -> list[Evidence]:
    """The evidence of some events, equal texts once with how often they were seen."""
    first: dict[str, Evidence] = {}
    seen: dict[str, int] = {}
    for event in events:
        for item in event.evidence:
            first.setdefault(item.text, item)
            seen[item.text] = seen.get(item.text, 0) + 1
    shown = []
    for text, item in list(first.items())[:limit]:
        times = f" ({seen[text]} times)" if seen[text] > 1 else ""
        shown.append(Evidence(item.reader, text + times, item.file, item.line))
    if len(first) > limit:
        shown.append(Evidence("hooks", f"{len(first) - limit} more of the same"))
    return shown


def plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def moments(facts: Facts, steps: Iterable[int | None]) -> str:
    """``step 3`` or ``steps 1 to 19``; a log has calls of its outermost function instead, counted from 1. Empty when unknown."""
    known = sorted({step + facts.is_log for step in steps if step is not None and step >= 0})
    if not known:
        return ""
    noun = "call" if facts.is_log else "step"
    return f"{noun} {known[0]}" if len(known) == 1 else f"{noun}s {known[0]} to {known[-1]}"


def rest_of(function: str, break_lines: tuple[int, ...]) -> str:
    """The rest of a function after the last of some breaks; 0 is a line that a log does not tell."""
    return f"the rest of {function} after {f'line {break_lines[-1]}' if break_lines[-1] else 'a break'}"


def settled(steps: Iterable[int | None], last_step: int) -> bool:
    """Whether something stopped: no step of it in the last half of the run, and enough steps since."""
    known = [step for step in steps if step is not None]
    if not known or last_step < 0:
        return False
    return last_step - max(known) >= max(SETTLED_STEPS, last_step / 2)
