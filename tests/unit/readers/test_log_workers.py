"""Which process a file belongs to."""

from __future__ import annotations

import pytest

from sotprobe.model.paths import short_names
from sotprobe.paddle_compat.log_lines.launcher import worker_number
from sotprobe.readers.workers import distinct, file_ranks, with_siblings


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("workerlog.0", "0"),
        ("workerlog.12", "12"),
        ("workerlog.03", "3"),
        ("workerlog.3.gz", "3"),
        ("workerlog.3.log", "3"),
        ("workerlog.3.txt.gz", "3"),
        ("workerlog", None),
        ("workerlog.", None),
        ("workerlog.x", None),
        ("workerlog.1.json", None),
        ("my_workerlog.1", None),
        ("serverlog.0", None),
        ("default.abcdef.log", None),
        ("train.log", None),
    ],
)
def test_numbers_of_files(name, number):
    assert worker_number(name) == number


def test_a_folder_only_counts_where_it_is_needed():
    assert file_ranks(["a/workerlog.0", "b/workerlog.1", "b/train.log"]) == {"a/workerlog.0": "0", "b/workerlog.1": "1"}
    assert file_ranks(["a/workerlog.0", "b/workerlog.0"]) == {"a/workerlog.0": "a/0", "b/workerlog.0": "b/0"}
    assert file_ranks(["a/workerlog.0", "a/workerlog.0.gz"]) == {"a/workerlog.0": "0", "a/workerlog.0.gz": "0"}


def test_siblings_come_by_number(tmp_path):
    for number in (0, 2, 10):
        (tmp_path / f"workerlog.{number}").touch()
    found = with_siblings([str(tmp_path / "workerlog.2"), "train.log"])
    assert found == [*(str(tmp_path / f"workerlog.{number}") for number in (2, 0, 10)), "train.log"]
    assert with_siblings([str(tmp_path / "gone" / "workerlog.0")]) == [str(tmp_path / "gone" / "workerlog.0")]


def test_one_file_has_one_name_whatever_the_order(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "b.log").touch()
    (tmp_path / "a.log").symlink_to("b.log")
    for files in (["b.log", "a.log", "-"], ["-", "a.log", "b.log", "-"]):
        assert distinct(files) == ["-", "a.log"]


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["a/b/x.log"], ["x.log"]),
        (["a/b/x.log", "a/b/y.log"], ["x.log", "y.log"]),
        (["n0/log/w", "n1/log/w"], ["n0/log/w", "n1/log/w"]),
        (["r/n0/w", "r/n1/w"], ["n0/w", "n1/w"]),
        (["w", "log/w"], ["w", "log/w"]),
        ([], []),
    ],
)
def test_short_names_tell_paths_apart(paths, names):
    assert list(short_names(paths).values()) == names
