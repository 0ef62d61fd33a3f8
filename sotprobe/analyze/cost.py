"""What each finding costs per step.

A line's loss is its wall time in the static mode minus that of the same line in the dynamic mode, both outside subgraphs and
without the slowdown of tracing. Each line is given to one finding only, the most specific that claims it; a finding whose
lines all went to others costs nothing more. The time a recompile costs is its translations spread over the steps. What was not
measured has no cost, and all costs together never exceed a step.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace

from sotprobe.analyze.assemble import TRACING_FACTOR
from sotprobe.analyze.facts import Facts, Line
from sotprobe.analyze.rules.base import Claim, Draft
from sotprobe.model import Evidence, Finding


def allot(drafts: Sequence[Draft], facts: Facts) -> list[Finding]:
    """The findings with ``cost_ns`` and ``cost_share``, in the order of the drafts."""
    excess = line_excess(facts)
    costs: dict[int, float | None] = {}
    owners: dict[Line, Finding] = {}
    findings = [draft.finding for draft in drafts]
    for position in sorted(range(len(drafts)), key=lambda position: drafts[position].claim.rank):
        claim, finding = drafts[position].claim, findings[position]
        cost = _cost(claim, excess, owners.keys())
        elsewhere = tuple(_elsewhere(claim, excess, owners))
        more = tuple(Evidence("lines", f"the time of some of its lines is {text}") for text in elsewhere)
        if elsewhere and not cost:  # 0 would say that nothing was lost
            cost, more, finding = None, (), replace(finding, cost_note=" and ".join(elsewhere))
        elif cost and claim.translation_ns is None:
            more += _correction(facts)
        costs[position] = cost
        findings[position] = replace(finding, evidence=(*finding.evidence, *more))
        owners.update(dict.fromkeys(claim.lines - owners.keys(), finding))
    guards = _unclaimed_guards(drafts, facts)
    for position, draft in enumerate(drafts):
        if draft.claim.guard_frames and not draft.claim.lines:
            costs[position] = guards
    recompiling = any(draft.claim.translation_ns is not None for draft in drafts)
    return _price(findings, [costs[p] for p in range(len(drafts))], facts, recompiling=recompiling)


def line_excess(facts: Facts) -> dict[Line, float] | None:
    """Nanoseconds per step that a line takes longer in static mode; None unless both modes were measured."""
    static, dynamic = facts.all_lines_of(facts.static), facts.all_lines_of(facts.dynamic)
    if static is None or dynamic is None:
        return None
    return {line: total.wall_ns - (dynamic[line].wall_ns if line in dynamic else 0.0) for line, total in static.items()}


def _correction(facts: Facts) -> tuple[Evidence, ...]:
    """How much of the recorded line times was taken off for tracing them."""
    factors = {run.mode: run.counts[TRACING_FACTOR] for run in (facts.dynamic, facts.static)
               if run is not None and TRACING_FACTOR in run.counts}  # fmt: skip
    if not factors:
        return ()
    text = ", ".join(f"x{factor:.2f} in {mode} mode" for mode, factor in factors.items())
    return (Evidence("lines", f"line times are corrected for the slowdown of tracing: {text}"),)


def _elsewhere(claim: Claim, excess: dict[Line, float] | None, owners: Mapping[Line, Finding]) -> Iterator[str]:
    """Where the time of this finding's lines went when another one has it."""
    spent: dict[Finding, float] = defaultdict(float)
    for line in claim.lines & owners.keys():
        spent[owners[line]] += (excess or {}).get(line, 0.0)
    for owner, ns in spent.items():
        if ns > 0.0:
            yield f"counted with {owner.slug} at {owner.site}"


def _cost(claim: Claim, excess: dict[Line, float] | None, taken: Set[Line]) -> float | None:
    if claim.translation_ns is not None:
        return claim.translation_ns
    if excess is None or claim.lines.isdisjoint(excess):
        return None
    return max(0.0, sum(excess.get(line, 0.0) for line in claim.lines - taken))


def _unclaimed_guards(drafts: Sequence[Draft], facts: Facts) -> float | None:
    """Callback time of the frames that no break created: that of the others is in the time of the breaks' lines."""
    if facts.static is None or not facts.static.guard_ns:
        return None
    claimed = {frame for draft in drafts if draft.claim.lines for frame in draft.claim.guard_frames}
    return sum(ns for frame, ns in facts.static.guard_ns.items() if frame not in claimed)


def _price(findings: list[Finding], costs: list[float | None], facts: Facts, *, recompiling: bool) -> list[Finding]:
    """Costs as shares of the step of the run they were measured in, and in the milliseconds of a timed step.

    While something is recompiled over and over no step is typical: then the mean step is what they are shares of.
    """
    measured_in = facts.mean_step_ns if recompiling else facts.diagnosed_step_ns or facts.step_ns
    total = sum(cost for cost in costs if cost is not None)
    within = measured_in / total if measured_in and total > measured_in else 1.0
    to_timed = 1.0 if recompiling else facts.to_timed
    priced = []
    for finding, cost in zip(findings, costs, strict=True):
        if cost is None:
            priced.append(finding)
            continue
        share = cost * within / measured_in if measured_in else None
        priced.append(replace(finding, cost_ns=cost * within * to_timed, cost_share=share))
    return priced
