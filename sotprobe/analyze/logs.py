"""Runs read from logs to one Diagnosis: every process is judged by itself, then equal findings become one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from sotprobe.analyze.compare import failed
from sotprobe.analyze.diagnose import diagnose
from sotprobe.analyze.loglimits import limits
from sotprobe.analyze.logranks import LOG as READER
from sotprobe.analyze.logranks import in_order, merged, rank_of, stopped_alone
from sotprobe.analyze.logverdict import verdict
from sotprobe.analyze.rules.base import WARNING
from sotprobe.model import Diagnosis, Evidence, Finding, LogSummary, ModeSummary, ProgramInfo, ReadStats, Run
from sotprobe.model.run import LOG, STATIC
from sotprobe.readers.parts import COUNTS

PREFIX = "log."


def diagnose_logs(
    runs: Sequence[Run], stats: Mapping[str, ReadStats], refused: Sequence[str] = (), *, with_source: bool = False
) -> Diagnosis:
    """Conclude from what several processes and files of one program logged. No time is known, so no cost is.

    ``refused`` says of the files that could not be read why; ``with_source``: the program's code was at hand.
    """
    processes = [(run, diagnose([run])) for run in runs]
    counts = {name: _total(runs, name) for name in COUNTS}
    log = _log(runs, refused)
    findings = _with_the_reason(merged([(run, diagnosis.findings) for run, diagnosis in processes]), stopped_alone(runs))
    return Diagnosis(
        program=ProgramInfo(", ".join(log.files), LOG),
        environment=_environment(runs),
        modes={STATIC: _summary(processes)},
        ratio=None,
        parity=None,
        verdict=verdict(processes, findings, counts, log),
        findings=findings,
        read_stats=stats,
        notes=_notes(runs, limits(runs, counts, with_source=with_source)),
        counts=counts,
        log=log,
    )


def _with_the_reason(findings: Sequence[Finding], stopped: Sequence[str]) -> tuple[Finding, ...]:
    """Findings in which an end from outside is no longer called harmless when a rank that is gone may be its reason."""
    if not stopped:
        return tuple(findings)
    title = f"the program was ended from outside, where {_ranks(stopped)} had stopped without a word"
    advice = (
        f"Look at the last lines of {_ranks(stopped)}, and in the kernel's log (dmesg) for its out-of-memory killer: a launcher "
        "ends all processes when one of them is gone."
    )
    return tuple(
        replace(finding, title=title, advice=advice, severity=WARNING, cause="signal", slug="not-comparable")
        if finding.slug == "benign-exit"
        else finding
        for finding in findings
    )


def _total(runs: Sequence[Run], name: str) -> int:
    return sum(int(run.counts.get(PREFIX + name, 0)) for run in runs)


def _log(runs: Sequence[Run], refused: Sequence[str]) -> LogSummary:
    numbers = {name: _total(runs, name) for name in ("lines", "calls", "static_calls", "steps")}
    return LogSummary(
        files=tuple(dict.fromkeys(run.directory for run in runs)),
        ranks=in_order(rank for run in runs if (rank := rank_of(run)) is not None),
        refused=tuple(refused),
        **numbers,
    )


def _environment(runs: Sequence[Run]) -> dict[str, object]:
    """What the logs say of where they were written; where they disagree, everything that they say."""
    found: dict[str, list[object]] = {}
    for run in runs:
        for name, value in run.environment.items():
            values = found.setdefault(name, [])
            if value not in values:
                values.append(value)
    found.pop("rank", None)
    return {name: values[0] if len(values) == 1 else _several(name, values) for name, values in found.items()}


def _several(name: str, values: Sequence[object]) -> object:
    if name == "log_level":
        return max(values, key=int)
    if all(isinstance(value, Mapping) for value in values):
        return {key: item for value in values for key, item in value.items()}
    return ", ".join(map(str, values))


def _summary(processes: Sequence[tuple[Run, Diagnosis]]) -> ModeSummary:
    """The counts of all processes together, and the end of the one that ended worst."""
    modes = [diagnosis.modes[STATIC] for _, diagnosis in processes]
    names = ("subgraphs", "translations", "recompiles", "breaks", "fallbacks", "not_captured")
    totals = {name: sum(getattr(mode, name) or 0 for mode in modes) for name in names}
    broken = sorted((run for run, _ in processes if failed(run)), key=lambda run: run.exit.reason != "signal")
    return replace(modes[0], **totals, exit=broken[0].exit if broken else modes[0].exit)


def _notes(runs: Sequence[Run], untold: Iterable[Evidence]) -> tuple[Evidence, ...]:
    """What went wrong while reading, how the ranks differ, and what these logs cannot tell."""
    read = [note for run in runs for note in run.notes]
    return tuple(dict.fromkeys([*read, *_uneven(runs), *untold]))


def _uneven(runs: Sequence[Run]) -> list[Evidence]:
    """Ranks that got less far than others: where a distributed program hangs, one of them is the reason."""
    notes = []
    for name in ("calls", "steps"):
        reached: Counter[str] = Counter()
        for run in runs:
            rank = rank_of(run)
            if rank is not None:
                reached[rank] += int(run.counts.get(PREFIX + name, 0))
        logging = {rank: number for rank, number in reached.items() if number}
        if len(set(logging.values())) > 1:
            most, least = max(logging.values()), min(logging.values())
            behind = in_order(rank for rank, number in logging.items() if number == least)
            text = f"the ranks did not get equally far: {least} {name} in {_ranks(behind)}, up to {most} in others"
            notes.append(Evidence(READER, text))
    return notes


def _ranks(ranks: Sequence[str]) -> str:
    return f"rank {ranks[0]}" if len(ranks) == 1 else f"ranks {', '.join(ranks)}"
