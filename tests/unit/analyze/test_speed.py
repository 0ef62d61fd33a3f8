"""Modes, ratio and verdict: from steps to the first line of the report."""

from __future__ import annotations

import pytest
from fake_runs import MS

TEXT = "def forward(x):  # <- def\n    return x * 2  # <- op\n"


@pytest.fixture
def case(program):
    return program(TEXT)


def captured(case):
    """Diagnosing runs of a program that is one subgraph."""
    case.run("dynamic").steps(5)
    run = case.run("static").steps(5)
    run.record("subgraph", step=0, name="SIR_0", code=0, statements=[{"text": "a", **run.at("op")}], ops=20, dropped=None)
    run.record("subgraph-runs", step=1, runs=[{"name": "SIR_0", "count": 1}])


class TestSpeed:
    @pytest.mark.parametrize(
        ("static", "slug"),
        [
            ((5, 5.1, 4.9, 5, 5), "faster"),
            ((20, 21, 20, 19, 20), "slower"),
            ((10.1, 9.9, 10, 10.2, 9.8), "no-difference"),
        ],
    )
    def test_verdict(self, case, static, slug):
        case.timing("dynamic", 10, 10, 10, 10, 10).timing("static", *static)
        captured(case)
        assert case.diagnose().verdict.slug == slug

    def test_nothing_ran_statically(self, case):
        case.timing("dynamic", 10, 10, 10).timing("static", 10.1, 9.9, 10)
        case.run("dynamic").steps(5)
        run = case.run("static").steps(5)
        run.record("subgraph", step=0, name="S", code=0, statements=[{"text": "a", **run.at("op")}], ops=2, dropped="too-small")
        assert case.diagnose().verdict.slug == "nothing-captured"

    def test_ratio_is_above_one_when_static_is_faster(self, case):
        case.timing("dynamic", 10, 10, 10).timing("static", 5, 5, 5)
        assert case.diagnose().ratio.static_over_dynamic == pytest.approx(2.0)

    def test_two_rounds_are_too_few(self, case):
        case.timing("dynamic", 10, 10).timing("static", 5, 5)
        captured(case)
        diagnosis = case.diagnose()
        assert diagnosis.verdict.slug == "too-few-rounds"
        assert not diagnosis.ratio.confident

    def test_rounds_are_paired(self, case):
        """The machine became slower with time, for both alike."""
        case.timing("dynamic", 10, 20, 40).timing("static", 5, 10, 20)
        ratio = case.diagnose().ratio
        assert (ratio.static_over_dynamic, ratio.pairs, ratio.confident) == (pytest.approx(2.0), 3, True)

    def test_a_round_whose_partner_failed_is_left_out(self, case):
        case.timing("dynamic", 10, 10, 10).timing("static", 5, 5)
        case.run("static", "timing", 2).steps(20, 5).exit(signal="SIGSEGV")
        assert case.diagnose().ratio.pairs == 2

    def test_compile_steps_and_the_first_step_are_not_speed(self, case):
        run = case.run("static", "timing").steps(10, ms=10, first_ms=500)
        run.record("step", index=10, source="case", wall_ns=300 * MS, translations=2).ended()
        mode = case.diagnose().modes["static"]
        assert (mode.steps, mode.step_ms_median, mode.step_ms_max, mode.first_step_ms) == (9, 10.0, 10.0, 500.0)
        assert mode.compile_ms == pytest.approx(290.0)

    def test_samples_when_the_batch_size_is_known(self, case):
        case.run("static", "timing").steps(10, ms=10, batch_size=32).ended()
        mode = case.diagnose().modes["static"]
        assert (mode.ips, mode.ips_unit) == (pytest.approx(3200.0), "samples/s")

    def test_steps_when_it_is_not(self, case):
        case.run("static", "timing").steps(10, ms=10).ended()
        mode = case.diagnose().modes["static"]
        assert (mode.ips, mode.ips_unit) == (pytest.approx(100.0), "steps/s")

    def test_the_window_the_user_asked_for(self, case):
        run = case.run("static", "timing", window=[5, 8])
        run.steps(5, ms=100).steps(3, ms=10).steps(4, ms=100).ended()
        mode = case.diagnose().modes["static"]
        assert (mode.steps, mode.step_ms_median) == (3, 10.0)

    def test_the_programs_own_window(self, case):
        case.run("static", "timing").record("window", start=5, end=8).steps(5, ms=100).steps(3, ms=10).ended()
        assert case.diagnose().modes["static"].step_ms_median == 10.0

    def test_a_window_that_is_switched_off_is_none(self, case):
        case.run("static", "timing").record("window", start=-1, end=-1).steps(5, ms=10).ended()
        assert case.diagnose().modes["static"].steps == 4

    def test_warmup(self, case):
        case.run("static", "timing", warmup=5).steps(5, ms=100).steps(5, ms=10).ended()
        assert case.diagnose().modes["static"].step_ms_max == 10.0

    def test_few_steps_are_a_verdict(self, case):
        case.timing("dynamic", 10, 10, 10, steps=2).timing("static", 5, 5, 5, steps=2)
        case.run("dynamic").steps(2)
        case.run("static").steps(2)
        diagnosis = case.diagnose()
        assert diagnosis.ratio is None
        assert diagnosis.verdict.slug == "too-few-steps"

    def test_diagnosing_runs_are_not_speed(self, case):
        case.run("static").steps(10, ms=1)
        mode = case.diagnose().modes["static"]
        assert (mode.ips, mode.step_ms_median, mode.rounds) == (None, None, 0)

    def test_one_mode(self, case):
        case.run("static").steps(10)
        assert case.diagnose().verdict.slug == "one-mode"

    def test_unknown_translations_leave_compile_time_unknown(self, case):
        run = case.run("static", "timing")
        for index in range(6):
            run.record("step", index=index, source="case", wall_ns=5 * MS, translations=None)
        mode = case.diagnose().modes["static"]
        assert (mode.compile_ms, mode.steps) == (None, 5)


    def test_a_program_without_a_step_is_told_how_to_name_one(self, case):
        for mode in ("dynamic", "static"):
            case.run(mode, "timing").start()
            case.run(mode).start()
        verdict = case.diagnose().verdict
        assert verdict.slug == "no-steps"
        assert "--step-on" in verdict.text

    def test_a_program_that_keeps_translating_is_told_so(self, case):
        for round_ in range(3):
            case.run("dynamic", "timing", round_).steps(40, 5)
            case.run("static", "timing", round_).steps(40, 5, first_ms=105, compile_steps=20)
        assert "translations in 20 of 40 steps" in case.diagnose().verdict.text

    def test_a_program_that_translates_at_its_start_is_not(self, case):
        for round_ in range(3):
            case.run("dynamic", "timing", round_).steps(40, 5)
            case.run("static", "timing", round_).steps(40, 5, first_ms=105, compile_steps=1)
        assert "translations" not in case.diagnose().verdict.text

    def test_with_full_graph_what_sot_would_count_is_unknown(self, case):
        case.run("static", full_graph=True).steps(5, compile_steps=1)
        static = case.diagnose().modes["static"]
        assert (static.translations, static.subgraphs, static.breaks, static.fallbacks) == (1, None, None, None)


class TestFailures:
    def both(self, case):
        case.timing("dynamic", 10, 10, 10)
        case.run("dynamic").steps(5).ended()
        return case

    def test_a_python_error_names_the_users_line(self, case):
        self.both(case)
        for purpose in ("timing", "diagnosis"):
            run = case.run("static", purpose).steps(2)
            run.record(
                "error", type="ValueError", message="bad shape\nmore", site=run.at("op"), stack=[run.at("op")], traceback="T"
            )
            run.ended("error", 1)
        diagnosis = case.diagnose()
        assert diagnosis.verdict.slug == "failed-static"
        (finding,) = [finding for finding in diagnosis.findings if finding.severity == "error"]
        assert (finding.slug, finding.cause, finding.site.line) == ("not-comparable", "program-error", case.line("op"))
        assert "ValueError: bad shape" in finding.title
        assert diagnosis.modes["dynamic"].step_ms_median == 10.0
        assert diagnosis.parity.comparable is False

    @pytest.mark.parametrize(
        ("kind", "message", "simulated", "cause"),
        [
            ("InnerError", "float - int64", True, "inner-error"),
            (
                "RuntimeError",
                "Can't call main_program when full_graph=False. Use paddle.jit.to_static(full_graph=True) instead.",
                False,
                "main-program",
            ),
            (
                "ValueError",
                "(InvalidArgument) The 0-th input does not appear in the backward graph.",
                False,
                "higher-order-gradient",
            ),
        ],
    )
    def test_known_errors_have_a_cause(self, case, kind, message, simulated, cause):
        self.both(case)
        run = case.run("static").steps(0)
        run.record("error", type=kind, message=message, site=run.at("op"), stack=[], simulated=simulated).ended("error", 1)
        finding = case.only("not-comparable")
        assert (finding.cause, finding.site.line) == (cause, case.line("op"))

    def test_a_signal_by_name(self, case):
        self.both(case)
        run = case.run("static").steps(3).exit(signal="SIGSEGV")
        (run.directory / "stacks.txt").write_text("Fatal Python error: Segmentation fault\n")
        finding = case.only("not-comparable")
        assert finding.cause == "signal"
        assert "SIGSEGV" in finding.title
        assert any("3 steps" in evidence.text for evidence in finding.evidence)
        assert any("Fatal Python error" in evidence.text for evidence in finding.evidence)

    def test_a_timeout_with_the_stacks(self, case):
        self.both(case)
        run = case.run("static").steps(3).exit(timed_out=True, signal="SIGKILL")
        (run.directory / "stacks.txt").write_text("Thread 0x1 (most recent call first):\n")
        finding = case.only("not-comparable")
        assert finding.cause == "timeout"
        assert any("Thread 0x1" in evidence.text for evidence in finding.evidence)

    def test_both_modes(self, case):
        case.run("dynamic").exit(code=1)
        case.run("static").exit(code=1)
        diagnosis = case.diagnose()
        assert diagnosis.verdict.slug == "failed"
        assert {finding.cause for finding in diagnosis.findings} == {"no-start"}

    def test_without_the_noise_floor_the_rest_still_holds(self, case):
        case.timing("dynamic", 10, 10, 10).timing("static", 5, 5, 5)
        captured(case)
        case.run("dynamic", "parity").steps(1).exit(signal="SIGTERM")
        assert case.only("not-comparable").severity == "warning"
        assert case.diagnose().verdict.slug == "faster"

    def test_the_same_failure_of_five_rounds_is_one_finding(self, case):
        self.both(case)
        for round_ in range(5):
            run = case.run("static", "timing", round_).steps(1)
            run.record("error", type="ValueError", message="x", site=run.at("op"), stack=[]).ended("error", 1)
        assert case.only("not-comparable").cause == "program-error"

    def test_leaving_by_sys_exit_is_benign(self, case):
        case.timing("dynamic", 10, 10, 10).timing("static", 5, 5, 5)
        case.run("dynamic").steps(5).ended("system-exit")
        case.run("static").steps(5).ended("system-exit")
        diagnosis = case.diagnose()
        assert [(finding.slug, finding.severity) for finding in diagnosis.findings] == [("benign-exit", "info")]
        assert diagnosis.verdict.slug == "faster"


def test_modes_that_did_different_work_are_not_comparable(case):
    case.timing("dynamic", 10, 10, 10).timing("static", 5, 5, 5)
    case.run("dynamic").steps(5, batch_size=8)
    case.run("static").steps(5, batch_size=4)
    diagnosis = case.diagnose()
    assert diagnosis.verdict.slug == "not-comparable"
    assert "batch size" in diagnosis.verdict.text
    assert case.only("not-comparable").severity == "error"


def test_nothing_to_diagnose():
    from sotprobe.analyze import diagnose
    from sotprobe.errors import InputError

    with pytest.raises(InputError):
        diagnose([])
