"""What programs must yield: read from a case's FACTS, and compared with a result.

A case is read, not imported: FACTS is a literal, and a line is named by the comment ``# <- name`` at its end.

    FACTS = {
        "steps": 6,                     how many steps the facts were established with
        "window": [10, 20],             the program's own window, where it has one
        "requires": {versions},         the versions the case is for
        "findings": [{...}],            all warnings and errors, and the infos worth asking for
        "may": ["slug"],                findings that are allowed besides
        "static": {...} or [{...}],     counts of the static mode
        "parity": {...},                of the comparison of both modes; without it only the static mode is run
    }

A finding has ``slug``, ``severity``, ``cause`` (left out: any), ``line`` (name of a line; left out: no site asked for),
``count`` (per step), ``advice`` and ``evidence`` (words of it, the
title counts as evidence). It, and an entry of ``static``, may be bound to versions:
``"python": ">=3.11,<3.13"``, ``"paddle": ">=3.2"``.
"""

from __future__ import annotations

import ast
import operator
import platform
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from runs import Made, paddle_version

Facts = Mapping[str, Any]

_FACTS = {"steps", "window", "requires", "findings", "may", "absent", "static", "parity"}
_FINDING = {"slug", "severity", "cause", "line", "count", "advice", "evidence", "python", "paddle"}

_COMPARE = {">=": operator.ge, "<=": operator.le, "<": operator.lt, ">": operator.gt, "==": operator.eq}
_VERSIONS = ("python", "paddle")
_MARKER = re.compile(r"#\s*<-\s*([\w-]+)\s*$")


def read_facts(program: Path) -> Facts:
    """The FACTS of a case file; ValueError when it has none."""
    for statement in ast.parse(program.read_text()).body:
        if isinstance(statement, ast.Assign) and getattr(statement.targets[0], "id", None) == "FACTS":
            return ast.literal_eval(statement.value)
    raise ValueError(f"{program} has no FACTS")


def read_lines(program: Path) -> dict[str, int]:
    """{name: number} of the lines marked ``# <- name``."""
    lines = enumerate(program.read_text().splitlines(), start=1)
    return {match.group(1): number for number, text in lines if (match := _MARKER.search(text))}


def holds(entry: Mapping[str, Any]) -> bool:
    """Whether an entry is for the running Python and the installed Paddle."""
    versions = {"python": platform.python_version(), "paddle": paddle_version() or "0"}
    return all(_within(versions[name], entry[name]) for name in _VERSIONS if name in entry)


def _within(version: str, range_: str) -> bool:
    return all(_compares(version, part.strip()) for part in range_.split(","))


def _compares(version: str, condition: str) -> bool:
    sign, bound = re.fullmatch(r"(>=|<=|==|<|>)([\d.]+)", condition).groups()
    wanted = [int(part) for part in bound.split(".")]
    actual = [int(part) for part in re.findall(r"\d+", version)[: len(wanted)]]
    return _COMPARE[sign](actual, wanted)


def check(made: Made, facts: Facts, lines: Mapping[str, int]) -> None:
    """Fail when the result is not what the facts say."""
    check_words(facts)
    expected = [entry for entry in facts["findings"] if holds(entry)]
    unexplained = list(made.findings)
    for entry in expected:
        found = [finding for finding in unexplained if _matches(finding, entry, lines)]
        assert found, f"no {describe(entry, lines)}\n{page(made)}"
        assert len(found) == 1, f"{len(found)} times {describe(entry, lines)}\n{page(made)}"
        unexplained.remove(found[0])
        _check_details(made, found[0], entry)
    allowed = set(facts.get("may", ()))
    extra = [finding for finding in unexplained if finding["severity"] != "info" and finding["slug"] not in allowed]
    assert not extra, f"not expected: {[summary(finding) for finding in extra]}\n{page(made)}"
    for slug in facts.get("absent", ()):
        assert not made.of(slug), f"{slug} must not be found\n{page(made)}"
    _check_static(made, facts)
    _check_parity(made, facts)


def check_words(facts: Facts) -> None:
    """A misspelt fact would never be looked at."""
    assert set(facts) <= _FACTS, set(facts) - _FACTS
    for entry in facts["findings"]:
        assert set(entry) <= _FINDING, set(entry) - _FINDING


def _matches(finding: Mapping[str, Any], entry: Mapping[str, Any], lines: Mapping[str, int]) -> bool:
    if finding["slug"] != entry["slug"] or finding["severity"] != entry["severity"]:
        return False
    if entry.get("cause") is not None and finding["cause"] != entry["cause"]:
        return False
    line = line_of(entry, lines)
    return line is None or (finding["site"] is not None and finding["site"]["line"] == line)


def line_of(entry: Mapping[str, Any], lines: Mapping[str, int]) -> int | None:
    line = entry.get("line")
    return lines[line] if isinstance(line, str) else line


def _check_details(made: Made, finding: Mapping[str, Any], entry: Mapping[str, Any]) -> None:
    if "count" in entry:
        assert finding["count_per_step"] == pytest.approx(entry["count"], abs=0.01), f"{summary(finding)}\n{page(made)}"
    if "evidence" in entry:
        said = [finding["title"], *(evidence["text"] for evidence in finding["evidence"])]
        assert any(entry["evidence"] in text for text in said), f"{said}\n{page(made)}"
    if "advice" in entry:
        assert entry["advice"] in finding["advice"], f"{finding['advice']}\n{page(made)}"


def _check_static(made: Made, facts: Facts) -> None:
    static = facts.get("static", {})
    for entry in [static] if isinstance(static, Mapping) else static:
        if not holds(entry):
            continue
        wanted = {name: value for name, value in entry.items() if name not in _VERSIONS}
        actual = {name: made.result["modes"]["static"][name] for name in wanted}
        assert actual == wanted, page(made)


def _check_parity(made: Made, facts: Facts) -> None:
    wanted = facts.get("parity", {})
    actual = {name: made.result["parity"][name] for name in wanted}
    assert actual == wanted, f"{made.result['parity']}\n{page(made)}"


def describe(entry: Mapping[str, Any], lines: Mapping[str, int]) -> str:
    cause = f" ({entry['cause']})" if entry.get("cause") else ""
    line = line_of(entry, lines)
    return f"{entry['severity']} {entry['slug']}{cause}" + (f" at line {line}" if line else "")


def summary(finding: Mapping[str, Any]) -> str:
    site = f"{finding['site']['path']}:{finding['site']['line']}" if finding["site"] else "no site"
    cause = f" ({finding['cause']})" if finding.get("cause") else ""
    return f"{finding['severity']} {finding['slug']}{cause} at {site}, {finding['count_per_step']} a step: {finding['title']}"


def page(made: Made) -> str:
    """All that a failed test needs to be understood."""
    static = made.result["modes"].get("static", {})
    counts = ("subgraphs", "translations", "recompiles", "breaks", "fallbacks", "not_captured")
    return "\n".join(
        [
            f"command: sotprobe {' '.join(made.ask.command(made.directory)[3:])}",
            f"verdict: {made.result['verdict']['slug']}: {made.result['verdict']['text']}",
            "static: " + ", ".join(f"{static.get(name)} {name}" for name in counts),
            *_listed("findings", (summary(finding) for finding in made.findings)),
        ]
    )


def _listed(title: str, texts: Iterable[str]) -> list[str]:
    return [f"{title}:", *(f"  {text}" for text in texts)]
