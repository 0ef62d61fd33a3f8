"""Which files of a directory belong to the program of a log."""

from __future__ import annotations

from pathlib import Path

import pytest

from sotprobe.errors import InputError
from sotprobe.readers.sources import SourceTree

FILES = {
    "train.py": "import paddle\nfrom nets.model import Net\n\nnet = paddle.jit.to_static(Net())\n",
    "nets/model.py": "from . import blocks\nfrom nets.ops import scale, shift\n\n\nclass Net: ...\n",
    "nets/blocks.py": "class Block: ...\n",
    "nets/ops.py": "def scale(): ...\n",
    "nets/unused.py": "def nobody(): ...\n",
    "other/serve.py": "import paddle\n\n\n@paddle.jit.to_static\ndef other(x): ...\n",
    ".git/train.py": "not code\n",
}


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        file = tmp_path / "src" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path / "src"


def test_the_file_that_agrees_over_the_end_of_a_path(directory: Path) -> None:
    tree = SourceTree(str(directory))
    assert tree.line("/home/ci/job/nets/ops.py", 1) == "def scale(): ..."
    assert tree.line("/home/ci/job/nets/ops.py", 2) is None
    assert tree.line("/elsewhere/absent.py", 1) is None


def test_the_files_of_a_program_are_those_named_imported_and_the_one_that_asks_for_static(directory: Path) -> None:
    tree = SourceTree(str(directory))
    tree.look_up(["/home/ci/job/nets/model.py", "/usr/lib/python3.11/logging/__init__.py"])
    assert sorted(tree.used) == [
        "/home/ci/job/nets/blocks.py",
        "/home/ci/job/nets/model.py",
        "/home/ci/job/nets/ops.py",
        "/home/ci/job/train.py",
    ]


def test_more_are_found_when_more_is_named(directory: Path) -> None:
    tree = SourceTree(str(directory))
    tree.look_up(["/job/nets/blocks.py"])
    assert "/job/other/serve.py" not in tree.used
    tree.look_up(["/job/other/serve.py"])
    assert "/job/other/serve.py" in tree.used


def test_a_log_that_names_no_file_may_be_of_all_that_ask_for_static(directory: Path) -> None:
    assert sorted(SourceTree(str(directory)).used) == [
        "nets/blocks.py",
        "nets/model.py",
        "nets/ops.py",
        "other/serve.py",
        "train.py",
    ]


def test_two_files_that_agree_equally_are_none(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "model.py").write_text("x = 1\n")
    tree = SourceTree(str(tmp_path))
    assert tree.line("/job/model.py", 1) is None
    assert tree.line("/job/a/model.py", 1) == "x = 1"


def test_without_a_directory_there_is_nothing() -> None:
    tree = SourceTree()
    tree.look_up(["/job/model.py"])
    assert dict(tree.used) == {}


def test_a_directory_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--source"):
        SourceTree(str(tmp_path / "absent"))
