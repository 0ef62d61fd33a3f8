"""The result as a page for a terminal: the verdict first, then what costs most.

Everything that came from a program is escaped on its way to the page, and nothing is parsed as markup.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sotprobe.model import Diagnosis, Evidence, ExitStatus, Finding, ModeSummary, ParityVerdict, Ratio
from sotprobe.report import words
from sotprobe.report.text import code_line, one_line, plural, visible

if TYPE_CHECKING:
    from sotprobe.report.page import Page

MIN_WIDTH = 40
# How much of a long list or text is shown; the JSON has all of it.
EVIDENCE_LINES = {"error": 3, "warning": 3, "info": 1}
STACK_LINES = 8
STACKS_LINES = 24
SENTENCES = 1200


def render(diagnosis: Diagnosis, *, width: int = 100, color: bool = False) -> str:
    """The page, ``width`` columns wide (only a path may be longer). No colour when NO_COLOR is set."""
    from sotprobe.report.page import Page

    page = Page(max(width, MIN_WIDTH), color and not os.environ.get("NO_COLOR"))
    _head(page, diagnosis)
    _speed(page, diagnosis.modes, diagnosis.ratio)
    _findings(page, diagnosis.findings)
    _parity(page, diagnosis.parity)
    _failures(page, diagnosis.modes)
    _notes(page, diagnosis.notes)
    if diagnosis.saved_in is not None:
        page.section("Saved in")
        page.unbroken(visible(diagnosis.saved_in), indent=2)
    return page.text()


def _head(page: Page, diagnosis: Diagnosis) -> None:
    program = diagnosis.program
    parts = [" ".join((program.kind, program.path, *program.arguments)), words.versions(diagnosis.environment)]
    page.paragraph((one_line(diagnosis.verdict.text), "bold"), f"  [{visible(diagnosis.verdict.slug)}]")
    page.paragraph((one_line(", ".join(filter(None, parts))), "dim"))


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


def _findings(page: Page, findings: Sequence[Finding]) -> None:
    page.section(f"Findings: {words.tally(findings)}")
    for number, finding in enumerate(findings, 1):
        if number > 1:
            page.blank()
        _finding(page, f"{number:2d}. ", finding)


def _finding(page: Page, number: str, finding: Finding) -> None:
    severity = (visible(finding.severity), finding.severity)
    name = (f" {words.name(finding)}", "bold")
    page.paragraph(severity, name, f"  {one_line(finding.title)}", label=number, style="")
    indent = len(number)
    if finding.site is not None:
        page.unbroken(words.place(finding.site), indent=indent)
    if finding.source_line:
        page.clipped(("| ", "dim"), code_line(finding.source_line), indent=indent + 2)
    cost, more = words.cost(finding)
    page.paragraph((cost, "bold"), more, label="cost      ", indent=indent)
    _evidence(page, finding, indent)
    if finding.advice:
        page.paragraph(one_line(finding.advice, SENTENCES), label="advice    ", indent=indent)


def _evidence(page: Page, finding: Finding, indent: int) -> None:
    shown = finding.evidence[: EVIDENCE_LINES.get(finding.severity, 3)]
    hidden = len(finding.evidence) - len(shown)
    for position, evidence in enumerate(shown):
        more = f", and {hidden} more" if hidden and position == len(shown) - 1 else ""
        label = "evidence  " if position == 0 else " " * 10
        source = (f"  [{words.source(evidence)}]{more}", "dim")
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


def _failures(page: Page, modes: Mapping[str, ModeSummary]) -> None:
    failures = words.failures(modes)
    if failures:
        page.section("Failures")
    for mode, status in failures:
        page.paragraph(words.ending(status), label=f"{visible(mode.mode)}: ", indent=2, style="error")
        _failure(page, status)


def _failure(page: Page, status: ExitStatus) -> None:
    error, place = words.error(status), words.error_place(status)
    if error:
        page.paragraph(one_line(error, SENTENCES), indent=4)
    if place:
        page.unbroken(f"at {place}", indent=4)
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


def _notes(page: Page, notes: Sequence[Evidence]) -> None:
    if notes:
        page.section("Notes")
    for note in notes:
        page.paragraph(one_line(note.text), label="- ", indent=2, style="")
