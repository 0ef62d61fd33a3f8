"""What the child cannot run at all: said to the parent in one record, not in a traceback."""

from __future__ import annotations

# The child's exit code when it refused the job.
REFUSED = 3


class Refused(Exception):
    """The program or an option cannot be used; ``hint`` says what to do, ``slug`` names it."""

    def __init__(self, message: str, hint: str, slug: str = "refused"):
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.slug = slug
