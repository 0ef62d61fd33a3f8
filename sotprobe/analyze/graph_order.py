"""What runs after what: control edges between subgraphs and dynamic regions, from the breaks that lead from one to the next.

A place with a subgraph breaks at a line; what runs there is a dynamic region, or functions that SOT captured on their own;
then comes the place behind that line. A place that holds no subgraph is passed through.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from sotprobe.analyze.facts import Facts
from sotprobe.analyze.graph_places import Names, Place, place, place_of_event
from sotprobe.analyze.graph_regions import Region, Regions
from sotprobe.model import Event, GraphNode, SourceSite
from sotprobe.model.graph import CACHE_FULL, COMPILE_LIMIT, FALLBACK, NOT_CAPTURED

Ids = tuple[str, ...]

AFTER_LOOP = "after"  # the side of a broken loop that runs last

# Regions that run a function, or what is left of it, to its end.
_TO_THE_END = frozenset({FALLBACK, NOT_CAPTURED, CACHE_FULL, COMPILE_LIMIT})


@dataclass(frozen=True)
class _Via:
    """What lies between a place and those behind it: a region, or functions captured on their own."""

    region: Region | None = None
    functions: tuple[SourceSite, ...] = ()


class Order:
    """The control edges of a run. ``subgraphs`` are the nodes by place."""

    def __init__(self, facts: Facts, names: Names, subgraphs: Mapping[Place, GraphNode], regions: Regions):
        self._facts = facts
        self._names = names
        self._subgraphs = subgraphs
        self._regions = regions
        self._places = self._all_places()
        self._children: dict[Place, dict[int, list[Place]]] = defaultdict(lambda: defaultdict(list))
        for here in self._places:
            if here.parent is not None:
                self._children[here.parent][here.lines[-1]].append(here)
        for behind in self._children.values():
            for places in behind.values():
                places.sort(key=lambda here: here.sides[-1] == AFTER_LOOP)
        self._functions: dict[SourceSite, list[SourceSite]] = defaultdict(list)
        for here in self._places:
            if not here.lines:
                self._functions[names.key(here.frame)].append(here.frame)
        self._breaks = _by_place(facts.events("break"))
        self._via_memo: dict[Place, list[tuple[int, _Via]]] = {}
        self._entered: dict[SourceSite, Ids] = {}
        self._left: dict[SourceSite, Ids] = {}
        self.returns: dict[str, str] = {}  # last nodes of functions that a region calls: what they give goes there

    def _all_places(self) -> dict[Place, None]:
        """Every place that is known, and those that lead to it, in the order they were met."""
        found: dict[Place, None] = {}
        known = [*self._subgraphs, *self._regions.by_place]
        events = [event for kind in ("translate", "break") for event in self._facts.events(kind)]
        known += filter(None, (place_of_event(event) for event in events))
        chains = {(here.frame, here.lines) for here in known}
        if self._facts.static is not None:
            known += [place(*key) for key in self._facts.static.entries if key not in chains]
        for here in known:
            leading = []
            step: Place | None = here
            while step is not None and step not in found:
                leading.append(step)
                step = step.parent
            found.update(dict.fromkeys(reversed(leading)))
        return found

    def edges(self) -> list[tuple[str, str]]:
        """Pairs of node ids in program order, each once."""
        found: dict[tuple[str, str], None] = {}
        routed: set[tuple[SourceSite, SourceSite]] = set()
        for here in self._places:
            own = self._going_on(here)
            for line, via in self._vias(here):
                caller = SourceSite(here.frame.path, line, here.frame.function)
                routed.update((caller, frame) for frame in via.functions)
                into, out = self._through(via)
                behind = self._children.get(here, {}).get(line, ())
                following = tuple(node for child in behind for node in self._enter(child))
                _join(found, own, into or following)
                _join(found, out, following)
        for source, target in self._into_lost():
            _join(found, source, target)
        for frame, callers in self._called_by.items():
            for caller in callers:
                region = self._regions.owner((caller.path, caller.line))
                if region is not None and (caller, frame) not in routed:
                    _join(found, (region.node.id,), self._enter_function(frame))
                    for node in self._leave_function(frame):
                        self.returns.setdefault(node, region.node.id)
        return list(found)

    # Places

    def _own(self, here: Place) -> Ids:
        """The nodes that a place itself is."""
        node = self._subgraphs.get(here)
        ids = [node.id] if node is not None else []
        ids += [region.node.id for region in self._regions.by_place.get(here, ())]
        return tuple(dict.fromkeys(ids))

    def _going_on(self, here: Place) -> Ids:
        """The nodes of a place that breaks come after: not those where the rest of the function runs eagerly."""
        rest = set(self._rest(here))
        return tuple(node for node in self._own(here) if node not in rest)

    def _rest(self, here: Place) -> Ids:
        return tuple(region.node.id for region in self._regions.by_place.get(here, ()) if region.node.why in _TO_THE_END)

    def _vias(self, here: Place) -> list[tuple[int, _Via]]:
        """The breaks of a place by line, also those with nothing behind them."""
        if here not in self._via_memo:
            self._via_memo[here] = self._find_vias(here)
        return self._via_memo[here]

    def _find_vias(self, here: Place) -> list[tuple[int, _Via]]:
        lines = dict.fromkeys(self._children.get(here, ()))
        for event in self._breaks.get(here, ()):
            own = self._regions.own_line(event)
            if own is not None:
                lines.setdefault(own.line)
        return [(line, self._via(here, line)) for line in lines]

    def _via(self, here: Place, line: int) -> _Via:
        event = self._break_of(here, line)
        called = self._called_at(here.frame, line, event)
        if event is None:
            return _Via(functions=called) if called else _Via(self._regions.unknown_break(here, line))
        site = event.site
        inside = site is not None and (site.line != line or not self._names.same_function(site, here.frame))
        lost = self._regions.lost_at(site) if site is not None and inside else None
        if inside and lost is None and called:
            return _Via(functions=called)
        return _Via(self._regions.break_at(site) or self._regions.unknown_break(here, line))

    def _break_of(self, here: Place, line: int) -> Event | None:
        """The break of a place at a line. One that SOT reported elsewhere in the step is found by its line."""
        for event in self._breaks.get(here, ()):
            own = self._regions.own_line(event)
            if own is not None and own.line == line:
                return event
        at_line = self._breaks_by_line.get((here.frame.path, here.frame.function, line), ())
        return next(iter(at_line), None)

    @cached_property
    def _breaks_by_line(self) -> Mapping[tuple[str, str, int], list[Event]]:
        found: dict[tuple[str, str, int], list[Event]] = defaultdict(list)
        for event in self._facts.events("break"):
            if event.site is not None:
                found[event.site.path, event.site.function, event.site.line].append(event)
        return found

    # Functions captured on their own

    @cached_property
    def _called_by(self) -> Mapping[SourceSite, list[SourceSite]]:
        """The lines that called a function when it was translated, those of generated code folded into their function."""
        found: dict[SourceSite, dict[SourceSite, None]] = defaultdict(dict)
        for event in self._facts.events("translate"):
            if event.frame is not None and not event.break_lines and event.stack:
                found[event.frame][event.stack[-1]] = None
        return {frame: list(callers) for frame, callers in found.items()}

    @cached_property
    def _called(self) -> Mapping[tuple[str, str, int], list[SourceSite]]:
        found: dict[tuple[str, str, int], list[SourceSite]] = defaultdict(list)
        for frame, callers in self._called_by.items():
            for caller in callers:
                found[caller.path, caller.function, caller.line].append(frame)
        return found

    def _called_at(self, frame: SourceSite, line: int, event: Event | None) -> tuple[SourceSite, ...]:
        """Functions with nodes of their own that run at the line of a break, those on the break's own stack first."""
        next_in = self._next_in_stack(frame, line, event) if event is not None else ()
        called = next_in or self._called.get((frame.path, frame.function, line), ())
        return tuple(callee for callee in called if callee != frame and self._enter_function(callee))

    def _next_in_stack(self, frame: SourceSite, line: int, event: Event) -> Sequence[SourceSite]:
        """The function that the line called on the way to where it broke."""
        stack = [*event.stack, *([event.site] if event.site and event.site not in event.stack[-1:] else [])]
        for position in range(len(stack) - 1, 0, -1):
            caller = stack[position - 1]
            if (caller.path, caller.function, caller.line) == (frame.path, frame.function, line):
                return self._functions.get(self._names.key(stack[position]), ())
        return ()

    @cached_property
    def _places_of(self) -> Mapping[SourceSite, list[Place]]:
        found: dict[SourceSite, list[Place]] = defaultdict(list)
        for here in self._places:
            found[here.frame].append(here)
        return found

    def _through(self, via: _Via) -> tuple[Ids, Ids]:
        """The first and the last nodes of what lies between."""
        if via.region is not None:
            return (via.region.node.id,), (via.region.node.id,)
        into = tuple(node for frame in via.functions for node in self._enter_function(frame))
        out = tuple(node for frame in via.functions for node in self._leave_function(frame))
        return into, out

    def _enter(self, here: Place) -> Ids:
        """The nodes that run first when a place is entered."""
        own = self._own(here)
        if own:
            return own
        return tuple(node for _, via in self._vias(here) for node in self._through(via)[0])

    def _enter_function(self, frame: SourceSite) -> Ids:
        if frame not in self._entered:
            self._entered[frame] = ()  # a function that calls itself
            self._entered[frame] = self._enter(place(frame, ()))
        return self._entered[frame]

    def _leave_function(self, frame: SourceSite) -> Ids:
        """The nodes that run last in a function."""
        if frame not in self._left:
            self._left[frame] = ()
            self._left[frame] = tuple(dict.fromkeys(self._last_nodes(frame)))
        return self._left[frame]

    def _last_nodes(self, frame: SourceSite) -> Iterable[str]:
        for here in self._places_of.get(frame, ()):
            vias = self._vias(here)
            yield from self._rest(here) if vias else self._own(here)
            for line, via in vias:
                behind = self._children.get(here, {}).get(line, ())
                if not any(self._enter(child) for child in behind):
                    yield from self._through(via)[1]

    def _into_lost(self) -> Iterable[tuple[Ids, Ids]]:
        """From the region that calls a function nobody captured to that function's."""
        for region in self._regions.lost:
            site = region.node.site
            caller = self._regions.called_from(site) if site is not None else None
            owner = self._regions.owner((caller.path, caller.line)) if caller is not None else None
            if owner is not None and owner is not region:
                yield (owner.node.id,), (region.node.id,)


def _by_place(events: Iterable[Event]) -> Mapping[Place, list[Event]]:
    found: dict[Place, list[Event]] = defaultdict(list)
    for event in events:
        here = place_of_event(event)
        if here is not None:
            found[here].append(event)
    return found


def _join(found: dict[tuple[str, str], None], sources: Ids, targets: Ids) -> None:
    for source in sources:
        for target in targets:
            found[source, target] = None
