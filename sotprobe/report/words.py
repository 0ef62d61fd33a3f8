"""The phrases and figures that every human page shares, so that all of them say the same. No judgement, no layout."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from sotprobe.model import Evidence, ExitStatus, Finding, GraphSummary, ModeSummary, ParityVerdict, Ratio, SourceSite
from sotprobe.model.diagnosis import SEVERITIES
from sotprobe.model.run import LOG_ENDED
from sotprobe.model.site import FUNCTION, NEAR
from sotprobe.report.json import NS_PER_MS
from sotprobe.report.text import NOT_MEASURED, count, figure, one_line, percent, plural, size, visible

NOTHING_LOST = "nothing lost against the dynamic mode"
# An empty cell of the table of figures.
MISSING = "-"
NORMAL_ENDS = frozenset(("returned", "step-limit", LOG_ENDED))


def versions(environment: Mapping[str, object]) -> str:
    """``Paddle 3.3.1 (CPU build), Python 3.11.7``, or as much of it as is known; of a log also what its wording shows."""
    gpu = environment.get("gpu_build")
    build = "" if gpu is None else " (GPU build)" if gpu else " (CPU build)"
    paddle, python = (environment.get(key) for key in ("paddle", "python"))
    words = [
        f"Paddle {paddle}{build}" if paddle is not None else _seen("Paddle", environment.get("paddle_seen"), "wording"),
        f"Python {python}" if python is not None else _seen("Python", environment.get("python_seen"), "lines"),
    ]
    return ", ".join(filter(None, words))


def _seen(name: str, version: object, by: str) -> str:
    return "" if version is None else f"{name} {_range_of(str(version))} (by its {by})"


def _range_of(seen: str) -> str:
    """``3.2+`` and ``3.0-3.1`` in words."""
    if seen.endswith("+"):
        return f"{seen[:-1]} or later"
    return " to ".join(seen.split("-")) if seen.count("-") == 1 else seen


def ratio_value(ratio: Ratio | None) -> str:
    return NOT_MEASURED if ratio is None else f"{ratio.static_over_dynamic:.3f}x"


def ratio_trust(ratio: Ratio) -> str:
    """The interval and what it rests on."""
    words = []
    if ratio.low is not None and ratio.high is not None:
        words.append(f"interval {ratio.low:.3f} .. {ratio.high:.3f}")
    words.append(f"{plural(ratio.pairs, 'pair')} of rounds")
    if not ratio.confident:
        words.append("not confident")
    return ", ".join(words)


def speed_rows(modes: Sequence[ModeSummary]) -> Iterator[list[str]]:
    """A label and one cell per mode; the first row is the head. Rows that no mode has a figure for are left out."""
    units = {mode.ips_unit for mode in modes}
    unit = visible(units.pop()) if len(units) == 1 else "per second"
    cells = {
        f"ips, {unit}": [figure(mode.ips, MISSING) for mode in modes],
        "step ms, median": [figure(mode.step_ms_median, MISSING) for mode in modes],
        "step ms, mean": [figure(mode.step_ms_mean, MISSING) for mode in modes],
        "step ms, min .. max": [_range(mode.step_ms_min, mode.step_ms_max) for mode in modes],
        "first step ms": [figure(mode.first_step_ms, MISSING) for mode in modes],
        "compile ms": [figure(mode.compile_ms, MISSING) for mode in modes],
        "steps x rounds": [f"{mode.steps} x {mode.rounds}" for mode in modes],
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


def counts(mode: ModeSummary) -> str:
    """What SOT made of the program; empty for a mode without it."""
    numbers = (
        (mode.subgraphs, "subgraph"),
        (mode.translations, "translation"),
        (mode.recompiles, "recompile"),
        (mode.breaks, "graph break"),
        (mode.fallbacks, "fallback"),
    )
    words = [plural(number, noun) for number, noun in numbers if number is not None]
    words += [f"{mode.not_captured} not captured"] if mode.not_captured is not None else []
    return ", ".join(words)


def split(mode: ModeSummary) -> str:
    """How the program is split into subgraphs; empty for a mode without them."""
    graph = mode.graph
    if graph is None or not graph.subgraphs:
        return ""
    number = graph.runs_per_step
    runs = "" if number is None else f"{count(number)} subgraph {'run' if number == 1 else 'runs'} per step"
    return ", ".join(filter(None, (runs, *measures(graph))))


def measures(facts: GraphSummary) -> list[str]:
    """What was measured, in a few phrases; nothing where it was not."""
    found = []
    if facts.captured_op_share is not None:
        found.append(f"{percent(facts.captured_op_share)} of ops captured")
    if facts.captured_time_share is not None:
        found.append(f"{percent(facts.captured_time_share)} of time captured")
    if facts.min_ops is not None and facts.median_ops is not None:
        found.append(f"ops per subgraph: min {facts.min_ops}, median {count(facts.median_ops)}")
    if facts.bytes_to_dynamic is not None and facts.bytes_from_dynamic is not None:
        out, back = size(facts.bytes_to_dynamic), size(facts.bytes_from_dynamic)
        found.append(f"to dynamic code {out}, back {back} per step")
    return found


def tally(findings: Sequence[Finding]) -> str:
    """``1 error, 2 warnings, 3 info``, or ``none``."""
    number = Counter(finding.severity for finding in findings)
    words = [plural(number[severity], severity) for severity in SEVERITIES[:-1] if number[severity]]
    words += [f"{number['info']} info"] if number["info"] else []
    return ", ".join(words) or "none"


def name(finding: Finding) -> str:
    return visible(finding.slug if finding.cause in (None, finding.slug) else f"{finding.slug}/{finding.cause}")


def cost(finding: Finding) -> tuple[str, str]:
    """The cost per step, and what goes with it (share of the step, count)."""
    if finding.cost_ns is None:
        value = one_line(finding.cost_note) if finding.cost_note else NOT_MEASURED
    elif finding.cost_ns == 0:
        value = NOTHING_LOST
    else:
        value = f"{figure(finding.cost_ns / NS_PER_MS)} ms per step"
    more = f", {percent(finding.cost_share)} of the step" if finding.cost_share and finding.cost_ns else ""
    more += "" if finding.count_per_step is None else f"; {count(finding.count_per_step)} per step"
    return value, more


def source(evidence: Evidence, logs: Mapping[str, str] | None = None) -> str:
    """Who saw it and where it is written; ``logs`` are the short names of logs, in which everybody can see it."""
    if evidence.file is None:
        return "" if logs else visible(evidence.reader)
    if logs and evidence.line is None and len(logs) == 1:
        return ""  # it is about the only file there is
    line = "" if evidence.line is None else f":{evidence.line}"
    if logs and evidence.file in logs:
        return f"{visible(logs[evidence.file])}{line}"
    return f"{visible(evidence.reader)}, {visible(evidence.file)}{line}"


def place(site: SourceSite) -> str:
    """Path and line first, to be clicked. A line that is not exact never looks like one."""
    where, function = f"{visible(site.path)}:{site.line}", visible(site.function)
    if site.precision == FUNCTION:
        return f"{where}, where {function} begins"
    return f"near {where} in {function}" if site.precision == NEAR else f"{where} in {function}"


def parity_outcome(parity: ParityVerdict | None) -> str:
    if parity is None:
        return "not compared"
    outcome = {True: "outputs equal", False: "outputs differ", None: "outputs not compared"}[parity.outputs_equal]
    return f"{outcome}{'' if parity.comparable else '; the modes are not comparable'}"


def parity_figures(parity: ParityVerdict) -> str:
    figures = (
        ("max abs error", parity.max_abs_error),
        ("max rel error", parity.max_rel_error),
        ("dynamic against itself", parity.noise_abs),
        ("gradients, relative to their norm", parity.gradient_rel_error),
    )
    facts = [f"{label} {figure(value)}" for label, value in figures if value is not None]
    if parity.first_divergent_step is not None:
        facts.append(f"first divergent step {parity.first_divergent_step}")
    return "; ".join(facts)


def failures(modes: Mapping[str, ModeSummary]) -> list[tuple[ModeSummary, ExitStatus]]:
    """The modes that did not come to a normal end."""
    return [(mode, mode.exit) for mode in modes.values() if mode.exit is not None and _failed(mode.exit)]


def _failed(status: ExitStatus) -> bool:
    return status.reason not in NORMAL_ENDS and not (status.reason == "system-exit" and not status.code)


def ending(status: ExitStatus) -> str:
    """``signal SIGSEGV, after 12.3 s``."""
    words = [visible(status.reason) if status.signal is None else f"{visible(status.reason)} {visible(status.signal)}"]
    words += [f"exit code {status.code}"] if status.code is not None else []
    words += [f"after {figure(status.wall_ns / 1e9)} s"] if status.wall_ns is not None else []
    return ", ".join(words)


def error(status: ExitStatus) -> str:
    """The exception, empty when there was none."""
    return "" if status.error_type is None else f"{status.error_type}: {status.error_message or ''}"


def error_place(status: ExitStatus) -> str:
    if status.site is None:
        return ""
    return f"{place(status.site)}{', while SOT simulated it' if status.simulated else ''}"
