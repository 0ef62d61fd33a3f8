"""Dynamic regions: code below to_static calls that runs eagerly, by function, line and why, with what it costs a step."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from sotprobe.analyze import lost as lost_of
from sotprobe.analyze.compare import NS_PER_MS
from sotprobe.analyze.facts import Facts, Line
from sotprobe.analyze.graph_places import UNKNOWN_LINE, Names, Place, Places, Scope, extent, place, place_of_event
from sotprobe.analyze.lost import SILENT, LostFrame
from sotprobe.analyze.rules.lost_frames import lost_count, reported
from sotprobe.model import Event, GraphNode, LineTotal, SourceSite
from sotprobe.model.graph import BREAK, CACHE_FULL, COMPILE_LIMIT, DYNAMIC_REGION, FALLBACK, NOT_CAPTURED
from sotprobe.model.run import FrameKey
from sotprobe.model.site import FUNCTION

# Who owns a line that several regions claim: the most specific first.
_BREAK_LINES, _STATEMENT_LINES, _FUNCTION_LINES = range(3)
_MOST_CALLERS = 20


@dataclass
class Region:
    """A dynamic region in the making. ``places`` are those that run as this region, ``lines`` what it claims.

    ``since`` is the first step that it was seen in.
    """

    node: GraphNode
    rank: int
    lines: frozenset[Line]
    places: list[Place] = field(default_factory=list)
    since: int | None = None
    operators: float = 0.0
    wall_ns: float = 0.0


class Regions:
    """All dynamic regions of a run, dropped subgraphs among them."""

    def __init__(self, facts: Facts, within: Scope, names: Names, places: Places):
        self._facts = facts
        self._scope = within
        self._names = names
        self._all: dict[str, Region] = {}
        self._owners: dict[Line, Region] = {}
        self.by_place: dict[Place, list[Region]] = defaultdict(list)
        self._by_function: dict[SourceSite, Region] = {}
        self._breaks: dict[SourceSite, Region] = {}
        self._called_from = self._calls(facts.events("eager-frame"))
        for lost in reported(facts):
            self._add_lost(lost)
        captured = {names.key(here.frame) for here in places.kept}
        for lost in lost_of.lost_frames(facts):  # was captured, and SOT forgot it
            if lost.cause == "without-graph" and names.key(lost.frame) in captured:
                self._add_lost(lost)
        for event in facts.events("break"):
            self._add_break(event)
        for here, event in places.full.items():
            self._add_full(here, event, places)
        for here, node in places.dropped_nodes().items():
            self._add_dropped(here, node, places)
        self._give_lines()

    def nodes(self) -> Iterator[GraphNode]:
        """With operators and milliseconds per step, where lines were measured."""
        run = self._facts.static
        measured = run is not None and run.lines is not None and self._scope.measured(run)
        for region in self._all.values():
            node = replace(region.node, spans=spans(region.lines))
            if not measured or (region.since is not None and region.since >= self._measured_until):
                yield node
                continue
            ops = node.ops if node.kind != DYNAMIC_REGION else region.operators
            yield replace(node, ops=ops, ms_per_step=region.wall_ns / NS_PER_MS)

    def _calls(self, events: Iterable[Event]) -> Mapping[SourceSite, SourceSite]:
        """Eager functions and the line that called them first."""
        found: dict[SourceSite, SourceSite] = {}
        for event in events:
            if event.frame is not None and event.site is not None:
                found.setdefault(self._names.key(event.frame), event.site)
        return found

    @cached_property
    def _measured_until(self) -> float:
        counts = self._facts.static.counts if self._facts.static else {}
        return counts.get("lines.from", 0) + counts.get("lines.steps", 0)

    def break_at(self, site: SourceSite | None) -> Region | None:
        """The region of the breaks at a line: that of the lost function, when it is in one."""
        if site is None:
            return None
        return self.lost_at(site) or self._breaks.get(site)

    def lost_at(self, site: SourceSite) -> Region | None:
        """The region of the lost function around a line."""
        return self._by_function.get(self._names.key(site))

    def unknown_break(self, here: Place, line: int) -> Region:
        """A break that nothing tells of but the code behind it (a log below level 3)."""
        site = SourceSite(here.frame.path, line or here.frame.line, here.frame.function, here.frame.precision)
        known = self._breaks.get(site)
        if known is not None:
            return known
        base = self._names.base(here.frame) if line == UNKNOWN_LINE else self._function_of(site)
        return self._break_region(site, f"{base}!{BREAK}:{line or '?'}", None, None)

    def own_line(self, event: Event) -> SourceSite | None:
        """Where a frame broke: its own line, while the event's site may be that of a function it called."""
        frame = event.frame
        if frame is None:
            return None
        for site in (event.site, *reversed(event.stack)):
            if site is not None and self._names.same_function(site, frame):
                return site
        return None

    def owner(self, line: Line) -> Region | None:
        """The region that a line runs in."""
        return self._owners.get(line)

    @cached_property
    def lost(self) -> list[Region]:
        """Functions that nobody captured."""
        return [region for region in self._all.values() if region.node.why == NOT_CAPTURED]

    def called_from(self, site: SourceSite) -> SourceSite | None:
        """The line that the eager function around a line was called from."""
        return self._called_from.get(self._names.key(site))

    # What there is

    def _add(self, region: Region) -> Region:
        known = self._all.setdefault(region.node.id, region)
        for here in region.places:
            self.by_place[here].append(known)
        return known

    def _add_lost(self, lost: LostFrame) -> None:
        if not any(self._scope.shows(event.step) for event in lost.events):
            return
        here = place(lost.frame, lost.break_lines)
        why = NOT_CAPTURED if lost.how == SILENT else FALLBACK
        site = self._own_site(lost)
        node = GraphNode(
            id=f"{self._names.of(here)}!{why}:{site.line}",
            kind=DYNAMIC_REGION,
            name=self._names.function(lost.frame),
            state=DYNAMIC_REGION,
            site=site,
            frame=lost.frame,
            chain=lost.break_lines,
            runs_per_step=lost_count(self._facts, lost) if self._scope.step is None else None,
            why=why,
            cause=lost.cause,
        )
        places = list(dict.fromkeys(filter(None, (place_of_event(event) for event in lost.events))))
        since = min((event.step for event in lost.events if event.step is not None), default=None)
        region = self._add(Region(node, _FUNCTION_LINES, lost_of.lines_of(self._facts, lost), places, since))
        for site in (lost.frame, *lost.below) if not lost.break_lines else ():
            self._by_function.setdefault(self._names.key(site), region)

    def _own_site(self, lost: LostFrame) -> SourceSite:
        """The line to blame, or the one that led to it where that is in a function called from there."""
        if self._names.same_function(lost.site, lost.frame):
            return lost.site
        own = (self.own_line(event) for event in lost.events if event.kind == "fallback")
        return next((site for site in own if site is not None), lost.frame)

    def _add_break(self, event: Event) -> None:
        site = event.site
        if site is None or not self._scope.shows(event.step) or self.lost_at(site) is not None:
            return
        region = self._breaks.get(site)
        if region is None:
            line = "?" if site.precision == FUNCTION else site.line
            own_id = f"{self._function_of(site)}!{BREAK}:{line}"
            region = self._break_region(site, own_id, event.cause, self._reached(event))
        own = self.own_line(event)
        if own is not None:
            region.lines |= {(own.path, own.line)}

    def _break_region(self, site: SourceSite, own_id: str, cause: str | None, reached: float | None) -> Region:
        node = GraphNode(
            id=own_id,
            kind=DYNAMIC_REGION,
            name=self._names.function(site),
            state=DYNAMIC_REGION,
            site=site,
            frame=self._names.frame(site),
            runs_per_step=reached,
            why=BREAK,
            cause=cause,
        )
        region = self._breaks[site] = self._add(Region(node, _BREAK_LINES, frozenset({(site.path, site.line)})))
        return region

    def _function_of(self, site: SourceSite) -> str:
        return f"{site.path}:{self._names.function(site)}"

    def _reached(self, event: Event) -> float | None:
        """How often a step comes through: as often as what is behind is entered."""
        if self._scope.step is not None:
            return None
        frames: set[FrameKey] = set()
        for other in self._breaks_at.get(event.site, ()):
            own = self.own_line(other)
            if own is not None:
                frames.update(self._behind.get((other.frame, own.line), ()))
        if not frames:
            return None
        return sum(self._facts.entries(frame) or 0.0 for frame in frames)

    @cached_property
    def _breaks_at(self) -> Mapping[SourceSite | None, list[Event]]:
        found: dict[SourceSite | None, list[Event]] = defaultdict(list)
        for event in self._facts.events("break"):
            found[event.site].append(event)
        return found

    @cached_property
    def _behind(self) -> Mapping[tuple[SourceSite | None, int], list[FrameKey]]:
        """What was entered behind a break of a frame at a line, however many breaks came before."""
        found: dict[tuple[SourceSite | None, int], list[FrameKey]] = defaultdict(list)
        for key in self._facts.static.entries if self._facts.static else ():
            if key[1]:
                found[key[0], key[1][-1]].append(key)
        return found

    def _add_full(self, here: Place, event: Event, places: Places) -> None:
        why = CACHE_FULL if event.kind == "cache-full" else COMPILE_LIMIT
        line = here.lines[-1] if here.lines else 0
        lines = self._facts.own_lines(here.frame)
        node = GraphNode(
            id=f"{self._names.of(here)}!{why}",
            kind=DYNAMIC_REGION,
            name=self._names.function(here.frame),
            state=DYNAMIC_REGION,
            site=SourceSite(here.frame.path, line or here.frame.line, here.frame.function, here.frame.precision),
            frame=here.frame,
            chain=here.lines,
            sides=here.sides,
            runs_per_step=self._skipped(here, places),
            why=why,
            cause=event.cause,
        )
        behind = frozenset(known for known in lines if known[1] >= line)
        self._add(Region(node, _FUNCTION_LINES, behind, [here], event.step))

    def _skipped(self, here: Place, places: Places) -> float | None:
        """How often a step comes to a place and finds nothing compiled."""
        entered = self._facts.entries((here.frame, here.lines)) if self._scope.step is None else None
        ran = self._scope.per_step(run for graph in places.kept.get(here, ()) for run in graph.runs)
        return None if entered is None or ran is None else max(0.0, entered - ran)

    def _add_dropped(self, here: Place, node: GraphNode, places: Places) -> None:
        sites = [statement.site for graph in places.dropped[here] for statement in graph.statements]
        lines = frozenset((site.path, site.line) for site in sites if site is not None)
        first, last = extent(places.dropped[here][-1], here.frame)
        self._add(Region(replace(node, site=first, last_line=last), _STATEMENT_LINES, lines, [here]))

    # Whose lines are whose

    def _give_lines(self) -> None:
        for region in sorted(self._all.values(), key=lambda region: region.rank):
            for line in region.lines:
                self._owners.setdefault(line, region)
        for line, total in (self._facts.static_lines or {}).items():
            owner = self._owners.get(line) or self._around(total)
            if owner is not None:
                self._owners.setdefault(line, owner)
                owner.operators += sum(count for count, _ in total.operators.values())
                owner.wall_ns += total.wall_ns

    def _around(self, total: LineTotal) -> Region | None:
        """Who has a line that no region claims, when it runs operators: what called its function, or the last break above."""
        if not total.operators:
            return None
        site = total.site
        for _ in range(_MOST_CALLERS):
            caller = self.called_from(site)
            if caller is None:
                break
            owner = self._owners.get((caller.path, caller.line))
            if owner is not None:
                return owner
            site = caller
        own = self._facts.own_lines(total.site)
        above = [line for line in own if line in self._owners and line[1] <= total.site.line]
        return self._owners[max(above)] if above else None


def spans(lines: Iterable[Line]) -> tuple[tuple[str, int, int], ...]:
    """Lines as (path, first, last), in order."""
    found: list[tuple[str, int, int]] = []
    for path, line in sorted(lines):
        if found and found[-1][0] == path and found[-1][2] == line - 1:
            found[-1] = (path, found[-1][1], line)
        else:
            found.append((path, line, line))
    return tuple(found)
