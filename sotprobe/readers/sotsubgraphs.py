"""Subgraphs in a log: built ones, those that really ran, and those that were built for nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sotprobe.model import SourceSite, Statement, Subgraph
from sotprobe.paddle_compat.log_lines import sot
from sotprobe.readers.grammar import Block
from sotprobe.readers.sotblocks import StatementsBlock
from sotprobe.readers.sotcalls import Moment
from sotprobe.readers.sotframes import Frame

# A run whose step is not known: a log counts runs, not steps.
NO_STEP = -1
MOST_SUBGRAPHS = 50_000
# Of all subgraphs together; of those that come after them only the first is kept.
MOST_STATEMENTS = 250_000


@dataclass
class _Built:
    """``left`` is set when the frame it was built for has been left: it had run by then, or never does in that call."""

    name: str
    frame: Frame | None
    moment: Moment | None
    site: SourceSite | None = None
    statements: list[str] = field(default_factory=list)
    least: int = 0  # operators that the statements are at least and at most
    most: int | None = None
    runs: int = 0
    lost: bool = False  # its frame was given up afterwards
    left: bool = False


class SubgraphTable:
    """Names are the process's own count, so a gap says nothing; the same name again is a second program in the file."""

    def __init__(self, reader: str) -> None:
        self._reader = reader
        self._all: list[_Built] = []
        self._by_name: dict[str, _Built] = {}
        self._of_translation: list[_Built] = []
        self._building: tuple[Frame | None, Moment, SourceSite | None] | None = None
        self._running = False
        self._statements = 0
        self.left_out = False
        self._first_site: SourceSite | None = None
        self._any_statement = False

    def entered(self) -> None:
        """Another frame: what was built for the one before ran at once, if it was kept."""
        for graph in self._of_translation:
            graph.left = True
        self._of_translation = []

    def translating(self, frame: Frame) -> None:
        self._of_translation = []
        self._first_site = None
        self._any_statement = False

    def statement(self, where: Callable[[], SourceSite | None]) -> None:
        """A statement was simulated: the place of the first is the subgraph's."""
        if not self._any_statement:
            self._any_statement = True
            self._first_site = where()

    def built(self, frame: Frame | None, moment: Moment) -> None:
        self._building = (frame, moment, self._first_site)
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
            self._add(graph)
            if len(self._of_translation) < MOST_SUBGRAPHS:
                self._of_translation.append(graph)
            return StatementsBlock(self._reader, lambda statements: self._keep(graph, statements))
        if self._running:
            self._running = False
            graph = self._by_name.get(name)
            if graph is None:  # the log begins in the middle of a run
                graph = _Built(name, None, None)
                self._add(graph)
            graph.runs += 1
        return None

    def _add(self, graph: _Built) -> None:
        if len(self._all) < MOST_SUBGRAPHS:
            self._all.append(graph)
            self._by_name[graph.name] = graph
        else:
            self.left_out = True

    def _keep(self, graph: _Built, statements: list[str]) -> None:
        graph.statements = statements if self._statements < MOST_STATEMENTS else statements[:1]
        graph.least, graph.most = sot.least_operators(statements), sot.most_operators(statements)
        self._statements += len(graph.statements)

    def given_up(self, frame: Frame) -> None:
        """Its frame fell back: what was built for it in this translation never runs."""
        for graph in self._of_translation:
            graph.lost = graph.frame is frame
        self._of_translation = []

    def subgraphs(self, operators: Mapping[str, int], step_of: Callable[[Moment], int]) -> list[Subgraph]:
        """Empty ones, and those of frames that were given up, are none."""
        kept = [graph for graph in self._all if not graph.lost and (graph.statements or graph.runs)]
        ran = [graph.most for graph in kept if graph.runs and graph.most is not None]
        large = min([sot.MIN_GRAPH_SIZE, *ran])
        return [_subgraph(graph, operators, step_of, large) for graph in kept]


def _subgraph(graph: _Built, operators: Mapping[str, int], step_of: Callable[[Moment], int], large: int) -> Subgraph:
    """``large`` is a number of operators that is not too small."""
    frame = graph.frame
    dropped = None
    if graph.left and not graph.runs:
        size = operators.get(graph.name, graph.least)
        dropped = "too-small" if size < large else "unused"
    return Subgraph(
        name=graph.name,
        frame=frame.site if frame else None,
        site=graph.site or (frame.site if frame else None),
        ops=operators.get(graph.name),
        statements=tuple(Statement(text, None) for text in graph.statements),
        dropped=dropped,
        built_at_step=step_of(graph.moment) if graph.moment is not None else None,
        runs=((NO_STEP, graph.runs),) if graph.runs else (),
        break_lines=frame.break_lines if frame else (),
    )
