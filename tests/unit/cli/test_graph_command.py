"""``sotprobe graph``: what it reads, what it writes where, and what it refuses."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from sotprobe.cli.main import run

ROOT = Path(__file__).resolve().parents[3]
RUNS = ROOT / "tests" / "golden" / "runs"
STORM = RUNS / "item_storm_py311"
COUNTS = "2 subgraphs (15 versions), 13 recompiles, 1 dynamic region, 2 runs per step"

needs_dot = pytest.mark.skipif(shutil.which("dot") is None, reason="graphviz (dot) is not installed")

LOG = """\
[eval_frame_callback] start to translate: <code object f at 0x7f9d7ed51930, file "/proj/a.py", line 2>
[Cache] Firstly call <code object f at 0x7f9d7ed51930, file "/proj/a.py", line 2>
start subgraph compile and execution.
StatementIR: {name}
  inputs: ['var_0']
  params: []
  outputs: ['var_1']
  statements: 
    method     || var_1 = __mul__ (var_0, 2)  
[FallbackWrapper] start run SIR: 
 StatementIR: {name}
  inputs: ['var_0']
  params: []
  outputs: ['var_1']
  statements: 
    method     || var_1 = __mul__ (var_0, 2)  
"""  # noqa: W291 - the blanks at the ends are Paddle's


@pytest.fixture
def ask(capsys):
    """ask(arguments) -> exit code, stdout, stderr."""

    def ask(*arguments: object) -> tuple[int, str, str]:
        code = run(["graph", *map(str, arguments)])
        return code, *capsys.readouterr()

    return ask


# --- what it reads ---------------------------------------------------------------------------------------------------


def test_a_session_is_shown_by_its_static_diagnosing_run(ask):
    code, out, err = ask(STORM)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[:2] == ["cases/item_storm.py, Paddle 3.3.1 (CPU build), Python 3.11.7", COUNTS]
    assert "      x14 recompiled: (value from the break) 0.4492, 0.4605, 0.4649…" in lines
    assert "      | scale = x.mean().item()  # <- item" in lines


def test_the_counts_are_those_that_show_reports(ask, capsys):
    run(["show", str(STORM), "--json", "-"])
    static = json.loads(capsys.readouterr().out)["modes"]["static"]
    assert COUNTS.startswith(f"2 subgraphs ({static['subgraphs']} versions), {static['recompiles']} recompiles")


def test_a_run_directory_is_shown_as_well(ask):
    code, out, _ = ask(STORM / "static-diagnosis")
    assert (code, out.splitlines()[1]) == (0, COUNTS)


def test_a_saved_graph_is_shown_without_the_run(ask, tmp_path):
    saved = tmp_path / "g.json"
    code, out, err = ask(STORM, "-o", saved)
    assert (code, out, err) == (0, f"{saved}: {COUNTS}\n", "")
    code, out, _ = ask(saved)
    assert (code, out.splitlines()[1]) == (0, COUNTS)


def test_a_log_is_shown_as_far_as_it_tells(ask, tmp_path):
    log = tmp_path / "train.log"
    log.write_text(LOG.format(name="SIR_0"))
    code, out, err = ask(log)
    assert (code, err) == (0, "")
    assert "1 subgraph, 0 recompiles, 0 dynamic regions" in out
    assert "f  /proj/a.py\n  def in line 2  compiled once" in out


def test_a_step_shows_what_ran_in_it(ask):
    code, out, _ = ask(STORM, "--step", 3)
    assert code == 0
    assert out.startswith("cases/item_storm.py, Paddle 3.3.1 (CPU build), Python 3.11.7, step 3\n")


def test_of_a_log_of_several_processes_the_first_is_shown_and_that_is_said(ask, tmp_path):
    log = tmp_path / "both.log"
    log.write_text("".join(f"[rank{rank}] {line}\n" for rank in (0, 1) for line in LOG.format(name=f"SIR_{rank}").splitlines()))
    code, _, err = ask(log)
    assert code == 0
    assert "2 processes: this is rank 0" in err
    assert ask(log, "--rank", 1)[::2] == (0, "")
    code, _, err = ask(log, "--rank", 7)
    assert (code, "has no rank 7" in err, "it has 0, 1" in err) == (3, True, True)


# --- what it writes --------------------------------------------------------------------------------------------------


@needs_dot
def test_a_picture_links_its_lines_and_findings_relative_to_itself(ask, tmp_path, monkeypatch):
    session = tmp_path / "session"
    shutil.copytree(STORM, session)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pictures").mkdir()
    run(["show", str(session), "--json", str(session / "diagnosis.json")])
    assert ask(session, "-o", "pictures/g.svg")[0] == 0
    picture = ElementTree.parse(tmp_path / "pictures" / "g.svg")
    links = {found for element in picture.iter() if (found := element.get("{http://www.w3.org/1999/xlink}href"))}
    source = next((session / "static-diagnosis" / "sources").glob("*.py")).relative_to(tmp_path)
    assert f"../{source}#L42" in links
    assert "../session/diagnosis.json#/findings/0" in links
    assert all((tmp_path / "pictures" / link.partition("#")[0]).is_file() for link in links)
    finding = json.loads((session / "diagnosis.json").read_text())["findings"][0]
    assert any(finding["title"] in (title.text or "") for title in picture.iter("{http://www.w3.org/2000/svg}title"))


@needs_dot
def test_the_users_own_file_is_linked_while_it_is_there(ask, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cases").mkdir()
    (tmp_path / "cases" / "item_storm.py").write_text("")
    ask(STORM, "-o", "g.dot")
    assert 'URL="./cases/item_storm.py#L42"' in (tmp_path / "g.dot").read_text()


def test_without_graphviz_the_dot_file_is_written_and_the_user_told(ask, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    for name in ("g.svg", "g.html"):
        code, out, err = ask(STORM, "-o", tmp_path / name)
        assert (code, out) == (3, "")
        assert f"no `dot` on PATH; wrote {tmp_path / 'g.dot'} instead of {tmp_path / name}" in err
        assert "hint: install graphviz" in err
        assert (tmp_path / "g.dot").read_text().startswith("digraph sotprobe {")
        (tmp_path / "g.dot").unlink()
    assert ask(STORM, "-o", tmp_path / "g.json")[0] == 0
    assert sorted(os.listdir(tmp_path)) == ["g.json"]


@needs_dot
def test_a_page_is_written(ask, tmp_path):
    code, out, _ = ask(STORM, "-o", tmp_path / "g.html")
    assert (code, out) == (0, f"{tmp_path / 'g.html'}: {COUNTS}\n")
    assert (tmp_path / "g.html").read_text().startswith("<!DOCTYPE html>")


def test_folding_is_said(ask, tmp_path):
    code, out, _ = ask(STORM, "-o", tmp_path / "g.dot", "--collapse", 1)
    assert (code, out.strip()) == (
        0,
        f"{tmp_path / 'g.dot'}: {COUNTS}; folded by the first 1 part of the module path: 3 nodes drawn as 1",
    )


# --- what it refuses -------------------------------------------------------------------------------------------------

REFUSED = {
    "unknown format": (["-o", "g.png"], 2, "cannot tell the format of g.png", "end its name in .svg, .dot, .json or .html"),
    "no format": (["-o", "picture"], 2, "cannot tell the format of picture", ".svg"),
    "no such folder": (["-o", "none/g.svg"], 3, "cannot write none/g.svg", "existing, writable directory"),
    "a folder": (["-o", "folder.svg"], 3, "cannot write folder.svg", "existing, writable directory"),
    "full and collapse": (["--full", "--collapse", "2"], 2, "--full and --collapse disagree", "give one of them"),
    "no such step": (["--step", "4000"], 3, "4000", "hint: "),
    "collapse 0": (["--collapse", "0"], 2, "0 is not in the range", "--help"),
}


@pytest.mark.parametrize(("arguments", "code", "message", "hint"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_done_is_refused_with_a_hint(ask, tmp_path, monkeypatch, arguments, code, message, hint):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.svg").mkdir()
    given, out, err = ask(STORM, *arguments)
    assert (given, out) == (code, "")
    assert err.startswith("error: ")
    assert message in err
    assert hint in err
    assert sorted(os.listdir(tmp_path)) == ["folder.svg"]


def test_an_unwritable_file_is_refused_before_anything_is_read(ask, tmp_path):
    code, _, err = ask(tmp_path / "no such run", "-o", tmp_path / "none" / "g.svg")
    assert (code, "cannot write" in err) == (3, True)


@pytest.mark.parametrize(
    ("source", "message", "hint"),
    [
        ("dynamic-diagnosis", "is a run of the dynamic mode: it has no subgraphs", "record PROGRAM --mode static"),
        ("static-0", "has no diagnosing run of the static mode", "give the session"),
        ("nothing", "there is no ", "a log, or a saved graph"),
    ],
)
def test_a_run_without_recorded_subgraphs_is_refused(ask, source, message, hint):
    code, out, err = ask(STORM / source)
    assert (code, out) == (3, "")
    assert message in err
    assert hint in err


def test_a_log_without_subgraphs_is_refused(ask, tmp_path):
    log = tmp_path / "train.log"
    log.write_text("epoch 1 loss 0.5\nepoch 2 loss 0.4\n")
    code, _, err = ask(log)
    assert code == 3
    assert "has no subgraphs" in err
    assert "SOT_LOG_LEVEL=2" in err


@pytest.mark.parametrize("text", ["{", "[]", '{"format_version": 1}', '{"format_version": 999, "nodes": []}'])
def test_json_that_is_no_graph_is_refused(ask, tmp_path, text):
    file = tmp_path / "g.json"
    file.write_text(text)
    code, out, err = ask(file)
    assert (code, out) == (3, "")
    assert "hint: " in err


def test_a_saved_graph_has_the_step_it_was_saved_with(ask, tmp_path):
    saved = tmp_path / "g.json"
    ask(STORM, "-o", saved, "--step", 2)
    assert ask(saved, "--step", 2)[0] == 0
    code, _, err = ask(saved, "--step", 3)
    assert (code, "is a saved graph of step 2" in err) == (2, True)


# --- the package -----------------------------------------------------------------------------------------------------


def test_help_says_what_it_takes_and_imports_nothing_heavy(tmp_path):
    code = (
        "import sys\nfrom sotprobe.cli.main import run\nrun(['graph', '--help'])\nprint('LOADED', sorted(sys.modules), sep='|')"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60)
    text, _, loaded = done.stdout.partition("LOADED|")
    assert all(option in text for option in ("RUN|LOG", "--output", "--step", "--full", "--collapse", "--rank"))
    assert not [name for name in ("paddle", "numpy", "rich", "networkx", "jinja2", "graphviz") if f"'{name}'" in loaded]


def test_every_file_beside_the_code_is_installed_with_it():
    from setuptools.config.setupcfg import read_configuration

    patterns = read_configuration(ROOT / "setup.cfg")["options"]["package_data"]
    for file in (ROOT / "sotprobe").rglob("*"):
        if file.is_file() and file.suffix not in (".py", ".pyc"):
            package = ".".join(file.parent.relative_to(ROOT).parts)
            assert any(file.match(pattern) for pattern in patterns.get(package, ())), f"{file} is not in package_data"
