"""``guard-cost`` and ``compile-cost``: what SOT takes for itself, every step and once."""

from __future__ import annotations

from collections.abc import Iterator

from sotprobe.analyze.facts import Facts
from sotprobe.analyze.rules.base import INFO, WARNING, Claim, Draft, make
from sotprobe.model import Evidence
from sotprobe.model.run import STATIC

# Of a static step, before guard checks are worth a finding; a warning needs more, and a static mode that lost.
GUARD_SHARE = 0.10
GUARD_SHARE_WARNING = 0.20
# The speed table has what compilation took. It is worth a finding when it takes long, or is earned back late.
COMPILE_MS = 10_000.0
COMPILE_STEPS = 500

_GUARD_ADVICE = (
    "The time is spent per call of a captured frame: capture more per call (fewer graph breaks, a larger function under "
    "to_static), and keep lists, dicts and attributes that are read in it few."
)
_COMPILE_ADVICE = "It is paid once per process: compare it with how long the program runs."


def guard_cost(facts: Facts) -> Iterator[Draft]:
    """Time in SOT's frame callback: finding the translation of a frame and checking its guards."""
    run = facts.static
    if run is None or not run.guard_ns or not facts.diagnosed_step_ns:
        return
    # While frames are recompiled the mean step is what a step takes.
    step_ns = max(facts.diagnosed_step_ns, facts.mean_step_ns or 0.0) if facts.events("recompile") else facts.diagnosed_step_ns
    total = sum(run.guard_ns.values())
    if total < GUARD_SHARE * step_ns:
        return
    worst = max(run.guard_ns, key=lambda frame: run.guard_ns[frame])
    lost = facts.ratio is not None and facts.ratio.confident and facts.ratio.static_over_dynamic < 1
    severity = WARNING if lost and total >= GUARD_SHARE_WARNING * step_ns else INFO
    calls = sum(run.entries.values())
    title = "finding compiled frames and checking their guards takes its time in every static step"
    evidence = [
        Evidence("hooks", f"{total * facts.to_timed / 1e6:.3f} ms a step in {calls:.0f} calls of {len(run.guard_ns)} frames"),
        Evidence("hooks", f"most of it in {worst[0].function}: {run.guard_ns[worst] * facts.to_timed / 1e6:.3f} ms a step"),
    ]
    finding = make(facts, "guard-cost", severity, title, worst[0], evidence, advice=_GUARD_ADVICE, count_per_step=calls)
    yield Draft(finding, Claim(guard_frames=frozenset(run.guard_ns)))


def compile_cost(facts: Facts) -> Iterator[Draft]:
    """What translating and compiling took at the start, and when it pays. Later translations are the recompile findings'."""
    static, dynamic = facts.modes.get(STATIC), facts.modes.get("dynamic")
    if static is None or static.first_step_ms is None or static.compile_ms is None or not static.step_ms_median:
        return
    start_ms = static.first_step_ms - static.step_ms_median
    gain = (dynamic.step_ms_median or 0.0) - static.step_ms_median if dynamic else 0.0
    pays = start_ms / gain if facts.ratio is not None and facts.ratio.confident and gain > 0 else None
    if start_ms < COMPILE_MS and (pays is None or pays < COMPILE_STEPS):
        return
    evidence = [Evidence("steps", f"the first step takes {start_ms:.0f} ms more than a steady one, as much as "
                                  f"{start_ms / static.step_ms_median:.0f} of them")]  # fmt: skip
    if pays is not None:
        evidence.append(Evidence("steps", f"pays off after {pays:.0f} steps"))
    title = f"compilation takes {start_ms / 1e3:.1f} s at the start"
    yield Draft(make(facts, "compile-cost", INFO, title, None, evidence, advice=_COMPILE_ADVICE))
