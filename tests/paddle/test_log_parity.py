"""``sotprobe log`` on a SOT_LOG_LEVEL=3 run concludes what ``compare`` concludes by hooks: the same slugs at the same lines.

Every case of cases/ runs as a plain program with nothing of sotprobe in it (programs/log_case.py), both streams in one file. The
result must be the case's FACTS, but for what a log cannot show: ``CANNOT`` and ``SUSPECTED`` list it, with the reason.

The programs of the hooks' own tests run twice, with the hooks and with the log level: both must name the same places.
"""

from __future__ import annotations

import hashlib
import json
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
from expectations import Facts, check, holds, read_facts, read_lines
from runs import REPOSITORY, TIMEOUT_S, WORKERS, cache_directory, capture_hash, environment, paddle_version

from sotprobe.analyze.facts import Facts as Analysed
from sotprobe.analyze.rules.recompiles import blamed
from sotprobe.model import Run
from sotprobe.readers.log import LogOptions, read_logs
from sotprobe.readers.sources import SourceTree
from sotprobe.report.json import to_dict
from sotprobe.workflows.investigate import LogRequest, investigate

pytestmark = pytest.mark.paddle

CASES = REPOSITORY / "cases"
PROGRAMS = REPOSITORY / "tests" / "paddle" / "programs"
DRIVER = PROGRAMS / "log_case.py"

# Findings that no log can lead to.
CANNOT = {
    "accuracy-mismatch": "what the other mode computes is not in the log",
    "mode-divergent-path": "what the other mode runs is not in the log",
    "eager-loop": "eager operators are not logged",
}
# SOT says nothing of these frames at any level, so a log only lets the source suspect them: info instead of a warning, and
# no count. On which Pythons, and why.
_TABLE = "a frame with an exception table never reaches SOT"
SUSPECTED = {
    "eager_loop": (">=3.11", _TABLE),
    "no_grad_block": (">=3.11", _TABLE),
    "not_captured_with": (">=3.11", _TABLE),
    "not_captured_try": (">=3.11", _TABLE),
    "not_captured_comprehension": (">=3.12", _TABLE),
    "not_captured_generator": (">=3.10", "the hook is off while a generator runs"),
    "not_captured_thread": (">=3.10", "another thread has no hook"),
}
SILENT = ("not-captured", "no-grad-block")
# Of a finding that is there: how often a step it happens. On which Pythons, and why.
NO_COUNT = {
    "detection_loss": ("<3.11", "after ten calls without a subgraph SOT no longer looks at a frame, and logs no more of it"),
}
# Counts of the static mode.
NOT_COUNTED = {"not_captured": "frames that SOT never sees are not in the log"}


@dataclass(frozen=True)
class Logged:
    """A program's log and, as for a run of compare, the result and the command that gives it."""

    program: Path
    arguments: tuple[str, ...]
    variables: tuple[tuple[str, str], ...] = ()

    @property
    def ask(self) -> Logged:
        return self

    @property
    def directory(self) -> Path:
        digest = hashlib.sha256(repr((self, platform.python_version(), paddle_version())).encode())
        for file in (self.program, Path(self.arguments[0])):
            digest.update(file.read_bytes())
        if self.program != DRIVER:
            digest.update(capture_hash().encode())
        return cache_directory() / f"log-{Path(self.arguments[0]).stem}-{digest.hexdigest()[:20]}"

    @property
    def log(self) -> Path:
        return self.directory / "log.txt"

    def command(self, directory: Path) -> list[str]:
        return [sys.executable, "-m", "sotprobe", "log", str(directory / "log.txt"), "--source", str(CASES)]

    def make(self) -> Logged:
        """Run the program, or take its log from the cache."""
        if not (self.directory / "done").exists():
            shutil.rmtree(self.directory, ignore_errors=True)
            self.directory.mkdir(parents=True)
            with self.log.open("wb") as log:
                done = subprocess.run(
                    [sys.executable, str(self.program), *self.arguments],
                    cwd=self.directory, env={**environment(), **dict(self.variables)},
                    stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, timeout=TIMEOUT_S,
                )  # fmt: skip
            (self.directory / "done").write_text(str(done.returncode))
        code = int((self.directory / "done").read_text())
        assert code == 0, f"{self.arguments} ended with {code}:\n{self.log.read_text(errors='replace')[-3000:]}"
        return self

    @cached_property
    def result(self) -> dict[str, Any]:
        return to_dict(investigate(LogRequest((str(self.log),), source=str(CASES))).diagnosis)

    @property
    def findings(self) -> list[dict[str, Any]]:
        return self.result["findings"]

    def of(self, slug: str) -> list[dict[str, Any]]:
        return [finding for finding in self.findings if finding["slug"] == slug]


LEVEL_3 = (("SOT_LOG_LEVEL", "3"),)


def _case(path: Path) -> Logged:
    return Logged(DRIVER, (str(path), str(read_facts(path)["steps"])), LEVEL_3)


def _program(name: str, driver: Path = DRIVER) -> Logged:
    variables = (("MIN_GRAPH_SIZE", "0"), *(LEVEL_3 if driver == DRIVER else ()))
    return Logged(driver, (str(PROGRAMS / f"{name}.py"), "0" if driver == DRIVER else "records.jsonl"), variables)


CASE_FILES = [path for path in sorted(CASES.glob("*.py")) if holds(read_facts(path).get("requires", {}))]
HOOKED = ("hooks_breaks", "hooks_guards", "hooks_fallbacks")


@pytest.fixture(scope="module")
def logs() -> Iterator[Mapping[Logged, Future[Logged]]]:
    """All runs that the tests of this file look at, started on at once."""
    wanted = [_case(path) for path in CASE_FILES]
    wanted.extend(_program(name, driver) for name in HOOKED for driver in (DRIVER, PROGRAMS / "hooks_child.py"))
    with ThreadPoolExecutor(WORKERS) as pool:
        yield {logged: pool.submit(logged.make) for logged in wanted}


def log_facts(case: str, facts: Facts) -> Facts:
    """What a log must yield of a case's facts."""
    findings = [_in_a_log(case, entry) for entry in facts["findings"] if entry["slug"] not in CANNOT]
    static = facts.get("static", {})
    counts = [_counted(entry) for entry in ([static] if isinstance(static, Mapping) else static)]
    kept = {name: value for name, value in facts.items() if name not in ("parity", "findings", "static")}
    return {**kept, "findings": findings, "static": counts}


def _in_a_log(case: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    if _listed(case, SUSPECTED) and entry["slug"] in SILENT:
        return {**_without(entry, "count"), "severity": "info"}
    return _without(entry, "count") if _listed(case, NO_COUNT) else dict(entry)


def _listed(case: str, exceptions: Mapping[str, tuple[str, str]]) -> bool:
    """Whether a case is an exception on the running Python."""
    return case in exceptions and holds({"python": exceptions[case][0]})


def _counted(entry: Mapping[str, Any]) -> dict[str, Any]:
    return _without(entry, *NOT_COUNTED)


def _without(entry: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in entry.items() if name not in names}


@pytest.mark.parametrize("path", CASE_FILES, ids=[path.stem for path in CASE_FILES])
def test_a_log_yields_the_facts_of_a_case(path: Path, logs: Mapping[Logged, Future[Logged]]) -> None:
    logged = logs[_case(path)].result()
    check(logged, log_facts(path.stem, read_facts(path)), read_lines(path))
    suspected = [finding for finding in logged.findings if finding["suspected"]]
    assert {finding["slug"] for finding in suspected} <= set(SILENT)
    assert bool(suspected) is _listed(path.stem, SUSPECTED)
    assert not [finding for finding in logged.findings if finding["cost_ms_per_step"] is not None]


def test_the_list_of_what_a_log_cannot_show_is_no_longer_than_it_must_be(logs: Mapping[Logged, Future[Logged]]) -> None:
    """An entry that a log shows after all must go."""
    for path in CASE_FILES:
        logged = logs[_case(path)].result()
        assert not {finding["slug"] for finding in logged.findings} & set(CANNOT), path.stem
    for name in (*SUSPECTED, *NO_COUNT):
        assert any(path.stem == name for path in CASES.glob("*.py")), name


# --- the places that the hooks name


def _records(logged: Logged) -> Sequence[dict[str, Any]]:
    return [json.loads(line) for line in (logged.directory / "records.jsonl").read_text().splitlines()]


def _places_by_hooks(logged: Logged, *kinds: str) -> set[tuple[str, int | None, str | None]]:
    records = [record for record in _records(logged) if record["kind"] in kinds]
    sites = [(record["kind"], record.get("site") or {}) for record in records]
    return {(kind, site.get("line"), site.get("function")) for kind, site in sites}


def _read(logged: Logged) -> Run:
    (run,) = read_logs([str(logged.log)], LogOptions(SourceTree(str(PROGRAMS)))).runs
    return run


@pytest.mark.parametrize("name", ["hooks_breaks", "hooks_fallbacks"])
def test_breaks_and_fallbacks_are_where_the_hooks_see_them(name: str, logs: Mapping[Logged, Future[Logged]]) -> None:
    hooked = logs[_program(name, PROGRAMS / "hooks_child.py")].result()
    facts = Analysed((_read(logs[_program(name)].result()),))
    found = [event for kind in ("break", "fallback") for event in facts.events(kind)]
    assert {(event.kind, event.site.line, event.site.function) for event in found} == _places_by_hooks(
        hooked, "break", "fallback"
    )


def test_recompiles_are_where_the_hooks_see_the_value_read(logs: Mapping[Logged, Future[Logged]]) -> None:
    hooked = logs[_program("hooks_guards", PROGRAMS / "hooks_child.py")].result()
    facts = Analysed((_read(logs[_program("hooks_guards")].result()),))
    sites = [blamed(facts, event)[1] for event in facts.events("recompile")]
    assert {("recompile", site.line, site.function) for site in sites} == _places_by_hooks(hooked, "recompile")
