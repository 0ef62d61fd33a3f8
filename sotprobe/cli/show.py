"""``sotprobe show``."""

from __future__ import annotations

import click

from sotprobe.cli.options import result_options


@click.command("show")
@click.argument("directory", metavar="DIR", type=click.Path())
@result_options
def command(directory: str, json_path: str | None, fail_on: str, quiet: bool) -> int:
    """Print the report of a saved session or run again. Needs no Paddle."""
    from sotprobe.cli.output import check_json_path, deliver
    from sotprobe.workflows.show import show

    check_json_path(json_path)
    return deliver(show(directory), json_path=json_path, quiet=quiet, fail_on=fail_on)
