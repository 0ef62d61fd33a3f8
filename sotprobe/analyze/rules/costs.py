"""``guard-cost`` and ``compile-cost``: what SOT takes for itself, every step and once."""

from __future__ import annotations

from collections.abc import Iterator

from sotprobe.analyze.compare import steady_steps
from sotprobe.analyze.facts import Facts
from sotprobe.analyze.rules.base import INFO, WARNING, Claim, Draft, make
from sotprobe.model import Evidence
from sotprobe.model.run import STATIC

# Of a static step, before guard checks are worth a finding; a warning needs more, and a static mode that lost.
GUARD_SHARE = 0.05
GUARD_SHARE_WARNING = 0.10
# Steady steps that compilation must be worth before it is mentioned.
COMPILE_STEPS = 50

_GUARD_ADVICE = (
    "The time is spent per call of a captured frame: capture more per call (fewer graph breaks, a larger function under "
    "to_static), and keep lists, dicts and attributes that are read in it few."
)
_COMPILE_ADVICE = "It is paid once per process: compare it with how long the program runs."


def guard_cost(facts: Facts) -> Iterator[Draft]:
    """Time in SOT's frame callback: finding the translation of a frame and checking its guards."""
    run, step_ns = facts.static, facts.diagnosed_step_ns
    if run is None or not run.guard_ns or not step_ns:
        return
    total = sum(run.guard_ns.values())
    if total < GUARD_SHARE * step_ns:
        return
    worst = max(run.guard_ns, key=lambda frame: run.guard_ns[frame])
    lost = facts.ratio is not None and facts.ratio.confident and facts.ratio.static_over_dynamic < 1
    severity = WARNING if lost and total >= GUARD_SHARE_WARNING * step_ns else INFO
    calls = sum(run.entries.values())
    title = f"checking guards takes {min(1.0, total / step_ns):.0%} of a static step"
    evidence = [
        Evidence("hooks", f"{total / 1e6:.3f} ms a step in {calls:.0f} calls of {len(run.guard_ns)} frames"),
        Evidence("hooks", f"most of it in {worst[0].function}: {run.guard_ns[worst] / 1e6:.3f} ms a step"),
    ]
    finding = make(facts, "guard-cost", severity, title, worst[0], evidence, advice=_GUARD_ADVICE, count_per_step=calls)
    yield Draft(finding, Claim(guard_frames=frozenset(run.guard_ns)))


def compile_cost(facts: Facts) -> Iterator[Draft]:
    """What translating and compiling took at the start, and when it pays."""
    static, dynamic = facts.modes.get(STATIC), facts.modes.get("dynamic")
    if static is None or static.compile_ms is None or not static.step_ms_median:
        return
    if static.compile_ms < COMPILE_STEPS * static.step_ms_median or not any(steady_steps(run) for run in facts.runs):
        return
    evidence = [Evidence("steps", f"{static.compile_ms:.0f} ms beyond steady steps, as much as "
                                  f"{static.compile_ms / static.step_ms_median:.0f} of them")]  # fmt: skip
    gain = (dynamic.step_ms_median or 0.0) - static.step_ms_median if dynamic else 0.0
    if facts.ratio is not None and facts.ratio.confident and gain > 0:
        evidence.append(Evidence("steps", f"pays off after {static.compile_ms / gain:.0f} steps"))
    title = f"compilation takes {static.compile_ms / 1e3:.1f} s at the start"
    yield Draft(make(facts, "compile-cost", INFO, title, None, evidence, advice=_COMPILE_ADVICE))
