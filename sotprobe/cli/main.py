"""The command line. A verb's module is imported when the verb is used; nothing heavy is imported for ``--help``."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

import click

from sotprobe import __version__
from sotprobe.errors import EXIT_FINE, EXIT_USAGE, SotprobeError

_VERBS = ("compare", "record", "show", "log", "graph")
_EXIT_INTERRUPTED = 130
_EXIT_PIPE = 141  # what a shell reports for SIGPIPE


class _Verbs(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_VERBS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in _VERBS:
            return None
        return importlib.import_module(f"sotprobe.cli.{name}").command

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # `sotprobe show DIR | head`; click would say 1, which means findings here
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return _EXIT_PIPE


@click.command(cls=_Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="sotprobe %(version)s")
def cli() -> None:
    """Find out why a Paddle model is slower, wrong or unstable under paddle.jit.to_static.

    \b
    sotprobe compare model.py                 both modes: speed, parity, causes at source lines
    sotprobe compare train.py -- --epochs 1   a script with arguments of its own
    sotprobe show .sotprobe/DIR               the report again
    sotprobe log train.log                    the causes in a log of another machine
    sotprobe graph .sotprobe/DIR -o g.html    its subgraphs as a picture

    Exit codes: 0 fine, 1 findings at or above --fail-on, 2 usage, 3 input or capture failed.
    """


def run(arguments: Sequence[str]) -> int:
    """Carry out a command line and return the exit code. User errors are two lines on stderr, never a traceback."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # a terminal that is not UTF-8
    try:
        result = cli.main(args=list(arguments) or ["--help"], prog_name="sotprobe", standalone_mode=False)
    except click.UsageError as error:
        return _fail(error.format_message(), _usage_hint(error), EXIT_USAGE)
    except SotprobeError as error:
        return _fail(error.message, error.hint, error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        return _fail("interrupted", None, _EXIT_INTERRUPTED)
    return result if isinstance(result, int) else EXIT_FINE


def _usage_hint(error: click.UsageError) -> str:
    hint = getattr(error, "hint", None)
    if hint is not None:
        return hint
    if isinstance(error, click.BadOptionUsage) and error.option_name == "--json":
        return "give the file to write, or - for stdout: --json result.json"
    return f"see {error.ctx.command_path} --help" if error.ctx else "see sotprobe --help"


def _fail(message: str, hint: str | None, code: int) -> int:
    click.echo(f"error: {message}", err=True)
    if hint:
        click.echo(f"hint: {hint}", err=True)
    return code


def main() -> NoReturn:
    sys.exit(run(sys.argv[1:]))
