"""``graph-break`` and ``host-sync``: lines where capture stops and goes on behind.

A break caused by reading or printing a tensor's value is ``host-sync`` and not a graph break as well; so are formatting and
logging, which take the whole frame down. A value that is read and then guarded is a ``recompile`` with cause ``value-guard`` at
the same line: that finding is the costlier one, and the break becomes its evidence.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache

from sotprobe.analyze import lost as lost_of
from sotprobe.analyze.facts import Facts
from sotprobe.analyze.rules.base import BREAK_LINES, INFO, WARNING, Claim, Draft, evidence_of, make, title_of
from sotprobe.analyze.rules.lost_frames import HOST_SYNC_FRAMES, lost_claim, lost_count
from sotprobe.analyze.rules.recompiles import value_guard_sites
from sotprobe.model import Event, Evidence, SourceSite
from sotprobe.model.run import FrameKey
from sotprobe.model.site import FUNCTION
from sotprobe.paddle_compat import causes

_UNEXPLAINED_ADVICE = "Log a few steps with SOT_LOG_LEVEL=3: it names the line and the reason."


def graph_break(facts: Facts) -> Iterator[Draft]:
    """Breaks that are no reads on the host."""
    for cause, site, events in folded_breaks(facts):
        if facts.is_log and cause == "unknown" and site is not None and site.precision == FUNCTION:
            title = f"the graph breaks in {site.function}: the log does not tell where and why"
            yield break_draft(facts, "graph-break", title, cause, site, events, advice=_UNEXPLAINED_ADVICE)
        elif not causes.cause(cause).host_read and cause != "no-grad":
            yield break_draft(facts, "graph-break", f"graph break: {title_of(cause)}", cause, site, events)


def host_sync(facts: Facts) -> Iterator[Draft]:
    """Breaks at reads on the host, and frames lost to formatting and logging."""
    for cause, site, events in folded_breaks(facts):
        if causes.cause(cause).host_read:
            title = f"{title_of(cause)} splits the graph"
            yield break_draft(facts, "host-sync", title, cause, site, events)
    for lost in lost_of.lost_frames(facts):
        if lost.cause in HOST_SYNC_FRAMES:
            title = f"{title_of(lost.cause)} makes {lost.frame.function} run eagerly"
            evidence = [*evidence_of(lost.events), *lost_of.notes(lost)]
            count = lost_count(facts, lost)
            finding = make(facts, "host-sync", WARNING, title, lost.site, evidence, cause=lost.cause, count_per_step=count)
            yield Draft(finding, lost_claim(facts, lost))


def folded_breaks(facts: Facts) -> list[tuple[str, SourceSite | None, list[Event]]]:
    """Breaks by cause and line; a log may know reasons of breaks and not their places. Those that a lost frame or a value guard
    at the same line stands for are left out."""
    covered = {lost.site for lost in lost_of.lost_frames(facts)} | value_guard_sites(facts)
    groups: dict[tuple[str, SourceSite | None], list[Event]] = defaultdict(list)
    for event in facts.events("break"):
        if event.site is None or lost_of.blamed_site(facts, event) not in covered:
            groups[event.cause or "unknown", event.site].append(event)
    return [(cause, site, events) for (cause, site), events in groups.items()]


def break_draft(
    facts: Facts, slug: str, title: str, cause: str, site: SourceSite | None, events: list[Event], *, advice: str | None = None
) -> Draft:
    """A finding about a break; one that steady steps no longer reach is info."""
    frames = frozenset(key for event in events for key in resumed_frames(facts, event))
    count = _count(facts, frames)
    gone = count == 0.0
    evidence = evidence_of(events)
    if gone:
        evidence.append(Evidence("hooks", "not reached in steady steps"))
    elif guard_text := _guard_text(facts, frames):
        evidence.append(Evidence("hooks", guard_text))
    severity = INFO if gone else WARNING
    finding = make(facts, slug, severity, title, site, evidence, cause=cause, advice=advice, count_per_step=count)
    if facts.is_inferred(cause, site):
        finding = replace(finding, suspected=True)
    lines = frozenset({(site.path, site.line)} if site is not None else ())
    return Draft(finding, Claim(lines=lines, rank=BREAK_LINES, guard_frames=frames))


def resumed_frames(facts: Facts, event: Event) -> list[FrameKey]:
    """The resume functions that breaks at a line go on in: known by the frame and the last line of their chain.

    A line that breaks ten times has ten of them, one inside the other, and one event.
    """
    if facts.static is None or event.frame is None:
        return []
    lines = facts.own_lines(event.frame)
    own = [
        site.line
        for site in (*event.stack, event.site)
        if site and site.function == event.frame.function and (not lines or (site.path, site.line) in lines)
    ]
    # The stack is outermost first and the user's real frames come before the simulated ones, so the last is where it broke.
    behind = _resumed_after(facts).get((event.frame, own[-1]), []) if own else []
    if behind or not facts.is_log:
        return behind
    # Below level 3 a log tells how many breaks lie before a rest, and not where.
    rests = [key for key in facts.static.entries if key[0] == event.frame and key[1]]
    return [key for key in rests if not any(key[1]) and len(key[1]) == len(event.break_lines) + 1]


@lru_cache(maxsize=1)
def _resumed_after(facts: Facts) -> Mapping[tuple[SourceSite, int], list[FrameKey]]:
    """Resume functions by their frame and the line that the last break of their chain is at."""
    found: dict[tuple[SourceSite, int], list[FrameKey]] = defaultdict(list)
    for frame, chain in facts.static.entries if facts.static else ():
        if chain:
            found[frame, chain[-1]].append((frame, chain))
    return found


def _count(facts: Facts, frames: frozenset[FrameKey]) -> float | None:
    """How often the break happens per steady step: as often as what comes after it is entered."""
    if not frames:
        return None
    return sum(facts.entries(frame) or 0.0 for frame in frames)


def _guard_text(facts: Facts, frames: frozenset[FrameKey]) -> str | None:
    spent = sum(facts.static.guard_ns.get(frame, 0.0) for frame in frames) if facts.static else 0.0
    if not spent:
        return None
    return f"checking the guards of what comes after it takes {spent * facts.to_timed / 1e6:.3f} ms a step"
