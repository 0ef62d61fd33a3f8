"""Runs of sotprobe on real programs, each made once and shared by all tests that look at it.

What a run recorded is kept outside the clone, under the hash of everything that made it: the capturing half of sotprobe, the
program, the options and the versions. Only the analysis is done anew for each test session, so a changed rule needs no new
run. SOTPROBE_TEST_CACHE names the directory; the default is below the system's temporary directory.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).parents[2]
WORKERS = min(2, os.cpu_count() or 1)
TIMEOUT_S = 420

# The half of sotprobe that decides what is recorded; rules, readers and reports are not in it.
_CAPTURE = ("capture", "paddle_compat", "model", "errors.py", "workflows/compare.py", "workflows/record.py", "cli")
_ANALYSIS_ONLY = ("causes.py", "vocabulary.py")


@dataclass(frozen=True)
class Ask:
    """One command: ``sotprobe VERB program *options -- *arguments``, given in the clone's directory.

    ``alone`` runs are made while no other run is: their times can be compared. ``attempt`` tells repetitions apart.
    """

    program: str
    options: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    verb: str = "compare"
    alone: bool = False
    attempt: int = 0

    def __str__(self) -> str:
        words = [Path(self.program).stem if self.program.startswith("cases") else Path(self.program).parent.name]
        return "-".join([*words, *self.arguments, *(word.lstrip("-") for word in self.options if word == "--full-graph")])

    def command(self, directory: Path) -> list[str]:
        own = [self.verb, self.program, *self.options, "--out", str(directory), "--quiet", "--fail-on", "never"]
        return [sys.executable, "-m", "sotprobe", *own, *(["--", *self.arguments] if self.arguments else [])]


@dataclass(frozen=True)
class Made:
    """A finished run: the command's exit code and output, and the result that the analysis gives now."""

    ask: Ask
    directory: Path
    code: int
    stderr: str
    result: dict[str, Any]

    @property
    def findings(self) -> list[dict[str, Any]]:
        return self.result["findings"]

    def of(self, slug: str) -> list[dict[str, Any]]:
        return [finding for finding in self.findings if finding["slug"] == slug]

    def records(self, run: str, kind: str) -> list[dict[str, Any]]:
        lines = (self.directory / run / "records.jsonl").read_text().splitlines()
        return [record for record in map(json.loads, lines) if record["kind"] == kind]


class Runs:
    """Makes runs on a few workers, in the order they were announced, and keeps them."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(WORKERS)
        self._futures: dict[Ask, Future[Made]] = {}
        self._lock = threading.Lock()

    def announce(self, asks: Iterable[Ask]) -> None:
        """Start on runs that tests will want; those to be made alone come first, one after the other."""
        for ask in sorted(dict.fromkeys(asks), key=lambda ask: not ask.alone):
            self._future(ask)

    def made(self, ask: Ask) -> Made:
        return self._future(ask).result()

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)

    def _future(self, ask: Ask) -> Future[Made]:
        with self._lock:
            if ask not in self._futures:
                self._futures[ask] = self._alone(ask) if ask.alone else self._pool.submit(make, ask)
            return self._futures[ask]

    def _alone(self, ask: Ask) -> Future[Made]:
        for future in self._futures.values():
            future.exception()  # waits; a failed run is reported by its own test
        future: Future[Made] = Future()
        try:
            future.set_result(make(ask))
        except Exception as error:  # noqa: BLE001 - handed to the test that asked
            future.set_exception(error)
        return future


def make(ask: Ask) -> Made:
    """Make a run, or take it from the cache, and analyse what it recorded."""
    directory = cache_directory() / key(ask)
    session = directory / "session"
    if not (directory / "done.json").exists():
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        code, stderr = _run(ask, session)
        (directory / "done.json").write_text(json.dumps({"code": code, "stderr": stderr}))
    done = json.loads((directory / "done.json").read_text())
    if not session.exists():
        raise AssertionError(f"{' '.join(ask.command(session))}\nsaved nothing (exit {done['code']}):\n{done['stderr'][-3000:]}")
    return Made(ask, session, done["code"], done["stderr"], analyse(session))


def analyse(session: Path) -> dict[str, Any]:
    """The result of a session as ``--json`` gives it, by today's rules."""
    from sotprobe.report.json import to_dict
    from sotprobe.workflows.show import show

    return to_dict(show(session))


def _run(ask: Ask, session: Path) -> tuple[int, str]:
    done = subprocess.run(
        ask.command(session),
        cwd=REPOSITORY,
        env=environment(),
        capture_output=True,
        text=True,
        errors="replace",
        timeout=TIMEOUT_S,
        stdin=subprocess.DEVNULL,
    )
    return done.returncode, done.stdout[-2000:] + done.stderr[-8000:]


def environment() -> dict[str, str]:
    """The environment of a run: this clone's sotprobe, one OpenMP thread, no setting of SOT from outside."""
    kept = {name: value for name, value in os.environ.items() if not _is_setting(name)}
    return {**kept, "PYTHONPATH": str(REPOSITORY), "OMP_NUM_THREADS": "1"}


def _is_setting(name: str) -> bool:
    return name.startswith(("SOT_", "FLAGS_", "GLOG_")) or name in {"MIN_GRAPH_SIZE", "ENABLE_FALL_BACK"}


def cache_directory() -> Path:
    given = os.environ.get("SOTPROBE_TEST_CACHE")
    return Path(given) if given else Path(tempfile.gettempdir()) / f"sotprobe-test-runs-{os.getuid()}"


def key(ask: Ask) -> str:
    digest = hashlib.sha256(repr((ask, platform.python_version(), paddle_version())).encode())
    digest.update(capture_hash().encode())
    digest.update((REPOSITORY / ask.program).read_bytes())
    return f"{Path(ask.program).stem}-{digest.hexdigest()[:20]}"


@cache
def capture_hash() -> str:
    digest = hashlib.sha256()
    for part in _CAPTURE:
        root = REPOSITORY / "sotprobe" / part
        for path in sorted(root.rglob("*.py")) if root.is_dir() else [root]:
            if path.name not in _ANALYSIS_ONLY:
                digest.update(path.read_bytes())
    return digest.hexdigest()


@cache
def paddle_version() -> str | None:
    """The installed Paddle without importing it; None when there is none."""
    for name in ("paddlepaddle", "paddlepaddle-gpu"):
        try:
            return importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return None
