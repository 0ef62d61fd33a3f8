"""Writes the golden pages of every reporter anew: run it after a wanted change, then read the diff."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "tests" / "golden"


def main() -> None:
    sys.path.insert(0, str(ROOT))
    from sotprobe.analyze.graph_fold import picture
    from sotprobe.report import REPORTERS, graph_diff_dot, graph_diff_json, graph_diff_text, graph_dot, graph_text
    from sotprobe.report.graph_words import Context

    samples = runpy.run_path(str(GOLDEN / "report_samples.py"))["SAMPLES"]
    for name, diagnosis in samples.items():
        for reporter in REPORTERS:
            content = reporter.render(diagnosis)
            path = GOLDEN / f"report_{name}.{reporter.extension}"
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
            print(path.relative_to(ROOT))
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


if __name__ == "__main__":
    main()
