"""A comparison of two subgraph graphs as JSON: what ``graph --diff -o FILE.json`` writes.

    {"format_version": 1, "kind": "graph-diff", "common": bool, "same": bool, "counts": {"kept", "changed", "gone", "new"},
     "before"/"after": {"program", "environment", "step", "summary"},
     "figures": [{"name", "before", "after", "difference"}],
     "nodes": [{"id", "status": "kept|changed|gone|new", "how", "before": node | null, "after": node | null,
                "changes": [{"what", "before", "after"}]}],
     "edges": [{"source", "target", "status", "before": edge | null, "after": edge | null, "changes"}],
     "moves": [{"kind": "merged|split|lost|gained", "before": [id], "after": [id], "statements", "of"}]}

A node and an edge are those of the graph's own JSON (``graph_json``), with the ids and lines of their own side. What is not
known is null, and then there is no difference either.
"""

from __future__ import annotations

import json

from sotprobe.model.codec import FORMAT_VERSION
from sotprobe.model.graph_diff import STATUSES, GraphDiff
from sotprobe.report.graph_json import DIFF_KIND, plain


def render(diff: GraphDiff) -> str:
    """The comparison as indented ASCII JSON, ending in a newline."""
    head = {
        "format_version": FORMAT_VERSION,
        "kind": DIFF_KIND,
        "same": diff.same,
        "counts": {status: diff.count(status) for status in STATUSES},
    }
    return json.dumps({**head, **plain(diff)}, indent=2, allow_nan=False) + "\n"
