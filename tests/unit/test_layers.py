"""The layers of setup.cfg hold, and starting the command line costs nothing that it does not need."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def run(code: str) -> subprocess.CompletedProcess[str]:
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    return subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120
    )


def test_imports_keep_the_contracts():
    pytest.importorskip("importlinter", reason="import-linter is not installed")
    done = run("from importlinter.cli import lint_imports_command; lint_imports_command(['--no-cache'])")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 kept, 0 broken" in done.stdout


def test_a_report_is_drawn_without_paddle_and_rich_is_imported_only_then():
    done = run(
        "import sys, sotprobe.report\n"
        "print(sorted({'rich', 'jinja2', 'paddle', 'networkx', 'graphviz', 'numpy'} & sys.modules.keys()))"
    )
    assert done.stdout == "[]\n", done.stderr
