"""``sotprobe log``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from sotprobe.cli.options import VERSION, UsageError, result_options
from sotprobe.errors import EXIT_FAILED, EXIT_FINDINGS

if TYPE_CHECKING:
    from sotprobe.errors import SotprobeError
    from sotprobe.model import ReadStats


class _Command(click.Command):
    """Says what happened when --json took the log for the file to write to."""

    def make_context(self, *arguments: Any, **more: Any) -> click.Context:
        try:
            return super().make_context(*arguments, **more)
        except click.MissingParameter as error:
            taken = error.ctx.params.get("json_path") if error.ctx else None
            if taken is None:
                raise
            hint = f"--json is followed by the file to write, or - for stdout: {error.ctx.command_path} {taken} --json -"
            raise UsageError(error.format_message(), hint, error.ctx) from error


@click.command("log", cls=_Command)
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path())
@click.option("--source", metavar="DIR", type=click.Path(), help="The program's code: lines are quoted, suspects are listed.")
@click.option("--paddle", type=VERSION, help="The Paddle that wrote the log, where the log does not say.")
@click.option("--python", type=VERSION, help="The Python that wrote the log.")
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
    from sotprobe.cli.output import ProgressLine, check_json_path, deliver
    from sotprobe.workflows.investigate import LogRequest, investigate

    check_json_path(json_path)
    with ProgressLine(quiet) as progress:
        result = investigate(LogRequest(files, source, paddle, python, follow_ranks), progress)
    code = deliver(result.diagnosis, json_path=json_path, quiet=quiet, fail_on=fail_on)
    for error in result.refused:
        _complain(error)
    if strict and _not_understood(result.diagnosis.read_stats):
        code = EXIT_FINDINGS
    return EXIT_FAILED if result.refused else code


def _complain(error: SotprobeError) -> None:
    click.echo(f"error: {error.message}", err=True)
    click.echo(f"hint: {error.hint}", err=True)


def _not_understood(read: Mapping[str, ReadStats]) -> bool:
    """Whether lines were not understood; the first of them are printed, whether there is a page or not."""
    from sotprobe.report import logwords
    from sotprobe.report.text import visible

    shown, hidden = logwords.samples(read)
    number = len(shown) + hidden
    if not number:
        return False
    click.echo(f"error: --strict: {number} {'line was' if number == 1 else 'lines were'} not understood, such as", err=True)
    for sample in shown:
        click.echo(f"    {visible(sample)}", err=True)
    return True
