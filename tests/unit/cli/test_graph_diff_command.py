"""``sotprobe graph --diff``: what it reads, what it writes where, and what it refuses."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sotprobe.cli.main import run

ROOT = Path(__file__).resolve().parents[3]
RUNS, RECORDED = ROOT / "tests" / "golden" / "runs", ROOT / "tests" / "golden" / "graph_diff_runs"
BEFORE, AFTER = RECORDED / "detection_loss_331", RECORDED / "detection_loss_fixed_331"
VERDICT = "1 changed, 1 gone; 9 statements gained from dynamic code"

needs_dot = pytest.mark.skipif(shutil.which("dot") is None, reason="graphviz (dot) is not installed")


@pytest.fixture
def ask(capsys):
    """ask(arguments) -> exit code, stdout, stderr."""

    def ask(*arguments: object) -> tuple[int, str, str]:
        code = run(["graph", *map(str, arguments)])
        return code, *capsys.readouterr()

    return ask


def _log(name: str, path: str, *bodies: str, rank: int | None = None) -> str:
    """What Paddle logs of one call of a function that computes ``bodies``, in a launcher's log with the rank in front."""
    mark = "" if rank is None else f"[rank{rank}] "
    head = f'<code object {name} at 0x7f9d7ed51930, file "{path}", line 2>'
    lines = [f"[eval_frame_callback] start to translate: {head}", f"[Cache] Firstly call {head}"]
    for number, body in enumerate(bodies):
        sir = [
            f"StatementIR: SIR_{number}", "  inputs: ['var_0']", "  params: []", "  outputs: ['var_1']", "  statements: ",
            f"    method     || var_1 = {body} (var_0)  ",
        ]  # fmt: skip
        lines += ["start subgraph compile and execution.", *sir, "[FallbackWrapper] start run SIR: ", f" {sir[0]}", *sir[1:]]
    return "".join(f"{mark}{line}\n" for line in lines)


# --- what it reads ---------------------------------------------------------------------------------------------------


def test_two_run_directories(ask):
    code, out, err = ask("--diff", BEFORE, AFTER)
    assert (code, err) == (0, "")
    assert out.splitlines()[:3] == [
        "before: cases/detection_loss.py, Paddle 3.3.1 (CPU build), Python 3.11.7",
        "after: cases/detection_loss_fixed.py, Paddle 3.3.1 (CPU build), Python 3.11.7",
        VERDICT,
    ]
    assert "  ~ lines 72-74 -> 40-61" in out
    assert "        | with paddle.no_grad():  # <- no-grad-block" in out, "a line of the program before"


def test_a_session_and_a_run_directory(ask):
    code, out, _ = ask("--diff", RUNS / "detection_loss_py311", AFTER)
    assert code == 0
    assert "captured now: lines 40-61 of Detector.forward" in out


def test_saved_graphs(ask, tmp_path):
    files = [tmp_path / "before.json", tmp_path / "after.json"]
    for source, file in zip((BEFORE, AFTER), files, strict=True):
        assert ask(source, "-o", file)[0] == 0
    code, out, _ = ask("--diff", *files)
    assert code == 0
    assert "1 changed, 1 gone;" in out
    assert "captured now: lines 40-61 of Detector.forward" in out
    assert "| with paddle.no_grad():  # <- no-grad-block" in out, "a saved graph has the lines that it tells of"
    assert "no difference" in ask("--diff", BEFORE, files[0])[1]


def test_two_logs(ask, tmp_path):
    (tmp_path / "a.log").write_text(_log("f", "/proj/a.py", "sin"))
    (tmp_path / "b.log").write_text(_log("f", "/proj/a.py", "sin"))
    (tmp_path / "c.log").write_text(_log("train", "/proj/c.py", "cos"))
    assert "no difference" in ask("--diff", tmp_path / "a.log", tmp_path / "b.log")[1]
    code, out, _ = ask("--diff", tmp_path / "a.log", tmp_path / "c.log")
    assert (code, out.splitlines()[2]) == (0, "nothing in common: no file and function is in both graphs")


def test_two_ranks_of_a_log(ask, tmp_path):
    log = tmp_path / "launch.log"
    log.write_text(_log("f", "/proj/a.py", "sin", rank=0) + _log("f", "/proj/a.py", "cos", rank=1))
    code, out, err = ask("--diff", log, log)
    assert (code, "no difference" in out) == (0, True)
    assert [line.partition(":")[0] for line in err.splitlines()] == ["before", "after"], "both say which rank was taken"
    code, out, err = ask("--diff", log, log, "--rank", "0,1", "-o", tmp_path / "d.json")
    assert (code, err) == (0, "")
    (node,) = json.loads((tmp_path / "d.json").read_text())["nodes"]
    assert (node["status"], node["changes"]) == ("changed", [{"what": "operators", "before": ["sin"], "after": ["cos"]}])
    assert "operators sin -> cos" in ask("--diff", log, log, "--rank", "0,1")[1]
    code, _, err = ask("--diff", log, log, "--rank", "0,7")
    assert (code, "has no rank 7" in err) == (3, True)


def test_the_same_run_twice(ask):
    code, out, _ = ask("--diff", BEFORE, BEFORE)
    assert (code, out.splitlines()[2]) == (0, "no difference")


def test_two_steps_of_a_run_by_saved_graphs(ask, tmp_path):
    storm = RECORDED / "item_storm_331"
    for step in (0, 5):
        ask(storm, "--step", step, "-o", tmp_path / f"{step}.json")
    code, out, _ = ask("--diff", tmp_path / "0.json", tmp_path / "5.json")
    assert code == 0
    assert "step 0" in out.splitlines()[0]
    assert "step 5" in out.splitlines()[1]


# --- what it writes --------------------------------------------------------------------------------------------------


def test_json_dot_and_the_caption(ask, tmp_path):
    for name in ("d.json", "d.dot"):
        code, out, err = ask("--diff", BEFORE, AFTER, "-o", tmp_path / name)
        assert (code, out, err) == (0, f"{tmp_path / name}: {VERDICT}\n", "")
    assert json.loads((tmp_path / "d.json").read_text())["kind"] == "graph-diff"
    assert (tmp_path / "d.dot").read_text().startswith("digraph sotprobe {")


@needs_dot
def test_svg_and_page(ask, tmp_path):
    for name, start in (("d.svg", "<svg"), ("d.html", "<!DOCTYPE html>")):
        assert ask("--diff", BEFORE, AFTER, "-o", tmp_path / name)[0] == 0
        assert (tmp_path / name).read_text().lstrip().startswith(start)


def test_without_graphviz_the_dot_file_is_written(ask, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    code, out, err = ask("--diff", BEFORE, AFTER, "-o", tmp_path / "d.svg")
    assert (code, out) == (3, "")
    assert "d.dot instead of" in err
    assert "detection_loss_fixed" in (tmp_path / "d.dot").read_text()


def test_folding_is_as_of_one_graph(ask, tmp_path):
    code, out, _ = ask("--diff", BEFORE, AFTER, "--collapse", 1, "-o", tmp_path / "d.dot")
    assert code == 0
    assert "folded by the first 1 part of the module path" in out


# --- what it refuses -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "code", "message", "hint"),
    [
        (("--diff", BEFORE), 2, "--diff compares two runs, not 1", "give two directories"),
        (("--diff", BEFORE, AFTER, AFTER), 2, "--diff compares two runs, not 3", "give two directories"),
        ((BEFORE, AFTER), 2, "graph shows one run, not 2", "two with --diff"),
        (("--diff", BEFORE, "nothing"), 3, "there is no nothing", "a log, or a saved graph"),
        (("--diff", BEFORE, AFTER, "--step", "99"), 3, "the run has no step 99", "its steps are"),
        (("--diff", BEFORE, AFTER, "--rank", "0,"), 2, "--rank 0,: these are not two ranks", "--rank 0,1"),
        (("--diff", BEFORE, AFTER, "--rank", "0,1,2"), 2, "these are not two ranks", "--rank 0,1"),
        (("--diff", BEFORE, AFTER, "-o", "d.png"), 2, "cannot tell the format of d.png", ".svg"),
        (("--diff", BEFORE, RUNS / "item_storm_py311" / "static-0"), 3, "has no diagnosing run", "give the session"),
    ],
)
def test_what_cannot_be_compared(ask, arguments, code, message, hint):
    got, out, err = ask(*arguments)
    assert (got, out) == (code, "")
    assert message in err
    assert hint in err


def test_a_log_that_tells_nothing_is_not_taken_for_a_graph_that_is_gone(ask, tmp_path):
    (tmp_path / "train.log").write_text("epoch 1 loss 0.5\n")
    code, out, err = ask("--diff", BEFORE, tmp_path / "train.log")
    assert (code, out) == (3, "")
    assert "train.log has no subgraphs" in err


def test_a_comparison_is_not_compared(ask, tmp_path):
    ask("--diff", BEFORE, AFTER, "-o", tmp_path / "d.json")
    code, _, err = ask("--diff", tmp_path / "d.json", AFTER)
    assert (code, "a comparison of two graphs, not a graph" in err) == (3, True)


def test_it_needs_no_paddle(tmp_path):
    code = (
        f"import sys\nfrom sotprobe.cli.main import run\nrun(['graph', '--diff', {str(BEFORE)!r}, {str(AFTER)!r}])\n"
        "print('LOADED', *sys.modules)"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60)
    loaded = done.stdout.partition("LOADED ")[2].split()
    assert loaded
    assert not {"paddle", "numpy", "graphviz", "jinja2"} & set(loaded)
