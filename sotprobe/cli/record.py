"""``sotprobe record``."""

from __future__ import annotations

from typing import Any

import click

from sotprobe.cli.options import ProgramCommand, program_options, request, result_options


@click.command("record", cls=ProgramCommand, options_metavar="[OPTIONS]")
@program_options
@click.option("--mode", type=click.Choice(["dynamic", "static"]), default="static", show_default=True, help="The mode to run.")
@result_options
def command(json_path: str | None, fail_on: str, quiet: bool, mode: str, **values: Any) -> int:
    """Run PROGRAM once in one mode and save everything SOT did in a run directory.

    The program's own arguments go after --. `sotprobe show DIR` gives the report again.
    """
    from sotprobe.cli.output import ProgressLine, check_json_path, deliver
    from sotprobe.workflows.record import record

    check_json_path(json_path)
    asked = request(values, modes=(mode,))
    with ProgressLine(quiet) as progress:
        diagnosis = record(asked, progress)
    return deliver(diagnosis, json_path=json_path, quiet=quiet, fail_on=fail_on)
