"""The phrases and figures of a result that was read from logs, the same on every page. No judgement, no layout."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sotprobe.model import Diagnosis, ExitStatus, Finding, LogSummary, ReadStats
from sotprobe.model.paths import short_names
from sotprobe.report.text import count, percent, plural, visible

# A shorter path stays as it was given: it can be copied then.
SHORT_PATH = 32
STDIN = "-"
MOST_FILES = 6
# What happens less often is told by how many calls lie between.
SELDOM = 0.5
MOST_SAMPLES = 5


def counts(diagnosis: Diagnosis) -> Iterator[tuple[str, str]]:
    """A label and its figures, for every figure of ``Diagnosis.counts`` and how far the program got.

    A log that names no frame leaves most of them unknown: only what is told is printed then.
    """
    number = diagnosis.counts or {}
    for label, names, figures in _figures(number, diagnosis.log):
        if number.get("frames_entered") or any(number.get(name) for name in names):
            yield label, figures


def _figures(number: Mapping[str, int], log: LogSummary | None) -> Iterator[tuple[str, tuple[str, ...], str]]:
    """(label, the counts it shows, the text)"""
    if log is not None:
        steps = f"; {plural(log.steps, 'step')} logged" if log.steps else ""
        yield "calls", (), f"{log.calls} of the outermost function, {log.static_calls} with subgraphs{steps}"
    shown = ("frames_entered", "translations", "recompiles")
    entered, translated, again = (number.get(name, 0) for name in shown)
    yield "frames", shown, f"{entered} entered, {plural(translated, 'translation')}, {plural(again, 'recompile')}"
    shown = ("cache_hits", "cached_fallback_hits", "cache_misses", "cache_exceeded")
    hits, eager, misses, full = (number.get(name, 0) for name in shown)
    found = f"{plural(hits, 'hit')}, {plural(eager, 'cached fallback hit')}, {plural(misses, 'miss', 'misses')}"
    yield "cache", shown, f"{found}, exceeded {plural(full, 'time')}"
    shown = ("subgraphs_built", "subgraph_runs")
    built, runs = (number.get(name, 0) for name in shown)
    yield "subgraphs", shown, f"{built} built, {plural(runs, 'run')}"
    shown = ("fallbacks", "breaks")
    fallbacks, breaks = (number.get(name, 0) for name in shown)
    yield "lost", shown, f"{plural(fallbacks, 'fallback')}, {plural(breaks, 'graph break')}"


def level(environment: Mapping[str, object]) -> str:
    """The level that the lines prove: a program may have logged at a higher one."""
    seen = environment.get("log_level")
    return "no lines of SOT_LOG_LEVEL" if seen is None else f"lines up to SOT_LOG_LEVEL {visible(str(seen))}"


def files(log: LogSummary) -> str:
    """The only file, or how many there are; ``paths`` are their names."""
    return _named(log.files[0]) if len(log.files) == 1 else plural(len(log.files), "file")


def _named(path: str) -> str:
    return "standard input" if path == STDIN else visible(path)


def paths(log: LogSummary) -> list[str]:
    """The names of several files, as given, and how many were left out."""
    if len(log.files) == 1:
        return []
    shown = [_named(name) for name in log.files[:MOST_FILES]]
    hidden = len(log.files) - len(shown)
    return [*shown, f"and {hidden} more"] if hidden else shown


def lines(log: LogSummary, read: Mapping[str, ReadStats]) -> str:
    """What became of the lines."""
    total = sum(read.values(), ReadStats())
    words = (
        f"{total.matched} understood, {total.ignored} of the program's own, {total.unrecognised} unrecognised, "
        f"{total.malformed} malformed"
    )
    return f"{plural(log.lines, 'line')}: {words}"


def samples(read: Mapping[str, ReadStats]) -> tuple[list[str], int]:
    """(the first lines that were not understood, equal ones once; how many such lines are not among them)."""
    total = sum(stats.unrecognised + stats.malformed for stats in read.values())
    shown = list(dict.fromkeys(sample for stats in read.values() for sample in stats.samples))[:MOST_SAMPLES]
    return shown, total - len(shown)


def names(diagnosis: Diagnosis) -> Mapping[str, str]:
    """How evidence names each log, so that a long path does not fill every line; empty for other results."""
    log = diagnosis.log
    if log is None:
        return {}
    short = short_names(log.files)
    return {path: path if len(path) <= SHORT_PATH else short[path] for path in log.files} | _standard_input(log)


def refused(log: LogSummary) -> list[str]:
    """What could not be read, and why."""
    return [visible(reason) for reason in log.refused]


def _standard_input(log: LogSummary) -> dict[str, str]:
    return {STDIN: _named(STDIN)} if STDIN in log.files else {}


def processes(log: LogSummary) -> str:
    """Which processes wrote, empty when none is named."""
    if not log.ranks:
        return ""
    return f"rank {visible(log.ranks[0])}" if len(log.ranks) == 1 else f"{len(log.ranks)} ranks: {_listed(log.ranks)}"


def ranks(finding: Finding, log: LogSummary | None) -> str:
    """Which processes show a finding; empty where there is only one, or none is named."""
    if log is None or len(log.ranks) < 2 or not finding.ranks:
        return ""
    if len(finding.ranks) == len(log.ranks):
        return f"all {len(log.ranks)} ranks"
    which = f"rank {visible(finding.ranks[0])} only" if len(finding.ranks) == 1 else f"ranks {_listed(finding.ranks)}"
    return f"{which} (of {len(log.ranks)})"


def _listed(names: Sequence[str]) -> str:
    """``0-3, 5``; names that are no numbers as they are."""
    if not all(name.isdigit() for name in names):
        return visible(", ".join(names))
    spans: list[list[int]] = []
    for number in map(int, names):
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ", ".join(str(low) if low == high else f"{low}{'-' if high > low + 1 else ', '}{high}" for low, high in spans)


def per_call(finding: Finding) -> str:
    """How often it happens, for one call of the outermost function; a log has no steps and no times."""
    number = finding.count_per_step
    if number is None:
        return ""
    if 0 < number < SELDOM:
        about = "" if abs(1 / number - round(1 / number)) < 1e-6 else "about "
        return f"{about}once in {round(1 / number)} calls"
    if 0 < number < 1:
        return f"in {percent(number)} of the calls"
    return f"{count(number)} per call"


def no_costs(diagnosis: Diagnosis) -> str:
    """Said once instead of at every finding."""
    return " (no costs: a log has no times)" if diagnosis.log is not None and diagnosis.findings else ""


def more_to_say(ended: ExitStatus, diagnosis: Diagnosis) -> bool:
    """Whether how the program ended is more than its finding says, which has the first line of the message and the stack."""
    if any(finding.slug == "benign-exit" for finding in diagnosis.findings):
        return False
    return "\n" in (ended.error_message or "").strip() or bool(ended.stacks)
