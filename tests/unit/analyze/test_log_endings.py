"""What the rules make of a program's end that only a log tells: harmless, a failure of the program, or of the machine."""

from __future__ import annotations

from pathlib import Path

import pytest
from log_texts import calls, compiled, prefixed

from sotprobe.analyze.logs import diagnose_logs
from sotprobe.model import Finding
from sotprobe.readers.log import LogOptions, read_logs

ENDINGS = Path(__file__).parents[2] / "golden" / "logs" / "endings"
STEP = "[TRAIN] epoch: 1, iter: 1/400, batch_cost: 0.3, ips: 9.95 samples/sec\n"
SENT = "  [SignalInfo: *** {} (@0x1f3) received by PID 500 (TID 0x7f9d4b000b80) from PID 499 ***]\n"
TERM, SEGV = SENT.format("SIGTERM"), SENT.format("SIGSEGV")
FRAME = '  File "/proj/model.py", line 15, in forward\n    y = f(x)\n'
MEMORY = (
    f"Traceback (most recent call last):\n{FRAME}"
    "SystemError: (ResourceExhausted) \n\nOut of memory error on GPU 0. Cannot allocate 1.531250GB memory on GPU 0, 6.000000GB "
    "memory has been allocated and available memory is only 416.625000MB.\n\n"
    "Please check whether there is any other process using GPU 0.\n"
    "1. If yes, please stop them, or start PaddlePaddle on another GPU.\n"
    "2. If no, please decrease the batch size of your model. \n (at /paddle/paddle/fluid/memory/cuda_allocator.cc:86)\n"
)


@pytest.fixture
def found(tmp_path):
    """found(text, …) -> the findings about the end of a log, or of several files of one program."""

    def diagnose(*texts: str) -> list[Finding]:
        files = []
        for number, text in enumerate(texts):
            path = tmp_path / f"{number}.log"
            path.write_text(text)
            files.append(str(path))
        reading = read_logs(files, LogOptions())
        findings = diagnose_logs(reading.runs, reading.stats).findings
        return [item for item in findings if item.slug in ("benign-exit", "not-comparable", "environment")]

    return diagnose


def of(*names: str) -> list[Finding]:
    reading = read_logs([str(ENDINGS / name) for name in names], LogOptions())
    return list(diagnose_logs(reading.runs, reading.stats).findings)


def words(finding: Finding) -> str:
    return "\n".join([finding.title, finding.advice, *(item.text for item in finding.evidence)])


# --- signals from outside


@pytest.mark.parametrize("signal", ["SIGTERM", "SIGINT"])
def test_a_termination_after_steps_is_harmless_and_says_why(found, signal):
    (finding,) = found(STEP * 39 + SENT.format(signal))
    assert (finding.slug, finding.severity, finding.cause) == ("benign-exit", "info", "terminated")
    assert "39 steps" in words(finding)
    assert "499" in words(finding)
    assert finding.evidence[-1].line == 40


def test_so_it_is_after_calls_of_what_is_captured(found):
    (finding,) = found(calls(5) + TERM)
    assert finding.slug == "benign-exit"
    assert "5 calls" in words(finding)


def test_steps_in_another_file_count(found):
    (finding,) = found(STEP * 12, TERM)
    assert finding.slug == "benign-exit"
    assert "12 steps" in words(finding)


def test_ranks_that_log_no_steps_were_under_way_with_the_one_that_does(found):
    text = prefixed(0, STEP * 7 + TERM) + prefixed(1, TERM)
    (finding,) = found(text)
    assert (finding.slug, finding.ranks) == ("benign-exit", ("0", "1"))


@pytest.mark.parametrize("text", [TERM, compiled() + TERM, "epoch 1\n" + TERM])
def test_a_termination_before_any_step_is_a_warning(found, text):
    (finding,) = found(text)
    assert (finding.slug, finding.severity, finding.cause) == ("not-comparable", "warning", "signal")
    assert "SIGTERM" in finding.title
    assert "mode" not in finding.title


def test_a_capture_window_that_ended_is_told(found):
    (finding,) = found(STEP + TERM + "Capture range ended in the application.\n")
    assert "Capture range ended" in words(finding)


def test_an_interrupt_by_the_user(found):
    (finding,) = found(STEP + f"Traceback (most recent call last):\n{FRAME}KeyboardInterrupt\n")
    assert (finding.slug, finding.severity) == ("benign-exit", "info")
    assert "Ctrl-C" in words(finding)


# --- crashes


@pytest.mark.parametrize("signal", ["SIGSEGV", "SIGFPE", "SIGABRT", "SIGBUS", "SIGKILL"])
def test_other_signals_are_errors_also_after_steps(found, signal):
    (finding, distorted) = found(calls(3) + STEP * 3 + SENT.format(signal))
    assert (finding.slug, finding.severity, finding.cause) == ("not-comparable", "error", "signal")
    assert finding.title == f"the program was killed by {signal}"
    assert (finding.site.line, finding.site.precision) == (15, "function")
    assert "3 steps" in words(finding)
    assert distorted.cause == "log-level"


def test_the_line_of_a_crash_is_that_of_the_fault_handler():
    (finding,) = of("331_fault.txt")
    assert (finding.site.line, finding.site.precision) == (96, "line")


def test_of_two_ranks_one_crashed_and_the_other_was_ended():
    findings = of("331_launch-segv/workerlog.0", "331_launch-segv/workerlog.1")
    assert [(item.slug, item.severity, item.ranks) for item in findings] == [
        ("not-comparable", "error", ("1",)),
        ("benign-exit", "info", ("0",)),
    ]


def test_a_killed_program_is_told_to_look_for_the_out_of_memory_killer(found):
    (finding,) = found(STEP + "Killed\n")
    assert "dmesg" in finding.advice


# --- exceptions


def test_a_programs_own_error(found):
    (finding,) = found(STEP + f"Traceback (most recent call last):\n{FRAME}ValueError: bad\n")
    assert (finding.slug, finding.severity, finding.cause) == ("not-comparable", "error", "program-error")
    assert finding.title == "the program failed: ValueError: bad"
    assert finding.site.line == 15
    assert finding.evidence[0].line == 2


def test_an_error_in_the_simulation():
    (finding,) = [item for item in of("331_shape.txt") if item.slug == "not-comparable"]
    assert (finding.cause, finding.severity) == ("inner-error", "error")
    assert (finding.site.line, finding.site.precision) == (24, "line")
    assert "In operator matmul" in finding.title


def test_an_error_in_code_that_sot_wrote(found):
    frame = '  File "/proj/model.py", line 15, in #forward_84ae0\n    def forward(self, x):\n'
    (finding,) = found(f"Traceback (most recent call last):\n{FRAME}{frame}AttributeError: module has no attribute 'rand'\n")
    assert (finding.cause, finding.site.precision) == ("generated-code", "function")
    assert "dynamic mode" in finding.advice
    (finding,) = found(f"Traceback (most recent call last):\n{frame}{FRAME}AttributeError: no attribute 'rand'\n")
    assert (finding.cause, finding.site.precision) == ("program-error", "line")


def test_a_second_derivative_names_what_is_captured(found):
    error = (
        "ValueError: (InvalidArgument) The 0-th input does not appear in the backward graph. (at /paddle/general_grad.h:474)\n"
    )
    (finding,) = found(compiled("cube", 8) + f"Traceback (most recent call last):\n{FRAME}{error}")
    assert finding.cause == "higher-order-gradient"
    assert "cube (/proj/model.py:8)" in words(finding)


def test_only_an_exit_code(found):
    (finding,) = found("Container rank 2 status failed cmd ['python'] code 3 log l\n")
    assert finding.title == "the program ended with code 3"
    assert "rank 2" in words(finding)


# --- the machine


def test_memory_of_a_gpu(found):
    (finding,) = found(STEP + MEMORY)
    assert (finding.slug, finding.severity, finding.cause) == ("environment", "error", "out-of-memory")
    assert finding.site.line == 15
    assert "first of the visible devices" in words(finding)
    assert "416.625000MB were free" in words(finding)
    assert "SystemError: (ResourceExhausted) Out of memory error on GPU 0." in words(finding)


@pytest.mark.parametrize(
    "line",
    [
        "+ export CUDA_VISIBLE_DEVICES=5,6",
        "CUDA_VISIBLE_DEVICES: 5,6",
        "user@host:~$ CUDA_VISIBLE_DEVICES=5,6 python train.py",
        "env {'SHELL': '/bin/bash', 'CUDA_VISIBLE_DEVICES': '5,6', 'PWD': '/proj'}",
        'os.environ["CUDA_VISIBLE_DEVICES"] = "5,6"',
    ],
)
def test_the_device_is_named_where_the_log_tells_the_visible_ones(found, line):
    (finding,) = found(f"{line}\n{MEMORY}")
    assert "that is device 5" in words(finding)


def test_memory_that_the_program_got_over_is_a_warning(found):
    (finding,) = found(STEP + MEMORY + STEP)
    assert (finding.severity, finding.cause) == ("warning", "out-of-memory")


def test_one_finding_for_all_that_tells_of_one_cause(found):
    line = "W0810 10:52:50.697477 31331 operator.cc:242] mul raises an exception BadAlloc, ResourceExhaustedError: \n\n"
    (finding,) = found(line + MEMORY.partition("\n\n")[2].partition("1. If")[0] + MEMORY)
    assert (finding.severity, finding.cause) == ("error", "out-of-memory")


@pytest.mark.parametrize(
    ("line", "cause", "says"),
    [
        (
            "W0824 03:17:43.610446  3470 gpu_resources.cc:175] WARNING: device: 0. The installed Paddle is compiled with CUDA "
            "11.7, but CUDA runtime version in your machine is 11.4, which may cause serious incompatible bug.",
            "cuda-version",
            "built for CUDA 11.7; the driver of this machine goes up to CUDA 11.4",
        ),
        (
            "W0824 03:17:43.610446  3470 gpu_resources.cc:201] WARNING: device: \0. The installed Paddle is compiled with CUDNN "
            "8.4, but CUDNN version in your machine is 8.2, which may cause serious incompatible bug.",
            "cudnn-version",
            "built for CUDNN 8.4; CUDNN 8.2 was found",
        ),
        (
            "W0909 09:52:47.539053   455 gpu_resources.cc:96] The GPU architecture in your current machine is Pascal, which is "
            "not compatible with Paddle installation with arch: 70 75 80 86 , it is recommended to install the right wheel",
            "gpu-architecture",
            "Pascal",
        ),
        (
            "/env/lib/python3.10/site-packages/paddle/fluid/framework.py:634: UserWarning: You are using GPU version Paddle, "
            "but your CUDA device is not set properly. CPU device will be used by default.",
            "no-gpu",
            "not set properly",
        ),
    ],
)
def test_what_paddle_warns_of(found, line, cause, says):
    (finding,) = found(f"{line}\n{STEP}")
    assert (finding.slug, finding.severity, finding.cause) == ("environment", "warning", cause)
    assert says in words(finding)


def test_a_version_that_stops_the_program(found):
    error = (
        "ValueError: (InvalidArgument) The installed Paddle is compiled with CUDA11/cuDNN8,but CUDA/cuDNN version in your "
        "machine is CUDA10/cuDNN7. which will cause serious incompatible bug. (at /paddle/paddle/phi/gpu_resources.cc:170)\n"
    )
    (finding,) = found(f"Traceback (most recent call last):\n{FRAME}{error}")
    assert (finding.severity, finding.cause) == ("error", "cuda-version")
    assert "built for CUDA 11; the driver of this machine goes up to CUDA 10" in words(finding)


@pytest.mark.parametrize("name", ["331_loader-killed.txt", "331_loader-segv.txt"])
def test_a_worker_that_died(name):
    (finding,) = of(name)
    assert (finding.slug, finding.severity, finding.cause, finding.site) == ("environment", "error", "loader-worker", None)
    assert "happened to stand at /proj/endings.py:43" in words(finding)


def test_shared_memory_that_was_full():
    """The worker's own line stands behind one that the program was printing."""
    (finding,) = of("331_loader-bus.txt")
    assert (finding.slug, finding.severity, finding.cause, finding.site) == ("environment", "error", "shared-memory", None)
    assert "6444 is the worker's process id, not a signal" in words(finding)
    texts = [item.text for item in finding.evidence]
    assert "SystemError: (Fatal) DataLoader process (pid ...) exited is killed by signal: 6444." in texts
    assert finding.evidence[-1].text.startswith("ERROR: Unexpected BUS error")
    assert finding.evidence[-1].line == 3


def test_a_worker_that_raised_is_an_error_of_the_program():
    (finding,) = of("331_loader-error.txt")
    assert (finding.slug, finding.cause, finding.site.line) == ("not-comparable", "program-error", 35)
    assert "in a worker of a DataLoader" in words(finding)


def test_the_number_behind_signal_is_a_process(found):
    message = (
        "SystemError: (Fatal) DataLoader process (pid   1. If run DataLoader by DataLoader.from_generator(...), queue capacity\n"
        "  3. If run by DataLoader(dataset, ..., use_shared_memory=True).) exited is killed by signal: 17969.\n"
        "  It may be caused by insufficient shared storage space. Please check the storage space of `/dev/shm`.\n"
        "Bus error (at /paddle/paddle/fluid/imperative/data_loader.cc:166)\n"
    )
    (finding,) = found(f"Traceback (most recent call last):\n{FRAME}{message}")
    assert (finding.slug, finding.cause) == ("environment", "shared-memory")
    assert "17969 is the worker's process id, not a signal" in words(finding)


def test_a_collector_that_ends_the_program(found):
    file = "/env/lib/python3.11/site-packages/paddle/jit/sot/symbolic/compile_cache.py"
    frames = f'  File "{file}", line 149, in collect_subgraph_relation\n'
    (finding,) = found(f"Traceback (most recent call last):\n{FRAME}{frames}    a = b['fx']\nKeyError: 'fx'\n")
    assert (finding.slug, finding.severity, finding.cause) == ("environment", "error", "collector-crash")
    assert "subgraph_relation" in words(finding)
    (finding,) = found(f"Traceback (most recent call last):\n{FRAME}KeyError: 'fx'\n")
    assert finding.cause == "program-error"


def test_speeds_between_lines_of_sot(found):
    (finding,) = found(calls(3) + STEP * 3)
    assert (finding.slug, finding.severity, finding.cause) == ("environment", "info", "log-level")
    assert "unset" in finding.advice
    assert found(STEP * 3) == []
    assert found(calls(3)) == []


def test_a_mode_that_was_not_used(tmp_path):
    path = tmp_path / "a.log"
    path.write_text(
        "/env/lib/python3.12/site-packages/paddle/jit/api.py:311: UserWarning: full_graph=False is not supported in Python 3.12+"
        ". Set full_graph=True automatically\n  warnings.warn(\n" + STEP
    )
    reading = read_logs([str(path)], LogOptions())
    (finding,) = diagnose_logs(reading.runs, reading.stats).findings
    assert (finding.slug, finding.severity, finding.cause) == ("not-captured", "warning", "python-too-new")
    assert finding.evidence[0].line == 1


def test_mixed_precision_on_the_cpu_is_told(found):
    line = (
        "/env/lib/python3.11/site-packages/paddle/amp/auto_cast.py:599: UserWarning: amp_guard can only be enabled on CUDAPlace, "
        "XPUPlace, and CustomPlace, current place is Place(cpu), so it makes no effect.\n"
    )
    (finding,) = found(line * 3)
    assert (finding.severity, finding.cause) == ("info", "amp-no-effect")
