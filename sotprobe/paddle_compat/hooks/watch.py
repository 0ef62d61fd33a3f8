"""How hooks are put in place without ever changing what the program does.

An observer that raises is a bug of sotprobe, not of the program: it is noted once and the program goes on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Watch:
    """Replaces attributes and runs observers; ``note`` is called with a text when an observer fails."""

    def __init__(self, note: Callable[[str], None]):
        self._note = note
        self._failed: set[str] = set()
        self._replaced: list[tuple[object, str, object]] = []

    def replace(self, owner: object, name: str, make: Callable[[Any], Any]) -> None:
        """Set ``owner.name`` to ``make(original)``; a name that this Paddle does not have is noted."""
        original = vars(owner).get(name)
        if original is None:
            self._note(f"hook: {getattr(owner, '__name__', owner)}.{name} does not exist in this Paddle")
            return
        self._replaced.append((owner, name, original))
        setattr(owner, name, make(original))

    def restore(self) -> None:
        """Undo every replacement, the last one first."""
        while self._replaced:
            owner, name, original = self._replaced.pop()
            setattr(owner, name, original)

    def observe(self, observer: Callable[..., Any], *args: Any) -> Any:
        """Run an observer; None when it fails."""
        try:
            return observer(*args)
        except Exception as error:  # noqa: BLE001 - whatever fails here must not reach the user's program
            name = getattr(observer, "__qualname__", repr(observer))
            if name not in self._failed:
                self._failed.add(name)
                self._note(f"hook: {name} failed: {type(error).__name__}: {error}")
            return None
