"""Runs read from logs to one Diagnosis: every process is judged by itself, then equal findings become one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from sotprobe.analyze.diagnose import diagnose
from sotprobe.model import Diagnosis, Evidence, Finding, ModeSummary, ProgramInfo, ReadStats, Run, Verdict
from sotprobe.model.diagnosis import SEVERITIES
from sotprobe.model.run import LOG, STATIC

PREFIX = "log."


def diagnose_logs(runs: Sequence[Run], stats: Mapping[str, ReadStats]) -> Diagnosis:
    """Conclude from what several processes and files of one program logged. No time is known, so no cost is."""
    single = [diagnose([run]) for run in runs]
    counts = _counts(runs)
    findings = _merged(runs, single)
    names = list(dict.fromkeys(run.directory for run in runs))
    return Diagnosis(
        program=ProgramInfo(", ".join(names), LOG),
        environment=_environment(runs),
        modes={STATIC: _summary(single)},
        ratio=None,
        parity=None,
        verdict=_verdict(runs, findings, counts),
        findings=findings,
        read_stats=stats,
        notes=_notes(single),
        counts=counts,
    )


def _counts(runs: Sequence[Run]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for run in runs:
        total.update({name.removeprefix(PREFIX): int(value) for name, value in run.counts.items() if name.startswith(PREFIX)})
    return dict(total)


def _environment(runs: Sequence[Run]) -> dict[str, object]:
    merged: dict[str, object] = {}
    for run in runs:
        merged.update(run.environment)
    merged.pop("rank", None)
    return merged


def _summary(single: Sequence[Diagnosis]) -> ModeSummary:
    """The counts of all processes together."""
    modes = [diagnosis.modes[STATIC] for diagnosis in single]
    names = ("subgraphs", "translations", "recompiles", "breaks", "fallbacks", "not_captured")
    totals = {name: sum(getattr(mode, name) or 0 for mode in modes) for name in names}
    return replace(modes[0], **totals)


def _merged(runs: Sequence[Run], single: Sequence[Diagnosis]) -> tuple[Finding, ...]:
    """Findings of one cause at one line, told by several processes, are one that names them."""
    found: dict[tuple, Finding] = {}
    for run, diagnosis in zip(runs, single, strict=True):
        rank = run.environment.get("rank")
        for finding in diagnosis.findings:
            ranks = (str(rank),) if rank is not None else ()
            key = (finding.slug, finding.cause, finding.site, finding.title)
            known = found.get(key)
            if known is None:
                found[key] = replace(finding, ranks=ranks)
            else:
                evidence = tuple(dict.fromkeys((*known.evidence, *finding.evidence)))
                found[key] = replace(known, ranks=tuple(dict.fromkeys((*known.ranks, *ranks))), evidence=evidence)
    return tuple(sorted(found.values(), key=lambda finding: SEVERITIES.index(finding.severity)))


def _notes(single: Sequence[Diagnosis]) -> tuple[Evidence, ...]:
    return tuple({note.text: note for diagnosis in single for note in diagnosis.notes}.values())


def _verdict(runs: Sequence[Run], findings: Sequence[Finding], counts: Mapping[str, int]) -> Verdict:
    if not counts["frames_entered"]:
        return Verdict("no-sot-lines", "the log has no lines of SOT: it says nothing of what was captured")
    text = f"{counts['subgraph_runs']} runs of subgraphs in {counts['calls']} calls"
    return Verdict("log-read", text)
