"""Break reasons that SOT's collector gives, and the breaks that a log shows without a reason.

Below level 3 a log shows a break only as the resume function behind it. The collector has the reasons, but no places: a reason
that came out of an inlined function names that function, the others are of whatever function broke. Branches on a tensor have
no reason at all, and one break may have several, one for each function it came up through.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sotprobe.model import Event, Evidence, SourceSite
from sotprobe.model.site import FUNCTION
from sotprobe.paddle_compat import vocabulary
from sotprobe.paddle_compat.log_lines import collector
from sotprobe.paddle_compat.log_lines.sot import INLINED_BRANCH
from sotprobe.readers.parts import Parts

READER = "sotinfo"
_MOST_SAID = 4


@dataclass(frozen=True)
class Reason:
    """As the collector gives it: the name of its class, its message, the line of its table."""

    name: str
    message: str
    line: int


@dataclass(frozen=True)
class Resumed:
    """A code object of the collector's table of translations; ``depth`` is how many breaks lie before it."""

    name: str
    site: SourceSite
    depth: int
    translations: int
    line: int

    def as_break(self, file: str, reader: str) -> Event:
        """The break that this resume function lies behind."""
        text = f"break {self.depth} of {self.site.function}: {self.name} was translated"
        return unexplained(self.site, self.line, Evidence(reader, text, file, self.line))


def unexplained(site: SourceSite, order: int, evidence: Evidence) -> Event:
    """A break of which the log shows no more than that the function goes on in a resume function."""
    return Event(
        kind="break",
        order=order,
        step=None,
        site=replace(site, precision=FUNCTION),
        frame=site,
        message=f"{site.function} goes on in a resume function",
        evidence=(evidence,),
    )


@dataclass
class _Root:
    """Reasons that say the same: how often, how often a caller was told, and the functions that they came out of."""

    name: str
    message: str
    line: int
    count: int = 0
    passed: int = 0
    inside: set[SourceSite] = field(default_factory=set)

    @property
    def cause(self) -> str:
        how = "if" if INLINED_BRANCH in self.message else "call"
        return vocabulary.classify_break(self.name, self.message, None, how, None)


def explain(parts: Parts, reasons: Sequence[Reason], file: str) -> None:
    """Give the breaks without a reason their causes. What may be of several functions becomes a break without a place."""
    waiting = _waiting(parts.events)
    if parts.counts["frames_entered"] and not waiting:  # nothing broke, or level 3 tells it all
        return
    said = {event.message for event in parts.events if event.kind in ("break", "fallback")}
    roots = _roots(reasons)
    roots = [root for root in roots if root.message not in said] or roots
    explained, unplaced = _by_function(roots, waiting)
    gone = {id(event) for events in waiting.values() for event in events}
    parts.events[:] = [event for event in parts.events if id(event) not in gone]
    for site, events in waiting.items():
        found = explained.get(site)
        parts.events.extend(_with_causes(events, found, file) if found else _of_these(events, unplaced, file))
    parts.events.extend(_without_place(root, file) for root in unplaced)


def _by_function(
    roots: Sequence[_Root], waiting: Mapping[SourceSite, Sequence[Event]]
) -> tuple[dict[SourceSite, list[_Root]], list[_Root]]:
    """The reasons of each function that broke, and those of which it cannot be told."""
    explained: dict[SourceSite, list[_Root]] = defaultdict(list)
    left = []
    for root in roots:
        inside = sorted(root.inside & waiting.keys())
        for site in inside:
            explained[site].append(root)
        own = root.passed + sum(len(waiting[site]) for site in inside) if inside else 0
        if root.count > own:  # the same reason in another function
            left.append(replace(root, count=root.count - own))
        if inside and root.passed:  # what called it broke, too
            left.append(replace(root, count=root.passed))
    open_sites = [site for site in waiting if site not in explained]
    one_cause = len({root.cause for root in left}) == 1
    enough = sum(root.count for root in left) >= sum(len(waiting[site]) for site in open_sites)
    if len(open_sites) == 1 or (one_cause and enough):
        for site in open_sites:
            explained[site].extend(_unique(left))
    if open_sites and all(site in explained for site in open_sites):
        left = []
    return explained, _unique(root for root in left if open_sites or root.message not in _messages(explained))


def _messages(explained: Mapping[SourceSite, Sequence[_Root]]) -> set[str]:
    return {root.message for roots in explained.values() for root in roots}


def _unique(roots: Iterable[_Root]) -> list[_Root]:
    found: dict[str, _Root] = {}
    for root in roots:
        known = found.get(root.message)
        found[root.message] = root if known is None else replace(known, count=known.count + root.count)
    return list(found.values())


def _roots(reasons: Sequence[Reason]) -> list[_Root]:
    """Equal ones are one. What a caller was told is the callee's reason again: it only adds the place."""
    roots: dict[str, _Root] = {}
    for reason in reasons:
        message = collector.root(reason.message)
        functions = collector.inlined(reason.message)
        root = roots.setdefault(message, _Root(reason.name, message, reason.line))
        if functions:
            innermost = functions[-1]
            root.passed += 1
            root.inside.add(SourceSite(innermost.path, innermost.line, innermost.name, FUNCTION))
        else:
            root.name = reason.name
            root.count += 1
    return list(roots.values())


def _waiting(events: Sequence[Event]) -> dict[SourceSite, list[Event]]:
    """Breaks without a cause, by the function that broke."""
    found: dict[SourceSite, list[Event]] = defaultdict(list)
    for event in events:
        if event.kind == "break" and event.cause is None and event.site is not None and event.site.precision == FUNCTION:
            found[event.site].append(event)
    return dict(found)


def _with_causes(events: Sequence[Event], roots: Sequence[_Root], file: str) -> list[Event]:
    """The breaks of one function with the reasons they had. Which break had which is not known, but how many had none is."""
    explained = sum(max(root.count, 1) for root in roots)
    shown = _shown(events[:explained], len(roots))
    found, causes = [], set()
    for root in roots:
        said = Evidence(READER, vocabulary.describe(root.name, root.message), file, root.line)
        evidence = (said,) if root.cause in causes else (said, *shown)  # once for each finding
        causes.add(root.cause)
        found.append(replace(events[0], cause=root.cause, message=root.message, evidence=evidence))
    return [*found, *events[explained:]]


def _shown(events: Sequence[Event], reasons: int) -> tuple[Evidence, ...]:
    """What the log shows of the breaks of one function; of several with several reasons that they are there."""
    lines = tuple(evidence for event in events for evidence in event.evidence)
    if reasons == 1 or len(lines) < 2 or events[0].site is None:
        return lines
    numbers = ", ".join(str(evidence.line) for evidence in lines)
    text = f"{len(lines)} breaks in {events[0].site.function} (log lines {numbers}); which of them had which reason is not told"
    return (replace(lines[0], text=text),)


def _of_these(events: Sequence[Event], roots: Sequence[_Root], file: str) -> list[Event]:
    """Breaks of one of several reasons."""
    if not roots:
        return list(events)
    said = "; ".join(vocabulary.describe(None, root.message) for root in roots[:_MOST_SAID])
    evidence = Evidence(READER, f"its reason may be one of these, which are told without a place: {said}", file, roots[0].line)
    return [replace(event, evidence=(*event.evidence, evidence)) for event in events]


def _without_place(root: _Root, file: str) -> Event:
    return Event(
        kind="break",
        order=root.line,
        step=None,
        site=None,
        cause=root.cause,
        message=root.message,
        evidence=(Evidence(READER, vocabulary.describe(root.name, root.message), file, root.line),),
    )
