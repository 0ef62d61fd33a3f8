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
    _graphs()
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


def _graphs() -> None:
    from sotprobe.analyze.graph_fold import picture
    from sotprobe.report import graph_diff_dot, graph_diff_json, graph_diff_text, graph_dot, graph_text
    from sotprobe.report.graph_words import Context

    graphs = runpy.run_path(str(GOLDEN / "graph_samples.py"))
    context = Context(graphs["line_of"], graphs["url_of"])
    pictures = {name: picture(graph) for name, graph in graphs["SAMPLES"].items()}
    pictures["thirty_folded"] = picture(graphs["SAMPLES"]["thirty"], depth=3)
    for name, shown in pictures.items():
        for extension, render in (("dot", graph_dot.render), ("txt", graph_text.render)):
            path = GOLDEN / f"graph_{name}.{extension}"
            path.write_text(render(shown, context), encoding="utf-8")
            print(path.relative_to(ROOT))
    diffs = runpy.run_path(str(GOLDEN / "graph_diff_samples.py"))
    for name, shown in diffs["SHOWN"].items():
        for extension, render in (("dot", graph_diff_dot.render), ("txt", graph_diff_text.render)):
            path = GOLDEN / f"graph_diff_{name}.{extension}"
            path.write_text(render(shown, diffs["CONTEXTS"][name]), encoding="utf-8")
            print(path.relative_to(ROOT))
    path = GOLDEN / "graph_diff_is_none.json"
    path.write_text(graph_diff_json.render(diffs["SHOWN"]["is_none"].diff), encoding="utf-8")
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
