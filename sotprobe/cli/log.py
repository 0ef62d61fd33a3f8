"""``sotprobe log``."""

from __future__ import annotations

import click

from sotprobe.cli.options import result_options


@click.command("log")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path())
@click.option("--source", metavar="DIR", type=click.Path(), help="The program's code: lines are quoted, suspects are listed.")
@click.option("--paddle", metavar="VERSION", help="The Paddle that wrote the log, where the log does not say.")
@click.option("--python", metavar="VERSION", help="The Python that wrote the log.")
@click.option("--follow-ranks", is_flag=True, help="Also read the workerlog.N files beside a workerlog that is given.")
@click.option("--strict", is_flag=True, help="Exit with 1 when lines look like Paddle's and are not understood.")
@result_options
def command(
    files: tuple[str, ...],
    source: str | None,
    paddle: str | None,
    python: str | None,
    follow_ranks: bool,
    strict: bool,
    json_path: str | None,
    fail_on: str,
    quiet: bool,
) -> int:
    """Find the causes in logs that were recorded elsewhere: SOT_LOG_LEVEL 1 to 5, GLOG, tracebacks, in any mixture.

    FILE may be compressed by gzip; - is standard input. Needs no Paddle.
    """
    from sotprobe.cli.output import check_json_path, deliver
    from sotprobe.workflows.investigate import LogRequest, investigate

    check_json_path(json_path)
    result = investigate(LogRequest(files, source, paddle, python, follow_ranks))
    return deliver(result.diagnosis, json_path=json_path, quiet=quiet, fail_on=fail_on)
