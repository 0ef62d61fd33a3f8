"""Frames that ran eagerly although they were below a to_static call, and the statement that is to blame."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache

from sotprobe.analyze.facts import Facts, Line
from sotprobe.analyze.source import Construct
from sotprobe.model import Event, Evidence, SourceSite
from sotprobe.paddle_compat import causes, vocabulary

SILENT = "silent"
SAID = "said"

# Causes of frames whose caller is to blame.
_BELOW_ANOTHER = frozenset({"hook-off", "called-from-generator", "without-graph", "thread"})
_CONSTRUCT_CAUSES = {"with": "with-block", "try": "try-block", "comprehension": "comprehension"}


@dataclass(frozen=True)
class LostFrame:
    """One function, or the rest of one after a break, that SOT left eager.

    ``how`` is ``silent`` or ``said`` (a FallbackError). ``site`` is the line to blame, ``also`` further lines in the same
    function that would keep it eager. ``below`` are functions that are eager only because this one is.
    """

    frame: SourceSite
    cause: str
    site: SourceSite
    how: str
    events: tuple[Event, ...]
    break_lines: tuple[int, ...] = ()
    also: tuple[SourceSite, ...] = ()
    below: tuple[SourceSite, ...] = field(default=())


@lru_cache(maxsize=1)
def lost_frames(facts: Facts) -> tuple[LostFrame, ...]:
    """All of them, root causes folded: one for each (function, cause, line)."""
    said = _said(facts)
    known = {lost.frame for lost in said}
    silent = [*_silent(facts, known), *_never_entered(facts, known)]
    return tuple(_fold_below(facts, [*said, *silent]))


def _said(facts: Facts) -> list[LostFrame]:
    groups: dict[tuple, list[Event]] = defaultdict(list)
    for event in facts.events("fallback"):
        if event.frame is not None and event.site is not None:
            groups[(event.frame, *_blame(facts, event))].append(event)
    return [
        LostFrame(
            frame=frame,
            cause=cause,
            site=site,
            how=SAID,
            events=tuple(events),
            break_lines=min((event.break_lines for event in events), key=len),
            also=_other_constructs(facts, frame, site) if cause in ("with-block", "no-grad", "try-block") else (),
        )
        for (frame, cause, site), events in groups.items()
    ]


def _blame(facts: Facts, event: Event) -> tuple[str, SourceSite]:
    """Cause and line of a fallback; a with or try opcode names its statement, whose first line is the site."""
    cause, site = event.cause or "unknown", event.site
    if cause in ("with-block", "try-block"):
        construct = _construct_at(facts, site, "with" if cause == "with-block" else "try")
        if construct is not None:
            site = SourceSite(site.path, construct.line, site.function)
            cause = cause_of(facts, site.path, construct)
    return cause, site


def blamed_site(facts: Facts, event: Event) -> SourceSite | None:
    """The line a break or fallback is blamed on: the statement's own line for a with or try."""
    return _blame(facts, event)[1] if event.site is not None else None


def _silent(facts: Facts, said: set[SourceSite]) -> list[LostFrame]:
    groups: dict[tuple[SourceSite, str], list[Event]] = defaultdict(list)
    too_small = _below_too_small(facts)
    for event in facts.events("eager-frame"):
        if event.outcome == "seen" or event.cause == "python-too-new":  # that is told of the whole program
            continue
        if event.cause == "hook-off" and _place(facts, event.frame) in too_small:  # small-graph tells of it
            continue
        if event.frame is not None and event.frame not in said:
            groups[event.frame, event.cause or "unknown"].append(event)
    found = []
    for (frame, cause), events in groups.items():
        site, also = frame, ()
        if cause == "called-from-generator":
            generator = _generator_that_calls(facts, events)
            if generator is not None:
                found.append(LostFrame(generator, "generator", generator, SILENT, tuple(events), below=(frame,)))
                continue
        if cause == "exception-table":
            constructs = _constructs(facts, frame)
            if constructs:
                cause, site, also = _of_constructs(facts, frame, constructs)
        found.append(LostFrame(frame, cause, site, SILENT, tuple(events), also=also))
    return found


def _never_entered(facts: Facts, said: set[SourceSite]) -> Iterable[LostFrame]:
    """Functions of a log that broke the graph while they were inlined, and that SOT was not asked about afterwards.

    Such a function is called on its own at the break: without a line about its frame it ran eagerly.
    """
    groups: dict[SourceSite, list[Event]] = defaultdict(list)
    for event in facts.events("break") if facts.is_log else ():
        frame = _inlined_frame(facts, event)
        if frame is not None and frame not in said:
            groups[frame].append(event)
    for frame, events in groups.items():
        first = events[0]
        cause, site, also = _skipped_for(facts, frame, first)
        if cause is None:
            continue
        text = f"{frame.function} broke the graph while it was inlined at {first.stack[0]}, and never began as a frame"
        told = [*events, replace(first, evidence=tuple(replace(item, text=text) for item in first.evidence[:1]))]
        yield LostFrame(frame, cause, site, SILENT, tuple(told), also=also)


def _inlined_frame(facts: Facts, event: Event) -> SourceSite | None:
    """The definition of the function that a frame had inlined where it broke, when that was never a frame itself."""
    run = facts.static
    called = next((site for site in event.stack[1:] if facts.is_user(site)), None)
    if run is None or called is None or event.frame is None:
        return None
    inlined = {site for sites in run.coverage.values() for site in sites}
    above = [s for s in inlined if (s.path, s.function) == (called.path, called.function) and s.line <= called.line]
    frame = max(above, key=lambda site: site.line, default=None)
    if frame is None or any(site == frame for site, _ in run.entries):
        return None
    # The call after the one that was translated proves that the break was passed.
    calls = run.entries.get((event.frame, event.break_lines), 0.0) * facts.step_count
    passed = calls > 1.5 or any(
        key[0] == event.frame and key[1][: len(event.break_lines) + 1] != event.break_lines for key in run.entries if key[1]
    )
    return frame if passed else None


def _skipped_for(facts: Facts, frame: SourceSite, event: Event) -> tuple[str | None, SourceSite, tuple[SourceSite, ...]]:
    """Why a function never began as a frame, as far as the source tells: cause, line to blame, others of the kind."""
    file = facts.sources.file(frame.path)
    if file is None:
        return "unknown", frame, ()
    if causes.cause("exception-table").versions.hold(facts.paddle, facts.python):
        constructs = _constructs(facts, frame)
        if constructs:
            return _of_constructs(facts, frame, constructs)
    function = file.function_at(frame.line)
    if function is not None and file.is_generator(function):
        return "generator", frame, ()
    # Marked code: ten breaks without a graph do it on these Pythons.
    poisoned = any(
        note.versions.python_since and note.versions.hold(facts.paddle, facts.python)
        for note in causes.cause("without-graph").notes
    )
    return ("without-graph" if poisoned else None), frame, ()


def _of_constructs(
    facts: Facts, frame: SourceSite, constructs: list[Construct]
) -> tuple[str, SourceSite, tuple[SourceSite, ...]]:
    first = next((c for c in constructs if cause_of(facts, frame.path, c) == "no-grad"), constructs[0])
    site = SourceSite(frame.path, first.line, frame.function)
    return cause_of(facts, frame.path, first), site, _other_constructs(facts, frame, site)


def _below_too_small(facts: Facts) -> set[tuple | None]:
    """Functions whose subgraph was too small, and those that only they call.

    SOT simulated them in one piece, so what they call was seen and is in the count of operators; then the frame runs with the
    hook off.
    """
    small = {_place(facts, event.frame) for event in facts.events("translate") if event.outcome == "too-small"}
    hidden = [event for event in facts.events("eager-frame") if event.cause == "hook-off" and event.site is not None]
    while True:
        more = {_place(facts, event.frame) for event in hidden if _place(facts, event.site) in small} - small
        if not more:
            return small
        small |= more


def _place(facts: Facts, site: SourceSite | None) -> tuple[str, str, int | None] | None:
    """The function that a site is in, with its definition where it is known: two classes may both have a ``forward``."""
    if site is None:
        return None
    function = facts.sources.function(site.path, site.line)
    return (site.path, site.function, function.defined if function is not None and function.name == site.function else None)


def _generator_that_calls(facts: Facts, events: list[Event]) -> SourceSite | None:
    """The generator that the frames were called from: it began before the to_static call, so it was not seen to start."""
    for event in events:
        file = facts.sources.file(event.site.path) if event.site else None
        function = file.function_at(event.site.line) if file and event.site else None
        if file and function and event.site and file.is_generator(function):
            return SourceSite(event.site.path, function.defined, function.name)
    return None


def _constructs(facts: Facts, frame: SourceSite) -> list[Construct]:
    """What makes the exception table; comprehensions do so from Python 3.12 only (PEP 709)."""
    file = facts.sources.file(frame.path)
    function = file.function_at(frame.line) if file else None
    if file is None or function is None:
        return []
    inlined = causes.cause("comprehension").versions.hold(facts.paddle, facts.python)
    return [construct for construct in file.constructs(function) if construct.kind != "comprehension" or inlined]


def _construct_at(facts: Facts, site: SourceSite, kind: str) -> Construct | None:
    """The innermost construct of a kind that begins on or holds a line."""
    holding = [c for c in _constructs(facts, site) if c.kind == kind and site.line in c.span]
    return max(holding, key=lambda construct: construct.line, default=None)


def cause_of(facts: Facts, path: str, construct: Construct) -> str:
    """Why a statement keeps its function eager."""
    line = facts.sources.line(path, construct.line) or ""
    if construct.kind == "with" and vocabulary.is_no_grad(line):
        return "no-grad"
    return _CONSTRUCT_CAUSES[construct.kind]


def _other_constructs(facts: Facts, frame: SourceSite, site: SourceSite) -> tuple[SourceSite, ...]:
    return tuple(
        SourceSite(frame.path, construct.line, frame.function)
        for construct in _constructs(facts, frame)
        if construct.line != site.line
    )


def _fold_below(facts: Facts, found: list[LostFrame]) -> list[LostFrame]:
    """A frame whose caller is lost too is that caller's damage, not a cause of its own."""
    by_place = {_place(facts, lost.frame): lost for lost in found}
    kept: list[LostFrame] = []
    below: dict[LostFrame, list[SourceSite]] = defaultdict(list)
    for lost in found:
        root = _root_of(facts, lost, by_place)
        if root is lost:
            kept.append(lost)
        else:
            below[root].append(lost.frame)
    return [replace(lost, below=(*lost.below, *below[lost])) for lost in kept]


def _root_of(facts: Facts, lost: LostFrame, by_place: dict[tuple | None, LostFrame]) -> LostFrame:
    visited = set()
    while _is_damage(facts, lost) and lost.frame not in visited:
        visited.add(lost.frame)
        callers = [_place(facts, site) for event in lost.events for site in _callers(event)]
        parent = next((by_place[caller] for caller in callers if by_place.get(caller, lost) is not lost), None)
        parent = parent or (_written_around(facts, lost, by_place.values()) if facts.is_log else None)
        if parent is None:
            break
        lost = parent
    return lost


def _written_around(facts: Facts, lost: LostFrame, others: Iterable[LostFrame]) -> LostFrame | None:
    """The lost function that a comprehension or lambda is written in, where a log does not tell who called it."""
    function = facts.sources.function(lost.frame.path, lost.frame.line)
    above = [
        other
        for other in others
        if other.frame.path == lost.frame.path
        and other.frame.line <= lost.frame.line
        and not other.frame.function.startswith("<")
        and (function is None or other.frame.function == function.name)
    ]
    return max(above, key=lambda other: other.frame.line, default=None)


def _is_damage(facts: Facts, lost: LostFrame) -> bool:
    """Whether a lost frame is to be blamed on a lost caller: a comprehension, the generator of a context manager that runs no
    operators, and what runs where the hook is off."""
    if lost.cause == "generator":
        return not facts.operators_at(lines_of(facts, lost))
    return lost.cause in _BELOW_ANOTHER or lost.frame.function.startswith("<")


def _callers(event: Event) -> Iterable[SourceSite]:
    """Innermost first; an eager frame's site is the line it was called from."""
    if event.kind == "eager-frame":
        return [event.site] if event.site is not None else []
    return reversed(event.stack)


def lines_of(facts: Facts, lost: LostFrame) -> frozenset[Line]:
    """The lines that are eager because of it: of the function (or the rest of it) and of what is eager below it."""
    own = facts.own_lines(lost.frame)
    if lost.break_lines:
        own = frozenset(line for line in own if line[1] >= lost.break_lines[-1])
    return own.union(*(facts.own_lines(site) for site in lost.below))


def has_work(facts: Facts, lost: LostFrame) -> bool:
    """Whether these lines ran operators (or it is unknown): a frame without any loses nothing itself."""
    lines = lines_of(facts, lost)
    operators = facts.operators_at(lines)
    return operators is None or operators > 0 or not lines


def notes(lost: LostFrame) -> Iterable[Evidence]:
    """What else there is to say about a lost frame."""
    if lost.also:
        lines = ", ".join(str(site.line) for site in lost.also)
        yield Evidence("source", f"{lost.frame.function} has more of the kind at line {lines}: each one keeps it eager")
    if lost.below:
        names = ", ".join(f"{site.function} ({site})" for site in lost.below[:5])
        yield Evidence("hooks", f"eager because of it: {names}")
