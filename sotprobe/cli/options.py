"""Options that several verbs share, and how their values are read. Wrong values are usage errors (exit code 2)."""

from __future__ import annotations

import difflib
import os
import re
import shlex
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from sotprobe.workflows.compare import Request

# Spelt here too, because importing the workflows for --help would cost too much; a test compares the two.
DEFAULT_TIMEOUT_S = 600.0


class UsageError(click.UsageError):
    """A usage error with a next step of its own."""

    def __init__(self, message: str, hint: str, ctx: click.Context | None = None):
        super().__init__(message, ctx)
        self.hint = hint


class ProgramCommand(click.Command):
    """A verb that runs a program: whatever follows ``--`` is the program's, verbatim."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        own, separator, theirs = _split(args)
        if separator and not theirs:
            raise UsageError("nothing follows --", "put the program's arguments after --, or leave -- out", ctx)
        ctx.meta["program_arguments"] = tuple(theirs)
        try:
            return super().parse_args(ctx, list(own))
        except click.NoSuchOption as error:
            near = difflib.get_close_matches(error.option_name, error.possibilities or (), n=1, cutoff=0.8)
            hint = f"did you mean {near[0]}?" if near else _arguments_hint(ctx, own, f"{error.option_name} ...")
            raise UsageError(f"no such option: {error.option_name}", hint, ctx) from error
        except click.UsageError as error:
            if "unexpected extra argument" not in error.message:
                raise
            raise UsageError(error.message, _arguments_hint(ctx, own, "..."), ctx) from error


def _split(args: list[str]) -> tuple[list[str], bool, list[str]]:
    if "--" not in args:
        return args, False, []
    at = args.index("--")
    return args[:at], True, args[at + 1 :]


def _arguments_hint(ctx: click.Context, own: list[str], example: str) -> str:
    program = next((argument for argument in own if argument.endswith(".py")), "PROGRAM")
    return f"arguments of the program itself go after --: {ctx.command_path} {program} -- {example}"


# --- values ----------------------------------------------------------------------------------------------------------


class _Value(click.ParamType):
    """A parameter type from a function that raises ValueError with the reason."""

    def __init__(self, name: str, read: Callable[[str], Any]):
        self.name = name
        self._read = read

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        try:
            return self._read(value)
        except ValueError as error:
            self.fail(f"{value!r} {error}", param, ctx)


def _window(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"(\d+):(\d+)", text)
    if not match:
        raise ValueError("is not START:END, two step numbers such as 10:20")
    start, end = int(match[1]), int(match[2])
    if start >= end:
        raise ValueError("is empty: END must be greater than START (END itself is not measured)")
    return start, end


def _assignment(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) or "\0" in value:
        raise ValueError("is not KEY=VALUE")
    return name, value


def _step_on(text: str) -> str:
    module, colon, function = text.partition(":")
    names = (*module.split("."), *function.split("."))
    if not colon or not all(name.isidentifier() for name in names):
        raise ValueError("is not MODULE:FUNCTION, such as __main__:train_step or mypkg.engine:Trainer.step")
    return text


def _modes(text: str) -> tuple[str, ...]:
    modes = tuple(mode.strip() for mode in text.split(","))
    if len(set(modes)) != len(modes) or not set(modes) <= {"dynamic", "static"}:
        raise ValueError("is not dynamic, static or dynamic,static")
    return tuple(mode for mode in ("dynamic", "static") if mode in modes)


def _words(text: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise ValueError(f"cannot be split into arguments: {str(error).lower()}") from error


def _version(text: str) -> str:
    if not re.match(r"\d+\.\d+", text):
        raise ValueError("is not a version, such as 3.3 or 3.3.1")
    return text


WINDOW = _Value("START:END", _window)
ASSIGNMENT = _Value("KEY=VALUE", _assignment)
STEP_ON = _Value("MODULE:FUNCTION", _step_on)
MODES = _Value("MODES", _modes)
WORDS = _Value("ARGS", _words)
VERSION = _Value("VERSION", _version)


# --- options ---------------------------------------------------------------------------------------------------------

_PROGRAM = (
    click.argument("program", metavar="PROGRAM"),
    click.option("--warmup", type=click.IntRange(min=0), metavar="N", help="Steps left out at the start of the measurement."),
    click.option("--window", type=WINDOW, help="Measure steps START to END-1 only."),
    click.option("--steps", type=click.IntRange(min=1), metavar="N", help="Stop the program after N steps."),
    click.option("--full-graph", is_flag=True, help="Static mode by AST (full_graph=True) instead of SOT."),
    click.option("--min-graph-size", type=click.IntRange(min=0), metavar="N", help="Paddle's MIN_GRAPH_SIZE, for both modes."),
    click.option("--env", type=ASSIGNMENT, multiple=True, help="Set a variable in every child; repeatable."),
    click.option("--step-on", type=STEP_ON, help="A step is a call of this function."),
    click.option("--batch-size", type=click.IntRange(min=1), metavar="N", help="Samples per step, to report ips in samples."),
    click.option(
        "--timeout",
        type=click.FloatRange(min=0, min_open=True),
        default=DEFAULT_TIMEOUT_S,
        show_default=True,
        metavar="S",
        help="Seconds each child may take.",
    ),
    click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, metavar="N", help="Seed of all generators."),
    click.option("--out", type=click.Path(), metavar="DIR", help="Where to save; default: a new directory in .sotprobe/."),
)

_RESULT = (
    click.option("--json", "json_path", metavar="PATH|-", help="Also write the result as JSON; - is stdout."),
    click.option(
        "--fail-on",
        type=click.Choice(["error", "warning", "never"]),
        default="error",
        show_default=True,
        help="Exit with 1 on findings of this severity or worse; an error is a failed mode or wrong results.",
    ),
    click.option("--quiet", "-q", is_flag=True, help="No progress and no report, only the verdict."),
)


def program_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """PROGRAM and how to run it."""
    return _apply(function, _PROGRAM)


def result_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """What to do with the result."""
    return _apply(function, _RESULT)


def _apply(function: Callable[..., Any], decorators: tuple[Callable[..., Any], ...]) -> Callable[..., Any]:
    for decorator in reversed(decorators):
        function = decorator(function)
    return function


def request(values: dict[str, Any], **more: Any) -> Request:
    """What the program options ask for, as the workflows take it."""
    from pathlib import Path

    from sotprobe.capture.rundir import Options
    from sotprobe.workflows.compare import Request

    names = ("steps", "warmup", "window", "full_graph", "seed", "step_on", "batch_size", "timeout")
    return Request(
        program=values["program"],
        cwd=os.getcwd(),
        arguments=click.get_current_context().meta["program_arguments"],
        options=Options(**{name: values[name] for name in names}),
        env=_environment(values["env"], values["min_graph_size"]),
        out=Path(values["out"]) if values["out"] else None,
        **more,
    )


def _environment(assignments: tuple[tuple[str, str], ...], min_graph_size: int | None) -> dict[str, str]:
    environment = dict(assignments)
    if min_graph_size is not None:
        given = environment.setdefault("MIN_GRAPH_SIZE", str(min_graph_size))
        if given != str(min_graph_size):
            raise UsageError(f"--min-graph-size {min_graph_size} and --env MIN_GRAPH_SIZE={given} disagree", "give one of them")
    return environment
