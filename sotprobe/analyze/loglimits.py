"""What logs cannot tell, each said once and with what would tell it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sotprobe.analyze.compare import failed
from sotprobe.analyze.logverdict import is_empty
from sotprobe.model import Evidence, Run
from sotprobe.paddle_compat.versions import parse_version

READER = "limits"


def limits(runs: Sequence[Run], counts: Mapping[str, int], *, with_source: bool) -> Iterator[Evidence]:
    """``counts`` are those of all processes together; ``with_source``: the program's code was at hand.

    That there are no lines of SOT at all is the verdict's to say.
    """
    if counts["breaks"] and not _every_level(runs, 3):
        yield _note("lines and reasons of graph breaks are logged from SOT_LOG_LEVEL=3 on")
    ended_early = not counts["frames_entered"] and any(failed(run) for run in runs)
    if not is_empty(runs) and _skips_are_silent(runs) and not with_source and not ended_early:
        yield _note(
            "functions with a with or try block are skipped without a line, at any level (Python 3.11 and later): "
            "--source DIR lists them"
        )


def _note(text: str) -> Evidence:
    return Evidence(READER, text)


def _every_level(runs: Sequence[Run], level: int) -> bool:
    levels = [run.environment["log_level"] for run in runs if "log_level" in run.environment]
    return bool(levels) and all(isinstance(seen, int) and seen >= level for seen in levels)


def _skips_are_silent(runs: Sequence[Run]) -> bool:
    """Unless every log is known to come from an older Python."""
    known = (run.environment.get("python") or run.environment.get("python_seen") for run in runs)
    versions = [parse_version(str(version or "")) for version in known]
    return any(version is None or version >= (3, 11) for version in versions)
