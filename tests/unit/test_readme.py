"""What README and docs say exists, exists."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from sotprobe.cli import compare, graph, record, show

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def test_every_option_named_is_one_of_a_command():
    known = {name for verb in (compare, graph, record, show) for option in verb.command.params for name in option.opts}
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", README)) - {"--help", "--epochs"}  # --epochs is a program's own
    assert named
    assert named <= known


def test_every_option_of_compare_is_named():
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", README))
    assert {name for option in compare.command.params for name in option.opts if name.startswith("--")} <= named


def test_the_two_commands_name_files_that_are_there():
    assert "pip install -e '.[cpu,test]' && sotprobe compare cases/detection_loss.py" in README
    assert (ROOT / "cases/detection_loss.py").is_file()
    assert os.access(ROOT / "tools/test", os.X_OK)
    assert "tools/test" in (ROOT / ".ci/run").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page):
    links = re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8"))
    missing = [link for link in links if "://" not in link and not (page.parent / link).exists()]
    assert missing == []
