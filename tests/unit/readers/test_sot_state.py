"""One process's story, told by its lines: what counts, what it belongs to, and what does not happen after all."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from log_texts import RUN, code, compiled, entry, first_call, hit

from sotprobe.model import Event, Run
from sotprobe.readers.log import LogOptions, read_logs

BREAKS = Path(__file__).parents[2] / "golden" / "logs" / "sot3" / "breaks_331_py311.log.gz"


@pytest.fixture
def read(tmp_path: Path):
    def run_of(text: str) -> Run:
        file = tmp_path / "a.log"
        file.write_text(text)
        (run,) = read_logs([str(file)], LogOptions()).runs
        return run

    return run_of


def _counts(run: Run, *names: str) -> list[int]:
    return [int(run.counts[f"log.{name}"]) for name in names]


def _kinds(run: Run) -> list[str]:
    return [event.kind for event in run.events if event.kind != "translate"]


def _only(run: Run, kind: str) -> Event:
    (event,) = [event for event in run.events if event.kind == kind]
    return event


SIMULATED = (
    f"[EXECUTOR RUN] Start execute opcode: {code()}\n"
    "[Translate Executor 1] (line  17) CALL         1, stack is [NullVariable(object_1)]\n"
)
BREAK = "[BreakGraph] call function Break graph:\n    Not support builtin function: print with args: Args(ConstantVariable)\n"
FALLBACK = f"""\
Unsupported Frame is {code()}, error message is: 
Traceback (most recent call last):
  File "/usr/lib/python3.11/site-packages/paddle/jit/sot/opcode_translator/executor/opcode_executor.py", line 12, in inner
    return fn(*args, **kwargs)
paddle.jit.sot.utils.exceptions.BreakGraphError: Not support builtin function: print with args: Args(ConstantVariable)

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
paddle.jit.sot.utils.exceptions.FallbackError: [Fallback] An exception occurred when processing break graph

"""  # noqa: W291 - as SOT writes it
MISS = "[Cache] Cache miss, Guard is \nlambda frame: frame.f_locals['k'] == 1\n[Cache] missed at frame.f_locals['k'] == 1\n"


# --- breaks that split nothing


def test_a_break_of_a_frame_that_is_given_up_is_none(read) -> None:
    run = read(first_call() + SIMULATED + BREAK + FALLBACK + entry())
    assert _kinds(run) == ["fallback"]
    assert _counts(run, "breaks", "fallbacks") == [0, 1]
    event = _only(run, "fallback")
    assert (event.site.line, event.frame.line) == (17, 15)


def test_a_break_counts_when_the_frame_goes_on(read) -> None:
    run = read(first_call() + SIMULATED + BREAK + entry("$resume_0@forward_af1a0"))
    assert _kinds(run) == ["break"]
    assert _only(run, "break").site.line == 17


def test_a_break_at_the_end_of_the_log_counts(read) -> None:
    assert _counts(read(first_call() + SIMULATED + BREAK), "breaks") == [1]


def test_what_was_built_for_a_frame_that_is_given_up_is_no_subgraph(read) -> None:
    built = compiled().replace(RUN, "")
    run = read(built + FALLBACK + entry())
    assert run.subgraphs == ()
    assert _counts(run, "subgraphs_built", "subgraph_runs") == [1, 0]


def test_a_note_without_a_frame_is_about_the_one_entered_last(read) -> None:
    run = read(first_call() + SIMULATED + "Note: This fallback may be triggered by user code, or it could result\n" + entry())
    event = _only(run, "fallback")
    assert (event.frame.function, event.site.line, event.cause) == ("forward", 17, "captured-exception")
    (alone,) = read("Note: This fallback may be triggered by user code, or it could result\n").events
    assert alone.frame is None


# --- the cache


def test_a_lookup_that_misses_one_entry_and_hits_the_next_is_no_miss(read) -> None:
    run = read(compiled() + entry() + MISS + "[Cache] Cache hit, Guard is \nlambda frame: frame.f_locals['k'] == 2\n" + RUN)
    assert _counts(run, "cache_misses", "recompiles", "cache_hits", "translations") == [0, 0, 1, 1]


def test_the_newest_translation_s_guard_comes_first(read) -> None:
    second = MISS.replace("== 1", "== 2")
    run = read(compiled() + entry() + MISS + second + "[Cache] all guards missed\n")
    assert [guard.expression for guard in _only(run, "recompile").guards] == [
        "frame.f_locals['k'] == 2",
        "frame.f_locals['k'] == 1",
    ]


def test_a_recompile_that_a_limit_prevents_is_none(read) -> None:
    missed = entry() + MISS + "[Cache] all guards missed\n"
    run = read(compiled() + missed + "[Cache] Exceed max compile time per code, skip it\n")
    assert _kinds(run) == ["compile-limit"]
    assert _counts(run, "cache_misses", "recompiles", "translations") == [1, 0, 1]


def test_a_guard_that_is_always_true_stands_for_a_frame_that_was_given_up(read) -> None:
    run = read(first_call() + FALLBACK + (entry() + "[Cache] Cache hit, Guard is \nlambda frame: True\n") * 3)
    assert _counts(run, "cache_hits", "cached_fallback_hits") == [0, 3]


# --- subgraphs that never run


def test_a_small_subgraph_that_never_ran_was_too_small(read) -> None:
    assert [graph.dropped for graph in read(compiled().replace(RUN, "") + entry()).subgraphs] == ["too-small"]


def test_one_at_the_end_of_the_log_may_still_have_run(read) -> None:
    assert [graph.dropped for graph in read(compiled().replace(RUN, "")).subgraphs] == [None]


def test_a_large_one_was_not_too_small(read) -> None:
    statement = "    layer      || var_1 = Linear (var_0)  \n"
    large = compiled().replace(RUN, "").replace(statement, statement * 12)
    assert [graph.dropped for graph in read(large + entry()).subgraphs] == ["unused"]


# --- logs that are not whole


def test_a_log_that_begins_in_the_middle_of_a_call(read) -> None:
    whole = compiled() + hit() * 5
    middle = whole[whole.index("lambda frame:") :]
    run = read(middle)
    assert _counts(run, "frames_entered", "cache_hits", "subgraph_runs", "calls") == [4, 4, 5, 4]


def test_a_log_that_begins_between_a_guard_and_the_miss(read) -> None:
    run = read("[Cache] missed at frame.f_locals['k'] == 1\n[Cache] all guards missed\n" + hit())
    assert _counts(run, "cache_misses", "frames_entered") == [1, 1]
    assert [event for event in run.events if event.kind == "recompile"] == []


def test_the_level_switched_on_for_some_steps_only(read) -> None:
    """SOT reads it at every call: what was compiled before is never told."""
    run = read("step 1\nstep 2\n" + (hit() + "step\n") * 2 + "step 5\n" * 10)
    assert _counts(run, "calls", "translations", "cache_hits") == [2, 0, 2]
    assert (run.environment["log_level"], [graph.name for graph in run.subgraphs]) == (2, ["SIR_0"])


def test_a_second_process_in_the_same_file(read) -> None:
    """Its names begin anew: the resume functions and subgraphs of both are told apart."""
    text = gzip.decompress(BREAKS.read_bytes()).decode()
    once, twice = read(text), read(text + text.replace("0x7f", "0x5f").replace("0x55", "0x45"))
    assert _counts(twice, "breaks", "fallbacks") == [_counts(once, "breaks")[0], 2 * _counts(once, "fallbacks")[0]]
    assert _counts(twice, "translations", "subgraph_runs") == [
        2 * number for number in _counts(once, "translations", "subgraph_runs")
    ]
    assert len(twice.subgraphs) == 2 * len(once.subgraphs)
    assert {event.site for event in twice.events} == {event.site for event in once.events}


def test_a_name_that_another_process_gives_to_another_break(read) -> None:
    def broke_at(line: int) -> str:
        simulated = SIMULATED.replace("line  17", f"line  {line}")
        listing = "  15           0 RESUME                   0\n              2 LOAD_GLOBAL  3 (NULL + $resume_0@forward_af1a0)\n"
        made = f"[eval_frame_callback] NewCode: #forward_84ae0\n{listing}"
        return first_call() + simulated + BREAK + made + entry("$resume_0@forward_af1a0")

    run = read(broke_at(17) + broke_at(23))
    assert {lines for _, lines in run.entries} == {(), (17,), (23,)}


def test_an_error_in_the_middle_of_a_translation_leaves_nothing_behind(read) -> None:
    error = "Traceback (most recent call last):\npaddle.jit.sot.utils.exceptions.InnerError: In simulate execution:\n"
    run = read(first_call() + SIMULATED + error + hit("other", 40) + "[BreakGraph] break graph for if jump tensor\n")
    (event,) = [event for event in run.events if event.kind == "break"]
    assert (event.frame.function, event.site.line) == ("other", 40)  # no line: what was simulated before is over
