"""All runs of a program to one Diagnosis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from sotprobe.analyze.assemble import assemble
from sotprobe.analyze.compare import full_graph, verdict
from sotprobe.analyze.cost import allot
from sotprobe.analyze.facts import Facts
from sotprobe.analyze.graph import graph_records
from sotprobe.analyze.rules import RULES
from sotprobe.errors import InputError
from sotprobe.model import Diagnosis, Evidence, Finding, ModeSummary, ReadStats, Run
from sotprobe.model.diagnosis import SEVERITIES
from sotprobe.model.run import DIAGNOSIS, STATIC


def diagnose(runs: Sequence[Run], *, saved_in: str | None = None) -> Diagnosis:
    """Conclude from the runs of one program. Raises InputError when there are none."""
    if not runs:
        raise InputError("There are no runs to diagnose.", "Run compare or record first.")
    facts = Facts(tuple(assemble(run) for run in runs))
    drafts = [draft for rule in RULES for draft in rule(facts)]
    parity = facts.parity.verdict if len(facts.modes) == 2 else None
    return Diagnosis(
        program=facts.runs[0].program,
        environment=facts.environment,
        modes=_with_graph(facts, runs),
        ratio=facts.ratio,
        parity=parity,
        verdict=verdict(facts.runs, facts.ratio, parity, nothing_captured=facts.nothing_captured),
        findings=tuple(sorted(allot(drafts, facts), key=_rank)),
        read_stats=_stats(facts.runs),
        notes=_notes(facts.runs),
        saved_in=saved_in,
    )


def _with_graph(facts: Facts, runs: Sequence[Run]) -> Mapping[str, ModeSummary]:
    """The modes' figures, the static one's with how it is split into subgraphs. ``runs`` are as they were read."""
    static = facts.modes.get(STATIC)
    run = next((run for run in runs if (run.mode, run.purpose) == (STATIC, DIAGNOSIS)), None)
    if run is None or static is None or facts.is_log or full_graph(run):
        return facts.modes
    return {**facts.modes, STATIC: replace(static, graph=graph_records(run).summary)}


def _rank(finding: Finding) -> tuple:
    """Errors first, then the most costly; what was not measured comes after what was, info last."""
    return (
        finding.severity == "error" and -1,
        finding.severity == "info",
        finding.cost_ns is None,
        -(finding.cost_ns or 0.0),
        SEVERITIES.index(finding.severity),
    )


def _stats(runs: Sequence[Run]) -> dict[str, ReadStats]:
    total: dict[str, ReadStats] = {}
    for run in runs:
        for reader, stats in run.read_stats.items():
            total[reader] = total.get(reader, ReadStats()) + stats
    return total


def _notes(runs: Sequence[Run]) -> tuple[Evidence, ...]:
    """Every run's notes with the run they are about, equal ones once."""
    notes = [
        replace(note, text=f"{run.mode} {run.purpose}: {note.text}", file=note.file and f"{Path(run.directory).name}/{note.file}")
        for run in runs
        for note in run.notes
    ]
    return tuple({note.text: note for note in notes}.values())
