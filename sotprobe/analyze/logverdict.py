"""The first line about logs: the most important thing they say, numbers first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sotprobe.analyze.compare import failed
from sotprobe.analyze.logranks import in_order, rank_of, stopped_alone
from sotprobe.analyze.rules.base import ERROR, plural
from sotprobe.analyze.rules.endings import terminated
from sotprobe.analyze.rules.mode_used import TOO_NEW
from sotprobe.model import Diagnosis, Finding, LogSummary, Run, Verdict
from sotprobe.paddle_compat.vocabulary import first_line

# Slugs of ends, what explains most first.
_ENDINGS = ("crashed", "failed", "ended-from-outside")
_LONGEST_MESSAGE = 160
_HOW_TO_LOG = "record it with SOT_LOG_LEVEL=2 or higher"


def verdict(
    processes: Sequence[tuple[Run, Diagnosis]], findings: Sequence[Finding], counts: Mapping[str, int], log: LogSummary
) -> Verdict:
    """How the program ended comes first when it ended badly, then what of it ran statically."""
    if is_empty([run for run, _ in processes]):
        return Verdict("empty", "the log is empty" if len(log.files) == 1 else "the logs are empty")
    captured = _captured(findings, counts, log)
    told = bool(counts["frames_entered"] or counts["subgraph_runs"])
    broken = [(run, diagnosis) for run, diagnosis in processes if failed(run) and not _is_benign(diagnosis)]
    if broken:
        slug, text = _broken(broken, log)
        return Verdict(slug, f"{text}; {captured.text}" if told else text)
    stopped = stopped_alone([run for run, _ in processes])
    if stopped:
        text = f"{_named(stopped)} stopped without a word; then others were ended from outside"
        return Verdict("rank-stopped", f"{text}; {captured.text}" if told else text)
    ending = next((finding.title for finding in findings if finding.slug == "benign-exit"), None)
    if ending is None:
        return captured
    if told:
        return Verdict(captured.slug, f"{captured.text}; {ending}")
    return Verdict(captured.slug, f"{plural(log.steps, 'step')} logged; {ending}; {captured.text}")


def is_empty(runs: Sequence[Run]) -> bool:
    """Whether there is no line in any of the files."""
    return all(run.counts.get("log.lines") == 0 for run in runs) and not any(run.subgraphs for run in runs)


def _named(ranks: Sequence[str]) -> str:
    return f"rank {ranks[0]}" if len(ranks) == 1 else f"ranks {', '.join(ranks)}"


def _is_benign(diagnosis: Diagnosis) -> bool:
    return any(finding.slug == "benign-exit" for finding in diagnosis.findings)


def _broken(broken: Sequence[tuple[Run, Diagnosis]], log: LogSummary) -> tuple[str, str]:
    """(slug, text) of processes that crashed or failed: a signal says more than the exceptions it causes elsewhere."""
    ended = sorted(
        ((_ending(run), _what(run, diagnosis), run) for run, diagnosis in broken), key=lambda end: _ENDINGS.index(end[0])
    )
    slug, what, first = ended[0]
    same = [run for other, about, run in ended if (other, about) == (slug, what)]
    return slug, f"{_who(same, log)} {_verb(slug, first)}{_after(first)}{what}"


def _ending(run: Run) -> str:
    if terminated(run):
        return "ended-from-outside"
    return "crashed" if run.exit.reason == "signal" else "failed"


def _verb(slug: str, run: Run) -> str:
    if slug == "ended-from-outside":
        return "was ended from outside"
    return "did not end in time" if run.exit.reason == "timeout" else slug


def _what(run: Run, diagnosis: Diagnosis) -> str:
    """What ended it; trouble with the machine in the words of its finding, which are clearer than Paddle's."""
    machine = next(
        (finding for finding in diagnosis.findings if finding.slug == "environment" and finding.severity == ERROR), None
    )
    if machine is not None:
        return f": {machine.title}"
    ended = run.exit
    if ended.reason == "signal":
        return f": {ended.signal}"
    if ended.error_type is None:
        return "" if ended.code is None else f": exit code {ended.code}"
    name, said = ended.error_type.rpartition(".")[2], _short(first_line(ended.error_message or ""))
    return f": {name}: {said}" if said else f": {name}"


def _short(message: str) -> str:
    """Its first sentence; the finding has all of it."""
    message = message.partition(". ")[0].rstrip(". ")
    return message if len(message) <= _LONGEST_MESSAGE else f"{message[:_LONGEST_MESSAGE].rstrip()}…"


def _who(runs: Sequence[Run], log: LogSummary) -> str:
    ranks = in_order(rank for run in runs if (rank := rank_of(run)) is not None)
    if not ranks or len(log.ranks) < 2:
        return "the program"
    if len(ranks) == len(log.ranks):
        return f"all {len(ranks)} ranks"
    return f"rank {ranks[0]} alone" if len(ranks) == 1 else f"{len(ranks)} of {len(log.ranks)} ranks"


def _after(run: Run) -> str:
    steps, calls = (int(run.counts.get(f"log.all_{name}", 0)) for name in ("steps", "calls"))
    if steps:
        return f" after {plural(steps, 'step')}"
    return f" after {plural(calls, 'call')}" if calls else ""


def _captured(findings: Sequence[Finding], counts: Mapping[str, int], log: LogSummary) -> Verdict:
    suspects = [finding for finding in findings if finding.suspected]
    if not counts["frames_entered"] and not counts["subgraph_runs"]:
        unused = next((finding for finding in findings if finding.cause == TOO_NEW), None)
        if unused is not None:
            return Verdict("sot-not-used", unused.title)
        return _calls_not_logged(findings, suspects, counts)
    calls = f"{plural(log.calls, 'call')}{f' of {len(log.ranks)} ranks' if len(log.ranks) > 1 else ''}"
    if not counts["subgraph_runs"]:
        return Verdict(
            "nothing-captured", f"nothing ran statically in {calls}: {_why_nothing(findings, counts)}{_also(suspects)}"
        )
    runs = f"{plural(counts['subgraphs_built'], 'subgraph')} built, {plural(counts['subgraph_runs'], 'run')}"
    behind = _behind(findings, counts)
    if not log.calls:  # the log begins in the middle of one
        return Verdict("ran-statically", f"{runs}{behind}")
    if log.static_calls >= log.calls:
        return Verdict("ran-statically", f"{_every(log.calls)} ran subgraphs ({runs}){behind}")
    return Verdict("partly-static", f"{log.static_calls} of {calls} ran subgraphs ({runs}){behind}{_also(suspects)}")


def _every(calls: int) -> str:
    return "the only call" if calls == 1 else f"all {calls} calls"


def _calls_not_logged(findings: Sequence[Finding], suspects: Sequence[Finding], counts: Mapping[str, int]) -> Verdict:
    """No word on what ran statically. Collectors and SOT_LOG_LEVEL 1 tell something all the same."""
    trouble = ", ".join(_trouble(findings, counts))
    if trouble:
        text = f"{trouble}; calls are not logged, so that what ran statically is not known; {_HOW_TO_LOG}{_also(suspects)}"
        return Verdict("calls-not-logged", text)
    text = "no SOT lines of frames in the log, which is no success: "
    if suspects:
        return Verdict("no-sot-lines", f"{text}{_suspected(suspects)}; or SOT_LOG_LEVEL was below 2")
    return Verdict("no-sot-lines", f"{text}SOT_LOG_LEVEL was below 2, or SOT was shown no frame; {_HOW_TO_LOG}")


def _suspected(suspects: Sequence[Finding]) -> str:
    first = suspects[0]
    where = f"{first.site.function} at {first.site}" if first.site else first.title
    more = f" and {len(suspects) - 1} more" if len(suspects) > 1 else ""
    return f"by its source SOT would skip {where}{more} without a word"


def _also(suspects: Sequence[Finding]) -> str:
    return f"; {_suspected(suspects)}" if suspects else ""


def _why_nothing(findings: Sequence[Finding], counts: Mapping[str, int]) -> str:
    """What became of the frames and subgraphs."""
    built = plural(counts["subgraphs_built"], "subgraph")
    hits = counts["cached_fallback_hits"]
    small = not hits and any(finding.slug == "small-graph" for finding in findings)
    parts = [f"{built} built and none run" if counts["subgraphs_built"] else "no subgraph was built"]
    if small:
        parts = [f"{parts[0]} (MIN_GRAPH_SIZE, or forced)"]
    return ", ".join([*parts, *_trouble(findings, counts), *([f"{plural(hits, 'hit')} of cached fallbacks"] if hits else [])])


def _behind(findings: Sequence[Finding], counts: Mapping[str, int]) -> str:
    trouble = ", ".join(_trouble(findings, counts))
    return f"; {trouble}" if trouble else ""


def _trouble(findings: Sequence[Finding], counts: Mapping[str, int]) -> list[str]:
    """What is worth a word beside what ran."""
    full = counts["cache_exceeded"]
    texts = [f"cache full {plural(full, 'time')}"] if full else []
    texts += ["compile-time limit reached"] if any(finding.slug == "compile-limit" for finding in findings) else []
    named = (("fallbacks", "fallback"), ("breaks", "graph break"), ("recompiles", "recompile"))
    return [*texts, *(plural(counts[name], noun) for name, noun in named if counts[name])]
