"""``recompile``, ``cache-limit`` and ``compile-limit``: translations that are made again, until SOT stops.

A recompile that happens once or in a few steps and then stays (a dynamic dimension, the train/eval toggle) is info, and so is
one for each of several layers of a class, all in one step; one that goes on, or that fills the cache, is a warning. Its cost is
the translation time after the first one, per step observed.

The frames of libraries (a Sequential of Paddle's own that is called for twenty layers) are no lines of the user's: what happens
to them in one step is info, and the advice is to call them from captured code.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from sotprobe.analyze.facts import Facts
from sotprobe.analyze.readsite import read_site
from sotprobe.analyze.rules.base import (
    FUNCTION_LINES,
    INFO,
    WARNING,
    Claim,
    Draft,
    evidence_of,
    make,
    moments,
    plural,
    rest_of,
    settled,
    title_of,
)
from sotprobe.model import Event, Evidence, SourceSite
from sotprobe.model.site import NEAR
from sotprobe.paddle_compat import vocabulary

# Guards on a value that a graph break may have brought in.
_SCALARS = frozenset({"float-guard", "int-guard", "constant-guard", "str-guard", "value-guard", "type-guard", "unknown"})
# What a break leaves behind as a Python value.
_VALUE_BREAKS = frozenset(
    {"item", "float-read", "int-read", "bool-read", "numpy-read", "random-api", "numpy-api", "builtin-call"}
)
# Sizes become dynamic and ints symbolic, so these settle by themselves, one value after the other.
_SETTLING = frozenset({"shape-churn", "list-of-tensors", "int-guard", "type-guard", "training-toggle"})
# Others never do: that many steps with a recompile matter even when the values ran out later.
MANY = 4
_LIBRARY_ADVICE = (
    "The frame is a library's. Call it from a layer or function of your own under to_static: from there it is captured as part "
    "of one graph, and its frames are not looked up one by one."
)
# Switching between a few known values is what these are for.
_EXPECTED = frozenset({"training-toggle"})


def recompile(facts: Facts) -> Iterator[Draft]:
    """Recompiles by cause and line."""
    for (cause, site, frame), events in _folded(facts).items():
        goes_on, filled = _goes_on(facts, events), _fills(facts, frame, events)
        severity = WARNING if _matters(facts, cause, frame, events) else INFO
        title = f"{frame.function if frame else 'a frame'} is recompiled: {title_of(cause)}"
        evidence = [_summary(facts, events, goes_on, filled), *evidence_of(events, 3), *_breaks_at(facts, cause, site)]
        if severity == WARNING and facts.mean_step_ns:
            evidence.append(Evidence("steps", f"with its recompiles a step took {facts.mean_step_ns / 1e6:.1f} ms on average"))
        steps = facts.step_count
        finding = make(
            facts, "recompile", severity, title, site, [*evidence, *_library(facts, frame)], cause=cause,
            advice=_advice(facts, cause, frame), count_per_step=len(events) / steps if steps else None,
        )  # fmt: skip
        yield Draft(finding, Claim(translation_ns=_per_step(events, steps) if severity == WARNING else None))


def _steps(events: list[Event]) -> int:
    return len({event.step for event in events})


def _goes_on(facts: Facts, events: list[Event]) -> bool:
    return _steps(events) > 1 and not settled((event.step for event in events), facts.last_step)


def _fills(facts: Facts, frame: SourceSite | None, events: list[Event]) -> bool:
    return len(events) > 1 and any(event.frame == frame for event in facts.events("cache-full"))


def _matters(facts: Facts, cause: str, frame: SourceSite | None, events: list[Event]) -> bool:
    if _fills(facts, frame, events) and (facts.is_user(frame) or _steps(events) > 1):
        return True
    if cause in _EXPECTED:
        return False
    return _goes_on(facts, events) or (cause not in _SETTLING and _steps(events) >= MANY)


def _folded(facts: Facts) -> dict[tuple[str, SourceSite | None, SourceSite | None], list[Event]]:
    groups: dict[tuple, list[Event]] = defaultdict(list)
    for event in facts.events("recompile"):
        cause, site = blamed(facts, event)
        groups[cause, site, event.frame].append(event)
    return groups


def blamed(facts: Facts, event: Event) -> tuple[str, SourceSite | None]:
    """Cause and line; a scalar that came out of a break is blamed on the line of the break."""
    cause, site = event.cause or "unknown", event.site or _read_site(facts, event)
    if cause in _SCALARS and event.break_lines:
        source = _value_break(facts, event)
        if source is not None:
            return "value-guard", source
    return cause, site


def _read_site(facts: Facts, event: Event) -> SourceSite | None:
    """Where a guard of a log was read, as far as the source tells, else the function. None in a library."""
    if event.frame is None or not facts.is_user(event.frame):
        return None
    if not facts.is_log:
        return event.frame
    expressions = [guard.expression for guard in event.guards]
    return read_site(facts.program, event.frame, event.break_lines, expressions) or event.frame


def _value_break(facts: Facts, event: Event) -> SourceSite | None:
    """The read or draw that brought a guarded value in: a break of the same function at the line that assigns the value."""
    breaks = [
        other
        for other in facts.events("break")
        if other.frame == event.frame and other.cause in _VALUE_BREAKS and other.site is not None
    ]
    by_line = {site.line: other.site for other in breaks for site in (*other.stack, other.site)}
    by_depth = {len(other.break_lines): other.site for other in breaks if other.site.precision == NEAR}
    if event.site is not None and event.site.line in by_line:
        return by_line[event.site.line]
    names = {name for guard in event.guards if (name := vocabulary.guarded_local(guard.expression))}
    for depth, line in reversed(list(enumerate(event.break_lines))):
        site = by_line.get(line) if line else by_depth.get(depth)  # a log may only tell how many breaks lie before
        if site is None or event.frame is None:
            continue
        file = facts.sources.file(event.frame.path)
        assigned = file.names_assigned_at(site.line) if file else frozenset()
        if not names or names & assigned:
            return site
    return None


def value_guard_sites(facts: Facts) -> set[SourceSite]:
    """Lines whose value is guarded and keeps changing: the recompile finding stands for the break there."""
    return {
        site
        for (cause, site, frame), events in _folded(facts).items()
        if cause == "value-guard" and site is not None and _matters(facts, cause, frame, events)
    }


def _breaks_at(facts: Facts, cause: str, site: SourceSite | None) -> list[Evidence]:
    if cause != "value-guard":
        return []
    return evidence_of(event for event in facts.events("break") if event.site == site)


def _summary(facts: Facts, events: list[Event], goes_on: bool, filled: bool) -> Evidence:
    durations = [event.duration_ns for event in events if event.duration_ns is not None]
    spent = f", {sum(durations) / 1e6:.0f} ms in total" if durations else ""
    when = moments(facts, (event.step for event in events))
    where = f" in {when}" if when else ""
    end = "until the cache was full" if filled else "and goes on" if goes_on else _since(facts, events)
    return Evidence("hooks", f"{plural(len(events), 'recompile')}{where}{spent}, {end}")


def _since(facts: Facts, events: list[Event]) -> str:
    last = max((event.step for event in events if event.step is not None), default=None)
    return "with nothing after it" if last is not None and last >= facts.last_step else "and stays compiled since"


def _per_step(events: list[Event], steps: int) -> float | None:
    durations = [event.duration_ns for event in events]
    if not steps or any(duration is None for duration in durations):
        return None
    return sum(duration for duration in durations if duration is not None) / steps


def _library(facts: Facts, frame: SourceSite | None) -> list[Evidence]:
    return [] if facts.is_user(frame) else [Evidence("hooks", f"{frame.function} is a library's: {frame}")]


def _advice(facts: Facts, cause: str | None, frame: SourceSite | None) -> str:
    return facts.advice(cause) if facts.is_user(frame) else _LIBRARY_ADVICE


def cache_limit(facts: Facts) -> Iterator[Draft]:
    """Functions that SOT no longer compiles because 20 translations are kept."""
    for event in facts.events("cache-full"):
        yield _given_up(facts, event, "cache-limit", "is no longer compiled: its 20 translations are all in use")


def compile_limit(facts: Facts) -> Iterator[Draft]:
    """Functions that SOT no longer translates because of the compile-time limit."""
    for event in facts.events("compile-limit"):
        yield _given_up(facts, event, "compile-limit", "is no longer translated: the compile-time limit is reached")


def _given_up(facts: Facts, event: Event, slug: str, what: str) -> Draft:
    function = event.frame.function if event.frame else "a frame"
    part = rest_of(function, event.break_lines) if event.break_lines else function
    when = moments(facts, [event.step])
    evidence = [*event.evidence, *([Evidence("hooks", f"since {when}")] if when else [])]
    ours = facts.is_user(event.frame)
    at_once = _steps([other for other in facts.events("recompile") if other.frame == event.frame]) <= 1
    finding = make(
        facts,
        slug,
        WARNING if ours or not at_once else INFO,
        f"{part} {what}",
        event.site if ours else None,
        [*evidence, *_library(facts, event.frame)],
        cause=event.cause,
        advice=_advice(facts, event.cause, event.frame),
    )
    lines = facts.own_lines(event.frame) if event.frame else frozenset()
    if event.break_lines:
        lines = frozenset(line for line in lines if line[1] >= event.break_lines[-1])
    return Draft(finding, Claim(lines=lines, rank=FUNCTION_LINES))
