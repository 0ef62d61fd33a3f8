"""The capture child on real programs: steps, windows, ends, parity."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest
from child_runs import PROGRAMS, run_child

pytest.importorskip("paddle", reason="needs the cpu extra")
pytestmark = pytest.mark.paddle

# SOT runs on every Python of the suite; the count of translations proves a static run.


def indices(run):
    return [record["index"] for record in run.of("step")]


def test_case_steps_are_marked_and_losses_fall(tmp_path):
    run = run_child(tmp_path / "static", PROGRAMS / "child_case.py", "static", kind="case", steps=6)
    steps = run.of("step")
    assert indices(run) == [0, 1, 2, 3, 4, 5]
    assert {step["source"] for step in steps} == {"case"}
    assert steps[0]["translations"] >= 1
    assert steps[-1]["translations"] == 0
    assert steps[0]["wall_ns"] > steps[-1]["wall_ns"] > 0
    assert steps[0]["loss"] > steps[3]["loss"]  # same input as step 0
    assert {step["batch_size"] for step in steps} == {8}
    assert run.one("end")["reason"] == "step-limit"
    assert run.code == 0


def test_dynamic_mode_translates_nothing(tmp_path):
    run = run_child(tmp_path / "dynamic", PROGRAMS / "child_case.py", "dynamic", kind="case", steps=3)
    assert [step["translations"] for step in run.of("step")] == [None, None, None]
    assert run.one("start")["paddle"].startswith("3.")


def test_full_graph_counts_programs(tmp_path):
    run = run_child(tmp_path / "ast", PROGRAMS / "child_case.py", "static", kind="case", steps=4, full_graph=True)
    assert [step["translations"] for step in run.of("step")] == [1, 0, 0, 0]


@pytest.mark.parametrize("mode", ["dynamic", "static"])
def test_nvprof_range_in_a_unittest_ends_normally(tmp_path, mode):
    run = run_child(tmp_path / mode, PROGRAMS / "child_unittest_range.py", mode)
    assert [(w["start"], w["end"]) for w in run.of("window")] == [(4, 12)]
    assert indices(run) == list(range(12))
    assert {step["source"] for step in run.of("step")} == {"nvprof"}
    assert run.one("end")["reason"] == "step-limit"
    assert run.code == 0
    assert "AttributeError" not in run.stderr


def test_window_option_overrides_the_programs_own(tmp_path):
    run = run_child(tmp_path / "w", PROGRAMS / "child_unittest_range.py", "static", window=[2, 6])
    assert [(w["start"], w["end"]) for w in run.of("window")] == [(2, 6)]
    assert indices(run) == list(range(6))


@pytest.mark.parametrize("mode", ["dynamic", "static"])
def test_training_script_steps_with_its_first_optimizer(tmp_path, mode):
    run = run_child(tmp_path / mode, PROGRAMS / "child_train.py", mode, arguments=("--lr", "0.01"))
    assert indices(run) == list(range(12))
    assert {step["source"] for step in run.of("step")} == {"optimizer"}
    assert all(isinstance(step["loss"], float) for step in run.of("step"))
    assert "trained 0.01" in run.stdout
    assert run.one("end")["reason"] == "returned"


def test_steps_have_the_same_indices_when_only_one_mode_calls_to_static(tmp_path):
    program = tmp_path / "own_flag.py"
    program.write_text(
        "import sys, paddle\n"
        "net = paddle.nn.Linear(4, 4)\n"
        "if sys.argv[1] == 'static':\n"
        "    net = paddle.jit.to_static(net, full_graph=False)\n"
        "sgd = paddle.optimizer.SGD(0.1, parameters=net.parameters())\n"
        "for _ in range(5):\n"
        "    net(paddle.ones([2, 4])).mean().backward()\n"
        "    sgd.step()\n"
        "    sgd.clear_grad()\n"
    )
    dynamic = run_child(tmp_path / "dynamic", program, "dynamic", "parity", arguments=("dynamic",))
    static = run_child(tmp_path / "static", program, "static", "parity", arguments=("static",),
                       reference=str(dynamic.directory))
    assert indices(dynamic) == indices(static) == [0, 1, 2, 3, 4]
    assert [step.get("partial", False) for step in dynamic.of("step")] == [True] + [False] * 4
    assert [step["loss"] for step in dynamic.of("step")] == [step["loss"] for step in static.of("step")]
    gradients = [fact for fact in static.of("parity") if fact["what"] == "gradient"]
    assert gradients
    assert all(fact["equal"] for fact in gradients)


def test_calls_of_the_first_to_static_function_are_the_steps(tmp_path):
    run = run_child(tmp_path / "calls", PROGRAMS / "child_calls.py", "static")
    steps = run.of("step")
    assert indices(run) == list(range(7))
    assert {step["source"] for step in steps} == {"call"}
    assert [step.get("partial", False) for step in steps] == [False] * 6 + [True]


@pytest.mark.parametrize("purpose", ["timing", "parity", "diagnosis"])
def test_markers_are_invisible_to_sot_when_the_whole_step_is_static(tmp_path, purpose):
    program = PROGRAMS / "child_whole_step.py"
    bare = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=120, check=True)
    run = run_child(tmp_path / purpose, program, "static", purpose)
    assert indices(run) == list(range(6))
    assert {step["source"] for step in run.of("step")} == {"optimizer"}
    assert "translations" in bare.stdout
    assert run.stdout == bare.stdout


def test_steps_option_ends_a_script_early(tmp_path):
    run = run_child(tmp_path / "few", PROGRAMS / "child_train.py", "dynamic", arguments=("--lr", "0.01"), steps=3)
    assert indices(run) == [0, 1, 2]
    assert "trained" not in run.stdout
    assert run.one("end")["reason"] == "step-limit"
    assert run.code == 0


@pytest.mark.parametrize("step_on", ["child_calls:forward", "__main__:helper"])
def test_step_on_a_function_of_the_program(tmp_path, step_on):
    run = run_child(tmp_path / "on", PROGRAMS / "child_calls.py", "dynamic", step_on=step_on)
    assert {step["source"] for step in run.of("step")} == {"function"}
    assert indices(run) == list(range(7 if "forward" in step_on else 14))


@pytest.mark.parametrize("step_on", ["no_such_module:f", "child_calls:missing", "json:missing"])
def test_unknown_step_on_is_refused(tmp_path, step_on):
    run = run_child(tmp_path / "on", PROGRAMS / "child_calls.py", "dynamic", step_on=step_on)
    refusal = run.one("refused")
    assert refusal["slug"] == "step-on"
    assert step_on.split(":")[0] in refusal["message"]
    assert refusal["hint"]
    assert run.code == 3


def test_missing_import_is_refused_with_its_line(tmp_path):
    program = tmp_path / "needs.py"
    program.write_text("import paddle\nimport surely_not_installed\n")
    run = run_child(tmp_path / "run", program, "static")
    assert run.one("refused")["slug"] == "import-error"
    assert run.one("refused")["message"].startswith("needs.py:2: ")
    assert run.code == 3


def test_case_without_a_callable_is_refused(tmp_path):
    program = tmp_path / "empty_case.py"
    program.write_text("func = None\ndef init():\n    return ()\n")
    run = run_child(tmp_path / "run", program, "static", kind="case")
    assert run.one("refused")["slug"] == "no-callable"


def test_exception_keeps_the_steps_and_names_the_users_line(tmp_path):
    program = PROGRAMS / "child_errors.py"
    run = run_child(tmp_path / "raise", program, "static", arguments=("raise",))
    line = next(i for i, text in enumerate(program.read_text().splitlines(), 1) if "five is too many" in text)
    error = run.one("error")
    assert error["type"] == "ValueError"
    assert error["site"] == {"path": str(program), "line": line, "function": "<module>"}
    assert indices(run) == [0, 1, 2, 3]  # the call before the error was still open
    assert "five is too many" in run.stderr
    assert run.code == 1


def test_error_in_simulation_is_told_at_the_innermost_user_line(tmp_path):
    program = PROGRAMS / "child_errors.py"
    run = run_child(tmp_path / "sim", program, "static", arguments=("simulation",))
    line = next(i for i, text in enumerate(program.read_text().splitlines(), 1) if "return c - b" in text)
    error = run.one("error")
    assert error["simulated"] is True
    assert error["site"] == {"path": str(program), "line": line, "function": "subtract"}
    assert "Type promotion" in error["message"]


def test_exit_code_of_the_program_is_kept(tmp_path):
    run = run_child(tmp_path / "exit", PROGRAMS / "child_errors.py", "dynamic", arguments=("exit",))
    assert run.one("end")["reason"] == "system-exit"
    assert run.code == 7


@pytest.mark.parametrize(("how", "name"), [("segfault", "SIGSEGV"), ("SIGTERM", "SIGTERM"), ("SIGKILL", "SIGKILL")])
def test_steps_survive_a_fatal_signal(tmp_path, how, name):
    run = run_child(tmp_path / how, PROGRAMS / "child_errors.py", "static", arguments=(how,))
    assert run.code == -getattr(signal, name)
    assert indices(run) == [0, 1, 2, 3]
    stacks = (run.directory / "stacks.txt").read_text()
    assert ("child_errors.py" in stacks) == (name != "SIGKILL")


def test_hang_leaves_the_stacks_before_the_timeout(tmp_path):
    # The launcher kills; here the child only has to have written its stacks when somebody does.
    program = tmp_path / "hang.py"
    program.write_text("import os, time\ntime.sleep(4)\nos._exit(5)\n")
    run = run_child(tmp_path / "run", program, "static", timeout=2)
    assert run.code == 5
    assert "hang.py" in (run.directory / "stacks.txt").read_text()


def test_changing_directory_loses_nothing(tmp_path):
    run = run_child(tmp_path / "cd", PROGRAMS / "child_errors.py", "dynamic", arguments=("chdir",))
    assert indices(run) == list(range(10))


def parity(tmp_path, program, steps=4):
    reference = run_child(tmp_path / "dynamic", PROGRAMS / program, "dynamic", "parity", kind="case", steps=steps)
    return run_child(tmp_path / "static", PROGRAMS / program, "static", "parity", kind="case", steps=steps,
                     reference=str(reference.directory))


def test_same_seed_gives_equal_outputs_inputs_and_gradients(tmp_path):
    run = parity(tmp_path, "child_case.py")
    facts = run.of("parity")
    assert {(f["what"], f["step"]) for f in facts if f["what"] == "gradient"} == {("gradient", 0)}
    assert {f["step"] for f in facts if f["what"] == "output"} == {0, 1, 2, 3}
    # the order of sums may differ in the last bit between modes, never more
    assert all(f["mismatch"] is None for f in facts)
    assert all(f["max_rel_error"] < 1e-5 for f in facts if not f["equal"])


def test_wrong_gradient_is_seen_with_its_stop_gradient(tmp_path):
    run = parity(tmp_path, "child_wrong_grad.py")
    wrong = [f for f in run.of("parity") if f["what"] == "output" and not f["equal"] and f["step"] == 0]
    (fact,) = [f for f in wrong if f["name"] == "outputs[0]"]
    assert fact["max_abs_error"] == pytest.approx(3.0)
    assert fact["max_rel_error"] == pytest.approx(0.5)
    assert "stop_gradient True became False" in fact["mismatch"]


def test_mutated_inputs_are_compared(tmp_path):
    run = parity(tmp_path, "child_in_place.py", steps=2)
    facts = run.of("parity")
    assert {f["what"] for f in facts} == {"input", "output"}
    assert all(f["equal"] for f in facts)
    assert {f["name"] for f in facts} == {"all"}
