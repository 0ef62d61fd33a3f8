"""How files are named to a reader who knows which ones they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def short_names(paths: Sequence[str]) -> Mapping[str, str]:
    """Path -> as much of its end as tells it from the others."""
    parts = {path: path.rstrip("/").split("/") for path in paths}
    length = 1
    longest = max(map(len, parts.values()), default=0)
    while length < longest and len({tuple(tail[-length:]) for tail in parts.values()}) < len(parts):
        length += 1
    return {path: "/".join(tail[-length:]) for path, tail in parts.items()}
