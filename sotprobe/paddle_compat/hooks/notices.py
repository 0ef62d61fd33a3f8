"""What Paddle itself says about the mode it uses: Python too new for SOT, options without effect.

It speaks through ``warnings`` and through a logger of its own (``dy2static/logging_utils.py``). Both are listened to,
only for files of ``paddle/jit``, and each message is recorded once.
"""

from __future__ import annotations

import importlib
import os
import warnings
from collections.abc import Callable
from typing import Any

from sotprobe.paddle_compat.hooks.session import Session
from sotprobe.paddle_compat.hooks.watch import Watch


class Notices:
    """Emits ``warning`` records."""

    def __init__(self, session: Session, watch: Watch):
        self._session = session
        self._watch = watch
        self._seen: set[str] = set()
        self._directory = ""

    def install(self) -> None:
        self._directory = os.path.dirname(importlib.import_module("paddle.jit").__file__ or "") + os.sep
        self._watch.replace(warnings, "showwarning", self._showwarning)
        logging_utils = importlib.import_module("paddle.jit.dy2static.logging_utils")
        self._watch.replace(logging_utils, "warn", self._warn)

    def _showwarning(self, original: Callable[..., None]) -> Callable[..., None]:
        def showwarning(message: Any, category: Any, filename: str, *args: Any, **kwargs: Any) -> None:
            if filename.startswith(self._directory):
                self._watch.observe(self._emit, str(message), category.__name__)
            original(message, category, filename, *args, **kwargs)

        return showwarning

    def _warn(self, original: Callable[..., None]) -> Callable[..., None]:
        def warn(message: str, *args: Any, **kwargs: Any) -> None:
            self._watch.observe(self._emit, message, "Warning")
            original(message, *args, **kwargs)

        return warn

    def _emit(self, message: str, category: str) -> None:
        if message in self._seen:
            return
        self._seen.add(message)
        outer = self._session.outer()
        self._session.emit("warning", message=message, category=category, site=outer[-1] if outer else None)
