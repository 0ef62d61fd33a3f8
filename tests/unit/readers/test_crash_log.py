"""Signals in a log: Paddle's box, Python's fault handler, shells, launchers, profilers; also cut off and interleaved."""

from __future__ import annotations

from pathlib import Path

import pytest
from log_engine import counted, read
from log_texts import PATH, calls, compiled, hit

from sotprobe.model import ExitStatus

ENDINGS = Path(__file__).parents[2] / "golden" / "logs" / "endings"
STEP = "[TRAIN] epoch: 1, iter: 1/400, batch_cost: 0.3, ips: 9.95 samples/sec\n"
LONG, SHORT = "-" * 38, "-" * 22
ERROR = 'Traceback (most recent call last):\n  File "/proj/model.py", line 7, in forward\n    y = f(x)\nValueError: bad\n'


def box(signal: str = "SIGSEGV", words: str = "Segmentation fault", pid: int = 500, by: int = 0) -> str:
    """What Paddle 3.3 prints."""
    return (
        f"\n\n{LONG}\nC++ Traceback (most recent call last):\n{LONG}\n0   inflateReset2\n\n"
        f"{SHORT}\nError Message Summary:\n{SHORT}\nFatalError: `{words}` is detected by the operating system.\n"
        f'  [TimeInfo: *** Aborted at 1795986007 (unix time) try "date -d @1795986007" if you are using GNU date ***]\n'
        f"  [SignalInfo: *** {signal} (@0x0) received by PID {pid} (TID 0x7f7ebe9eab80) from PID {by} ***]\n\n"
    )


def term(pid: int = 500, by: int = 499) -> str:
    return box("SIGTERM", "Termination signal", pid, by)


def ended(text: str) -> ExitStatus | None:
    return read(text.encode()).parts[0].exit


def recorded(name: str) -> ExitStatus:
    found = read((ENDINGS / name).read_bytes()).parts[0].exit
    assert found is not None
    return found


# --- Paddle's box


@pytest.mark.parametrize(
    ("signal", "words"),
    [
        ("SIGSEGV", "Segmentation fault"),
        ("SIGABRT", "Process abort signal"),
        ("SIGFPE", "Erroneous arithmetic operation"),
        ("SIGBUS", "Access to an undefined portion of a memory object"),
        ("SIGILL", "Illegal instruction"),
        ("SIGTERM", "Termination signal"),
    ],
)
def test_the_signals_that_paddle_reports(signal, words):
    log = read(box(signal, words).encode())
    status = log.parts[0].exit
    assert (status.reason, status.signal) == ("signal", signal)
    assert status.evidence[0].line == 13
    assert log.stats["crash"].matched == 11
    assert log.stats["text"].ignored == 3  # the blank lines around it
    # the line that names it in words is enough
    assert ended(box(signal, words).partition("  [TimeInfo")[0]).signal == signal


def test_the_words_of_paddle_2_0():
    line = "FatalError: A serious error (Segmentation fault) is detected by the operating system. (at /paddle/init.cc:303)\n"
    assert ended(line).signal == "SIGSEGV"


def test_who_sent_it():
    assert "process 499" in ended(term()).sender
    assert "older" in ended(term()).sender
    assert "newer" in ended(term(by=900)).sender
    assert "itself" in ended(term(by=500)).sender
    assert ended(term(by=0)).sender is None


def test_where_it_happened_is_the_last_line_that_sot_tells():
    status = ended(compiled() + box())
    assert (status.site.path, status.site.line, status.site.precision) == (PATH, 15, "function")
    assert ended(box()).site is None


def test_a_box_of_an_error_that_no_traceback_tells():
    """C++ programs and inference servers."""
    text = (
        f"{LONG}\nC++ Traceback (most recent call last):\n{LONG}\n0   paddle::framework::f()\n\n"
        f"{SHORT}\nError Message Summary:\n{SHORT}\n"
        "ResourceExhaustedError: \n\nOut of memory error on GPU 0. Cannot allocate 40.429688MB memory on GPU 0, 23.667969GB "
        "memory has been allocated and available memory is only 16.687500MB.\n\n"
        "Please check whether there is any other process using GPU 0.\n"
        "1. If yes, please stop them, or start PaddlePaddle on another GPU.\n"
        "2. If no, please decrease the batch size of your model. \n (at /paddle/paddle/fluid/memory/cuda_allocator.cc:86)\n"
        "served 3 requests\n"
    )
    log = read(text.encode())
    status = log.parts[0].exit
    assert (status.reason, status.error_type) == ("error", "ResourceExhaustedError")
    assert status.error_message.startswith("Out of memory error on GPU 0.")
    assert [event.cause for event in log.parts[0].events] == ["out-of-memory"]
    assert log.stats["text"].ignored == 1
    assert log.stats["crash"].matched == counted(log) - 1


# --- cut off, never ended, interleaved


@pytest.mark.parametrize("length", range(0, len(box()) + 1, 7))
def test_a_box_cut_at_any_place(length):
    text = box()[:length]
    log = read(text.encode())
    assert counted(log) == log.source.lines
    status = log.parts[0].exit
    if "`Segmentation fault` is detected" in text:
        assert status.signal == "SIGSEGV"
    elif "FatalError: `" not in text:
        assert status is None


def test_a_signal_line_cut_in_half_is_malformed_and_the_words_above_it_count():
    text = box().partition(" received by")[0]
    log = read(text.encode())
    assert log.stats["crash"].malformed == 1
    assert log.parts[0].exit.signal == "SIGSEGV"


def test_a_box_that_never_ends_takes_nothing_of_what_comes_then():
    text = f"{LONG}\nC++ Traceback (most recent call last):\n{LONG}\n0   paddle::f()\n" + calls(3) + "epoch 1\n" + STEP
    log = read(text.encode())
    assert log.parts[0].exit is None
    assert log.parts[0].counts["subgraph_runs"] == 3
    assert (log.parts[0].steps, log.stats["text"].ignored, log.stats["crash"].matched) == (1, 1, 4)


def test_boxes_of_two_ranks_line_by_line():
    one, other = box().splitlines(), term().splitlines()
    text = "".join(f"[rank0]: {left}\n[rank1]: {right}\n" for left, right in zip(one, other, strict=True))
    found = {parts.rank: parts.exit.signal for parts in read(text.encode()).parts}
    assert found == {"0": "SIGSEGV", "1": "SIGTERM"}


def test_boxes_of_two_processes_that_name_none():
    """What went wrong is told, not that the launcher then ended the other."""
    one, other = term().splitlines(), box().splitlines()
    text = "".join(f"{left}\n{right}\n" for left, right in zip(one, other, strict=True))
    assert ended(text).signal == "SIGSEGV"


def test_rules_of_users_are_theirs():
    log = read(f"{'-' * 48}\n{'-' * 30} results\n{'-' * 10}\n".encode())
    assert log.stats["text"].ignored == 3


# --- a traceback and a signal


def test_a_signal_while_an_exception_ends_the_program_is_a_detail():
    status = ended(ERROR + box("SIGABRT", "Process abort signal"))
    assert (status.reason, status.error_message) == ("error", "bad")
    assert "SIGABRT" in status.evidence[-1].text


def test_a_signal_long_after_an_exception_shows_that_it_was_caught():
    assert ended(ERROR + "output\n" * 200 + box()).signal == "SIGSEGV"


def test_the_signal_that_the_launcher_sends_after_an_exception_is_no_end():
    assert ended(ERROR + "output\n" * 200 + term()).error_message == "bad"


# --- Python's fault handler


def test_the_fault_handler_tells_the_line():
    status = recorded("331_fault.txt")
    assert (status.signal, status.site.line, status.site.function) == ("SIGSEGV", 96, "main")
    assert [site.line for site in status.stack] == [106, 96]
    assert "most recent call first" in status.stacks


def test_it_does_so_without_paddles_box():
    thread = 'Current thread 0x00007f3d84819b80 (most recent call first):\n  File "/proj/a.py", line 4 in f\n'
    status = ended(f"Fatal Python error: Aborted\n\n{thread}")
    assert (status.signal, status.site.line) == ("SIGABRT", 4)


def test_threads_of_users_are_theirs():
    assert read(b"Thread 0x7f started\nCurrent thread 0x1\n").stats["text"].ignored == 2


# --- shells, launchers, profilers


@pytest.mark.parametrize(
    ("line", "signal"),
    [
        ("Segmentation fault (core dumped)", "SIGSEGV"),
        ("Segmentation fault", "SIGSEGV"),
        ("Aborted (core dumped)", "SIGABRT"),
        ("Killed", "SIGKILL"),
        ("Terminated", "SIGTERM"),
        ("run.sh: line 12: 24849 Segmentation fault      (core dumped) python train.py", "SIGSEGV"),
        ("bash: 24984 Floating point exception$P net.py", "SIGFPE"),
        ("/bin/bash: line 1:   912 Killed                  python train.py --amp", "SIGKILL"),
        ("mpirun noticed that process rank 140 with PID 363 on node host exited on signal 9 (Killed).", "SIGKILL"),
        ("timeout: sending signal TERM to command 'python'", "SIGTERM"),
        ("LAUNCH INFO 2026-11-30 06:42:58,566 Terminating with signal 15", "SIGTERM"),
        ("The target application terminated with signal 4 (SIGILL)", "SIGILL"),
        ("Container rank 1 status failed cmd ['python', '-u', 'train.py'] code -9 log log/workerlog.1", "SIGKILL"),
        ("Container rank 1 status failed cmd ['python'] code 139 log log/workerlog.1 \nenv {'A': 'code 3 log x'}", "SIGSEGV"),
    ],
)
def test_others_who_report_a_signal(line, signal):
    assert ended(f"{STEP}{line}\n").signal == signal


@pytest.mark.parametrize(
    "line",
    ["Killed 3 old jobs", "Aborted: see the report", "it was Killed", "FatalError: the queue is full", "Container rank 7 is mine",
     "LAUNCH INFO 2026-11-30 06:42:58,566 Exit code 0", "line 12: 24849 rows Killed"],
)  # fmt: skip
def test_lines_that_only_look_like_it(line):
    assert ended(f"{line}\n") is None


@pytest.mark.parametrize("after", [STEP, hit()])
def test_a_single_word_before_the_program_goes_on_was_its_own(after):
    assert ended(compiled() + "Killed\n" + after) is None
    assert ended(compiled() + after + "Killed\n").signal == "SIGKILL"


def test_a_launcher_says_which_rank_failed():
    status = recorded("331_launch-killed.txt")
    assert status.signal == "SIGKILL"
    assert "rank 1" in status.evidence[0].text
    assert "workerlog.1" in status.evidence[0].text


def test_a_launcher_that_only_knows_an_exit_code():
    status = ended("LAUNCH INFO 2026-11-30 06:42:33,983 Pod failed\nContainer rank 2 status failed cmd ['python'] code 3 log l\n")
    assert (status.reason, status.code, status.error_type) == ("error", 3, None)
    old = (
        "ERROR 2022-09-19 15:15:14,092 launch_utils.py:545] ABORT!!! Out of all 2 trainers, the trainer process with rank=[0, 1]"
    )
    assert "[0, 1]" in ended(f"{old} was aborted. Please check its log.\n").evidence[0].text


def test_a_traceback_tells_more_than_the_launchers_code():
    text = f"{ERROR}Container rank 2 status failed cmd ['python'] code 1 log l\n"
    assert ended(text).error_message == "bad"


def test_the_end_of_a_capture_window_is_evidence():
    """nsys holds its lines back until the program has ended."""
    text = STEP + term() + "Capture range started in the application.\nCapture range ended in the application.\n"
    status = ended(text)
    assert status.signal == "SIGTERM"
    assert "Capture range ended" in status.evidence[-1].text


def test_timeout_says_that_it_was_it():
    assert "timeout" in recorded("331_timeout.txt").sender


def test_what_the_c_library_said_is_evidence():
    status = ended("free(): invalid pointer\n" + box("SIGABRT", "Process abort signal"))
    assert [item.text for item in status.evidence][-1] == "free(): invalid pointer"


def test_thousands_of_reports_are_bounded():
    log = read((term() * 3000).encode())
    assert log.parts[0].exit.signal == "SIGTERM"
    assert len(log.parts[0].exit.evidence) < 20
