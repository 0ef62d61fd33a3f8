"""The errors a user of sotprobe may see: one message, one hint, one exit code.

Anything that is not a ``SotprobeError`` is a bug of sotprobe and keeps its traceback.
"""

from __future__ import annotations

EXIT_FINE = 0
EXIT_FINDINGS = 1
EXIT_USAGE = 2
EXIT_FAILED = 3


class SotprobeError(Exception):
    """A failure that the user can act on.

    ``hint`` says what to do next, ``slug`` is a stable name for scripts and docs, ``exit_code`` is what the
    command ends with.
    """

    slug = "failed"
    exit_code = EXIT_FAILED

    def __init__(self, message: str, hint: str, *, slug: str | None = None, exit_code: int | None = None):
        super().__init__(message)
        self.message = message
        self.hint = hint
        if slug is not None:
            self.slug = slug
        if exit_code is not None:
            self.exit_code = exit_code


class UsageError(SotprobeError):
    """The command line cannot be carried out as given."""

    slug = "usage"
    exit_code = EXIT_USAGE


class InputError(SotprobeError):
    """A file or directory given by the user cannot be used."""

    slug = "input"


class CaptureError(SotprobeError):
    """A program could not be run in a mode at all (no child process, no Paddle, no run directory)."""

    slug = "capture"


class ToolMissing(SotprobeError):
    """A program or package outside sotprobe is needed and absent."""

    slug = "tool-missing"
