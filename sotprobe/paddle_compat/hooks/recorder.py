"""The recorder of everything SOT does in this process."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from types import CodeType
from typing import Any

from sotprobe.paddle_compat.hooks import access, lines
from sotprobe.paddle_compat.hooks.breaks import Breaks
from sotprobe.paddle_compat.hooks.frames import Frames
from sotprobe.paddle_compat.hooks.guards import GuardSites
from sotprobe.paddle_compat.hooks.notices import Notices
from sotprobe.paddle_compat.hooks.session import Emit, Session
from sotprobe.paddle_compat.hooks.simulation import SimulatedLines
from sotprobe.paddle_compat.hooks.subgraphs import Subgraphs
from sotprobe.paddle_compat.hooks.watch import Watch

_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep


class SotRecorder:
    """Watches SOT in the running process and hands every fact on as a record (docs/run-directory.md).

    ``emit(kind, **fields)`` writes one record; ``is_user(path)`` says whether a source file is the user's;
    ``current_step()`` is the index of the step in progress (-1 before the first). Install it before the program calls
    anything that is to_static. It sets no environment variable and no log level; its cost is about 3 % of a step.
    """

    def __init__(self, emit: Emit, is_user: Callable[[str], bool], current_step: Callable[[], int]):
        self._session = Session(emit, is_user, current_step)
        self._watch = Watch(self._session.note)
        self._breaks = Breaks(self._session, self._watch)
        self._guard_sites = GuardSites(self._session, self._watch)
        self._frames = Frames(self._session, self._watch, self._breaks, self._guard_sites)
        self._subgraphs = Subgraphs(self._session, self._watch, self._frames, self._breaks)
        self._simulated = SimulatedLines(self._session, self._watch)
        self._notices = Notices(self._session, self._watch)

    def install(self) -> None:
        """Put the hooks in place; imports Paddle. What this Paddle does not have is noted and left out."""
        access.skip_files_below(_PACKAGE)
        lines.install(self._watch)
        for part in (self._breaks, self._guard_sites, self._frames, self._subgraphs, self._simulated, self._notices):
            part.install()

    def uninstall(self) -> None:
        """Take the hooks out again."""
        self._watch.restore()

    def called(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        """The program is about to call something that is to_static with these, from outside of any other."""
        self._subgraphs.called(args, kwargs)

    def end_step(self, index: int) -> None:
        """Emit what is collected by step (``frames``, ``subgraph-runs``, ``coverage``) for step ``index`` and start again."""
        self._watch.observe(self._simulated.end_step, index)
        self._watch.observe(self._subgraphs.end_step, index)
        self._watch.observe(self._frames.end_step, index)

    def translate_count(self) -> int:
        """How many frames SOT has translated in this process."""
        return access.translate_count()

    @property
    def seen_codes(self) -> Mapping[CodeType, int]:
        """Code objects that reached SOT, and how many times: a live view, by identity of the code object."""
        return self._frames.seen_codes

    def code_id(self, code: CodeType) -> int:
        """The id of a code object in the records; its ``code`` record is emitted the first time."""
        return self._session.code_id(code)
