"""Versions that a log states or proves: real logs of four Paddles and Pythons, and lines that only look like versions."""

from __future__ import annotations

from pathlib import Path

import pytest

from sotprobe.analyze.facts import Facts
from sotprobe.paddle_compat.log_lines import versions
from sotprobe.paddle_compat.versions import Span, Versions, common, span
from sotprobe.readers.log import LogOptions, read_logs

LOGS = Path(__file__).parents[2] / "golden" / "logs"
RECORDED = sorted(LOGS.glob("*_py3*.txt*"))


def read(path: Path) -> dict[str, object]:
    return dict(read_logs([str(path)], LogOptions()).runs[0].environment)


def written(tmp_path: Path, *lines: str) -> dict[str, object]:
    path = tmp_path / "run.log"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return read(path)


def within(version: str, seen: str) -> bool:
    low, high = span(seen)
    number = tuple(int(part) for part in version.split("."))
    return low <= number and (high is None or number[: len(high)] <= high)


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.name)
def test_what_is_seen_is_true(path):
    paddle, python, _ = path.name.split("_", 2)
    python = f"3.{python.removeprefix('py3')}"
    environment = read(path)
    assert "paddle" not in environment  # no line states it
    assert within(paddle, str(environment.get("paddle_seen", "2.6+")))
    assert environment.get("python", python) == python
    assert within(python, str(environment.get("python_seen", "3.8+")))


@pytest.mark.parametrize(
    ("name", "seen"),
    [
        ("2.6.2_py311_level2.txt.gz", "2.6"),
        ("3.0.0_py311_level2.txt.gz", "3.0"),
        ("3.2.2_py311_level2.txt.gz", "3.2+"),
        ("3.2.2_py311_level3.txt.gz", "3.2"),  # a loop that is split: 3.3 no longer does that
        ("3.3.1_py311_level2.txt.gz", "3.3+"),  # a loop that is not
        ("3.3.1_py311_guard_error.txt", "3.2+"),
        ("3.0.0_py311_collect.txt", "3.0"),
        ("3.3.1_py311_collect.txt", "3.1+"),
        ("3.3.1_py311_level1.txt", "3.0+"),
    ],
)
def test_paddle_by_its_wording(name, seen):
    assert read(LOGS / name)["paddle_seen"] == seen


@pytest.mark.parametrize(
    ("opcodes", "seen"),
    [
        ("LOAD_FAST PRECALL RESUME", "3.11"),
        ("LOAD_FAST CALL_FUNCTION", "3.8-3.10"),
        ("GEN_START CALL_METHOD", "3.10"),
        ("RESUME", "3.11+"),
        ("RESUME TO_BOOL", "3.13+"),
        ("RESUME END_FOR RETURN_CONST", "3.12-3.13"),
    ],
)
def test_python_by_its_opcodes(opcodes, seen):
    found = common(versions.of_opcodes(opcodes.split()), versions.OLDEST_PYTHON)
    assert str(found) == seen


def test_opcodes_that_say_nothing():
    assert versions.of_opcodes(["LOAD_FAST", "STORE_FAST", "RETURN_VALUE"]) == []


@pytest.mark.parametrize(
    ("name", "paddle"), [("331_statements.txt", "3.3.1"), ("262_statements.txt", "2.6.2")], ids=lambda value: str(value)
)
def test_versions_that_paddle_states(name, paddle):
    environment = read(LOGS / "versions" / name)
    assert (environment["paddle"], environment["python"]) == (paddle, "3.11.7")
    assert "paddle_seen" not in environment


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("paddlepaddle-gpu          3.0.0.post120", {"paddle": "3.0.0.post120"}),
        ("paddlepaddle_gpu==2.6.2", {"paddle": "2.6.2"}),
        ("paddle.__version__: 3.2.0.dev20250901", {"paddle": "3.2.0.dev20250901"}),
        ("[2024/05/01 10:00:00] ppcls INFO: train with paddle 2.6.0 and device Place(gpu:0)", {"paddle": "2.6.0"}),
        ("PaddlePaddle: 2.6.0", {"paddle": "2.6.0"}),
        ("Python: 3.8.10 (default, Nov 14 2022, 12:59:47)", {"python": "3.8.10"}),
        ("- paddle 3.3.1, Python 3.11.7", {"paddle": "3.3.1", "python": "3.11.7"}),
        ("PaddleNLP 2.8.0", {}),
        ("paddle2onnx 2.0.1", {}),
        ("/opt/paddle-2.6.1/lib", {}),
        ("this needs paddlepaddle>=3.0.0", {}),
        ("please install paddle 3.0.0 or later", {}),
        ("paddle 5 of 20", {}),
        ("paddle version: unknown", {}),
        ("Python 3.8 is not supported any more", {}),
    ],
)
def test_what_a_line_states(line, found):
    assert versions.printed(line) == found


def test_two_stated_versions_are_none(tmp_path):
    environment = written(tmp_path, "paddlepaddle 3.0.0", "paddlepaddle 3.2.2")
    assert "paddle" not in environment


def test_a_version_and_its_build_are_one(tmp_path):
    assert written(tmp_path, "Paddle version: 3.0.0", "paddlepaddle-gpu 3.0.0.post120")["paddle"] == "3.0.0.post120"


def test_spellings_that_contradict_each_other_show_nothing(tmp_path):
    """Two programs in one file."""
    environment = written(
        tmp_path,
        "[Cost Model] New step start, current state is StepState.RUN_SOT",
        "[Cache] all guards missed",
    )
    assert "paddle_seen" not in environment


def test_advice_is_for_the_range(tmp_path):
    path = tmp_path / "run.log"
    path.write_text("[Cache] all guards missed\n", encoding="utf-8")
    facts = Facts(read_logs([str(path)], LogOptions()).runs)
    assert facts.paddle == "3.1+"
    assert Versions(paddle_since="3.3").hold(facts.paddle, None)
    assert not Versions(paddle_until="3.0").hold(facts.paddle, None)


@pytest.mark.parametrize(
    ("seen", "since", "until", "holds"),
    [
        ("3.1+", "3.2", None, True),
        ("3.1+", None, "3.1", True),
        ("3.1+", None, "2.6", False),
        ("2.6-3.0", "3.0", None, True),
        ("2.6-3.0", "3.1", None, False),
        ("2.6-3.0", None, "2.6", True),
        ("3.3.1", "3.3", None, True),
        ("3.3.0-rc1", "3.3", None, True),
        ("3.3.0-rc1", None, "3.2", False),
        ("0.0.0.dev2025", None, "2.6", True),
    ],
)
def test_ranges_against_ranges(seen, since, until, holds):
    assert Versions(paddle_since=since, paddle_until=until).hold(seen, None) is holds


@pytest.mark.parametrize("text", ["3.1+", "2.6-3.0", "3.0", "3.3.1"])
def test_a_span_is_written_as_it_was_read(text):
    assert str(span(text)) == text


def test_no_span():
    with pytest.raises(ValueError, match="not a range"):
        span("newest")


def test_nothing_in_common():
    assert common([span("2.6"), span("3.0+")], versions.OLDEST_PADDLE) is None
    assert common([], versions.OLDEST_PADDLE) == Span(versions.OLDEST_PADDLE, None)
