"""``accuracy-mismatch`` and ``not-comparable``: results that differ, and programs that did not come through."""

from __future__ import annotations

from collections.abc import Iterator

from sotprobe.analyze.compare import failed
from sotprobe.analyze.facts import Facts
from sotprobe.analyze.parity import GROWTH, WRONG
from sotprobe.analyze.rules.base import ERROR, INFO, WARNING, Draft, make, title_of
from sotprobe.analyze.rules.endings import (
    HIGHER_ORDER,
    advice_for_log,
    boundaries,
    cause_of,
    evidence_of_log,
    harmless_title,
    terminated,
    was_under_way,
    why_harmless,
)
from sotprobe.model import Evidence, Run
from sotprobe.model.run import LOG, PARITY
from sotprobe.paddle_compat import vocabulary
from sotprobe.paddle_compat.cause_table.machine import MACHINE_IDS

_WRONG_ADVICE = (
    "Run the static mode with SOT_FORCE_FALLBACK_SIR_IDS set to the ids of single subgraphs (Paddle 3.0+): the id that makes the "
    "difference go away names the subgraph with the wrong operator."
)
_GROWTH_ADVICE = (
    "Nothing is wrong with a kernel: compare loss and gradients of step 0, or train with SGD to see the difference stay small."
)
_COMPARABLE_ADVICE = "Run both modes with the same batch, data, flags and versions (--dynamic-args / --static-args)."


def accuracy_mismatch(facts: Facts) -> Iterator[Draft]:
    """A wrong result is an error; rounding that the optimizer made grow is only told."""
    judgement = facts.parity
    if judgement.status not in (WRONG, GROWTH):
        return
    wrong = judgement.status == WRONG
    title = "the static mode computes something else" if wrong else "losses drift apart by rounding, not by a wrong kernel"
    evidence = [Evidence("parity", judgement.verdict.text), *(Evidence("parity", text) for text in judgement.details[:5])]
    advice = _WRONG_ADVICE if wrong else _GROWTH_ADVICE
    yield Draft(make(facts, "accuracy-mismatch", ERROR if wrong else INFO, title, None, evidence, advice=advice))


def not_comparable(facts: Facts) -> Iterator[Draft]:
    """Runs that failed, once for each mode and cause; and modes that did different work."""
    reported = set()
    for run in sorted(facts.runs, key=lambda run: run.purpose == PARITY):
        if not failed(run) or (terminated(run) and was_under_way(run)):
            continue
        cause = cause_of(run)
        if run.program.kind == LOG and cause in MACHINE_IDS:  # an ``environment`` finding: the model is not to blame
            continue
        draft = _failure(facts, run, cause)
        key = (run.mode, draft.finding.cause, draft.finding.site)
        if key not in reported:
            reported.add(key)
            yield draft
    verdict = facts.parity.verdict
    if not reported and len(facts.modes) == 2 and verdict.reasons:
        evidence = [Evidence("parity", reason) for reason in verdict.reasons]
        title = "the two modes did not do the same work"
        yield Draft(make(facts, "not-comparable", ERROR, title, None, evidence, advice=_COMPARABLE_ADVICE))


def _failure(facts: Facts, run: Run, cause: str) -> Draft:
    ended, of_log = run.exit, run.program.kind == LOG
    where = "the program" if of_log else f"the {run.mode} mode"
    evidence = evidence_of_log(facts, run, cause) if of_log else _failure_evidence(facts, run, cause)
    # only the noise floor is missing in a parity run; who ended a program from outside had a reason that the log does not tell
    severity = WARNING if run.purpose == PARITY or terminated(run) else ERROR
    advice = advice_for_log(run, cause) if of_log else None
    title = _failure_title(run, cause, where)
    return Draft(make(facts, "not-comparable", severity, title, ended.site, evidence, cause=cause, advice=advice))


def _failure_title(run: Run, cause: str, where: str) -> str:
    ended = run.exit
    titles = {
        "signal": f"{where} was killed by {ended.signal}",
        "timeout": f"{where} did not end in time",
        "no-start": f"{where} never started",
        "unknown": f"{where} ended and nothing says how",
    }
    if terminated(run):
        return f"{where} was ended by {ended.signal} before it logged a step"
    if cause in titles:
        return titles[cause]
    if ended.error_type is None and ended.code is not None:
        return f"{where} ended with code {ended.code}"
    said = vocabulary.first_line(ended.error_message or "")
    title = f"{where} failed: {ended.error_type}: {said}" if said else f"{where} failed: {ended.error_type}"
    return title if cause == "program-error" else f"{title} ({title_of(cause)})"


def _failure_evidence(facts: Facts, run: Run, cause: str) -> Iterator[Evidence]:
    ended = run.exit
    yield Evidence("steps", f"{len(run.steps)} steps were recorded until then ({run.purpose} run)")
    if ended.error_message:
        yield Evidence("exit", f"{ended.error_type or 'refused'}: {ended.error_message.strip()}", "records.jsonl")
    if ended.stack:
        yield Evidence("exit", "user stack: " + " > ".join(f"{site} ({site.function})" for site in ended.stack))
    elif ended.stacks:
        yield Evidence("exit", ended.stacks.strip(), "stacks.txt")
    if cause == HIGHER_ORDER:
        yield from boundaries(facts)


def benign_exit(facts: Facts) -> Iterator[Draft]:
    """A program that leaves by sys.exit(0) before its end, as _nvprof_range does after its window; and one that was asked to end
    when its log had steps."""
    for run in facts.runs:
        if terminated(run) and was_under_way(run):
            yield Draft(make(facts, "benign-exit", INFO, harmless_title(run), None, why_harmless(run), cause="terminated"))
    yield from _left_early(facts)


def _left_early(facts: Facts) -> Iterator[Draft]:
    leaving = [run for run in facts.runs if run.exit.reason == "system-exit"]
    codes = {run.exit.code for run in leaving}
    if not leaving:
        return
    code = max((code for code in codes if code), default=0)
    title = "the program left by sys.exit" + (f" with code {code}" if code else "")
    steps = max(len(run.steps) for run in leaving)
    text = f"{len(leaving)} of {len(facts.runs)} runs, after {steps} steps; all of them were recorded"
    advice = "Nothing to do." if not code else "Its own exit code says that something went wrong: see stderr.txt."
    yield Draft(make(facts, "benign-exit", INFO, title, None, [Evidence("exit", text, "exit.json")], advice=advice))
