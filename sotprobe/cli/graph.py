"""``sotprobe graph``."""

from __future__ import annotations

import click

from sotprobe.cli.options import UsageError
from sotprobe.errors import EXIT_FINE


@click.command("graph")
@click.argument("source", metavar="RUN|LOG", type=click.Path())
@click.option(
    "--output", "-o", metavar="FILE", type=click.Path(), help="Write a .svg, .dot, .json or .html file; default: a table."
)
@click.option("--step", type=click.IntRange(min=0), metavar="N", help="Only what ran in step N.")
@click.option("--full", is_flag=True, help="Draw every node of a large graph; default: folded by function.")
@click.option("--collapse", "depth", type=click.IntRange(min=1), metavar="DEPTH", help="Fold by DEPTH parts of the module path.")
@click.option("--rank", metavar="N", help="The process to show of a log of several; default: the first.")
def command(source: str, output: str | None, step: int | None, full: bool, depth: int | None, rank: str | None) -> int:
    """Show the subgraphs of a run, the dynamic code between them and the tensors that pass.

    RUN is a directory that compare or record saved, LOG a log of SOT, or a .json that this command wrote. Needs no Paddle;
    .svg and .html need graphviz.
    """
    from sotprobe.cli.output import show_page
    from sotprobe.report import graph_text, graph_words
    from sotprobe.workflows.graph import GraphRequest, graph

    if full and depth is not None:
        raise UsageError("--full and --collapse disagree", "give one of them")
    result = graph(GraphRequest(source, output, step, rank, full, depth))
    for note in result.notes:
        click.echo(note, err=True)
    if output is None:
        show_page(lambda width, color: graph_text.render(result.picture, result.context, width=width, color=color))
    else:
        click.echo(f"{output}: {graph_words.caption(result.picture)}")
    return EXIT_FINE
