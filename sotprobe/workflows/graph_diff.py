"""``graph --diff``: what became of the subgraphs of one run in another."""

from __future__ import annotations

from dataclasses import dataclass

from sotprobe.analyze.graph_diff import Side, diff_graphs
from sotprobe.analyze.graph_diff_picture import DiffPicture, diff_picture
from sotprobe.errors import UsageError
from sotprobe.report import graph_diff_dot, graph_diff_html, graph_diff_json
from sotprobe.report.graph_diff_words import DiffContext
from sotprobe.workflows.graph_output import Outputs, checked, write
from sotprobe.workflows.graph_source import Source, check_drawable, context_of, no_collector, read_source


@dataclass(frozen=True)
class GraphDiffRequest:
    """What the user asked of ``graph --diff``. Each source is a session, a run directory, a log or a saved graph.

    ``rank`` chooses a process of logs of several: of both, or ``0,1`` of each. ``full`` never folds, ``depth`` folds by parts of
    the module path.
    """

    before: str
    after: str
    output: str | None = None
    step: int | None = None
    rank: str | None = None
    full: bool = False
    depth: int | None = None


@dataclass(frozen=True)
class GraphDiffResult:
    """``notes`` say what was chosen where there was a choice."""

    shown: DiffPicture
    context: DiffContext
    notes: tuple[str, ...] = ()


def graph_diff(request: GraphDiffRequest) -> GraphDiffResult:
    """Read both sources, compare their graphs and, with an output, write that.

    Raises what ``graph`` does, for either source.
    """
    output = None if request.output is None else checked(request.output)
    ranks = _ranks(request.rank)
    with no_collector():
        before, after = (
            _read(name, request.step, rank) for name, rank in zip((request.before, request.after), ranks, strict=True)
        )
        diff = diff_graphs(_side(before), _side(after))
        shown = diff_picture(diff, full=request.full, depth=request.depth)
        context = DiffContext(context_of(before, output), context_of(after, output))
        if output is not None:
            write(output, _outputs(shown, context))
    notes = [f"{name}: {note}" for name, source in (("before", before), ("after", after)) for note in source.notes]
    return GraphDiffResult(shown, context, tuple(notes))


def _ranks(rank: str | None) -> tuple[str | None, str | None]:
    if rank is None:
        return None, None
    before, comma, after = rank.partition(",")
    if not before or (comma and not after) or "," in after:
        raise UsageError(f"--rank {rank}: these are not two ranks", "give --rank 0 for both sides, or --rank 0,1 for one each")
    return before, after or before


def _read(name: str, step: int | None, rank: str | None) -> Source:
    source = read_source(name, step, rank)
    check_drawable(source.graph, name)
    return source


def _side(source: Source) -> Side:
    return Side(source.graph, source.sources)


def _outputs(shown: DiffPicture, context: DiffContext) -> Outputs:
    return Outputs(
        json=lambda: graph_diff_json.render(shown.diff),
        dot=lambda page: graph_diff_dot.render(shown, context, page=page),
        html=lambda svg: graph_diff_html.render(shown, context, svg),
    )
