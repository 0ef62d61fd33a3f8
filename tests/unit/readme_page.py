"""The page of a log that README shows: of which log, and where it stands. Used by the test and by tools/update_golden.py."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RECORDED = ROOT / "tests/golden/logs/readme/train.log.gz"  # its PROVENANCE.md says of what
COMMAND = ["log", "train.log", "--source", "cases"]
_BEFORE = "It prints, of a log of SOT_LOG_LEVEL 3:\n\n"
_AFTER = "\n| option of `log` |"
WIDTH = "96"


def printed() -> str:
    """What the command prints now, as README indents it."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(RECORDED, Path(folder, "train.log"))
        Path(folder, "cases").symlink_to(ROOT / "cases")
        code = "from sotprobe.cli.main import main; main()"
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": WIDTH}
        done = subprocess.run(
            [sys.executable, "-c", code, *COMMAND], cwd=folder, env=environment, stdout=subprocess.PIPE, check=True, text=True
        )
    return "".join(f"    {line}".rstrip() + "\n" for line in done.stdout.splitlines())


def shown(readme: str) -> str:
    """What README says that it prints."""
    return readme.partition(_BEFORE)[2].partition(_AFTER)[0]


def renewed(readme: str) -> str:
    """README with what it prints now."""
    return readme.replace(f"{_BEFORE}{shown(readme)}{_AFTER}", f"{_BEFORE}{printed()}{_AFTER}")
