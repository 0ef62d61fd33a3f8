"""``sotprobe graph``."""

from __future__ import annotations

from collections.abc import Callable

import click

from sotprobe.cli.options import UsageError
from sotprobe.errors import EXIT_FINE


@click.command("graph")
@click.argument("sources", metavar="RUN|LOG", type=click.Path(), nargs=-1, required=True)
@click.option("--diff", is_flag=True, help="Compare two runs: graph --diff RUN_A RUN_B.")
@click.option(
    "--output", "-o", metavar="FILE", type=click.Path(), help="Write a .svg, .dot, .json or .html file; default: a table."
)
@click.option("--step", type=click.IntRange(min=0), metavar="N", help="Only what ran in step N.")
@click.option("--full", is_flag=True, help="Draw every node of a large graph; default: folded by function.")
@click.option("--collapse", "depth", type=click.IntRange(min=1), metavar="DEPTH", help="Fold by DEPTH parts of the module path.")
@click.option("--rank", metavar="N", help="The process to show of a log of several (with --diff also N,M); default: the first.")
def command(
    sources: tuple[str, ...], diff: bool, output: str | None, step: int | None, full: bool, depth: int | None, rank: str | None
) -> int:
    """Show the subgraphs of a run, the dynamic code between them and the tensors that pass; or what differs between two runs.

    RUN is a directory that compare or record saved, LOG a log of SOT, or a .json that this command wrote. Needs no Paddle;
    .svg and .html need graphviz.
    """
    if full and depth is not None:
        raise UsageError("--full and --collapse disagree", "give one of them")
    if len(sources) != (2 if diff else 1):
        wanted = "--diff compares two runs" if diff else "graph shows one run"
        hint = "give two directories, logs or saved graphs" if diff else "give one, or two with --diff to compare them"
        raise UsageError(f"{wanted}, not {len(sources)}", hint)
    show = _diff if diff else _graph
    return show(*sources, output=output, step=step, rank=rank, full=full, depth=depth)


def _graph(source: str, **options) -> int:
    from sotprobe.report import graph_text, graph_words
    from sotprobe.workflows.graph import GraphRequest, graph

    result = graph(GraphRequest(source, **options))
    return _deliver(
        options["output"],
        result.notes,
        graph_words.caption(result.picture),
        lambda width, color: graph_text.render(result.picture, result.context, width=width, color=color),
    )


def _diff(before: str, after: str, **options) -> int:
    from sotprobe.report import graph_diff_result, graph_diff_text
    from sotprobe.workflows.graph_diff import GraphDiffRequest, graph_diff

    result = graph_diff(GraphDiffRequest(before, after, **options))
    return _deliver(
        options["output"],
        result.notes,
        graph_diff_result.caption(result.shown),
        lambda width, color: graph_diff_text.render(result.shown, result.context, width=width, color=color),
    )


def _deliver(output: str | None, notes: tuple[str, ...], caption: str, table: Callable[[int, bool], str]) -> int:
    """The table, or what was written."""
    from sotprobe.cli.output import show_page

    for note in notes:
        click.echo(note, err=True)
    if output is None:
        show_page(table)
    else:
        click.echo(f"{output}: {caption}")
    return EXIT_FINE
