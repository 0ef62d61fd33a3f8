"""Equal, noise, rounding, growth by the optimizer, wrong: told apart from parity facts and losses."""

from __future__ import annotations

import pytest

TEXT = "def forward(x):  # <- def\n    return x * 2\n"


@pytest.fixture
def judged(program):
    """judged(static facts, noise facts, losses) -> (parity verdict, accuracy-mismatch findings)"""

    def judge(static=(), noise=None, dynamic_losses=(), static_losses=()):
        case = program(TEXT)
        for mode, losses in (("dynamic", dynamic_losses), ("static", static_losses)):
            run = case.run(mode)
            for loss in losses or [None] * 5:
                run.steps(1, loss=loss)
            for fact in static if mode == "static" else ():
                run.record("parity", **fact)
        if noise is not None:
            repeat = case.run("dynamic", "parity").steps(5)
            for fact in noise:
                repeat.record("parity", **fact)
        diagnosis = case.diagnose()
        return diagnosis.parity, [finding for finding in diagnosis.findings if finding.slug == "accuracy-mismatch"]

    return judge


def fact(step, relative, *, what="output", name="outputs[0]", absolute=None, mismatch=None):
    return {
        "what": what, "name": name, "step": step, "equal": relative == 0.0 and mismatch is None,
        "max_abs_error": relative if absolute is None else absolute, "max_rel_error": relative, "mismatch": mismatch,
    }  # fmt: skip


def test_bit_equal(judged):
    parity, findings = judged([fact(0, 0.0), fact(1, 0.0)], noise=[fact(0, 0.0)])
    assert (parity.comparable, parity.outputs_equal, parity.max_abs_error, parity.noise_abs) == (True, True, 0.0, 0.0)
    assert parity.first_divergent_step is None
    assert "bit-equal" in parity.text
    assert findings == []


def test_rounding_is_equal(judged):
    parity, findings = judged([fact(0, 1.5e-7), fact(1, 3e-7)], noise=[fact(0, 0.0)])
    assert (parity.outputs_equal, parity.first_divergent_step, parity.max_rel_error) == (True, 0, 3e-7)
    assert "rounding" in parity.text
    assert findings == []


def test_growth_by_the_optimizer_is_no_wrong_kernel(judged):
    facts = [fact(0, 1e-7), fact(0, 2e-7, what="gradient", name="w"), fact(3, 1e-4), fact(10, 2e-3)]
    parity, (finding,) = judged(facts)
    assert finding.severity == "info"
    assert parity.outputs_equal is False
    assert parity.gradient_rel_error == 2e-7
    assert "optimizer" in parity.text


def test_a_wrong_output_at_step_0_is_an_error(judged):
    parity, (finding,) = judged([fact(0, 0.7), fact(1, 0.7)])
    assert finding.severity == "error"
    assert (parity.outputs_equal, parity.first_divergent_step) == (False, 0)
    assert any("outputs[0] differs by 0.7" in evidence.text for evidence in finding.evidence)


def test_a_wrong_gradient_is_an_error_though_outputs_are_equal(judged):
    _, (finding,) = judged([fact(0, 0.0), fact(0, 0.3, what="gradient", name="w")])
    assert finding.severity == "error"


def test_a_jump_from_equal_to_wrong_later_is_an_error(judged):
    _, (finding,) = judged([fact(0, 0.0), fact(3, 0.4)])
    assert finding.severity == "error"


@pytest.mark.parametrize("mismatch", ["dtype float32 became float64", "shape [2] became [3]", "stop_gradient True became False"])
def test_what_cannot_be_rounding_is_an_error(judged, mismatch):
    parity, (finding,) = judged([fact(0, None, mismatch=mismatch)])
    assert finding.severity == "error"
    assert any(mismatch in evidence.text for evidence in finding.evidence)
    assert parity.max_abs_error is None


def test_no_more_than_the_noise_of_dynamic_mode(judged):
    parity, findings = judged([fact(0, 0.02)], noise=[fact(0, 0.01)])
    assert (parity.outputs_equal, parity.noise_abs) == (True, 0.01)
    assert "noise" in parity.text
    assert findings == []


def test_more_than_the_noise_of_dynamic_mode(judged):
    _, (finding,) = judged([fact(0, 0.2)], noise=[fact(0, 0.01)])
    assert finding.severity == "error"


def test_equal_losses_alone(judged):
    parity, findings = judged(dynamic_losses=[1.0, 0.5], static_losses=[1.0, 0.5])
    assert (parity.outputs_equal, findings) == (True, [])


def test_losses_that_part_at_once(judged):
    parity, (finding,) = judged(dynamic_losses=[1.0, 0.5], static_losses=[1.0, 0.9])
    assert (parity.first_divergent_step, finding.severity) == (1, "error")


@pytest.mark.parametrize(("static", "equal"), [(float("nan"), True), (0.5, False)])
def test_nan_losses(judged, static, equal):
    parity, _ = judged(dynamic_losses=[float("nan")], static_losses=[static])
    assert parity.outputs_equal is equal


def test_nothing_recorded_is_nothing_known(judged):
    parity, findings = judged()
    assert (parity.comparable, parity.outputs_equal, parity.max_abs_error) == (True, None, None)
    assert findings == []


def test_a_session_that_was_stopped_before_it_diagnosed_is_still_about_speed(program):
    case = program(TEXT)
    case.timing("dynamic", 10, 10, 10).timing("static", 5, 5, 5)
    case.run("dynamic").steps(5)
    diagnosis = case.diagnose()
    assert (diagnosis.verdict.slug, diagnosis.findings) == ("faster", ())
    assert diagnosis.parity.text == "not compared: the static mode was not diagnosed"


def test_steps_marked_in_different_ways_are_not_compared(program):
    case = program(TEXT)
    case.run("dynamic").steps(3, source="optimizer")
    case.run("static").steps(3, source="call")
    parity = case.diagnose().parity
    assert parity.comparable is False
    assert "optimizer" in parity.reasons[0]
