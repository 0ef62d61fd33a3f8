"""Places in the program that SOT compiles: what a node of the subgraph graph is across runs, and its versions in this one."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, groupby
from operator import itemgetter
from typing import NamedTuple

from sotprobe.analyze.compare import NS_PER_MS, steady_steps
from sotprobe.analyze.facts import Facts
from sotprobe.errors import InputError
from sotprobe.model import Event, GraphNode, GraphVersion, Run, SourceSite, Subgraph, TensorMeta
from sotprobe.model.graph import CACHE_FULL, COMPILED, DROPPED, RECOMPILED, SUBGRAPH

UNKNOWN_LINE = 0  # of a break that a log does not tell


class Place(NamedTuple):
    """A function, or the rest of it behind a chain of breaks: their lines, and the side of each that is a branch."""

    frame: SourceSite
    lines: tuple[int, ...] = ()
    sides: tuple[str, ...] = ()

    @property
    def parent(self) -> Place | None:
        """The place whose last break leads here; None for a whole function."""
        return Place(self.frame, self.lines[:-1], self.sides[:-1]) if self.lines else None


def place(frame: SourceSite, lines: Sequence[int], sides: Sequence[str] = ()) -> Place:
    return Place(frame, tuple(lines), tuple(sides) if len(sides) == len(lines) else ("",) * len(lines))


def place_of_event(event: Event) -> Place | None:
    return None if event.frame is None else place(event.frame, event.break_lines, event.break_sides)


def place_of_subgraph(graph: Subgraph) -> Place:
    """Where a subgraph belongs; one whose frame nobody saw belongs to the function of its first statement."""
    frame = graph.frame or graph.site or SourceSite("?", 0, graph.name)
    return place(frame, graph.break_lines, graph.break_sides)


@dataclass(frozen=True)
class Scope:
    """The steps that a graph is about. ``step`` is the one that was asked for, None for the whole run.

    ``chosen`` are the steps that figures per step are averages of; None where only totals are known (a log), which are
    then divided by ``divisor``, the number of calls.
    """

    step: int | None
    chosen: frozenset[int] | None
    divisor: int

    def shows(self, at: int | None) -> bool:
        """Whether something that was first seen at a step is part of the picture."""
        return self.step is None or at is None or at <= self.step

    def measured(self, run: Run) -> bool:
        """Whether what the attribution window measured is about these steps."""
        first, steps = run.counts.get("lines.from"), run.counts.get("lines.steps")
        return self.step is None or (first is not None and steps is not None and first <= self.step < first + steps)

    def per_step(self, runs: Iterable[tuple[int, int]]) -> float | None:
        """Runs in an average step; None when not known."""
        counted = sum(count for step, count in runs if self.chosen is None or step in self.chosen)
        return counted / self.divisor if self.divisor else None

    def total(self, runs: Iterable[tuple[int, int]]) -> int:
        return sum(count for step, count in runs if self.step is None or step == self.step)


def scope(run: Run, step: int | None) -> Scope:
    """The steps to look at. Raises InputError for a step that the run does not have."""
    if step is not None:
        if not run.steps:
            raise InputError("a log tells no steps", "leave --step out, or give a run directory")
        if step not in {known.index for known in run.steps}:
            last = run.steps[-1].index
            raise InputError(f"the run has no step {step}", f"its steps are {run.steps[0].index} to {last}")
        return Scope(step, frozenset({step}), 1)
    if not run.steps:
        return Scope(None, None, int(run.counts.get("log.calls", 0)))
    steps = steady_steps(run) or run.steps[1:] or run.steps
    return Scope(None, frozenset(known.index for known in steps), len(steps))


class Names:
    """Ids and names of places. ``path:function@chain``, with the class of a method where the source is known."""

    def __init__(self, facts: Facts, frames: Iterable[SourceSite]):
        self._facts = facts
        self._qualified: dict[SourceSite, str] = {}
        self._defined: dict[SourceSite, SourceSite | None] = {}
        self._frames: dict[tuple[str, str], list[SourceSite]] = defaultdict(list)
        by_name: dict[tuple[str, str], set[int]] = defaultdict(set)
        for frame in sorted(frames):
            self._frames[frame.path, frame.function].append(frame)
            by_name[frame.path, self.function(frame)].add(frame.line)
        self._ambiguous = {name for name, lines in by_name.items() if len(lines) > 1}

    def function(self, site: SourceSite) -> str:
        """The function around a line, as the source names it."""
        known = self._qualified.get(site)
        if known is None:
            file = self._facts.sources.file(site.path)
            found = file.function_at(site.line) if file else None
            same = found is not None and found.name == site.function
            known = self._qualified[site] = file.qualified_name(found) if same else site.function
        return known

    def frame(self, site: SourceSite) -> SourceSite | None:
        """Where the function around a line is defined, as far as the source or a frame tells."""
        if site not in self._defined:
            self._defined[site] = self._find_frame(site)
        return self._defined[site]

    def same_function(self, one: SourceSite, other: SourceSite) -> bool:
        """Whether two lines are of one function: methods of two classes have one name."""
        return self.key(one) == self.key(other)

    def key(self, site: SourceSite) -> SourceSite:
        """What tells the function around a line from all others."""
        return self.frame(site) or SourceSite(site.path, 0, site.function)

    def _find_frame(self, site: SourceSite) -> SourceSite | None:
        file = self._facts.sources.file(site.path)
        found = file.function_at(site.line) if file else None
        if found is not None and found.name == site.function:
            return SourceSite(site.path, found.defined, found.name)
        above = [frame for frame in self._frames.get((site.path, site.function), ()) if frame.line <= site.line]
        return above[-1] if above else None

    def base(self, frame: SourceSite) -> str:
        """``path:function``; functions of one name in one file are told apart by their line."""
        name = self.function(frame)
        line = f":{frame.line}" if (frame.path, name) in self._ambiguous else ""
        return f"{frame.path}:{name}{line}"

    def of(self, here: Place) -> str:
        return self.base(here.frame) + chain_text(here)


def chain_text(here: Place) -> str:
    """``@20,35then,40x3``: the breaks that lead to a place, one line several times in a row once; empty for a whole function."""
    if not here.lines:
        return ""
    breaks = [f"{'?' if line == UNKNOWN_LINE else line}{side}" for line, side in zip(here.lines, here.sides, strict=True)]
    counted = [(text, len(list(same))) for text, same in groupby(breaks)]
    return "@" + ",".join(text if times == 1 else f"{text}x{times}" for text, times in counted)


class Places:
    """The subgraphs of a run by place. What SOT built with nothing in it is no subgraph."""

    def __init__(self, facts: Facts, within: Scope, names: Names):
        self._facts = facts
        self._scope = within
        self._names = names
        self.kept: dict[Place, list[Subgraph]] = defaultdict(list)
        self.dropped: dict[Place, list[Subgraph]] = defaultdict(list)
        for graph in facts.compiled:
            if self._shown(graph):
                self.kept[place_of_subgraph(graph)].append(graph)
        for graph in facts.static.subgraphs if facts.static else ():
            if graph.statements and graph.dropped is not None and within.shows(graph.built_at_step):
                self.dropped[place_of_subgraph(graph)].append(graph)

    def _shown(self, graph: Subgraph) -> bool:
        """A step shows what ran in it."""
        return self._scope.step is None or self._scope.total(graph.runs) > 0

    @cached_property
    def _recompiles(self) -> Mapping[Place, list[Event]]:
        found: dict[Place, list[Event]] = defaultdict(list)
        for event in self._facts.events("recompile"):
            here = place_of_event(event)
            if here is not None:
                found[here].append(event)
        return found

    @cached_property
    def full(self) -> Mapping[Place, Event]:
        """Places whose translations, or whose time for them, are used up."""
        events = [*self._facts.events("cache-full"), *self._facts.events("compile-limit")]
        places = [(place_of_event(event), event) for event in events if self._scope.shows(event.step)]
        return {here: event for here, event in places if here is not None}

    def nodes(self) -> dict[Place, GraphNode]:
        """A node for each place that has a subgraph."""
        return {here: self._node(here, graphs) for here, graphs in self.kept.items()}

    def dropped_nodes(self) -> dict[Place, GraphNode]:
        """A node for each place where a subgraph was thrown away. Where others were kept it has an id of its own."""
        found = {}
        for here, graphs in self.dropped.items():
            node = self._node(here, graphs)
            own = node.id if here not in self.kept else f"{node.id}!{graphs[-1].dropped}"
            entered = None if self._scope.step is not None else self._facts.entries((here.frame, here.lines))
            found[here] = replace(node, id=own, state=DROPPED, why=graphs[-1].dropped, runs_per_step=entered)
        return found

    def _node(self, here: Place, graphs: list[Subgraph]) -> GraphNode:
        newest = graphs[-1]
        first, last = extent(newest, here.frame)
        causes = Counter(event.cause for event in self._recompiles.get(here, ()) if event.cause)
        forward_ms, per_step = _mean_ms(graphs, "forward_ns"), self._scope.per_step(chain(*(graph.runs for graph in graphs)))
        return GraphNode(
            id=self._names.of(here),
            kind=SUBGRAPH,
            name=self._names.function(here.frame),
            state=self._state(here, graphs),
            site=first,
            last_line=last,
            frame=here.frame,
            chain=here.lines,
            sides=here.sides,
            ops=next((graph.ops for graph in reversed(graphs) if graph.ops is not None), None),
            compiles=len(graphs),
            runs_per_step=per_step,
            compile_ms=_sum(_ms(graph.compile_ns) for graph in graphs),
            forward_ms=forward_ms,
            backward_ms=_mean_ms(graphs, "backward_ns"),
            ms_per_step=None if forward_ms is None or per_step is None else forward_ms * per_step,
            cause=causes.most_common(1)[0][0] if causes else None,
            versions=self._versions(here, graphs),
            statements=newest.statements,
            inputs=merged_border([in_order(graph.inputs) for graph in graphs]),
            outputs=merged_border([graph.outputs for graph in graphs]),
        )

    def _state(self, here: Place, graphs: list[Subgraph]) -> str:
        if here in self.full:
            return CACHE_FULL
        # without a recompile they are two functions that a log cannot tell apart: both sides of a branch
        return RECOMPILED if len(graphs) > 1 and here in self._recompiles else COMPILED

    def _versions(self, here: Place, graphs: list[Subgraph]) -> tuple[GraphVersion, ...]:
        events = _led_to(graphs, self._recompiles.get(here, []))
        return tuple(
            GraphVersion(
                name=graph.name,
                step=graph.built_at_step,
                guards=event.guards if event else (),
                ops=graph.ops,
                runs=self._scope.total(graph.runs),
                compile_ms=_ms(graph.compile_ns),
                cause=event.cause if event else None,
            )
            for graph, event in zip(graphs, events, strict=True)
        )


def _led_to(graphs: list[Subgraph], events: list[Event]) -> list[Event | None]:
    """The recompile that each version came of: one of the same step. Of several in a step, the last versions have them.

    Where no step is known (a log), the recompiles belong to the last versions in order.
    """
    versions: dict[int | None, list[int]] = defaultdict(list)
    recompiles: dict[int | None, list[Event]] = defaultdict(list)
    for position, graph in enumerate(graphs):
        versions[graph.built_at_step].append(position)
    for event in events:
        recompiles[event.step].append(event)
    found: list[Event | None] = [None] * len(graphs)
    for step, positions in versions.items():
        here = recompiles.get(step, [])[-len(positions) :]
        if here:
            for position, event in zip(positions[-len(here) :], here, strict=True):
                found[position] = event
    return found


def extent(graph: Subgraph, frame: SourceSite) -> tuple[SourceSite | None, int | None]:
    """First site and last line, of the statements in the function itself, else of those where the first one is."""
    sites = [statement.site for statement in graph.statements if statement.site is not None]
    own = [site for site in sites if (site.path, site.function) == (frame.path, frame.function)]
    if not own and sites:
        own = [site for site in sites if (site.path, site.function) == (sites[0].path, sites[0].function)]
    if not own:
        return graph.site or graph.frame, None
    return min(own), max(site.line for site in own)


def ranks(metas: Sequence[TensorMeta]) -> list[int]:
    """The place of each input in the order in which SOT met them, by the numbers in their names.

    SOT sorts inputs by name as text: ``var_10`` comes before ``var_9``, so the order changes from version to version.
    """
    order = sorted(range(len(metas)), key=lambda position: _numbers(metas[position].name))
    found = [0] * len(order)
    for rank, position in enumerate(order):
        found[position] = rank
    return found


def in_order(metas: Sequence[TensorMeta]) -> tuple[TensorMeta, ...]:
    return tuple(meta for _, meta in sorted(zip(ranks(metas), metas, strict=True), key=itemgetter(0)))


def _numbers(name: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name)]


def merged_border(borders: Sequence[tuple[TensorMeta, ...]]) -> tuple[TensorMeta, ...]:
    """The newest version's tensors with the shapes that any version saw in their place."""
    merged = []
    for position, meta in enumerate(borders[-1]):
        shapes = [shape for border in borders if position < len(border) for shape in border[position].real_shapes]
        merged.append(replace(meta, real_shapes=tuple(dict.fromkeys(shapes))))
    return tuple(merged)


def _ms(ns: float | None) -> float | None:
    return None if ns is None else ns / NS_PER_MS


def _sum(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _mean_ms(graphs: list[Subgraph], name: str) -> float | None:
    """Milliseconds per run over all versions that were measured, weighted by how often they ran."""
    measured = [(getattr(graph, name), max(1, sum(count for _, count in graph.runs))) for graph in graphs]
    known = [(ns, runs) for ns, runs in measured if ns is not None]
    if not known:
        return None
    return sum(ns * runs for ns, runs in known) / sum(runs for _, runs in known) / NS_PER_MS
