"""Subgraphs in a log: built ones, those that really ran, and those that were built for nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sotprobe.model import SourceSite, Statement, Subgraph
from sotprobe.readers.grammar import Block
from sotprobe.readers.sotblocks import StatementsBlock
from sotprobe.readers.sotframes import Frame

# A run whose step is not known: a log counts runs, not steps.
NO_STEP = -1
MOST_SUBGRAPHS = 100_000


@dataclass
class _Built:
    name: str
    frame: Frame | None
    step: int
    line: int
    site: SourceSite | None = None
    statements: list[str] = field(default_factory=list)
    runs: int = 0
    lost: bool = False  # its frame was given up afterwards


class SubgraphTable:
    """Names are the process's own count, so a gap says nothing; the same name again is a second program in the file."""

    def __init__(self, reader: str) -> None:
        self._reader = reader
        self._all: list[_Built] = []
        self._by_name: dict[str, _Built] = {}
        self._of_translation: list[_Built] = []
        self._building: tuple[Frame | None, int, int, SourceSite | None] | None = None
        self._running = False
        self._first_site: SourceSite | None = None
        self._any_statement = False

    def translating(self, frame: Frame) -> None:
        self._of_translation = []
        self._first_site = None
        self._any_statement = False

    def statement(self, where: Callable[[], SourceSite | None]) -> None:
        """A statement was simulated: the place of the first is the subgraph's."""
        if not self._any_statement:
            self._any_statement = True
            self._first_site = where()

    def built(self, frame: Frame | None, step: int, line: int) -> None:
        self._building = (frame, step, line, self._first_site)
        self._running = False
        self._any_statement = False

    def run(self) -> None:
        self._building = None
        self._running = True

    def named(self, name: str) -> Block | None:
        """The line with the name, below ``built`` or ``run``. Only what is built has its statements read."""
        if self._building is not None:
            graph = _Built(name, *self._building)
            self._building = None
            if len(self._all) < MOST_SUBGRAPHS:
                self._all.append(graph)
            self._by_name[name] = graph
            self._of_translation.append(graph)
            return StatementsBlock(self._reader, graph.statements.extend)
        if self._running:
            self._running = False
            graph = self._by_name.get(name)
            if graph is None:  # the log begins in the middle of a run
                graph = self._by_name[name] = _Built(name, None, NO_STEP, 0)
                self._all.append(graph)
            graph.runs += 1
        return None

    def given_up(self, frame: Frame) -> None:
        """Its frame fell back: what was built for it in this translation never runs."""
        for graph in self._of_translation:
            graph.lost = graph.frame is frame
        self._of_translation = []

    def subgraphs(self, operators: Mapping[str, int]) -> list[Subgraph]:
        """Empty ones, and those of frames that were given up, are none."""
        return [_subgraph(graph, operators) for graph in self._all if not graph.lost and (graph.statements or graph.runs)]


def _subgraph(graph: _Built, operators: Mapping[str, int]) -> Subgraph:
    frame = graph.frame
    return Subgraph(
        name=graph.name,
        frame=frame.site if frame else None,
        site=graph.site or (frame.site if frame else None),
        ops=operators.get(graph.name),
        statements=tuple(Statement(text, None) for text in graph.statements),
        dropped=None if graph.runs else "too-small",
        built_at_step=graph.step if graph.step >= 0 else None,
        runs=((NO_STEP, graph.runs),) if graph.runs else (),
        break_lines=frame.break_lines if frame else (),
    )
