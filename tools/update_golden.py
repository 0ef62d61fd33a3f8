"""Writes the golden pages anew, of every reporter, of the shared logs and in README: run it after a wanted change, then read the
diff."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "tests" / "golden"


SHARED_LOGS = ROOT / "tests" / "shared_logs"


def main() -> None:
    sys.path[:0] = [str(ROOT), str(SHARED_LOGS), str(ROOT / "tests" / "unit")]
    _reporters()
    _readme()
    _shared_logs()


def _reporters() -> None:
    from sotprobe.report import REPORTERS

    samples = runpy.run_path(str(GOLDEN / "report_samples.py"))["SAMPLES"]
    for name, diagnosis in samples.items():
        for reporter in REPORTERS:
            content = reporter.render(diagnosis)
            path = GOLDEN / f"report_{name}.{reporter.extension}"
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
            print(path.relative_to(ROOT))


def _readme() -> None:
    from readme_page import renewed

    readme = ROOT / "README.md"
    readme.write_text(renewed(readme.read_text(encoding="utf-8")), encoding="utf-8")
    print(readme.relative_to(ROOT))


def _shared_logs() -> None:
    """Those of the logs in ../shared/cases, where that is beside the clone."""
    from golden_pages import GOLDEN as DIRECTORY
    from golden_pages import pages
    from shared_cases import ABSENT, CASES

    if not CASES.is_dir():
        print(f"{DIRECTORY.relative_to(ROOT)}: left as it is, {ABSENT}")
        return
    DIRECTORY.mkdir(exist_ok=True)
    for path, content in pages().items():
        path.write_text(content)
        print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
