"""Pages of results that were read from logs: what stands in place of times, and how much is said of a line that is not exact."""

from __future__ import annotations

import json
import re
import runpy
from dataclasses import replace
from pathlib import Path

import pytest

from sotprobe.model import Evidence, ExitStatus, LogSummary, ReadStats, SourceSite
from sotprobe.model.site import FUNCTION, NEAR
from sotprobe.report import json as json_report
from sotprobe.report import logwords, markdown, terminal, words

SAMPLES = runpy.run_path(str(Path(__file__).parents[2] / "golden" / "report_samples.py"))["SAMPLES"]
RANKS, WITHOUT_SOT = SAMPLES["log_ranks"], SAMPLES["log_without_sot"]
COUNTS = {
    "frames_entered", "translations", "cache_hits", "cached_fallback_hits", "cache_misses", "cache_exceeded", "subgraphs_built",
    "subgraph_runs", "fallbacks", "breaks", "recompiles",
}  # fmt: skip

each_page = pytest.mark.parametrize("render", [terminal.render, markdown.render], ids=["terminal", "markdown"])


def with_finding(diagnosis=RANKS, **changes):
    return replace(diagnosis, findings=(replace(diagnosis.findings[0], **changes),))


def summary(*ranks: str, files: tuple[str, ...] = ("a.log",)) -> LogSummary:
    return LogSummary(files=files, lines=1, calls=1, static_calls=1, steps=0, ranks=ranks)


# --- what a log has no figures for


@each_page
def test_nothing_is_said_of_speed_parity_and_cost_but_once(render):
    text = render(RANKS)
    assert "not measured" not in text
    assert "arity" not in text
    assert "static / dynamic" not in text
    assert text.count("no costs: a log has no times") == 1


@each_page
def test_a_page_without_findings_does_not_speak_of_costs(render):
    assert "cost" not in render(WITHOUT_SOT)


# --- counts


def test_counts_in_the_json_have_exactly_the_agreed_keys():
    data = json.loads(json_report.render(RANKS))
    assert data["counts"].keys() == COUNTS
    assert data["log"] == {
        "lines": 45_328,
        "calls": 480,
        "static_calls": 474,
        "steps": 120,
        "files": list(RANKS.log.files),
        "ranks": ["0", "1", "2", "3"],
        "refused": ["cannot read workerlog.4: permission denied"],
    }
    assert data["findings"][0]["ranks"] == ["2"]
    assert [finding["suspected"] for finding in data["findings"]] == [False, False, False, True]


@each_page
def test_every_count_is_printed(render):
    numbers = {name: 1001 + position for position, name in enumerate(sorted(COUNTS))}
    text = render(replace(RANKS, counts=numbers))
    assert {name for name, number in numbers.items() if not re.search(rf"\b{number}\b", text)} == set()


@each_page
def test_no_counts_are_printed_when_no_line_could_have_told_them(render):
    text = render(WITHOUT_SOT)
    assert "0 runs" not in text
    assert re.search(r"no lines of SOT\\?_LOG\\?_LEVEL", text)


@each_page
def test_what_a_collector_alone_tells_does_not_make_zeros_of_the_rest(render):
    told = replace(WITHOUT_SOT, counts={**WITHOUT_SOT.counts, "translations": 5, "breaks": 4})
    text = render(told)
    assert "5 translations" in text
    assert "4 graph breaks" in text
    assert "hits" not in text
    assert "built" not in text


# --- lines


@pytest.mark.parametrize(
    ("precision", "shown"),
    [
        ("line", "a/m.py:7 in forward"),
        (NEAR, "near a/m.py:7 in forward"),
        (FUNCTION, "a/m.py:7, where forward begins"),
    ],
)
def test_a_line_is_never_more_exact_than_it_is(precision, shown):
    assert words.place(SourceSite("a/m.py", 7, "forward", precision)) == shown


def test_a_failure_near_a_line_is_not_at_it():
    text = terminal.render(RANKS)
    assert "    near ppdet/modeling/losses.py:131 in bbox_loss" in text
    assert "at near" not in text
    assert "at ppdet" not in text


@each_page
def test_what_is_only_suspected_says_so(render):
    marked = re.compile(r"warning\W+suspected\W+not-captured")
    assert marked.search(render(with_finding(slug="not-captured", severity="warning", cause=None, suspected=True)))
    assert not marked.search(render(with_finding(slug="not-captured", severity="warning", cause=None)))


# --- evidence


def test_a_long_path_is_written_once():
    text = terminal.render(RANKS)
    assert text.count("runs/2026-02-14/distributed/node1/log/workerlog.2") == 1
    assert "[workerlog.2:10231]" in text


def test_evidence_names_a_short_path_as_it_was_given():
    diagnosis = replace(
        with_finding(evidence=(Evidence("sotlog", "said", "logs/a.log", 5),)), log=summary(files=("logs/a.log", "logs/b.log"))
    )
    assert "said  [logs/a.log:5]" in terminal.render(diagnosis)


def test_equal_names_in_two_folders_keep_the_folder():
    files = tuple(f"experiments/a-very-long-name/node{node}/log/workerlog.0" for node in (0, 1))
    assert set(logwords.names(replace(RANKS, log=summary(files=files))).values()) == {
        "node0/log/workerlog.0",
        "node1/log/workerlog.0",
    }


def test_evidence_that_is_hidden_is_counted():
    evidence = tuple(Evidence("sotlog", f"text {number}", "a.log", number) for number in range(1, 7))
    text = terminal.render(replace(with_finding(severity="info", evidence=evidence), log=summary()))
    assert "text 4  [a.log:4], and 2 more" in text
    of_run = terminal.render(
        replace(with_finding(evidence=(*evidence[:3], Evidence("log", "summed up"), *evidence)), log=summary())
    )
    assert "summed up  and 6 more" in of_run


# --- ranks


@pytest.mark.parametrize(
    ("told", "ranks", "shown"),
    [
        (("2",), ("0", "1", "2", "3"), "rank 2 only (of 4)"),
        (("0", "1", "2", "5"), tuple("01234567"), "ranks 0-2, 5 (of 8)"),
        (("0", "1"), ("0", "1", "2"), "ranks 0, 1 (of 3)"),
        (("0", "1"), ("0", "1"), "all 2 ranks"),
        (("0",), ("0",), ""),
        ((), ("0", "1"), ""),
        (("node1/0", "node2/0"), ("node0/0", "node1/0", "node2/0"), "ranks node1/0, node2/0 (of 3)"),
    ],
)
def test_ranks_in_words(told, ranks, shown):
    assert logwords.ranks(replace(RANKS.findings[0], ranks=told), summary(*ranks)) == shown


@pytest.mark.parametrize(
    ("rate", "shown"),
    [
        (None, ""),
        (1.0, "1 per call"),
        (2.5, "2.50 per call"),
        (1 / 24, "once in 24 calls"),
        (0.3, "about once in 3 calls"),
        (19 / 24, "in 79% of the calls"),
        (0.0, "0 per call"),
    ],
)
def test_how_often_in_words(rate, shown):
    assert logwords.per_call(replace(RANKS.findings[0], count_per_step=rate)) == shown


# --- what was read


def test_lines_that_were_not_understood_are_shown_escaped_and_cut():
    lines = terminal.render(RANKS, width=80).splitlines()
    at = lines.index("  not understood:")
    assert lines[at + 1 : at + 3] == ["    [Cache]: Firstly call <code obj", r"    [Cache] a line of next year \x1b[31m"]
    assert lines[at + 3].endswith("…")
    assert lines[at + 4] == "    ... 5 more lines"


def test_the_classes_of_lines_add_up_to_the_lines():
    text = logwords.lines(RANKS.log, RANKS.read_stats)
    total, *classes = map(int, re.findall(r"\d+", text))
    assert total == RANKS.log.lines == sum(classes)


def test_many_files_are_cut():
    log = summary(files=tuple(f"log/workerlog.{number}" for number in range(20)))
    assert logwords.paths(log)[-1] == "and 14 more"
    assert logwords.files(log) == "20 files"
    assert logwords.paths(summary()) == []


@each_page
def test_files_that_could_not_be_read_are_named(render):
    assert "cannot read workerlog.4: permission denied" in render(RANKS)


# --- how it ended


@each_page
def test_how_it_ended_is_told_again_only_when_there_is_more_to_say(render):
    def page(**changes):
        return render(replace(RANKS, modes={"static": replace(RANKS.modes["static"], exit=ExitStatus(**changes))}))

    assert re.search(r"Failures|failed:", page(reason="error", error_type="ValueError", error_message="several\nlines"))
    assert not re.search(r"Failures|failed:", page(reason="error", error_type="ValueError", error_message="one line"))
    assert not re.search(r"Failures|failed:", page(reason="signal", signal="SIGSEGV"))


@each_page
def test_a_harmless_end_is_no_failure(render):
    benign = with_finding(slug="benign-exit", severity="info")
    assert "Failures" in terminal.render(with_finding())
    assert not re.search(r"Failures|failed:", render(benign))


def test_a_fact_about_the_only_file_does_not_name_it():
    evidence = (Evidence("exit", "no step was logged", "a.log"), Evidence("exit", "said", "a.log", 3))
    text = terminal.render(replace(with_finding(evidence=evidence), log=summary()))
    assert "no step was logged\n" in text
    assert "said  [a.log:3]" in text


# --- versions


@pytest.mark.parametrize(
    ("environment", "shown"),
    [
        ({"paddle_seen": "3.2+", "python": "3.11"}, "Paddle 3.2 or later (by its wording), Python 3.11"),
        ({"paddle": "3.3.1", "paddle_seen": "3.2+"}, "Paddle 3.3.1"),
        (
            {"paddle_seen": "3.0-3.1", "python_seen": "3.11+"},
            "Paddle 3.0 to 3.1 (by its wording), Python 3.11 or later (by its lines)",
        ),
        ({"paddle_seen": "2.6"}, "Paddle 2.6 (by its wording)"),
        ({}, ""),
    ],
)
def test_a_version_that_was_inferred_says_so(environment, shown):
    assert words.versions(environment) == shown


def test_samples_of_no_reader_leave_no_heading():
    quiet = replace(RANKS, read_stats={"sotlog": ReadStats(matched=3)})
    assert "not understood" not in terminal.render(quiet)
