"""Did both modes compute the same? Rounding, its growth by the optimizer, and a wrong result are told apart.

Facts (CPU, Paddle 3.0-3.3): two dynamic runs are bit-equal, so any difference comes from the static mode. Reordered float32
sums differ by some 1e-7 of the largest value at step 0; an adaptive optimizer can turn that into whole update steps later.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sotprobe.model import ParityFact, ParityVerdict, Run
from sotprobe.model.run import DIAGNOSIS, DYNAMIC, PARITY, STATIC

# Relative to the largest reference value (gradients: to their norm). Reordered float32 sums stay well below.
ROUNDING = 1e-5
# A static difference up to this many times the noise floor is noise.
NOISE_FACTOR = 3.0

EQUAL = "equal"
NOISE = "noise"
ROUNDED = "rounding"
GROWTH = "growth"
WRONG = "wrong"
UNKNOWN = "unknown"


@dataclass(frozen=True)
class Judgement:
    """``status`` is one of the constants above; ``details`` name what differs, worst first."""

    verdict: ParityVerdict
    status: str
    details: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Difference:
    step: int
    relative: float | None  # None: not comparable at all (shape, dtype, nan)
    absolute: float | None
    what: str
    text: str


def judge(runs: Sequence[Run]) -> Judgement:
    """Compare the static diagnosing run with the dynamic one, and the dynamic mode with itself."""
    dynamic = _pick(runs, DYNAMIC, DIAGNOSIS)
    static = _pick(runs, STATIC, DIAGNOSIS)
    if dynamic is None or static is None:
        text = f"not compared: the {STATIC if static is None else DYNAMIC} mode was not diagnosed"
        return Judgement(ParityVerdict(True, text=text), UNKNOWN)
    reasons = tuple(_not_comparable(dynamic, static))
    if reasons:
        return Judgement(ParityVerdict(False, reasons, text="not compared"), UNKNOWN)
    noise = _noise(_pick(runs, DYNAMIC, PARITY))
    differences = [*_fact_differences(static.parity), *_loss_differences(dynamic, static)]
    compared = bool(static.parity) or bool(_common_losses(dynamic, static))
    if not compared:
        text = "no outputs and no loss were recorded in both modes"
        return Judgement(ParityVerdict(True, noise_abs=noise, text=text), UNKNOWN)
    status = _status(differences, noise)
    return Judgement(
        ParityVerdict(
            comparable=True,
            outputs_equal=status in (EQUAL, NOISE, ROUNDED),
            max_abs_error=_largest(fact.max_abs_error for fact in static.parity if fact.what != "gradient"),
            max_rel_error=_largest(fact.max_rel_error for fact in static.parity if fact.what != "gradient"),
            noise_abs=noise,
            gradient_rel_error=_largest(fact.max_rel_error for fact in static.parity if fact.what == "gradient"),
            first_divergent_step=min((difference.step for difference in differences), default=None),
            text=_text(status, differences, static),
        ),
        status,
        tuple(difference.text for difference in sorted(differences, key=_badness, reverse=True)),
    )


def _pick(runs: Sequence[Run], mode: str, purpose: str) -> Run | None:
    return next((run for run in runs if run.mode == mode and run.purpose == purpose), None)


def _not_comparable(dynamic: Run, static: Run) -> Iterable[str]:
    for run in (dynamic, static):
        if run.exit.reason in ("error", "signal", "timeout", "no-start"):
            yield f"the {run.mode} mode ended early ({run.exit.error_type or run.exit.signal or run.exit.reason})"
    if dynamic.batch_size != static.batch_size:
        yield f"the batch size is {dynamic.batch_size} in dynamic mode and {static.batch_size} in static mode"
    clocks = [run.steps[0].source for run in (dynamic, static) if run.steps]
    if len(clocks) == 2 and clocks[0] != clocks[1]:
        yield f"steps were marked by {clocks[0]} in dynamic mode and by {clocks[1]} in static mode"
    for name in ("paddle", "python"):
        if dynamic.environment.get(name) != static.environment.get(name):
            yield f"the modes ran on different {name} versions"


def _noise(repeat: Run | None) -> float | None:
    """The largest difference between two dynamic runs; None when there was no second one."""
    if repeat is None or not repeat.parity:
        return None
    return _largest(fact.max_abs_error for fact in repeat.parity if fact.what != "gradient") or 0.0


def _fact_differences(facts: Iterable[ParityFact]) -> Iterable[_Difference]:
    for fact in facts:
        if fact.equal:
            continue
        size = "" if fact.max_abs_error is None else f" by {fact.max_abs_error:.2g}"
        if fact.max_rel_error is not None:
            size += f" ({fact.max_rel_error:.2g} of the {'gradient norm' if fact.what == 'gradient' else 'largest value'})"
        mismatch = f": {fact.mismatch}" if fact.mismatch else ""
        yield _Difference(
            step=fact.step,
            relative=None if fact.mismatch else fact.max_rel_error,
            absolute=fact.max_abs_error,
            what=fact.what,
            text=f"step {fact.step}: {fact.what} {fact.name} differs{size}{mismatch}",
        )


def _common_losses(dynamic: Run, static: Run) -> list[tuple[int, float, float]]:
    theirs = {step.index: step.loss for step in dynamic.steps if step.loss is not None}
    return [
        (step.index, theirs[step.index], step.loss) for step in static.steps if step.loss is not None and step.index in theirs
    ]


def _loss_differences(dynamic: Run, static: Run) -> Iterable[_Difference]:
    for index, expected, seen in _common_losses(dynamic, static):
        if expected == seen or (math.isnan(expected) and math.isnan(seen)):
            continue
        finite = math.isfinite(expected) and math.isfinite(seen)
        absolute = abs(expected - seen) if finite else None
        relative = absolute / abs(expected) if absolute is not None and expected else None
        text = f"step {index}: loss {expected:.9g} became {seen:.9g}"
        yield _Difference(index, relative, absolute, "loss", text)


def _status(differences: Sequence[_Difference], noise: float | None) -> str:
    if not differences:
        return EQUAL
    if noise and all(
        difference.absolute is not None and difference.absolute <= NOISE_FACTOR * noise for difference in differences
    ):
        return NOISE
    if all(_is_rounding(difference) for difference in differences):
        return ROUNDED
    first = min(difference.step for difference in differences)
    at_first = [difference for difference in differences if difference.step == first]
    if all(_is_rounding(difference) for difference in at_first) and all(d.relative is not None for d in differences):
        return GROWTH
    return WRONG


def _is_rounding(difference: _Difference) -> bool:
    return difference.relative is not None and difference.relative <= ROUNDING


def _badness(difference: _Difference) -> float:
    return math.inf if difference.relative is None else difference.relative


def _largest(values: Iterable[float | None]) -> float | None:
    return max((value for value in values if value is not None), default=None)


def _text(status: str, differences: Sequence[_Difference], static: Run) -> str:
    steps = sorted({fact.step for fact in static.parity})
    over = f"{len(steps)} steps compared" if steps else "losses compared"
    if status == EQUAL:
        return f"bit-equal ({over})"
    first = min(difference.step for difference in differences)
    if status == NOISE:
        return f"differs from step {first} on, within the noise of the dynamic mode itself ({over})"
    if status == ROUNDED:
        worst = max(difference.relative or 0.0 for difference in differences)
        return f"equal up to rounding: at most {worst:.1g} relative, from step {first} on ({over})"
    if status == GROWTH:
        return f"rounding at step {first}, grown by the optimizer in later steps: no wrong kernel ({over})"
    return f"a wrong result from step {first} on ({over})"
