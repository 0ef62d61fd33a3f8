"""``sotprobe log``: files, standard input, ranks, strictness, what goes where and the exit code."""

from __future__ import annotations

import gzip
import io
import json
import sys
from types import SimpleNamespace

import pytest
from log_texts import calls, fallback

from sotprobe.cli.main import run
from sotprobe.workflows import investigate as workflow

STRANGE = "[Cache] a line of a Paddle to come\n"
VERDICT = "all 3 calls ran subgraphs (1 subgraph built, 3 runs)"


@pytest.fixture(autouse=True)
def _here(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def write(tmp_path):
    """write(name, text) -> the name."""

    def put(name, text=None):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(calls(3) if text is None else text)
        return name

    return put


def result(capsys, *arguments):
    """(exit code, the JSON, standard error)"""
    code = run(["log", *arguments, "--json", "-"])
    out, err = capsys.readouterr()
    return code, json.loads(out), err


# --- files


def test_a_log_is_read_and_reported(write, capsys):
    assert run(["log", write("a.log")]) == 0
    out, err = capsys.readouterr()
    assert out.startswith(VERDICT)
    assert "log a.log" in out
    assert err == ""


@pytest.mark.parametrize("again", ["a.log", "./a.log", "folder/../a.log", "link.log"])
def test_the_same_file_twice_counts_once(write, capsys, tmp_path, again):
    write("a.log")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link.log").symlink_to("a.log")
    _, data, _ = result(capsys, "a.log", again)
    assert data["counts"]["subgraph_runs"] == 3
    assert len(data["log"]["files"]) == 1


def test_several_files_are_added_up(write, capsys):
    _, data, _ = result(capsys, write("a.log"), write("b.log"))
    assert data["counts"]["subgraph_runs"] == 6
    assert data["log"]["files"] == ["a.log", "b.log"]


def test_gzip_is_read_whatever_the_file_is_called(capsys, tmp_path):
    (tmp_path / "a.log").write_bytes(gzip.compress(calls(3).encode()))
    assert result(capsys, "a.log")[1]["counts"]["subgraph_runs"] == 3


@pytest.mark.parametrize("arguments", [["-"], ["-", "-"]])
def test_standard_input_is_read_once(monkeypatch, capsys, arguments):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BufferedReader(io.BytesIO(calls(3).encode()))))
    assert result(capsys, *arguments)[1]["counts"]["subgraph_runs"] == 3


def test_standard_input_beside_a_file(monkeypatch, capsys, write):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BufferedReader(io.BytesIO(calls(2).encode()))))
    _, data, _ = result(capsys, "-", write("a.log"))
    assert data["counts"]["subgraph_runs"] == 5
    assert data["log"]["files"] == ["-", "a.log"]


BAD = {
    "missing": ("gone.log", "cannot read gone.log: No such file or directory", "give the path of a log file"),
    "directory": ("folder", "folder is a directory", "e.g. folder/train.log"),
    "binary": ("model.npy", "model.npy is a binary file, not a log", "give a text log"),
}


@pytest.fixture
def bad(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "train.log").touch()
    (tmp_path / "model.npy").write_bytes(b"\x93NUMPY\x01\x00" + bytes(range(256)) * 8)


@pytest.mark.parametrize(("name", "message", "hint"), BAD.values(), ids=BAD)
def test_what_is_no_log_is_one_error(bad, capsys, name, message, hint):
    assert run(["log", name]) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"error: {message}\nhint: ")
    assert hint in err


@pytest.mark.parametrize(("name", "message", "hint"), BAD.values(), ids=BAD)
def test_what_is_no_log_does_not_keep_others_from_being_read(bad, write, capsys, name, message, hint):
    code, data, err = result(capsys, write("a.log"), name)
    assert code == 3
    assert data["counts"]["subgraph_runs"] == 3
    assert data["log"]["refused"] == [message]
    assert f"error: {message}\nhint: " in err
    assert hint in err


def test_an_empty_file_is_called_empty(write, capsys):
    code, data, _ = result(capsys, write("a.log", ""))
    assert (code, data["verdict"], data["log"]["lines"]) == (0, {"slug": "empty", "text": "the log is empty"}, 0)
    assert data["notes"] == []


def test_a_python_that_is_too_new_for_sot_is_the_verdict(write, capsys):
    warning = "/lib/paddle/jit/api.py:301: UserWarning: full_graph=False is not supported in Python 3.12+."
    _, data, _ = result(capsys, write("a.log", f"{warning}\n  warnings.warn(\nloss 1.0\n"))
    assert data["verdict"]["slug"] == "sot-not-used"
    assert [finding["cause"] for finding in data["findings"]] == ["python-too-new"]


# --- usage

USAGE = {
    "no file": ([], "Missing argument 'FILE...'", "sotprobe log --help"),
    "json alone": (["a.log", "--json"], "Option '--json' requires an argument", "give the file to write, or - for stdout"),
    "json took the log": (["--json", "a.log"], "Missing argument 'FILE...'", "sotprobe log a.log --json -"),
    "paddle": (["a.log", "--paddle", "latest"], "'latest' is not a version, such as 3.3", "sotprobe log --help"),
    "python": (["a.log", "--python", "three"], "'three' is not a version", "sotprobe log --help"),
    "no workerlog": (["a.log", "--follow-ranks"], "none of the files is a workerlog", "give one of the workerlog.N files"),
}


@pytest.mark.parametrize(("arguments", "message", "hint"), USAGE.values(), ids=USAGE)
def test_usage_errors_are_two_lines(write, capsys, arguments, message, hint):
    write("a.log")
    assert run(["log", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    first, second = err.strip().split("\nhint: ")
    assert message in first
    assert hint in second


def test_json_never_overwrites_a_log(write, capsys, tmp_path):
    write("a.log")
    assert run(["log", "a.log", "--json", "a.log"]) == 3
    assert "--json would overwrite a.log, which is no JSON" in capsys.readouterr().err
    assert (tmp_path / "a.log").read_text() == calls(3)


def test_json_overwrites_json(write, capsys, tmp_path):
    (tmp_path / "r.json").write_text('{"old": 1}')
    assert run(["log", write("a.log"), "--json", "r.json"]) == 0
    assert json.loads((tmp_path / "r.json").read_text())["counts"]["subgraph_runs"] == 3


def test_a_source_directory_must_be_there(write, capsys):
    assert run(["log", write("a.log"), "--source", "gone"]) == 3
    assert capsys.readouterr().err.startswith("error: --source: there is no directory gone\nhint: ")


# --- exit codes


@pytest.mark.parametrize(("fail_on", "code"), [("error", 0), ("warning", 1), ("never", 0)])
def test_findings_decide_the_exit_code(write, capsys, fail_on, code):
    assert run(["log", write("a.log", calls(3) + fallback()), "--fail-on", fail_on]) == code


def test_strict_fails_on_lines_that_were_not_understood_and_shows_them(write, capsys):
    write("a.log", calls(3) + STRANGE * 2 + "[Cache] \x1b]0;title\x07 trick\n")
    assert run(["log", "a.log", "--strict", "--quiet"]) == 1
    out, err = capsys.readouterr()
    assert out == VERDICT + "\n"
    assert err.startswith(
        "error: --strict: 3 lines were not understood, such as\n    [Cache] a line of a Paddle to come\n    [Cache] "
    )
    assert "\x1b" not in err


def test_strict_counts_malformed_lines_too(write, capsys):
    assert run(["log", write("a.log", calls(3) + "[Cache] Firstly call <code obj"), "--strict", "-q"]) == 1
    assert "1 line was not understood, such as\n    [Cache] Firstly call <code obj\n" in capsys.readouterr().err


def test_strict_says_nothing_when_all_is_understood(write, capsys):
    assert run(["log", write("a.log", calls(3) + "the user's own line\n"), "--strict", "-q"]) == 0
    assert capsys.readouterr().err == ""


def test_without_strict_such_lines_are_shown_but_fail_nothing(write, capsys):
    assert run(["log", write("a.log", calls(3) + STRANGE)]) == 0
    out, err = capsys.readouterr()
    assert "1 unrecognised" in out
    assert "    [Cache] a line of a Paddle to come" in out
    assert err == ""


def test_a_file_that_cannot_be_read_weighs_more_than_strict(write, capsys):
    assert run(["log", write("a.log", STRANGE), "gone.log", "--strict"]) == 3


# --- what goes where


def test_with_json_on_stdout_the_page_is_on_stderr(write, capsys):
    _, data, err = result(capsys, write("a.log"))
    assert data["verdict"]["text"] == VERDICT
    assert err.startswith(VERDICT)


def test_quiet_is_the_verdict_alone(write, capsys):
    run(["log", write("a.log", calls(3) + fallback()), "-q"])
    out, err = capsys.readouterr()
    assert out.count("\n") == 1
    assert err == ""


def test_versions_given_are_those_of_the_result(write, capsys):
    _, data, _ = result(capsys, write("a.log"), "--paddle", "3.2", "--python", "3.12")
    assert (data["environment"]["paddle"], data["environment"]["python"]) == ("3.2", "3.12")


# --- ranks


def test_workerlogs_have_the_rank_of_their_name(write, capsys):
    _, data, _ = result(capsys, write("log/workerlog.0"), write("log/workerlog.3"))
    assert data["log"]["ranks"] == ["0", "3"]


@pytest.mark.parametrize("given", [["log/workerlog.0"], ["log/workerlog.1", "log/workerlog.0"]])
def test_follow_ranks_reads_the_others_of_the_folder_once(write, capsys, given):
    for number in (0, 1, 2, 10):
        write(f"log/workerlog.{number}")
    write("log/default.abcdef.log")
    write("log/serverlog.0")
    write("elsewhere/workerlog.7")
    _, data, _ = result(capsys, *given, "--follow-ranks")
    assert data["log"]["ranks"] == ["0", "1", "2", "10"]
    assert data["counts"]["subgraph_runs"] == 12


def test_without_follow_ranks_only_what_was_given_is_read(write, capsys):
    write("log/workerlog.1")
    assert result(capsys, write("log/workerlog.0"))[1]["log"]["ranks"] == ["0"]


def test_follow_ranks_works_from_inside_the_folder(write, capsys):
    write("workerlog.1")
    assert result(capsys, write("workerlog.0"), "--follow-ranks")[1]["log"]["ranks"] == ["0", "1"]


def test_a_rank_that_cannot_be_read_is_named(write, capsys, tmp_path):
    (tmp_path / "workerlog.1").mkdir()
    code, data, err = result(capsys, write("workerlog.0"), "--follow-ranks")
    assert code == 3
    assert data["log"]["ranks"] == ["0"]
    assert "error: workerlog.1 is a directory" in err


# --- progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def shown(monkeypatch, *arguments):
    """What a terminal on stderr was sent."""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(workflow, "_TICK_S", 0.0)
    run(["log", *arguments])
    return terminal.getvalue()


def test_progress_is_one_line_that_is_wiped(monkeypatch, write, capsys):
    text = shown(monkeypatch, write("a.log", calls(3) * 5000), write("b.log", calls(3) * 5000))
    size = len(calls(3)) * 10_000 / 1e6
    assert f"\rreading b.log: {size:.0f} of {size:.0f} MB, " in text
    assert " MB/s ... 0 s" in text
    assert "\n" not in text
    assert text.endswith(" \r")


def test_progress_does_not_promise_the_size_of_what_is_compressed(monkeypatch, capsys, tmp_path):
    (tmp_path / "a.log.gz").write_bytes(gzip.compress(calls(3).encode() * 5000))
    assert " of " not in shown(monkeypatch, "a.log.gz")


def test_no_progress_when_quiet(monkeypatch, write, capsys):
    assert shown(monkeypatch, write("a.log"), "--quiet") == ""
