"""What sotprobe makes of every log of a shared case, as one readable page: the golden files of golden/ are such pages.

Below each log's name: what is said of versions and level, the verdict's slug, counts that are not 0, events with how often each
was seen, findings, what the source at hand adds (+) or takes away (-), and how many lines each reader understood.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from shared_cases import all_logs, diagnosis_of, directory_of

from sotprobe.model import Diagnosis, Event, Finding, ReadStats, SourceSite
from sotprobe.readers.log import LogOptions, read_logs

GOLDEN = Path(__file__).parent / "golden"


def pages() -> dict[Path, str]:
    """File -> content, for every case that has logs."""
    return {GOLDEN / f"{name}.txt": page(name) for name in sorted({path.parent.name for path in all_logs()})}


def page(directory: str) -> str:
    case = directory.partition("_")[0]
    names = [path.name for path in all_logs() if path.parent.name == directory]
    return "\n\n".join("\n".join(_section(case, name)) for name in names) + "\n"


def _section(case: str, log: str) -> Iterable[str]:
    diagnosis = diagnosis_of(case, log)
    yield f"== {log}"
    yield f"{diagnosis.verdict.slug}; {_environment(diagnosis)}"
    counts = diagnosis.counts or {}
    yield "counts  " + (" ".join(f"{name}={number}" for name, number in counts.items() if number) or "none")
    reading = read_logs([str(directory_of(case) / log)], LogOptions())
    for run in reading.runs:
        yield from (f"event   {text}" for text in _folded(run.events))
    found = [_finding(finding) for finding in diagnosis.findings]
    yield from (f"finding {text}" for text in found)
    sourced = [_finding(finding) for finding in diagnosis_of(case, log, sourced=True).findings]
    yield from (f"source  - {text}" for text in found if text not in sourced)
    yield from (f"source  + {text}" for text in sourced if text not in found)
    yield "read    " + "; ".join(f"{name} {_stats(stats)}" for name, stats in sorted(diagnosis.read_stats.items()))


def _environment(diagnosis: Diagnosis) -> str:
    """Versions that the log states, or else what its wording proves."""
    said = diagnosis.environment
    known = {name: said.get(name, said.get(f"{name}_seen")) for name in ("paddle", "python", "log_level")}
    return ", ".join(f"{name} {'?' if value is None else value}" for name, value in known.items())


def _folded(events: Iterable[Event]) -> Iterable[str]:
    """Events that differ in nothing but their step are one, in the order in which they were first seen."""
    groups: dict[str, list[Event]] = {}
    for event in events:
        groups.setdefault(_event(event), []).append(event)
    for text, same in groups.items():
        steps = sorted({event.step for event in same if event.step is not None})
        when = f" in step {steps[0]}" if len(steps) == 1 else f" in steps {steps[0]} to {steps[-1]}" if steps else ""
        yield f"{text} x{sum(event.count for event in same)}{when}"


def _event(event: Event) -> str:
    chain = " behind " + ", ".join(str(line or "?") for line in event.break_lines) if event.break_lines else ""
    frame = "" if event.frame is None or event.frame == event.site else f" of {_site(event.frame)}"
    return f"{event.kind}/{event.cause or '-'} {_site(event.site)}{frame}{chain}"


def _finding(finding: Finding) -> str:
    suspected = " suspected" if finding.suspected else ""
    return f"{finding.severity}{suspected} {finding.slug}/{finding.cause or '-'} {_site(finding.site)}"


def _site(site: SourceSite | None) -> str:
    if site is None:
        return "-"
    return f"{site.path.rpartition('/')[2]}:{site.line} {site.function} ({site.precision})"


def _stats(stats: ReadStats) -> str:
    named = ("matched", "ignored", "unrecognised", "malformed")
    return " ".join(f"{name} {getattr(stats, name)}" for name in named if getattr(stats, name)) or "nothing"
