"""``sotprobe compare``."""

from __future__ import annotations

from typing import Any

import click

from sotprobe.cli.options import MODES, WORDS, ProgramCommand, program_options, request, result_options


@click.command("compare", cls=ProgramCommand, options_metavar="[OPTIONS]")
@program_options
@click.option(
    "--rounds",
    type=click.IntRange(min=1),
    metavar="N",
    help="Timing children per mode, the modes in turn.  [default: 3 to 5, until the ratio is clear]",
)
@click.option("--modes", type=MODES, default="dynamic,static", show_default=True, help="Which modes to run.")
@click.option("--dynamic-args", type=WORDS, default="", help="Program arguments of the dynamic mode only, e.g. '--sot 0'.")
@click.option("--static-args", type=WORDS, default="", help="Program arguments of the static mode only.")
@result_options
def command(json_path: str | None, fail_on: str, quiet: bool, **values: Any) -> int:
    """Run PROGRAM in dynamic and static mode: a fair speed ratio, a parity verdict and the causes at source lines.

    PROGRAM is a case file (func or model, with init) or a training script. Its own arguments go after --.
    """
    from sotprobe.cli.output import ProgressLine, check_json_path, deliver
    from sotprobe.workflows.compare import compare

    check_json_path(json_path)
    asked = request(
        values,
        modes=values["modes"],
        rounds=values["rounds"],
        mode_arguments={"dynamic": values["dynamic_args"], "static": values["static_args"]},
    )
    with ProgressLine(quiet) as progress:
        diagnosis = compare(asked, progress)
    return deliver(diagnosis, json_path=json_path, quiet=quiet, fail_on=fail_on)
