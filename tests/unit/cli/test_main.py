"""The command line: what it accepts, what it refuses, and what it prints where."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sotprobe import __version__
from sotprobe.cli import options
from sotprobe.cli.main import run
from sotprobe.model import Diagnosis, Finding, ProgramInfo, SourceSite, Verdict
from sotprobe.workflows import compare as compare_workflow
from sotprobe.workflows import record as record_workflow
from sotprobe.workflows import show as show_workflow
from sotprobe.workflows.rounds import FEWEST_ROUNDS, MOST_ROUNDS

ROOT = Path(__file__).resolve().parents[3]
HEAVY = ("paddle", "numpy", "rich", "networkx", "jinja2", "graphviz", "nvtx")


def diagnosis(*severities: str) -> Diagnosis:
    site = SourceSite("model.py", 7, "forward")
    findings = tuple(Finding("graph-break", severity, "a title", site, "advice", ()) for severity in severities)
    program = ProgramInfo("model.py", "case")
    return Diagnosis(program, {}, {}, None, None, Verdict("slower", "static mode is 2.0x slower"), findings, saved_in="runs/1")


@pytest.fixture
def asked(monkeypatch):
    """The requests that the verbs make, instead of running anything."""
    requests: list = []

    def answer(request, progress=None):
        requests.append(request)
        return diagnosis("warning")

    monkeypatch.setattr(compare_workflow, "compare", answer)
    monkeypatch.setattr(record_workflow, "record", answer)
    return requests


def shown(monkeypatch, *severities: str) -> None:
    monkeypatch.setattr(show_workflow, "show", lambda directory: diagnosis(*severities))


def python(code: str, cwd: Path, *, stdout=subprocess.PIPE) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-c", code], cwd=cwd, env=environment, stdout=stdout, stderr=subprocess.PIPE, text=True, timeout=60
    )


# --- help ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments", [["--help"], [], ["--version"], ["compare", "--help"], ["record", "-h"], ["show", "--help"], ["compare"]]
)
def test_help_imports_nothing_heavy(arguments, tmp_path):
    code = f"import sys\nfrom sotprobe.cli.main import run\nrun({arguments!r})\nprint('LOADED', sorted(sys.modules), sep='|')"
    loaded = python(code, tmp_path).stdout.rpartition("LOADED|")[2]
    assert "'click'" in loaded
    assert not [name for name in HEAVY if f"'{name}'" in loaded]
    assert "sotprobe.capture" not in loaded


def test_help_lists_every_verb(capsys):
    assert run(["--help"]) == 0
    text = capsys.readouterr().out
    assert all(f"\n  {verb} " in text for verb in ("compare", "record", "show"))


def test_version(capsys):
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"sotprobe {__version__}\n"


def test_the_defaults_in_the_help_are_those_of_the_workflow(asked, capsys):
    run(["compare", "--help"])
    assert f"[default: {FEWEST_ROUNDS} to {MOST_ROUNDS}, until the ratio is clear]" in " ".join(capsys.readouterr().out.split())
    run(["compare", "m.py"])
    assert asked[0].rounds is None
    assert options.DEFAULT_TIMEOUT_S == compare_workflow.DEFAULT_TIMEOUT_S


# --- usage -----------------------------------------------------------------------------------------------------------

USAGE = {
    "unknown verb": (["compair"], "No such command 'compair'", "sotprobe --help"),
    "no program": (["compare"], "Missing argument 'PROGRAM'", "sotprobe compare --help"),
    "bare separator": (["compare", "m.py", "--"], "nothing follows --", "leave -- out"),
    "option of the program": (["compare", "m.py", "--lr", "1"], "no such option: --lr", "sotprobe compare m.py -- --lr ..."),
    "argument of the program": (["record", "m.py", "big"], "unexpected extra argument (big)", "sotprobe record m.py -- ..."),
    "typing error": (["compare", "m.py", "--round", "3"], "no such option: --round", "did you mean --rounds?"),
    "rounds": (["compare", "m.py", "--rounds", "0"], "0 is not in the range", "--help"),
    "steps": (["compare", "m.py", "--steps", "x"], "'x' is not a valid integer", "--help"),
    "timeout": (["compare", "m.py", "--timeout", "0"], "0.0 is not in the range", "--help"),
    "window text": (["compare", "m.py", "--window", "5"], "'5' is not START:END", "--help"),
    "window empty": (["compare", "m.py", "--window", "9:9"], "'9:9' is empty", "--help"),
    "env": (["compare", "m.py", "--env", "NOVALUE"], "'NOVALUE' is not KEY=VALUE", "--help"),
    "env name": (["compare", "m.py", "--env", "1A=2"], "'1A=2' is not KEY=VALUE", "--help"),
    "step-on": (["compare", "m.py", "--step-on", "train"], "'train' is not MODULE:FUNCTION", "--help"),
    "step-on dots": (["compare", "m.py", "--step-on", "a..b:f"], "'a..b:f' is not MODULE:FUNCTION", "--help"),
    "modes": (["compare", "m.py", "--modes", "static,fast"], "'static,fast' is not dynamic, static", "--help"),
    "modes twice": (["compare", "m.py", "--modes", "static,static"], "is not dynamic, static", "--help"),
    "quotes": (["compare", "m.py", "--static-args", "'a"], "cannot be split into arguments: no closing quotation", "--help"),
    "fail-on": (["compare", "m.py", "--fail-on", "info"], "'info' is not one of", "--help"),
    "graph size twice": (
        ["compare", "m.py", "--min-graph-size", "0", "--env", "MIN_GRAPH_SIZE=5"],
        "--min-graph-size 0 and --env MIN_GRAPH_SIZE=5 disagree",
        "give one of them",
    ),
    "mode": (["record", "m.py", "--mode", "eager"], "'eager' is not one of", "sotprobe record --help"),
    "no directory": (["show"], "Missing argument 'DIR'", "sotprobe show --help"),
}


@pytest.mark.parametrize(("arguments", "message", "hint"), USAGE.values(), ids=USAGE)
def test_usage_errors_are_two_lines_on_stderr(asked, capsys, arguments, message, hint):
    assert run(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    first, *rest = err.strip().split("\nhint: ")
    assert first.startswith("error: ")
    assert message in first
    assert len(rest) == 1
    assert hint in err
    assert not asked


# --- what is asked ---------------------------------------------------------------------------------------------------


def test_arguments_after_the_separator_reach_the_program_verbatim(asked):
    run(["compare", "m.py", "--rounds", "2", "--", "--rounds", "9", "--", "a b", "", "--json=-", "-h", "$X"])
    assert asked[0].rounds == 2
    assert asked[0].arguments == ("--rounds", "9", "--", "a b", "", "--json=-", "-h", "$X")


def test_options_may_follow_the_program(asked):
    run(["compare", "--steps", "3", "m.py", "--full-graph"])
    assert (asked[0].program, asked[0].options.steps, asked[0].options.full_graph) == ("m.py", 3, True)


def test_every_option_is_handed_on(asked, tmp_path):
    command = (
        "compare m.py --rounds 3 --warmup 2 --window 4:9 --steps 12 --modes static --min-graph-size 0 --env A=b=c --env D= "
        "--step-on pkg.engine:Trainer.step --batch-size 8 --timeout 30 --seed 5 --out saved"
    )
    run([*command.split(), "--dynamic-args", "--mode dyn", "--static-args", "--mode 'to static'"])
    (request,) = asked
    chosen = request.options
    assert request.modes == ("static",)
    assert request.rounds == 3
    assert (chosen.warmup, chosen.window, chosen.steps) == (2, (4, 9), 12)
    assert (chosen.step_on, chosen.batch_size, chosen.timeout, chosen.seed) == ("pkg.engine:Trainer.step", 8, 30.0, 5)
    assert request.env == {"A": "b=c", "D": "", "MIN_GRAPH_SIZE": "0"}
    assert request.mode_arguments == {"dynamic": ("--mode", "dyn"), "static": ("--mode", "to static")}
    assert request.out == Path("saved")
    assert request.cwd == os.getcwd()


def test_modes_run_dynamic_first(asked):
    run(["compare", "m.py", "--modes", "static, dynamic"])
    assert asked[0].modes == ("dynamic", "static")


def test_record_asks_for_one_mode(asked):
    run(["record", "m.py", "--mode", "dynamic", "--", "-x"])
    assert (asked[0].modes, asked[0].arguments) == (("dynamic",), ("-x",))


# --- what is printed -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("severities", "fail_on", "code"),
    [
        (["error"], [], 1),
        (["warning"], [], 0),
        ([], ["--fail-on", "warning"], 0),
        (["info"], ["--fail-on", "warning"], 0),
        (["info", "warning"], ["--fail-on", "warning"], 1),
        (["error"], ["--fail-on", "never"], 0),
    ],
)
def test_findings_decide_the_exit_code(monkeypatch, capsys, severities, fail_on, code):
    shown(monkeypatch, *severities)
    assert run(["show", "runs/1", *fail_on]) == code
    assert "static mode is 2.0x slower" in capsys.readouterr().out


def test_json_on_stdout_is_alone_there(monkeypatch, capsys):
    shown(monkeypatch, "warning")
    assert run(["show", "runs/1", "--json", "-"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["verdict"]["slug"] == "slower"
    assert "static mode is 2.0x slower" in err


def test_json_in_a_file(monkeypatch, capsys, tmp_path):
    shown(monkeypatch, "warning")
    assert run(["show", "runs/1", "--json", str(tmp_path / "result.json")]) == 0
    assert json.loads((tmp_path / "result.json").read_text())["findings"][0]["slug"] == "graph-break"
    assert "static mode is 2.0x slower" in capsys.readouterr().out


def test_a_json_path_that_cannot_be_written_is_refused_before_anything_runs(asked, capsys, tmp_path):
    for path in (tmp_path, tmp_path / "no" / "where.json"):
        assert run(["compare", "m.py", "--json", str(path)]) == 3
        assert f"error: cannot write {path}" in capsys.readouterr().err
    assert not asked


def test_quiet_prints_the_verdict_alone(monkeypatch, capsys):
    shown(monkeypatch, "warning")
    run(["show", "runs/1", "--quiet"])
    assert capsys.readouterr().out == "static mode is 2.0x slower\n"


class Terminal:
    """A stream that says it is a terminal."""

    def __init__(self) -> None:
        self.text = ""

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.text += text
        return len(text)

    def flush(self) -> None:
        """Nothing is buffered."""


@pytest.mark.parametrize(
    ("environment", "colored"), [({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True), ({"TERM": "dumb"}, False)]
)
def test_color_only_on_a_terminal_that_wants_it(monkeypatch, environment, colored):
    shown(monkeypatch, "error")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    run(["show", "runs/1"])
    assert ("\x1b[" in terminal.text) is colored


def test_no_color_codes_in_a_file(monkeypatch, capsys):
    shown(monkeypatch, "error")
    run(["show", "runs/1"])
    assert "\x1b[" not in capsys.readouterr().out


def test_progress_is_one_line_on_a_terminal_and_is_wiped(monkeypatch, capsys):
    def answer(request, progress):
        progress("dynamic mode, round 1 of 5", 0.4)
        progress("dynamic mode, round 1 of 5", 12.2)
        return diagnosis()

    monkeypatch.setattr(compare_workflow, "compare", answer)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    run(["compare", "m.py"])
    assert "\rdynamic mode, round 1 of 5 ... 12 s" in terminal.text
    assert "\n" not in terminal.text
    assert terminal.text.endswith(" \r")
    assert "round 1" not in capsys.readouterr().out


def test_no_progress_when_nobody_watches(monkeypatch):
    seen = []
    monkeypatch.setattr(compare_workflow, "compare", lambda request, progress: seen.append(progress) or diagnosis())
    run(["compare", "m.py"])
    monkeypatch.setattr(sys, "stderr", Terminal())
    run(["compare", "m.py", "--quiet"])
    assert seen == [None, None]


def test_a_report_can_be_piped_into_head(tmp_path):
    code = (
        "import sys\nfrom sotprobe.cli import main, output\nfrom sotprobe.workflows import show\n"
        f"sys.path.insert(0, {str(Path(__file__).parent)!r})\nfrom test_main import diagnosis\n"
        "show.show = lambda directory: diagnosis(*['warning'] * 3000)\n"
        "sys.exit(main.run(['show', 'x']))"
    )
    read, write = os.pipe()
    os.close(read)
    done = python(code, tmp_path, stdout=write)
    os.close(write)
    assert done.returncode == 141
    assert done.stderr == ""


# --- bad input, without fakes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("files", "arguments", "message"),
    [
        ({}, ["compare", "gone.py"], "error: no such file: gone.py"),
        ({"m.py": "def f(:"}, ["compare", "m.py"], "error: syntax error at m.py:1: "),
        ({"m.py": "def init(): pass"}, ["record", "m.py"], "error: no callable in m.py"),
        ({}, ["compare", "."], "error: . is a directory"),
        ({}, ["show", "gone"], "error: There is no directory gone"),
        ({"m.py": ""}, ["show", "m.py"], "error: There is no directory m.py"),
        ({}, ["show", "."], "error: . is not a run directory"),
        ({"run.json": '{"format_version": 999, "kind": "run"}'}, ["show", "."], "error: . was written in format 999"),
        ({"run.json": "[1]"}, ["show", "."], "error: run.json has no format_version"),
        ({"session.json": "{"}, ["show", "."], "error: session.json cannot be read"),
    ],
)
def test_bad_input_is_one_message_with_a_next_step(monkeypatch, capsys, tmp_path, files, arguments, message):
    monkeypatch.chdir(tmp_path)
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert run(arguments) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(message)
    assert err.count("\nhint: ") == 1
    assert not (tmp_path / ".sotprobe").exists()


@pytest.mark.parametrize("verb", ["compare", "record"])
def test_step_on_is_for_scripts(monkeypatch, capsys, tmp_path, verb):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.py").write_text("def func(x): return x\ndef init(): return []\n")
    assert run([verb, "m.py", "--step-on", "m:func"]) == 2
    assert "error: --step-on: m.py is a case file" in capsys.readouterr().err
    assert not (tmp_path / ".sotprobe").exists()


def test_without_paddle_compare_says_how_to_install_it(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.py").write_text("print(1)\n")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert run(["compare", "m.py"]) == 3
    assert capsys.readouterr().err == (
        "error: Paddle is not installed\nhint: install Paddle next to sotprobe: pip install 'sotprobe[cpu]'\n"
    )
    assert not (tmp_path / ".sotprobe").exists()


def test_an_error_of_sotprobe_itself_keeps_its_traceback(monkeypatch):
    def broken(directory):
        raise ZeroDivisionError

    monkeypatch.setattr(show_workflow, "show", broken)
    with pytest.raises(ZeroDivisionError):
        run(["show", "x"])
