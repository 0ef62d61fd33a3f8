"""Several processes and several files of one program: what is one finding, who shows it, and what is added up."""

from __future__ import annotations

from dataclasses import replace

import pytest
from log_texts import calls, compiled, entry, fallback, hit, prefixed

from sotprobe.analyze.logranks import in_order, merged
from sotprobe.analyze.logs import diagnose_logs
from sotprobe.model import Evidence, ExitStatus, Finding, ProgramInfo, Run, SourceSite
from sotprobe.model.site import FUNCTION, NEAR
from sotprobe.readers.log import LogOptions, read_logs


@pytest.fixture
def logs(tmp_path):
    """logs({name: text}) writes files and returns their paths."""

    def write(texts):
        for name, text in texts.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return [str(tmp_path / name) for name in texts]

    return write


def diagnosed(files):
    reading = read_logs(files, LogOptions())
    return diagnose_logs(reading.runs, reading.stats)


def run(rank: str | None = None, **changes) -> Run:
    environment = {} if rank is None else {"rank": rank}
    known = {"directory": "a.log", "mode": "static", "purpose": "diagnosis", "round": 0, "program": ProgramInfo("a.log", "log")}
    return Run(**{**known, "environment": environment, "exit": ExitStatus("log-ended"), **changes})


def finding(title: str = "a title", **changes) -> Finding:
    return replace(Finding("graph-break", "warning", title, SourceSite("m.py", 7, "f"), "advice", (), cause="item"), **changes)


# --- ranks of files and lines


def test_workerlogs_that_say_the_same_are_one_finding_of_all_ranks(logs):
    diagnosis = diagnosed(logs({f"log/workerlog.{rank}": calls(3) + fallback() for rank in range(4)}))
    (found,) = [item for item in diagnosis.findings if item.slug == "fallback"]
    assert found.ranks == ("0", "1", "2", "3")
    assert diagnosis.log.ranks == ("0", "1", "2", "3")
    assert {evidence.file.rpartition(".")[2] for evidence in found.evidence} == {"0", "1", "2", "3"}


def test_what_one_rank_alone_shows_names_that_rank(logs):
    texts = {f"log/workerlog.{rank}": calls(3) for rank in range(4)}
    texts["log/workerlog.2"] += fallback()
    found = [item for item in diagnosed(logs(texts)).findings if item.slug == "fallback"]
    assert [item.ranks for item in found] == [("2",)]


def test_counts_are_those_of_all_ranks_together(logs):
    diagnosis = diagnosed(logs({f"log/workerlog.{rank}": calls(rank + 1) + fallback() for rank in range(3)}))
    assert diagnosis.counts["subgraph_runs"] == 1 + 2 + 3
    assert diagnosis.counts["fallbacks"] == 3
    assert (diagnosis.log.calls, diagnosis.log.static_calls) == (6, 6)


def test_lines_of_interleaved_ranks_are_told_apart(logs):
    first, second = calls(2).splitlines(True), (calls(2) + fallback()).splitlines(True)
    mixed = [prefixed(rank, line) for pair in zip(first, second, strict=False) for rank, line in enumerate(pair)]
    mixed += [prefixed(1, line) for line in second[len(first) :]]
    diagnosis = diagnosed(logs({"all.log": "".join(mixed)}))
    assert diagnosis.counts["subgraph_runs"] == 4
    assert [item.ranks for item in diagnosis.findings if item.slug == "fallback"] == [("1",)]


def test_a_line_that_names_its_rank_is_believed_more_than_the_file(logs):
    diagnosis = diagnosed(logs({"workerlog.0": calls(2) + prefixed(3, calls(2))}))
    assert diagnosis.log.ranks == ("0", "3")


def test_workers_of_two_nodes_are_different_processes(logs):
    files = logs({"node0/log/workerlog.0": calls(1), "node1/log/workerlog.0": calls(1) + fallback()})
    diagnosis = diagnosed(files)
    assert diagnosis.log.ranks == ("node0/log/0", "node1/log/0")
    assert [item.ranks for item in diagnosis.findings if item.slug == "fallback"] == [("node1/log/0",)]


def test_files_without_ranks_are_one_process(logs):
    diagnosis = diagnosed(logs({"a.log": fallback(), "b.log": fallback()}))
    (found,) = [item for item in diagnosis.findings if item.slug == "fallback"]
    assert found.ranks == ()
    assert diagnosis.log.ranks == ()
    assert diagnosis.counts["fallbacks"] == 2


def test_the_order_of_the_files_does_not_matter(logs):
    files = logs({f"log/workerlog.{rank}": calls(rank + 1) + fallback() * (rank % 2) for rank in range(5)})
    assert diagnosed(files) == diagnosed(files[::-1])


# --- totals of a process


def test_errors_in_one_file_see_the_calls_in_another(logs):
    reading = read_logs(logs({"err.log": "nothing of SOT\n", "out.log": calls(7)}), LogOptions())
    assert [(each.counts["log.calls"], each.counts["log.all_calls"]) for each in reading.runs] == [(0, 7), (7, 7)]


def test_a_rank_sees_its_own_calls_or_the_most_of_another(logs):
    reading = read_logs(logs({"workerlog.0": calls(7), "workerlog.1": calls(2), "workerlog.2": "quiet\n"}), LogOptions())
    assert [each.counts["log.all_calls"] for each in reading.runs] == [7, 2, 7]


def test_ranks_that_got_less_far_are_named(logs):
    texts = {f"workerlog.{rank}": calls(9) for rank in range(3)}
    texts["workerlog.1"] = calls(4)
    notes = [note.text for note in diagnosed(logs(texts)).notes]
    assert "the ranks did not get equally far: 4 calls in rank 1, up to 9 in others" in notes
    texts["workerlog.1"] = calls(9)
    assert not [note for note in diagnosed(logs(texts)).notes if "equally" in note.text]


# --- merging


def test_titles_may_differ_in_wording_but_two_of_one_process_stay_two():
    both = [finding("all of f"), finding("the rest of f after line 7")]
    found = merged([(run("0"), [finding("another wording")]), (run("1"), [finding("a wording")])])
    assert [(item.title, item.ranks) for item in found] == [("another wording", ("0", "1"))]
    found = merged([(run("0"), both), (run("1"), both[::-1])])
    assert [(item.title, item.ranks) for item in found] == [(item.title, ("0", "1")) for item in both]


def test_without_a_line_the_title_tells_findings_apart_but_for_its_numbers():
    titles = ["GPU 0 has no memory left: 12 MiB", "GRAPH_SIZE is ignored"]
    found = merged(
        [
            (run("0"), [finding(title, site=None, cause=None) for title in titles]),
            (run("1"), [finding("GPU 1 has no memory left: 800 MiB", site=None, cause=None)]),
        ]
    )
    assert [(item.title, item.ranks) for item in found] == [(titles[0], ("0", "1")), (titles[1], ("0",))]


@pytest.mark.parametrize("change", [{"slug": "fallback"}, {"cause": "print"}, {"site": SourceSite("m.py", 8, "f")}])
def test_another_cause_or_line_is_another_finding(change):
    assert len(merged([(run("0"), [finding()]), (run("1"), [finding(**change)])])) == 2


def test_the_worst_severity_and_the_most_exact_line_are_kept():
    near, function = SourceSite("m.py", 7, "f", NEAR), SourceSite("m.py", 7, "f", FUNCTION)
    (found,) = merged(
        [
            (run("0"), [finding(site=function, severity="info", suspected=True)]),
            (run("1"), [finding(site=near, severity="error", source_line="x = 1")]),
        ]
    )
    assert (found.site.precision, found.severity, found.suspected) == (NEAR, "error", False)
    assert found.source_line is None  # the text of a line that is only near is the wrong one


def test_a_suspicion_stands_only_when_no_process_refutes_it():
    suspected = finding(suspected=True)
    (found,) = merged([(run("0"), [suspected]), (run("1"), [suspected])])
    assert (found.suspected, found.ranks) == (True, ())  # it is about the source, not about a process
    assert merged([(run("0"), [suspected]), (run("1"), [])]) == ()
    assert len(merged([(run(), [suspected])])) == 1
    (found,) = merged([(run("0"), [suspected]), (run("1"), [finding()]), (run("2"), [])])
    assert not found.suspected


def test_a_count_per_call_that_differs_is_the_largest_and_says_so():
    (same,) = merged([(run("0"), [finding(count_per_step=2.0)]), (run("1"), [finding(count_per_step=2.0)])])
    assert (same.count_per_step, same.evidence) == (2.0, ())
    (found,) = merged([(run("0"), [finding(count_per_step=1.0)]), (run("1"), [finding(count_per_step=2.0)])])
    assert found.count_per_step == 2.0
    assert [item.text for item in found.evidence] == ["between 1 and 2 times a call, depending on the process"]


def test_evidence_of_each_rank_is_limited_and_different_texts_come_first():
    def of(rank):
        return tuple(Evidence("sotlog", f"text {number}", f"workerlog.{rank}", number) for number in range(9))

    (found,) = merged([(run(str(rank)), [finding(evidence=of(rank))]) for rank in range(8)])
    assert [item.text for item in found.evidence[:4]] == ["text 0", "text 1", "text 2", "text 0"]
    assert len(found.evidence) == 3 * 8
    assert {item.file for item in found.evidence[:3]} == {"workerlog.0"}


def test_what_a_rule_sums_up_was_not_seen_by_hooks():
    (found,) = merged([(run(), [finding(evidence=(Evidence("hooks", "3 recompiles"), Evidence("hooks", "seen", "r.jsonl", 3)))])])
    assert [item.reader for item in found.evidence] == ["log", "hooks"]


def test_ranks_are_in_the_order_of_their_numbers():
    assert in_order(["10", "2", "0", "2"]) == ("0", "2", "10")
    assert in_order(["node10/0", "node2/1", "node2/0"]) == ("node2/0", "node2/1", "node10/0")


# --- the verdict


def verdict_of(files):
    return diagnosed(files).verdict


def test_every_call_ran_statically(logs):
    found = verdict_of(logs({"a.log": calls(3)}))
    assert (found.slug, found.text) == ("ran-statically", "all 3 calls ran subgraphs (1 subgraph built, 3 runs)")


def test_some_calls_ran_statically(logs):
    found = verdict_of(logs({"a.log": calls(2) + entry() + "[Cache] Exceed max cache size, skip it\n"}))
    text = "2 of 3 calls ran subgraphs (1 subgraph built, 2 runs); cache full 1 time"
    assert (found.slug, found.text) == ("partly-static", text)


def test_nothing_ran_statically_because_of_a_fallback(logs):
    given_up = "[Cache] Cache hit, Guard is \nlambda frame: True\n"
    found = verdict_of(logs({"a.log": fallback() + (entry("head", 40) + given_up) * 2}))
    text = "nothing ran statically in 3 calls: no subgraph was built, 1 fallback, 2 hits of cached fallbacks"
    assert (found.slug, found.text) == ("nothing-captured", text)


def test_nothing_ran_statically_because_the_graph_is_small(logs):
    built = compiled().partition("[FallbackWrapper]")[0]
    ran_eagerly = hit().partition("[FallbackWrapper]")[0]
    found = verdict_of(logs({"a.log": built + ran_eagerly * 2}))
    assert found.slug == "nothing-captured"
    assert found.text == "nothing ran statically in 3 calls: 1 subgraph built and none run (MIN_GRAPH_SIZE, or forced)"


def test_a_log_without_sot_lines_is_no_success(logs):
    found = verdict_of(logs({"a.log": "epoch 1 loss 0.5\n"}))
    assert found.slug == "no-sot-lines"
    assert "no success" in found.text
    assert "SOT_LOG_LEVEL=2" in found.text


def diagnosis_of(*runs):
    counted = [replace(each, counts={**dict.fromkeys(COUNTED, 0), **each.counts}) for each in runs]
    return diagnose_logs(counted, {})


COUNTED = ("log.frames_entered", "log.subgraph_runs", "log.calls", "log.steps", "log.static_calls")
KILLED = ExitStatus("signal", signal="SIGSEGV")


def test_a_crash_comes_first_and_names_its_rank():
    ran = {"log.frames_entered": 9, "log.subgraph_runs": 9, "log.calls": 9, "log.static_calls": 9, "log.subgraphs_built": 1}
    runs = [run(str(rank), counts={**ran, "log.all_calls": 9, "log.all_steps": 120}) for rank in range(4)]
    runs[2] = replace(runs[2], exit=KILLED)
    found = diagnosis_of(*runs)
    text = "rank 2 alone crashed after 120 steps: SIGSEGV; all 36 calls ran subgraphs (4 subgraphs built, 36 runs)"
    assert (found.verdict.slug, found.verdict.text) == ("crashed", text)
    assert found.modes["static"].exit == KILLED


def test_a_crash_without_steps_counts_calls():
    found = diagnosis_of(run(exit=KILLED, counts={"log.all_calls": 7})).verdict
    assert found.text == "the program crashed after 7 calls: SIGSEGV"


def test_an_exception_of_several_ranks():
    failed = ExitStatus("error", error_type="builtins.KeyError", error_message="'fx'\nmore")
    found = diagnosis_of(*(run(str(rank), exit=failed) for rank in range(3)), run("3")).verdict
    assert (found.slug, found.text) == ("failed", "3 of 4 ranks failed: KeyError: 'fx'")


def test_a_long_message_is_cut_and_ends_without_its_point():
    def text(message):
        return diagnosis_of(run(exit=ExitStatus("error", error_type="E", error_message=message))).verdict.text

    assert text("it went wrong.") == "the program failed: E: it went wrong"
    assert text("dim 1.5 is wrong. Use another.") == "the program failed: E: dim 1.5 is wrong"
    assert text("x" * 300) == f"the program failed: E: {'x' * 160}…"


def test_a_signal_says_more_than_the_exceptions_it_causes_elsewhere():
    failed = ExitStatus("error", error_type="RuntimeError", error_message="peer closed")
    found = diagnosis_of(run("0", exit=failed), run("1", exit=KILLED)).verdict
    assert found.text == "rank 1 alone crashed: SIGSEGV"


def test_ranks_that_the_launcher_ended_do_not_hide_the_one_that_crashed():
    ended = ExitStatus("signal", signal="SIGTERM")
    runs = [run(str(rank), exit=ended, counts={"log.all_steps": 120}) for rank in range(4)]
    runs[3] = replace(runs[3], exit=KILLED)
    found = diagnosis_of(*runs)
    assert found.verdict.text == "rank 3 alone crashed after 120 steps: SIGSEGV"
    assert [item.ranks for item in found.findings if item.slug == "benign-exit"] == [("0", "1", "2")]


def test_a_harmless_end_comes_after_what_ran_statically():
    ran = {"log.frames_entered": 9, "log.subgraph_runs": 9, "log.calls": 9, "log.static_calls": 9, "log.subgraphs_built": 1}
    ended = ExitStatus("signal", signal="SIGTERM")
    found = diagnosis_of(run(exit=ended, counts={**ran, "log.steps": 9, "log.all_steps": 9})).verdict
    assert found.slug == "ran-statically"
    assert found.text.startswith("all 9 calls ran subgraphs (1 subgraph built, 9 runs); the program was ended from outside")


def test_a_harmless_end_comes_before_what_the_log_does_not_say():
    ended = ExitStatus("signal", signal="SIGTERM")
    found = diagnosis_of(run(exit=ended, counts={"log.steps": 40, "log.all_steps": 40})).verdict
    assert found.slug == "no-sot-lines"
    assert found.text.startswith("40 steps logged; the program was ended from outside by SIGTERM")


def test_a_rank_that_stops_without_a_word_is_why_the_others_were_ended():
    ended = ExitStatus("signal", signal="SIGTERM")
    runs = [run(str(rank), exit=ended, counts={"log.steps": 6, "log.all_steps": 6}) for rank in range(4)]
    runs[1] = run("1", counts={"log.steps": 4, "log.all_steps": 4})
    found = diagnosis_of(*runs)
    assert (found.verdict.slug, found.verdict.text) == (
        "rank-stopped",
        "rank 1 stopped without a word; then others were ended from outside",
    )
    assert not [item for item in found.findings if "harmless" in item.title]
    (told,) = found.findings
    assert (told.slug, told.severity, told.ranks) == ("not-comparable", "warning", ("0", "2", "3"))
    assert "last lines of rank 1" in told.advice


def test_ranks_without_a_last_word_blame_nobody_when_they_are_the_most():
    ended = ExitStatus("signal", signal="SIGTERM")
    runs = [run("0", exit=ended, counts={"log.steps": 6, "log.all_steps": 6}), run("1"), run("2")]
    assert diagnosis_of(*runs).verdict.slug == "no-sot-lines"


def test_a_compile_time_limit_is_told(logs):
    limit = entry() + "[Cache] Exceed max compile time per code, skip it\n"
    found = verdict_of(logs({"a.log": calls(1) + limit * 2}))
    text = "1 of 3 calls ran subgraphs (1 subgraph built, 1 run); compile-time limit reached"
    assert (found.slug, found.text) == ("partly-static", text)


def test_what_a_collector_tells_is_something_although_calls_are_not_logged():
    found = diagnosis_of(run(counts={"log.breaks": 4, "log.translations": 5})).verdict
    assert found.slug == "calls-not-logged"
    assert found.text.startswith("4 graph breaks; calls are not logged, so that what ran statically is not known; ")


def test_an_end_from_outside_before_any_step_is_no_crash():
    found = diagnosis_of(run(exit=ExitStatus("signal", signal="SIGTERM"))).verdict
    assert (found.slug, found.text) == ("ended-from-outside", "the program was ended from outside: SIGTERM")


def test_a_program_that_failed_without_a_log_of_frames_says_nothing_of_skipped_functions():
    silent = "functions with a with or try block are skipped"
    assert not [note for note in diagnosis_of(run(exit=KILLED)).notes if note.text.startswith(silent)]
    assert [note for note in diagnosis_of(run()).notes if note.text.startswith(silent)]
    assert not [note for note in diagnosis_of(run(environment={"python": "3.10.12"})).notes if note.text.startswith(silent)]


# --- what disagrees


def test_versions_that_disagree_are_all_kept():
    runs = (run(environment={"paddle": "3.0.0", "log_level": 2}), run(environment={"paddle": "3.3.1", "log_level": 3}))
    assert diagnosis_of(*runs).environment == {"paddle": "3.0.0, 3.3.1", "log_level": 3}
