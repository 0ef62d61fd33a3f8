"""The result as a page for a terminal: the verdict first, then what costs most.

Everything that came from a program is escaped on its way to the page, and nothing is parsed as markup.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sotprobe.model import Diagnosis, ExitStatus, Finding, LogSummary, ModeSummary, ParityVerdict, Ratio, ReadStats
from sotprobe.report import logwords, words
from sotprobe.report.text import code_line, one_line, plural, visible

if TYPE_CHECKING:
    from sotprobe.report.page import Page

MIN_WIDTH = 40
# How much of a long list or text is shown; the JSON has all of it.
EVIDENCE_LINES = {"error": 3, "warning": 3, "info": 1}
LOG_EVIDENCE_LINES = 4  # of any severity: where it stands in the log is all there is to look at
STACK_LINES = 8
STACKS_LINES = 24
SENTENCES = 1200


def render(diagnosis: Diagnosis, *, width: int = 100, color: bool = False) -> str:
    """The page, ``width`` columns wide (only a path may be longer). No colour when NO_COLOR is set."""
    from sotprobe.report.page import Page

    page = Page(max(width, MIN_WIDTH), color and not os.environ.get("NO_COLOR"))
    _head(page, diagnosis)
    if diagnosis.log is None:
        _speed(page, diagnosis.modes, diagnosis.ratio)
    else:
        _counts(page, diagnosis)
    _findings(page, diagnosis)
    if diagnosis.log is None:
        _parity(page, diagnosis.parity)
    _failures(page, diagnosis)
    if diagnosis.log is not None:
        _read(page, diagnosis.log, diagnosis.read_stats)
    _notes(page, diagnosis)
    if diagnosis.saved_in is not None:
        page.section("Saved in")
        page.unbroken(visible(diagnosis.saved_in), indent=2)
    return page.text()


def _head(page: Page, diagnosis: Diagnosis) -> None:
    program, log = diagnosis.program, diagnosis.log
    page.paragraph((one_line(diagnosis.verdict.text), "bold"), f"  [{visible(diagnosis.verdict.slug)}]")
    if log is None:
        parts = [" ".join((program.kind, program.path, *program.arguments)), words.versions(diagnosis.environment)]
    else:
        page.unbroken((f"log {logwords.files(log)}", "dim"))
        parts = [words.versions(diagnosis.environment), logwords.level(diagnosis.environment), logwords.processes(log)]
    page.paragraph((one_line(", ".join(filter(None, parts))), "dim"))


def _counts(page: Page, diagnosis: Diagnosis) -> None:
    figures_of = list(logwords.counts(diagnosis))
    if figures_of:
        page.section("Counts")
    for label, figures in figures_of:
        page.paragraph(figures, label=f"{label:<10}", indent=2)


def _speed(page: Page, modes: Mapping[str, ModeSummary], ratio: Ratio | None) -> None:
    page.section("Speed")
    trust = "" if ratio is None else f"  ({words.ratio_trust(ratio)})"
    page.paragraph((words.ratio_value(ratio), "bold"), trust, label="static / dynamic: ", indent=2, style="")
    summaries = list(modes.values())
    if summaries:
        page.table(list(words.speed_rows(summaries)))
    for mode in summaries:
        counts = words.counts(mode)
        if counts:
            page.paragraph(counts, label=f"{visible(mode.mode)}: ", indent=2, style="")
        if words.split(mode):
            page.paragraph(words.split(mode), indent=2 + len(visible(mode.mode)) + 2)


def _findings(page: Page, diagnosis: Diagnosis) -> None:
    page.section(f"Findings: {words.tally(diagnosis.findings)}{logwords.no_costs(diagnosis)}")
    for number, finding in enumerate(diagnosis.findings, 1):
        if number > 1:
            page.blank()
        _finding(page, f"{number:2d}. ", finding, diagnosis)


def _finding(page: Page, number: str, finding: Finding, diagnosis: Diagnosis) -> None:
    severity = (visible(finding.severity), finding.severity)
    suspected = [(" suspected", finding.severity)] if finding.suspected else []
    name = (f" {words.name(finding)}", "bold")
    page.paragraph(severity, *suspected, name, f"  {one_line(finding.title)}", label=number, style="")
    indent = len(number)
    if finding.site is not None:
        page.unbroken(words.place(finding.site), indent=indent)
    if finding.source_line:
        page.clipped(("| ", "dim"), code_line(finding.source_line), indent=indent + 2)
    if diagnosis.log is None:
        cost, more = words.cost(finding)
        page.paragraph((cost, "bold"), more, label="cost      ", indent=indent)
    else:
        _occurrence(page, finding, diagnosis.log, indent)
    _evidence(page, finding, logwords.names(diagnosis), indent)
    if finding.advice:
        page.paragraph(one_line(finding.advice, SENTENCES), label="advice    ", indent=indent)


def _occurrence(page: Page, finding: Finding, log: LogSummary, indent: int) -> None:
    """What a log has in place of a cost: in which processes, and how often."""
    for label, text in (("told by", logwords.ranks(finding, log)), ("count", logwords.per_call(finding))):
        if text:
            page.paragraph(text, label=f"{label:<10}", indent=indent)


def _evidence(page: Page, finding: Finding, logs: Mapping[str, str], indent: int) -> None:
    limit = LOG_EVIDENCE_LINES if logs else EVIDENCE_LINES.get(finding.severity, 3)
    shown = finding.evidence[:limit]
    hidden = len(finding.evidence) - len(shown)
    for position, evidence in enumerate(shown):
        more = f"and {hidden} more" if hidden and position == len(shown) - 1 else ""
        label = "evidence  " if position == 0 else " " * 10
        where = words.source(evidence, logs)
        source = ("".join((f"  [{where}]" if where else "", ", " if where and more else "  " if more else "", more)), "dim")
        page.paragraph(one_line(evidence.text), source, label=label, indent=indent)


def _parity(page: Page, parity: ParityVerdict | None) -> None:
    page.section(f"Parity: {words.parity_outcome(parity)}")
    if parity is None:
        return
    if parity.text:
        page.paragraph(one_line(parity.text, SENTENCES), indent=2)
    for reason in parity.reasons:
        page.paragraph(one_line(reason), label="- ", indent=2, style="")
    figures = words.parity_figures(parity)
    if figures:
        page.paragraph(figures, indent=2)


def _failures(page: Page, diagnosis: Diagnosis) -> None:
    failures = words.failures(diagnosis.modes)
    if diagnosis.log is not None:
        failures = [failure for failure in failures if logwords.more_to_say(failure[1], diagnosis)]
    if failures:
        page.section("Failures")
    for mode, status in failures:
        who = visible(mode.mode) if diagnosis.log is None else "the program"
        page.paragraph(words.ending(status), label=f"{who}: ", indent=2, style="error")
        _failure(page, status)


def _failure(page: Page, status: ExitStatus) -> None:
    error, place = words.error(status), words.error_place(status)
    if error:
        page.paragraph(one_line(error, SENTENCES), indent=4)
    if place:
        page.unbroken(place if place.startswith("near ") else f"at {place}", indent=4)
    if status.stack:
        _block(page, "stack, innermost last", [words.place(site) for site in status.stack], STACK_LINES, keep="last")
    elif status.traceback:
        _block(page, "traceback", status.traceback.splitlines(), STACKS_LINES, keep="last")
    if status.stacks:
        _block(page, "every thread's Python stack", status.stacks.splitlines(), STACKS_LINES, keep="first")


def _block(page: Page, title: str, lines: Sequence[str], limit: int, *, keep: str) -> None:
    """A block of other people's lines: the first or the last ``limit``, saying how many it left out."""
    page.paragraph((f"{title}:", "dim"), indent=4)
    hidden = max(0, len(lines) - limit)
    shown = lines[:limit] if keep == "first" else lines[hidden:]
    left_out = f"... {plural(hidden, 'more line')}"
    if hidden and keep == "last":
        page.paragraph((left_out, "dim"), indent=6)
    for line in shown:
        page.clipped(visible(line.expandtabs(4).rstrip()), indent=6)
    if hidden and keep == "first":
        page.paragraph((left_out, "dim"), indent=6)


def _read(page: Page, log: LogSummary, read: Mapping[str, ReadStats]) -> None:
    page.section("Read")
    page.paragraph(logwords.lines(log, read), indent=2)
    for path in logwords.paths(log):
        page.unbroken((path, "dim"), indent=4)
    for reason in logwords.refused(log):
        page.paragraph(one_line(reason), indent=2)
    samples, hidden = logwords.samples(read)
    if samples:
        page.paragraph(("not understood:", "dim"), indent=2)
    for sample in samples:
        page.clipped(visible(sample.expandtabs(4).rstrip()), indent=4)
    if hidden and samples:
        page.paragraph((f"... {plural(hidden, 'more line')}", "dim"), indent=4)


def _notes(page: Page, diagnosis: Diagnosis) -> None:
    if diagnosis.notes:
        page.section("Notes")
    logs = logwords.names(diagnosis)
    for note in diagnosis.notes:
        where = words.source(note, logs) if logs and note.file else ""
        page.paragraph(one_line(note.text), (f"  [{where}]" if where else "", "dim"), label="- ", indent=2, style="")
