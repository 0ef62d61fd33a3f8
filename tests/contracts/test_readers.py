"""Every reader of logs: real logs that it reads, heads of its own, and no line of Paddle's that counts as the user's."""

from __future__ import annotations

import gzip
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from sotprobe.model import ReadStats
from sotprobe.readers.grammar import Token
from sotprobe.readers.log import READERS
from sotprobe.readers.logfile import LogFile
from sotprobe.readers.parts import Origin

LOGS = Path(__file__).parents[1] / "golden" / "logs"
# Logs of programs/patterns.py: 3.3.1_py311_level2.txt.gz and so on. Every line that the program printed begins like this.
RECORDED = sorted(path for path in LOGS.glob("*_py3*.txt*"))
USER = "USER "
ALL = sorted(
    path for path in LOGS.rglob("*") if path.suffixes[-1:] in ([".txt"], [".gz"], [".log"]) or path.name.startswith("workerlog.")
)
NAMES = [make().name for make in READERS]


def name_of(path: Path) -> str:
    return str(path.relative_to(LOGS))


@cache
def stats_of(path: Path) -> dict[str, ReadStats]:
    return LogFile(Origin(str(path)), [make() for make in READERS]).stats


def text_of(path: Path) -> str:
    data = path.read_bytes()
    return (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8", errors="replace")


def test_there_are_logs_of_every_paddle():
    assert {path.name.split("_")[0] for path in RECORDED} == {"2.6.2", "3.0.0", "3.2.2", "3.3.1"}
    assert {path.name.split("_")[1] for path in RECORDED} == {"py310", "py311", "py312", "py313"}


@pytest.mark.parametrize("path", RECORDED, ids=name_of)
def test_only_the_users_lines_are_the_users(path):
    users = sum(line.startswith(USER) for line in text_of(path).splitlines())
    assert stats_of(path)["text"] == ReadStats(matched=0, ignored=users, unrecognised=0, malformed=0)


@pytest.mark.parametrize("path", ALL, ids=name_of)
def test_every_line_of_a_real_log_is_understood_and_counted_once(path):
    stats = stats_of(path)
    assert {name: found.samples for name, found in stats.items() if found.unrecognised or found.malformed} == {}
    lines = text_of(path).split("\n")
    assert sum(found.matched + found.ignored for found in stats.values()) == len(lines) - (not lines[-1])


@pytest.mark.parametrize("name", NAMES)
def test_a_reader_has_a_real_log(name):
    assert any(stats_of(path)[name].matched for path in ALL if name in stats_of(path))


def test_names_are_unique():
    assert [name for name, number in Counter(NAMES).items() if number > 1] == []


def test_a_head_is_of_one_reader():
    heads = Counter(head for make in READERS for head in set(make().heads))
    assert [head for head, number in heads.items() if number > 1] == []


@pytest.mark.parametrize("make", READERS, ids=NAMES)
def test_a_token_is_of_its_reader_or_of_none(make):
    """A head alone, with nothing behind it, is no reason to fail."""
    grammar = make()
    for head in grammar.heads:
        token = grammar.token(head, head)
        assert token is None or isinstance(token, Token)
        assert token is None or token.reader in NAMES


@pytest.mark.parametrize("make", READERS, ids=NAMES)
def test_ordinary_output_is_nobodys(make):
    grammar = make()
    for line in ("", "loss 0.5", "  indented", "Epoch 3: 100%|####| 5/5", "INFO: saved", "[ok]", "(1, 2)", "{'a': 1}", "False"):
        heads = [head for head in grammar.heads if line.startswith(head)]
        assert [grammar.token(head, line) for head in heads if grammar.token(head, line) is not None] == []
        assert grammar.loose(line) is None


def test_the_recorded_programs_say_nothing_else():
    """The program of the logs prints what the first test counts."""
    source = (LOGS / "programs" / "patterns.py").read_text(encoding="utf-8")
    printed = re.findall(r"\bprint\((\S+)", source)
    assert printed
    assert all(first.startswith('"USER') for first in printed)
