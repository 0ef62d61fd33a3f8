"""``graph``: the subgraphs of a run as a picture, a page, JSON or a table."""

from __future__ import annotations

from dataclasses import dataclass

from sotprobe.analyze.graph_fold import Picture, picture
from sotprobe.report import graph_dot, graph_html, graph_json
from sotprobe.report.graph_words import Context
from sotprobe.workflows.graph_output import Outputs, checked, write
from sotprobe.workflows.graph_source import check_drawable, context_of, no_collector, read_source


@dataclass(frozen=True)
class GraphRequest:
    """What the user asked of ``graph``. ``source`` is a session, a run directory, a log or a saved graph.

    ``rank`` chooses a process of a log of several. ``full`` never folds, ``depth`` folds by parts of the module path.
    """

    source: str
    output: str | None = None
    step: int | None = None
    rank: str | None = None
    full: bool = False
    depth: int | None = None


@dataclass(frozen=True)
class GraphResult:
    """``notes`` say what was chosen where there was a choice."""

    picture: Picture
    context: Context
    notes: tuple[str, ...] = ()


def graph(request: GraphRequest) -> GraphResult:
    """Read the source, build its graph and, with an output, write that.

    Raises InputError when there is no graph in the source or the output cannot be written, UsageError for an output of an
    unknown format, and ToolMissing when graphviz is needed and absent (the .dot file is then written in its place).
    """
    output = None if request.output is None else checked(request.output)
    with no_collector():
        source = read_source(request.source, request.step, request.rank)
        check_drawable(source.graph, request.source)
        shown = picture(source.graph, full=request.full, depth=request.depth)
        result = GraphResult(shown, context_of(source, output), source.notes)
        if output is not None:
            write(output, _outputs(result))
    return result


def _outputs(result: GraphResult) -> Outputs:
    shown, context = result.picture, result.context
    return Outputs(
        json=lambda: graph_json.render(shown.graph),
        dot=lambda page: graph_dot.render(shown, context, page=page),
        html=lambda svg: graph_html.render(shown, context, svg),
    )
