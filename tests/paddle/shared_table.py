"""What sotprobe must say of the programs in ../shared/cases, as their README tells it (Paddle 3.3.1, Python 3.10 and 3.11).

Lines are those of each repro.py. The logs there were taken with MIN_GRAPH_SIZE=0, and so are the runs here, unless the size of
the graph is the case.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

ALL_GRAPHS = ("--min-graph-size", "0")
ONE_GRAPH = {"subgraphs": 1, "breaks": 0, "recompiles": 0, "fallbacks": 0, "not_captured": 0}
EQUAL = {"comparable": True, "outputs_equal": True}


@dataclass(frozen=True)
class Shared:
    """One variant of one case. ``facts`` are those of expectations.py; with ``parity`` in them both modes are run."""

    case: str
    arguments: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=lambda: {"findings": []}, hash=False)
    options: tuple[str, ...] = ALL_GRAPHS
    says: str = ""

    def __str__(self) -> str:
        return "-".join([self.case, *self.arguments, self.says]).rstrip("-")


def clean(case: str, *arguments: str, **more: Any) -> Shared:
    """Nothing to find."""
    return finds(case, arguments, **more)


def equal(case: str, *arguments: str, **more: Any) -> Shared:
    """Nothing to find, and both modes give the same: a control."""
    return finds(case, arguments, parity=EQUAL, **more)


def found(slug: str, cause: str | None = None, line: int | None = None, severity: str = "warning", **more: Any) -> dict[str, Any]:
    return {"slug": slug, "severity": severity, **({"cause": cause} if cause else {}), **({"line": line} if line else {}), **more}


def finds(case: str, arguments: tuple[str, ...], *findings: dict[str, Any], **more: Any) -> Shared:
    facts: dict[str, Any] = {"findings": list(findings)}
    facts |= {name: more.pop(name) for name in ("static", "parity", "may") if name in more}
    return Shared(case, arguments, facts, **more)


TABLE = (
    # paddle.shape as a Python size: the root is int(Tensor), not the _reconstruct message of the final error
    finds(
        "01",
        ("op",),
        found("fallback", "int-read", 22, advice=".shape[i]"),
        static={"subgraphs": 0, "fallbacks": 2},
        may=["fallback"],
    ),
    clean("01", "attr", static=ONE_GRAPH),
    # try and with on Python 3.11: silent; the context manager's generator is a side effect
    finds(
        "03",
        ("try",),
        found("not-captured", "try-block", 26, python=">=3.11"),
        static=[{"python": ">=3.11", "subgraphs": 0, "not_captured": 1}, {"python": "<3.11", **ONE_GRAPH}],
    ),
    finds(
        "03",
        ("with",),
        found("not-captured", "with-block", 36, python=">=3.11"),
        found("fallback", "with-block", 36, python="<3.11"),
        static={"subgraphs": 0},
    ),
    clean("03", "plain", static=ONE_GRAPH),
    # 24 shapes on Paddle 3: one recompile, then stable
    finds("05", ("batch", "24"), found("recompile", "shape-churn", severity="info"), static={"subgraphs": 2, "recompiles": 1}),
    finds("05", ("seq", "24"), found("recompile", "shape-churn", severity="info"), static={"subgraphs": 2, "recompiles": 1}),
    finds("05", ("two", "24"), found("recompile", "shape-churn", severity="info"), static={"subgraphs": 2, "recompiles": 1}),
    clean("05", "pad", "24", static=ONE_GRAPH),
    clean("05", "const", "24", static=ONE_GRAPH),
    # an int counter becomes symbolic; `step is None` on a Tensor breaks on Python 3.11
    finds("06", ("attr", "24"), found("recompile", severity="info"), static={"subgraphs": 2, "recompiles": 1}),
    finds("06", ("arg", "24"), found("recompile", severity="info"), static={"subgraphs": 2, "recompiles": 1}),
    finds(
        "06",
        ("tensor", "24"),
        found("graph-break", "is-none-on-tensor", 15, count=1.0, python=">=3.11"),
        static=[{"python": ">=3.11", "subgraphs": 1, "breaks": 1}, {"python": "<3.11", **ONE_GRAPH}],
    ),
    # the program's own profiler changes nothing; RecordEvent in forward makes the frame eager
    clean("08", "off", static=ONE_GRAPH),
    clean("08", "on", static=ONE_GRAPH),
    finds("08", ("record_event",), found("fallback", "record-event", 19), static={"subgraphs": 0, "fallbacks": 1}),
    # controls
    equal("09", "sot", static=ONE_GRAPH),
    equal("09", "ast"),
    clean("09", "dyn"),
    equal("11", "sot", static=ONE_GRAPH),
    equal("11", "ast"),
    # main_program of a SOT function: a mismatch of modes, not an error of the model
    finds("13", ("default",), found("not-comparable", "main-program", 23, "error")),
    clean("13", "full"),
    # a second derivative through a subgraph
    finds("14", ("sot",), found("not-comparable", "higher-order-gradient", 19, "error")),
    finds("14", ("ast",), found("not-comparable", "higher-order-gradient", 19, "error")),
    clean("14", "dyn"),
    equal("15", "sot", static={"breaks": 0, "fallbacks": 0}),
    equal("15", "ast"),
    equal("15", "ast_prim"),
    equal("17", "sot", static=ONE_GRAPH),
    equal("17", "ast"),
    # a small net: the fixed cost of a call; below MIN_GRAPH_SIZE nothing is compiled
    equal("18", "3", "30"),
    finds("19", (), found("small-graph", "too-small", 6, "info"), static={"subgraphs": 0}, options=()),
    clean("19", static=ONE_GRAPH, says="all-graphs"),
    # numpy's random numbers in forward
    finds("23", (), found("graph-break", "numpy-api", 8), static={"subgraphs": 2}, parity=EQUAL, may=["graph-break"]),
    equal("24", "sot", static=ONE_GRAPH),
    equal("24", "ast"),
    equal("24", "sot", "prim"),
    # at the default MIN_GRAPH_SIZE this net runs nothing static
    Shared(
        "25", ("sot", "30"), {"findings": [found("small-graph", "too-small", 16, "info")], "static": {"subgraphs": 0}}, options=()
    ),
    clean("25", "sot", "30", static={"breaks": 0, "fallbacks": 0}, says="all-graphs"),
    clean("25", "dyn", "30"),
    clean("25", "ast", "30"),
    # worker processes
    clean("27", "dyn", "2"),
    clean("27", "sot", "2", static={"subgraphs": 1, "breaks": 0}),
    # Which of Paddle's threads notices the dead worker first decides between "DataLoader process" and "Blocking queue is killed".
    finds("27", ("sot", "2", "bus"), found("not-comparable", severity="error", evidence="SystemError: (Fatal)")),
    # never ends by itself; steps count although it is stopped
    finds("28", (), found("not-comparable", "timeout", None, "error"), options=(*ALL_GRAPHS, "--timeout", "9"), says="timeout"),
    clean("28", options=(*ALL_GRAPHS, "--steps", "8"), says="eight-steps"),
    # AMP on a CPU: no recompile
    equal("31", "sot", static=ONE_GRAPH),
    equal("31", "ast"),
    clean("31", "dyn"),
    # two subgraphs around print(float(tensor)); the empty one between them does not count
    finds("33", (), found("host-sync", "float-read", 9), static={"subgraphs": 2}, may=["host-sync"]),
    # the compile-time budget
    finds("37", ("per_code",), found("compile-limit", "compile-time", 9), may=["recompile"]),
    finds("37", ("total",), found("compile-limit", "compile-time", 9), may=["recompile"]),
    finds("37", ("default",), found("recompile", "float-guard", 10), static={"recompiles": 3}),
    finds("39", ("sot",), found("graph-break", "tensor-if", 12), static={"subgraphs": 2}),
    equal("39", "ast"),
    clean("39", "dyn"),
    # value-dependent branches: both sides are translated, which is no recompile
    finds("40", ("if",), found("graph-break", "tensor-if", 19, advice="paddle.where"), static={"subgraphs": 3, "recompiles": 0}),
    clean("40", "where", static=ONE_GRAPH),
    clean("40", "marker", static=ONE_GRAPH),
    finds("40", ("item",), found("host-sync", "item", 24), static={"subgraphs": 3, "recompiles": 1}, may=["recompile"]),
    # a collector that breaks the program on Paddle 3.2+
    finds("41", (), found("host-sync", "print", 9), static={"subgraphs": 2}),
    finds(
        "41",
        (),
        found("environment", severity="warning", evidence="subgraph_relation"),
        found("not-comparable", "collector-crash", None, "error", evidence="KeyError: 'fx'"),
        found("host-sync", "print", 9),
        options=(*ALL_GRAPHS, "--env", "SOT_COLLECT_INFO=subgraph_relation"),
        says="subgraph-relation",
    ),
)
