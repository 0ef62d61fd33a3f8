"""Python's tracebacks and warnings in a log: which exception ended the program, and where."""

from __future__ import annotations

from pathlib import Path

import pytest
from log_engine import counted, read
from log_texts import calls, compiled, hit

from sotprobe.model import ExitStatus

ENDINGS = Path(__file__).parents[2] / "golden" / "logs" / "endings"
STEP = "[TRAIN] epoch: 1, iter: 1/400, batch_cost: 0.3, ips: 9.95 samples/sec\n"
FRAME = '  File "/proj/model.py", line 7, in forward\n    y = f(x)\n'
ERROR = f"Traceback (most recent call last):\n{FRAME}ValueError: bad\n"


def ended(text: str) -> ExitStatus | None:
    return read(text.encode()).parts[0].exit


def recorded(name: str) -> ExitStatus:
    found = read((ENDINGS / name).read_bytes()).parts[0].exit
    assert found is not None
    return found


def warnings(text: str):
    return [(event.cause, event.count) for event in read(text.encode()).parts[0].events if event.kind == "warning"]


# --- real endings: (type, line of endings.py, precision)


@pytest.mark.parametrize(
    ("name", "kind", "line", "function", "precision"),
    [
        ("331_enforce.txt", "ValueError", 73, "end", "line"),
        ("331_enforce_stack2.txt", "ValueError", 73, "end", "line"),
        ("331_chain.txt", "RuntimeError", 78, "end", "line"),
        ("331_group.txt", "ExceptionGroup", 80, "end", "line"),
        ("331_recursion.txt", "RecursionError", 72, "end", "line"),
        ("331_shape.txt", "InnerError", 24, "forward", "line"),
        ("331_shape_stack2.txt", "InnerError", 24, "forward", "line"),
        ("331_shape-ast.txt", "ValueError", 24, "forward", "line"),
        ("262_shape.txt", "ValueError", 21, "forward", "function"),  # in code that SOT wrote: no line of it is right
        ("331_spawn-error.txt", "ValueError", 50, "work", "line"),
        ("331_loader-error.txt", "ValueError", 35, "__getitem__", "line"),  # in the worker, not where the queue was read
    ],
)
def test_the_innermost_user_line(name, kind, line, function, precision):
    status = recorded(name)
    assert (status.reason, status.error_type) == ("error", kind)
    assert (status.site.path, status.site.line, status.site.function) == ("/proj/endings.py", line, function)
    assert status.site.precision == precision


@pytest.mark.parametrize(
    "name", ["331_enforce.txt", "331_enforce_stack2.txt", "331_shape.txt", "331_shape_stack2.txt", "331_shape-ast.txt"]
)
def test_the_message_is_what_went_wrong_not_the_box_or_stack_around_it(name):
    assert "In operator matmul" in recorded(name).error_message.splitlines()[0]


def test_an_error_of_the_simulation_is_marked_and_its_stack_goes_on_in_it():
    status = recorded("331_shape.txt")
    assert status.simulated
    assert [site.line for site in status.stack] == [106, 101, 24]
    assert not recorded("331_enforce.txt").simulated


def test_an_interrupt_is_a_signal():
    status = recorded("331_interrupt.txt")
    assert (status.reason, status.signal, status.site.line) == ("signal", "SIGINT", 71)


def test_spawn_tells_the_signal_of_its_process():
    status = recorded("331_spawn-killed.txt")
    assert (status.reason, status.signal) == ("signal", "SIGKILL")


@pytest.mark.parametrize("name", ["331_loader-killed.txt", "331_loader-segv.txt"])
def test_where_the_program_stood_when_a_worker_died_is_not_to_blame(name):
    """Also with a line of the program's and the worker's in the middle of another traceback."""
    status = recorded(name)
    assert status.error_type == "SystemError"
    assert status.site is None
    assert status.stack[-1].line == 43


def test_where_it_is_written_is_the_evidence():
    status = ended("starting\n\n" + ERROR)
    assert [(item.reader, item.text, item.line) for item in status.evidence] == [("pytrace", "ValueError: bad", 3)]


# --- caught or not


def test_the_last_one_is_the_end():
    assert ended(calls(3) + ERROR).error_message == "bad"
    assert ended(ERROR + "\n" + ERROR.replace("bad", "worse")).error_message == "worse"


@pytest.mark.parametrize("after", [STEP, hit()])
def test_one_behind_which_the_program_goes_on_was_caught(after):
    assert ended(compiled() + ERROR + after) is None


def test_what_is_printed_at_the_exit_is_no_going_on():
    assert (
        ended(compiled() + ERROR + "\nCompileCountInfo (compile_count):\n    cube (/proj/repro.py:8): 1\n").error_message == "bad"
    )


def test_subgraphs_that_were_still_in_a_buffer_are_no_going_on():
    """Standard output is flushed at the exit: a run without the entry before it came earlier."""
    run = hit()[hit().index("[FallbackWrapper]") :]
    assert ended(compiled() + ERROR + run).error_message == "bad"


@pytest.mark.parametrize(
    "head",
    [
        "Exception ignored in: <function Loader.__del__ at 0x7f0a>\n",
        "Exception in thread Thread-1 (_thread_loop):\n",
        "Error in atexit._run_exitfuncs:\n",
    ],
)
def test_one_that_cannot_end_the_program_did_not(head):
    assert ended(head + ERROR) is None
    assert ended(head + ERROR + "\n" + ERROR.replace("bad", "worse")).error_message == "worse"


def test_one_without_its_last_line_says_nothing():
    text = f"Traceback (most recent call last):\n{FRAME}"
    assert ended(text) is None
    assert counted(read(text.encode())) == 3


def test_a_syntax_error_in_the_program_itself_has_no_head():
    status = ended('  File "/proj/train.py", line 3\n    x = = 1\n        ^\nSyntaxError: invalid syntax\n')
    assert (status.error_type, status.site.line) == ("SyntaxError", 3)


def test_a_stack_that_the_program_printed_is_no_error():
    text = f"{FRAME}done\n"
    assert ended(text) is None
    assert counted(read(text.encode())) == 3


def test_a_space_before_the_head():
    """A worker's message ends in a zero byte and no newline."""
    assert ended("ERROR: Unexpected BUS error\n\0 " + ERROR).error_message == "bad"


def test_every_process_has_its_own():
    text = "".join(f"[rank{rank}]: {line}\n" for rank in (0, 1) for line in ERROR.replace("bad", f"bad {rank}").splitlines())
    lines = text.splitlines(keepends=True)
    half = len(lines) // 2
    mixed = "".join(line for pair in zip(lines[:half], lines[half:], strict=True) for line in pair)
    assert {parts.rank: parts.exit.error_message for parts in read(mixed.encode()).parts} == {"0": "bad 0", "1": "bad 1"}


# --- warnings


def test_the_mode_that_was_not_used():
    text = (
        "/env/lib/python3.12/site-packages/paddle/jit/api.py:311: UserWarning: full_graph=False is not supported in Python "
        "3.12+. Set full_graph=True automatically\n  warnings.warn(\n"
    )
    log = read((text + text + "epoch 1\n").encode())
    (event,) = log.parts[0].events
    assert (event.kind, event.cause, event.count, event.site) == ("warning", "python-too-new", 2, None)
    assert log.parts[0].environment["python"] == "3.12"
    assert log.stats["pytrace"].matched == 4
    assert log.stats["text"].ignored == 1


def test_mixed_precision_on_the_cpu():
    text = (
        "/env/lib/python3.11/site-packages/paddle/amp/auto_cast.py:599: UserWarning: amp_guard can only be enabled on CUDAPlace, "
        "XPUPlace, and CustomPlace, current place is Place(cpu), so it makes no effect.\n  warnings.warn(\n"
    )
    assert warnings(text) == [("amp-no-effect", 1)]


def test_a_warning_of_several_lines():
    text = (
        "/env/lib/python3.11/site-packages/paddle/jit/dy2static/program_translator.py:755: UserWarning: full_graph=False don't "
        "support input_spec arguments. It will not produce any effect.\n"
        "You can set full_graph=True, then you can assign input spec.\n\n"
        "  warnings.warn(\nepoch 1\n"
    )
    log = read(text.encode())
    assert log.stats["pytrace"].matched == 4
    assert log.stats["text"].ignored == 1


@pytest.mark.parametrize("line", ["Warning: the disk is full", "x.py: UserWarning: no line", "note 12: a Warning: text"])
def test_other_lines_with_that_word_are_the_users(line):
    assert read(f"{line}\n".encode()).stats["text"].ignored == 1


def test_a_warning_takes_one_line_of_source_and_no_more():
    text = "a.py:3: DeprecationWarning: old\n  x = old()\n  indented output\n"
    log = read(text.encode())
    assert (log.stats["pytrace"].matched, log.stats["text"].ignored) == (2, 1)
