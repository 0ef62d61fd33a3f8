"""Writes the golden pages of every reporter anew: run it after a wanted change, then read the diff."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "tests" / "golden"


def main() -> None:
    sys.path.insert(0, str(ROOT))
    from sotprobe.report import REPORTERS

    samples = runpy.run_path(str(GOLDEN / "report_samples.py"))["SAMPLES"]
    for name, diagnosis in samples.items():
        for reporter in REPORTERS:
            content = reporter.render(diagnosis)
            path = GOLDEN / f"report_{name}.{reporter.extension}"
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
            print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
