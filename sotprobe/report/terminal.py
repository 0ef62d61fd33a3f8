"""The result as a page for a terminal: the verdict first, then what costs most.

Everything that came from a program is escaped on its way to the page, and nothing is parsed as markup.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from sotprobe.model import Diagnosis, Evidence, ExitStatus, Finding, ModeSummary, ParityVerdict, Ratio, SourceSite
from sotprobe.model.diagnosis import SEVERITIES
from sotprobe.report.json import NS_PER_MS
from sotprobe.report.text import code_line, count, figure, one_line, percent, plural, visible

if TYPE_CHECKING:
    from sotprobe.report.page import Page, Part

MIN_WIDTH = 40
NORMAL_ENDS = frozenset(("returned", "step-limit"))
# How much of a long list or text is shown; the JSON has all of it.
EVIDENCE_LINES = {"error": 3, "warning": 3, "info": 1}
STACK_LINES = 8
STACKS_LINES = 24
SENTENCES = 1200
# An empty cell of the table of figures.
MISSING = "-"


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
    command = " ".join((program.path, *program.arguments))
    page.paragraph((one_line(diagnosis.verdict.text), "bold"), f"  [{visible(diagnosis.verdict.slug)}]")
    page.paragraph((one_line(f"{program.kind} {command}{_versions(diagnosis.environment)}"), "dim"))


def _versions(environment: Mapping[str, object]) -> str:
    paddle, python, gpu = (environment.get(key) for key in ("paddle", "python", "gpu_build"))
    build = "" if gpu is None else " (GPU build)" if gpu else " (CPU build)"
    words = [f"Paddle {paddle}{build}"] if paddle is not None else []
    words += [f"Python {python}"] if python is not None else []
    return f", {', '.join(words)}" if words else ""


def _speed(page: Page, modes: Mapping[str, ModeSummary], ratio: Ratio | None) -> None:
    page.section("Speed")
    if ratio is None:
        page.paragraph("not measured", label="static / dynamic: ", indent=2, style="")
    else:
        figures = (f"{ratio.static_over_dynamic:.3f}x", "bold")
        page.paragraph(figures, _interval(ratio), label="static / dynamic: ", indent=2, style="")
    summaries = list(modes.values())
    if summaries:
        page.table(list(_speed_rows(summaries)))
    for mode in summaries:
        counts = _counts(mode)
        if counts:
            page.paragraph(counts, label=f"{visible(mode.mode)}: ", indent=2, style="")


def _interval(ratio: Ratio) -> str:
    words = []
    if ratio.low is not None and ratio.high is not None:
        words.append(f"interval {ratio.low:.3f} .. {ratio.high:.3f}")
    words.append(f"{plural(ratio.pairs, 'pair')} of rounds")
    if not ratio.confident:
        words.append("not confident")
    return f"  ({', '.join(words)})"


def _speed_rows(modes: Sequence[ModeSummary]) -> Iterator[list[str]]:
    units = {mode.ips_unit for mode in modes}
    unit = visible(units.pop()) if len(units) == 1 else "per second"
    cells = {
        f"ips, {unit}": [figure(mode.ips, MISSING) for mode in modes],
        "step ms, median": [figure(mode.step_ms_median, MISSING) for mode in modes],
        "step ms, mean": [figure(mode.step_ms_mean, MISSING) for mode in modes],
        "step ms, min .. max": [_range(mode.step_ms_min, mode.step_ms_max) for mode in modes],
        "first step ms": [figure(mode.first_step_ms, MISSING) for mode in modes],
        "compile ms": [figure(mode.compile_ms, MISSING) for mode in modes],
        "steps, in rounds": [f"{mode.steps} in {mode.rounds}" for mode in modes],
        **_loss_row(modes),
    }
    yield ["", *(visible(mode.mode) for mode in modes)]
    for label, row in cells.items():
        if set(row) != {MISSING}:
            yield [label, *row]


def _range(low: float | None, high: float | None) -> str:
    return MISSING if low is None or high is None else f"{figure(low)} .. {figure(high)}"


def _loss_row(modes: Sequence[ModeSummary]) -> dict[str, list[str]]:
    """The loss at the first step and at the last one that every mode has, so that the columns can be compared."""
    last = min((len(mode.loss) for mode in modes if mode.loss), default=0) - 1
    if last < 0:
        return {}
    cells = [f"{figure(mode.loss[0])} .. {figure(mode.loss[last])}" if mode.loss else MISSING for mode in modes]
    return {f"loss, step 0 .. {last}": cells}


def _counts(mode: ModeSummary) -> str:
    counts = (
        (mode.subgraphs, "subgraph"),
        (mode.translations, "translation"),
        (mode.recompiles, "recompile"),
        (mode.breaks, "graph break"),
        (mode.fallbacks, "fallback"),
    )
    words = [plural(number, noun) for number, noun in counts if number is not None]
    words += [f"{mode.not_captured} not captured"] if mode.not_captured is not None else []
    return ", ".join(words)


def _findings(page: Page, findings: Sequence[Finding]) -> None:
    tally = Counter(finding.severity for finding in findings)
    words = [plural(tally[severity], severity) for severity in SEVERITIES[:-1] if tally[severity]]
    words += [f"{tally['info']} info"] if tally["info"] else []
    page.section(f"Findings: {', '.join(words) or 'none'}")
    for number, finding in enumerate(findings, 1):
        if number > 1:
            page.blank()
        _finding(page, f"{number:2d}. ", finding)


def _finding(page: Page, number: str, finding: Finding) -> None:
    name = finding.slug if finding.cause in (None, finding.slug) else f"{finding.slug}/{finding.cause}"
    severity = (visible(finding.severity), finding.severity)
    page.paragraph(severity, (f" {visible(name)}", "bold"), f"  {one_line(finding.title)}", label=number, style="")
    indent = len(number)
    if finding.site is not None:
        page.unbroken(_place(finding.site), indent=indent)
    if finding.source_line:
        page.clipped(("| ", "dim"), code_line(finding.source_line), indent=indent + 2)
    page.paragraph(*_cost(finding), label="cost      ", indent=indent)
    _evidence(page, finding, indent)
    if finding.advice:
        page.paragraph(one_line(finding.advice, SENTENCES), label="advice    ", indent=indent)


def _cost(finding: Finding) -> Iterator[Part]:
    if finding.cost_ns is None:
        yield "not measured"
    else:
        yield f"{figure(finding.cost_ns / NS_PER_MS)} ms per step", "bold"
    if finding.cost_share is not None:
        yield f", {percent(finding.cost_share)} of the step"
    if finding.count_per_step is not None:
        yield f"; {count(finding.count_per_step)} per step"


def _evidence(page: Page, finding: Finding, indent: int) -> None:
    shown = finding.evidence[: EVIDENCE_LINES.get(finding.severity, 3)]
    hidden = len(finding.evidence) - len(shown)
    for position, evidence in enumerate(shown):
        more = f", and {hidden} more" if hidden and position == len(shown) - 1 else ""
        label = "evidence  " if position == 0 else " " * 10
        page.paragraph(one_line(evidence.text), (f"{_source(evidence)}{more}", "dim"), label=label, indent=indent)


def _source(evidence: Evidence) -> str:
    if evidence.file is None:
        return f"  [{visible(evidence.reader)}]"
    line = "" if evidence.line is None else f":{evidence.line}"
    return f"  [{visible(evidence.reader)}, {visible(evidence.file)}{line}]"


def _place(site: SourceSite) -> str:
    return f"{visible(site.path)}:{site.line} in {visible(site.function)}"


def _parity(page: Page, parity: ParityVerdict | None) -> None:
    if parity is None:
        page.section("Parity: not compared")
        return
    outcome = {True: "outputs equal", False: "outputs differ", None: "outputs not compared"}[parity.outputs_equal]
    page.section(f"Parity: {outcome}{'' if parity.comparable else '; the modes are not comparable'}")
    if parity.text:
        page.paragraph(one_line(parity.text, SENTENCES), indent=2)
    for reason in parity.reasons:
        page.paragraph(one_line(reason), label="- ", indent=2, style="")
    facts = _parity_facts(parity)
    if facts:
        page.paragraph("; ".join(facts), indent=2)


def _parity_facts(parity: ParityVerdict) -> list[str]:
    figures = (
        ("max abs error", parity.max_abs_error),
        ("max rel error", parity.max_rel_error),
        ("dynamic against itself", parity.noise_abs),
        ("gradients, relative to their norm", parity.gradient_rel_error),
    )
    facts = [f"{name} {figure(value)}" for name, value in figures if value is not None]
    if parity.first_divergent_step is not None:
        facts.append(f"first divergent step {parity.first_divergent_step}")
    return facts


def _failures(page: Page, modes: Mapping[str, ModeSummary]) -> None:
    failed = [(mode, mode.exit) for mode in modes.values() if mode.exit is not None and _failed(mode.exit)]
    if failed:
        page.section("Failures")
    for mode, status in failed:
        _failure(page, mode, status)


def _failed(status: ExitStatus) -> bool:
    return status.reason not in NORMAL_ENDS and not (status.reason == "system-exit" and not status.code)


def _failure(page: Page, mode: ModeSummary, status: ExitStatus) -> None:
    words = [visible(status.reason) if status.signal is None else f"{visible(status.reason)} {visible(status.signal)}"]
    words += [f"exit code {status.code}"] if status.code is not None else []
    words += [f"after {figure(status.wall_ns / 1e9)} s"] if status.wall_ns is not None else []
    page.paragraph(", ".join(words), label=f"{visible(mode.mode)}: ", indent=2, style="error")
    if status.error_type is not None:
        page.paragraph(one_line(f"{status.error_type}: {status.error_message or ''}", SENTENCES), indent=4)
    if status.site is not None:
        page.unbroken(f"at {_place(status.site)}{', while SOT simulated it' if status.simulated else ''}", indent=4)
    if status.stack:
        _block(page, "stack, innermost last", [_place(site) for site in status.stack], STACK_LINES, keep="last")
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
        page.paragraph(one_line(note.text), (_source(note), "dim"), label="- ", indent=2, style="")
