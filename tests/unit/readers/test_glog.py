"""GLOG lines, the further lines of their messages, and what stands around them."""

from __future__ import annotations

from pathlib import Path

from log_engine import counted, read
from log_texts import compiled

ENDINGS = Path(__file__).parents[2] / "golden" / "logs" / "endings"
RUNNING = "I1129 20:46:04.581276 11203 pir_interpreter.cc:1606] New Executor is Running ...\n"


def matched(text: str, reader: str) -> int:
    stats = read(text.encode()).stats.get(reader)
    return stats.matched if stats else 0


def events(text: str):
    (parts,) = read(text.encode()).parts
    return [(event.cause, event.count) for event in parts.events if event.kind == "warning"]


def test_a_line_with_and_without_the_year():
    assert matched(RUNNING + RUNNING.replace("I1129", "I20261129"), "glog") == 2


def test_lines_of_users_that_look_alike_are_theirs():
    text = "I1129 is my id\nE2 failed\nWarsaw 10:00\nI1129 20:46:04 no thread\n"
    log = read(text.encode())
    assert log.stats["text"].ignored == 4


def test_everything_of_a_level_4_log_is_known():
    for name in ("331_glog4.txt", "262_glog4.txt"):
        log = read((ENDINGS / name).read_bytes())
        assert log.stats["glog"].matched > 200
        assert sum(stats.unrecognised + stats.malformed for stats in log.stats.values()) == 0
        assert "text" not in log.stats or log.stats["text"].ignored == 0, name


def test_a_message_that_begins_with_a_newline():
    text = (
        "I1129 20:46:04.581276 11203 pir_interpreter.cc:1947] \n"
        "begin: RunInstructionBase OP id:0 name:pd_op.tanh type:kCpuSync runs on MainThread\n"
        "Before: Place(cpu) Op(pd_op.tanh), inputs:{var_0:[dtype=float;place=Place(cpu);dim=2, 2;lod={};]}, outputs:{}.\n"
        "epoch 1\n"
    )
    log = read(text.encode())
    assert log.stats["glog"].matched == 3
    assert log.stats["text"].ignored == 1


def test_brackets_that_never_close_take_the_next_known_line_not():
    text = 'I1129 20:46:04.581276 11203 api.cc:1] uniform kernel: {"input":[\n],\n' + compiled()
    log = read(text.encode())
    assert log.stats["glog"].matched == 2
    assert log.parts[0].counts["subgraph_runs"] == 1


def test_a_line_in_the_middle_of_a_subgraph_does_not_end_it():
    lines = compiled().splitlines(keepends=True)
    inside = next(number for number, line in enumerate(lines) if line.startswith("  outputs"))
    noisy = (
        "".join(lines[:inside])
        + RUNNING
        + "I1129 20:46:04.581276 11203 x.cc:1] \nbegin: RunInstructionBase OP id\n"
        + "".join(lines[inside:])
    )
    quiet_parts, noisy_parts = read(compiled().encode()).parts[0], read(noisy.encode()).parts[0]
    assert [graph.statements for graph in noisy_parts.subgraphs] == [graph.statements for graph in quiet_parts.subgraphs]
    assert matched(noisy, "glog") == 3


def test_so_it_is_in_a_traceback():
    text = (
        "Traceback (most recent call last):\n"
        '  File "/proj/model.py", line 3, in <module>\n'
        + RUNNING
        + "    f()\nValueError: bad\n"
    )  # fmt: skip
    log = read(text.encode())
    assert log.parts[0].exit.error_message == "bad"
    assert log.stats["pytrace"].matched == 4
    assert counted(log) == 5


def test_warnings_about_the_machine_are_events():
    text = (
        "W0824 03:17:43.610446  3470 gpu_resources.cc:175] WARNING: device: 0. The installed Paddle is compiled with CUDA 11.7, "
        "but CUDA runtime version in your machine is 11.4, which may cause serious incompatible bug. Please recompile or "
        "reinstall Paddle with compatible CUDA version.\n"
        "W1203 09:46:38.052230  8109 init.cc:182] Compiled with WITH_GPU, but no GPU found in runtime.\n"
        "W1203 09:46:38.152230  8109 init.cc:182] Compiled with WITH_GPU, but no GPU found in runtime.\n"
    )
    assert events(text) == [("cuda-version", 1), ("no-gpu", 2)]


def test_a_fatal_message_is_why_the_program_was_aborted():
    fatal = "F0903 14:11:03.400593 18690 kernel.cuh:181] Check failed: cudaSuccess == err (0 vs. 8) invalid device function\n"
    trace = "*** Check failure stack trace: ***\n    @     0x7fc9c37175cd  google::LogMessage::Fail()\n"
    box = "FatalError: `Process abort signal` is detected by the operating system.\n"
    for text in (fatal + trace, fatal + trace + box):
        log = read(text.encode())
        ended = log.parts[0].exit
        assert (ended.reason, ended.signal) == ("signal", "SIGABRT")
        assert ended.evidence[0].text.startswith("Check failed: cudaSuccess")
        assert log.stats["glog"].matched == 3


def test_a_signal_that_comes_through_the_logger():
    """Before Paddle 2.2."""
    text = (
        "W0814 11:03:04.581276 14 init.cc:209] *** SIGSEGV (@0x0) received by PID 14 (TID 0x7f37) from PID 0; stack trace: ***\n"
    )
    ended = read(text.encode()).parts[0].exit
    assert (ended.signal, ended.evidence[0].line) == ("SIGSEGV", 1)
