from __future__ import annotations

import re
import runpy
from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len

from sotprobe.model import ExitStatus, Finding, SourceSite
from sotprobe.report import terminal
from sotprobe.report.text import visible

SAMPLES = runpy.run_path(str(Path(__file__).parents[2] / "golden" / "report_samples.py"))["SAMPLES"]
SEED = SAMPLES["seed_story"]
ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


def lines_of(diagnosis, **options) -> list[str]:
    return terminal.render(diagnosis, **options).splitlines()


def with_finding(**changes):
    return replace(SEED, findings=(replace(SEED.findings[0], **changes),))


@pytest.mark.parametrize("width", [60, 80, 100, 200])
@pytest.mark.parametrize("name", SAMPLES)
def test_only_a_path_is_wider_than_the_page(name, width):
    diagnosis = SAMPLES[name]
    sites = [finding.site for finding in diagnosis.findings] + [mode.exit.site for mode in diagnosis.modes.values()]
    places = {visible(diagnosis.saved_in or "")} | {visible(site.path) for site in sites if site is not None}
    wide = [line.strip() for line in lines_of(diagnosis, width=width) if cell_len(line) > width]
    assert not [line for line in wide if not any(place and line.startswith((place, f"at {place}")) for place in places)]


@pytest.mark.parametrize("width", [60, 100, 200])
def test_table_columns_stay_aligned(width):
    lines = lines_of(SEED, width=width)
    start = next(index for index, line in enumerate(lines) if line.split() == ["dynamic", "static"])
    table = lines[start : start + 9]
    assert len({len(line) for line in table}) == 1
    assert table[2].split() == ["step", "ms,", "median", "4.71", "11.2"]


def test_verdict_is_the_first_line_and_the_place_of_everything_the_last():
    lines = lines_of(SEED)
    assert lines[0].startswith(SEED.verdict.text)
    assert lines[-1].strip() == SEED.saved_in


def test_sections_come_in_the_order_in_which_they_are_read():
    sections = [line.split(":")[0] for line in lines_of(SAMPLES["hostile"]) if line[:1].isupper()]
    wanted = ["Speed", "Findings", "Parity", "Failures", "Notes", "Saved in"]
    assert [section for section in sections if section in wanted] == wanted


def test_ratio_is_printed_with_its_interval():
    assert "static / dynamic: 0.420x  (interval 0.401 .. 0.446, 5 pairs of rounds)" in terminal.render(SEED)


def test_findings_keep_the_order_of_the_diagnosis():
    order = [line.split()[2] for line in lines_of(SEED) if re.match(r" \d\. ", line)]
    assert order == ["eager-loop", "no-grad-block/exception-table", "recompile/shape-churn", "environment"]


def test_finding_has_its_place_source_line_cost_and_count():
    page = terminal.render(SEED)
    assert "    cases/detection_loss.py:58 in rotate_weight\n      | for i in range(n_classes):\n" in page
    assert "cost      4.30 ms per step, 38% of the step; 97 per step" in page


def test_cost_that_was_not_measured_says_so_and_is_no_zero():
    page = terminal.render(with_finding(cost_ns=None, cost_share=None, count_per_step=None))
    assert re.search(r"cost +not measured$", page, re.MULTILINE)
    assert "0 ms" not in page


def test_a_cost_of_zero_is_not_a_missing_cost():
    assert "cost      nothing lost against the dynamic mode" in terminal.render(with_finding(cost_ns=0.0, cost_share=0.0))


def test_more_evidence_than_fits_is_counted():
    page = terminal.render(SEED)
    assert "dynamic spends 0.31 ms per step" in page
    assert ", and 2 more" in page
    assert "only the static branch" not in page


def test_clean_model_prints_a_short_page_without_warnings():
    lines = lines_of(SAMPLES["clean"])
    assert len(lines) <= 30
    assert "Findings: none" in lines
    assert not [line for line in lines if "warning" in line]


def test_figures_that_no_mode_has_leave_no_row():
    page = terminal.render(SAMPLES["no_timings"])
    assert "step ms" not in page
    assert re.search(r"steps x rounds +2 x 1 +2 x 1$", page, re.MULTILINE)


def test_losses_are_those_of_the_same_steps():
    assert re.search(r"loss, step 0 \.\. 2 +0\.693 \.\. 0\.413 +0\.693 \.\. 0\.413$", terminal.render(SEED), re.MULTILINE)


def test_failure_shows_the_error_its_line_and_the_stack():
    page = terminal.render(SAMPLES["failed_static"])
    assert "InnerError: elementwise_sub" in page
    assert "at ppdet/modeling/losses.py:131 in bbox_loss, while SOT simulated it" in page
    assert "signal SIGSEGV, exit code -11" in page
    assert "... 9 more lines" in page


@pytest.mark.parametrize(
    ("status", "shown"),
    [
        (ExitStatus("returned", code=0), False),
        (ExitStatus("step-limit", code=0), False),
        (ExitStatus("system-exit", code=0), False),
        (ExitStatus("system-exit", code=None), False),
        (ExitStatus("system-exit", code=3), True),
        (ExitStatus("timeout"), True),
        (ExitStatus("no-start", code=1), True),
    ],
)
def test_only_an_end_that_is_not_normal_is_a_failure(status, shown):
    modes = {"static": replace(SEED.modes["static"], exit=status)}
    assert ("Failures" in terminal.render(replace(SEED, modes=modes))) is shown


def test_markup_of_others_is_printed_and_not_obeyed():
    page = terminal.render(SAMPLES["hostile"], color=True)
    assert "[red]not markup[/red] :smile:" in ESCAPE.sub("", page)
    assert "\x1b]0;" not in page
    assert "\x1b[2J" not in page


def test_colour_changes_no_text(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    coloured = terminal.render(SEED, color=True)
    assert ESCAPE.search(coloured)
    plain = [line.rstrip() for line in ESCAPE.sub("", coloured).splitlines()]
    assert plain == lines_of(SEED)


def test_no_color_in_the_environment_wins(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    assert terminal.render(SEED, color=True) == terminal.render(SEED)


@pytest.mark.parametrize("variable", [("TERM", "dumb"), ("COLUMNS", "20"), ("FORCE_COLOR", "1"), ("JPY_PARENT_PID", "1")])
def test_the_page_does_not_depend_on_the_environment(monkeypatch, variable):
    expected = terminal.render(SEED)
    monkeypatch.setenv(*variable)
    assert terminal.render(SEED) == expected


def test_long_source_line_is_cut_at_the_edge():
    (line,) = [line for line in lines_of(with_finding(source_line="f(" + "a, " * 200 + ")")) if "| f(" in line]
    assert cell_len(line) <= 100
    assert line.endswith("…")


def test_long_path_stays_in_one_piece():
    site = SourceSite("/".join(["directory"] * 20) + "/model.py", 7, "forward")
    assert f"    {site} in forward" in lines_of(with_finding(site=site), width=60)


def test_a_hundred_findings_are_numbered_apart():
    finding = Finding("graph-break", "info", "t", None, "", ())
    page = terminal.render(replace(SEED, findings=(finding,) * 100))
    assert "Findings: 100 info" in page
    assert "100. info graph-break" in page
