"""What README and docs say exists, exists."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
import readme_page

from sotprobe.cli import compare, graph, log, record, show

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


VERBS = (compare, record, show, graph, log)
# Options in the pages that are a program's own, click's, or a tool's.
OTHERS = {"--epochs", "--frames", "--help", "--level", "--megabytes", "--pairs", "--shm-size", "--tlparse", "--translations"}


def options_in(text: str) -> set[str]:
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", text))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_option_named_is_one_of_a_command(page):
    known = {name for verb in VERBS for option in verb.command.params for name in option.opts}
    assert options_in(page.read_text(encoding="utf-8")) - OTHERS <= known


@pytest.mark.parametrize("verb", [compare, log], ids=["compare", "log"])
def test_every_option_of_a_verb_is_named(verb):
    named = options_in(README)
    assert named
    assert {name for option in verb.command.params for name in option.opts if name.startswith("--")} <= named


def test_every_verb_is_in_the_table_of_commands():
    assert set(re.findall(r"^\| `sotprobe (\w+) ", README, re.MULTILINE)) == {verb.command.name for verb in VERBS}


def test_the_two_commands_name_files_that_are_there():
    assert "pip install -e '.[cpu,test]' && sotprobe compare cases/detection_loss.py" in README
    assert (ROOT / "cases/detection_loss.py").is_file()
    assert os.access(ROOT / "tools/test", os.X_OK)
    assert "tools/test" in (ROOT / ".ci/run").read_text(encoding="utf-8")


def test_the_page_of_a_log_is_what_is_printed():
    assert f"    sotprobe {' '.join(readme_page.COMMAND)}\n" in README
    assert readme_page.shown(README) == readme_page.printed(), "if wanted: python tools/update_golden.py, and read the diff"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page):
    links = re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8"))
    missing = [link for link in links if "://" not in link and not (page.parent / link).exists()]
    assert missing == []
