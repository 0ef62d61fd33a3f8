"""One mode's figures, the ratio of both, and the sentence that sums them up."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from sotprobe.analyze.statistics import MIN_PAIRS, mean, middle, paired_ratio
from sotprobe.model import Event, ModeSummary, ParityVerdict, Ratio, Run, SourceSite, Step, Verdict
from sotprobe.model.run import DIAGNOSIS, DYNAMIC, LOG_ENDED, STATIC, TIMING
from sotprobe.model.site import FUNCTION

NS_PER_MS = 1e6
MIN_STEADY_STEPS = 3
NO_STEPS = (
    "no step was seen in either mode: the program calls no to_static function, no Optimizer.step and no _nvprof_range; "
    "--step-on MODULE:FUNCTION names another function to count"
)
# Of a run's steps: when more than this translate something, the verdict says so.
COMPILING_SHARE = 0.2

# How a child ends when nothing went wrong.
NORMAL_ENDS = frozenset({"returned", "system-exit", "step-limit", LOG_ENDED})


def failed(run: Run) -> bool:
    """Whether a run ended before its program did. A program's own exit code is no failure."""
    return run.exit.reason not in NORMAL_ENDS


def steady_steps(run: Run) -> tuple[Step, ...]:
    """The steps that count for speed: in the window, without translations, and not the first (it warms caches up)."""
    low, high = _window(run)
    later = [step for step in run.steps[1:] if step.index >= low and (high is None or step.index < high)]
    return tuple(step for step in later if step.kind == "steady")


def _window(run: Run) -> tuple[int, int | None]:
    options = run.environment.get("options")
    options = options if isinstance(options, dict) else {}
    asked = options.get("window") or run.environment.get("window")
    if isinstance(asked, (list, tuple)) and len(asked) == 2 and asked[0] < asked[1]:
        return int(asked[0]), int(asked[1])
    return int(options.get("warmup") or 0), None


def summarise(mode: str, runs: Sequence[Run]) -> ModeSummary | None:
    """The figures of a mode over all its runs; None when it was not run.

    Speed comes from timing runs only; ``steps`` is how many steady steps a round has.
    """
    mine = [run for run in runs if run.mode == mode]
    if not mine:
        return None
    timing = [run for run in mine if run.purpose == TIMING]
    diagnosis = next((run for run in mine if run.purpose == DIAGNOSIS), None)
    steady = [steady_steps(run) for run in timing]
    walls = [step.wall_ns / NS_PER_MS for steps in steady for step in steps]
    first = [run.steps[0].wall_ns / NS_PER_MS for run in timing if run.steps]
    batch = next((run.batch_size for run in mine if run.batch_size), None)
    typical = middle(walls)
    ending = next((run for run in mine if failed(run)), mine[0])
    return ModeSummary(
        mode=mode,
        steps=int(middle(len(steps) for steps in steady) or 0),
        rounds=len(timing),
        ips=None if not typical else 1e3 / typical * (batch or 1),
        ips_unit="samples/s" if batch else "steps/s",
        step_ms_median=typical,
        step_ms_mean=mean(walls),
        step_ms_min=min(walls, default=None),
        step_ms_max=max(walls, default=None),
        first_step_ms=middle(first),
        compile_ms=middle(cost for run in timing if (cost := compile_ms(run)) is not None) if mode == STATIC else None,
        loss=losses(timing or mine),
        exit=ending.exit,
        **(_counts(diagnosis) if mode == STATIC and diagnosis is not None else {}),
    )


def compile_ms(run: Run) -> float | None:
    """What the compile steps of a run took beyond a steady step; None without a steady step or a known translate count."""
    if not run.steps or all(step.translations is None for step in run.steps):
        return None
    steady = [step.wall_ns for step in steady_steps(run)]
    if not steady:
        return None
    typical = median(steady)
    return sum(max(0.0, step.wall_ns - typical) for step in run.steps if step.kind == "compile") / NS_PER_MS


def losses(runs: Sequence[Run]) -> tuple[float, ...]:
    """The loss of every step of the first run that has one."""
    for run in runs:
        series = tuple(step.loss for step in run.steps if step.loss is not None)
        if series:
            return series
    return ()


def full_graph(run: Run) -> bool:
    """Whether to_static compiled the program as one (full_graph=True), without SOT."""
    options = run.environment.get("options")
    return isinstance(options, dict) and bool(options.get("full_graph"))


def _counts(run: Run) -> dict[str, int]:
    """Distinct places, not events: a line that breaks in three resume functions is one break.

    With full_graph SOT does not run: the translations are then the programs that were built, and the rest is unknown.
    """
    events = run.events
    if full_graph(run):
        return {"translations": sum(step.translations or 0 for step in run.steps)}
    compiled = [graph for graph in run.subgraphs if graph.statements and graph.dropped is None]
    return {
        "subgraphs": len(compiled),
        "translations": sum(event.count for event in events if event.kind == "translate"),
        "recompiles": sum(event.count for event in events if event.kind == "recompile"),
        "breaks": len({_place(event) for event in events if event.kind == "break"}),
        "fallbacks": len({event.frame for event in events if event.kind == "fallback"}),
        "not_captured": len({event.frame for event in events if event.kind == "eager-frame" and event.outcome != "seen"}),
    }


def _place(event: Event) -> tuple[SourceSite | None, int]:
    """A break is told by its line. Of those that a log only shows to be in a function, each depth of its rests is one."""
    whole = event.site is not None and event.site.precision == FUNCTION
    return event.site, len(event.break_lines) if whole else 0


def speed_ratio(runs: Sequence[Run]) -> Ratio | None:
    """Static over dynamic speed, from rounds in which both modes have enough steady steps."""
    medians: dict[tuple[str, int], float] = {}
    for run in runs:
        steady = [step.wall_ns for step in steady_steps(run)] if run.purpose == TIMING else []
        if len(steady) >= MIN_STEADY_STEPS and not failed(run):
            medians[run.mode, run.round] = median(steady)
    rounds = sorted(round_ for mode, round_ in medians if mode == DYNAMIC and (STATIC, round_) in medians)
    return paired_ratio([(medians[DYNAMIC, round_], medians[STATIC, round_]) for round_ in rounds])


def verdict(runs: Sequence[Run], ratio: Ratio | None, parity: ParityVerdict | None, *, nothing_captured: bool) -> Verdict:
    """The first line of the report."""
    modes = [mode for mode in (DYNAMIC, STATIC) if any(run.mode == mode for run in runs)]
    broken = [mode for mode in modes if _mode_failed(runs, mode)]
    if len(broken) == 2:
        return Verdict("failed", "both modes failed: see the findings")
    if broken and len(modes) == 2:
        other = DYNAMIC if broken[0] == STATIC else STATIC
        return Verdict(f"failed-{broken[0]}", f"the {broken[0]} mode failed; the {other} mode ran to its end")
    if broken:
        return Verdict(f"failed-{broken[0]}", f"the {broken[0]} mode failed")
    if len(modes) == 1:
        return Verdict("one-mode", f"only the {modes[0]} mode was run: there is nothing to compare it with")
    if parity is not None and not parity.comparable:
        return Verdict("not-comparable", f"no fair comparison: {'; '.join(parity.reasons)}")
    if ratio is None:
        return _too_few(runs)
    speed = _speed_verdict(ratio, nothing_captured)
    return Verdict(speed.slug, speed.text + _compiling(runs))


def _mode_failed(runs: Sequence[Run], mode: str) -> bool:
    """A mode failed when no timing run of it came through, or, without timing runs, when its diagnosing run did not."""
    mine = [run for run in runs if run.mode == mode]
    timing = [run for run in mine if run.purpose == TIMING]
    return all(failed(run) for run in (timing or mine))


def _too_few(runs: Sequence[Run]) -> Verdict:
    timing = [run for run in runs if run.purpose == TIMING]
    if not timing:
        return Verdict("not-timed", "nothing was timed: run compare for a ratio")
    if not any(run.steps for run in timing):
        return Verdict("no-steps", NO_STEPS)
    fewest = min(len(steady_steps(run)) for run in timing)
    text = f"{fewest} steady steps are too few for a ratio ({MIN_STEADY_STEPS} are needed in both modes of a round)"
    return Verdict("too-few-steps", text)


def _compiling(runs: Sequence[Run]) -> str:
    """What a program that translates again and again spent on it, which the ratio of steady steps does not show."""
    timing = [run for run in runs if (run.mode, run.purpose) == (STATIC, TIMING)]
    run = max(timing, key=lambda run: len(run.steps), default=None)
    if run is None:
        return ""
    compiling = [step for step in run.steps if step.kind == "compile"]
    if len(compiling) < max(3, COMPILING_SHARE * len(run.steps)):
        return ""
    seconds = (compile_ms(run) or 0.0) / 1e3
    count = sum(step.translations or 0 for step in compiling)
    return f"; {seconds:.1f} s went into {count} translations in {len(compiling)} of {len(run.steps)} steps"


def _speed_verdict(ratio: Ratio, nothing_captured: bool) -> Verdict:
    value = ratio.static_over_dynamic
    if nothing_captured and not ratio.confident:
        return Verdict("nothing-captured", f"nothing ran statically: the static mode is the dynamic one (ratio {value:.2f})")
    tail = "; nothing ran statically" if nothing_captured else ""
    if ratio.pairs < MIN_PAIRS:
        text = f"{ratio.pairs} of the {MIN_PAIRS} rounds that a verdict needs: static ran at {value:.2f} of the speed of dynamic"
        return Verdict("too-few-rounds", text + tail)
    if not ratio.confident:
        interval = f"{ratio.low:.2f} to {ratio.high:.2f}"
        return Verdict("no-difference", f"no difference measured: static over dynamic is {value:.2f} ({interval}){tail}")
    if value > 1:
        return Verdict("faster", f"static is {value:.2f} times as fast as dynamic{tail}")
    return Verdict("slower", f"static runs at {value:.2f} of the speed of dynamic{tail}")
