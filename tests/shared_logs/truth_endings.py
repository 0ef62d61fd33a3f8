"""The rest of the table of truth.py: programs that ended badly, collectors, limits, branches."""

from __future__ import annotations

from dataclasses import replace

from expected import FUNCTION, LINE, Expected, Truth, counts, logs, one_graph
from truth import ALL, V3, crash, nothing


def forced(number: int) -> Expected:
    """A subgraph that is built and never runs: the log does not tell a forced one from one too small, so both must be named."""
    return Expected("small-graph", severity="info|warning", says=rf"(?=.*\bSIR_{number}\b)(?=.*SOT_FORCE_FALLBACK_SIR_IDS)")


# --- 13: main_program of a SOT function: a mismatch of modes, not an error of the model
_MAIN = Expected("not-comparable", "main-program", 23, "error", LINE, says="full_graph")
CASE_13 = (
    *logs("13", "log_{}_default.txt", ALL, {}, _MAIN),
    *nothing("13", "log_{}_full.txt", V3),
    *crash("13", "log_262_full.txt"),
)

# --- 14: a second derivative through a subgraph
_SECOND = Expected("not-comparable", "higher-order-gradient", 19, "error", LINE)
CASE_14 = (
    *logs("14", "log_{}_sot.txt", ALL, one_graph(1), replace(_SECOND, says=r"\bcube\b")),
    *logs("14", "log_{}_ast.txt", ALL, {}, _SECOND),
    *nothing("14", "log_{}_dyn.txt"),
)

# --- 19: below MIN_GRAPH_SIZE: two hits, and nothing ran. 2.6 does not even print the subgraph.
_SMALL = Expected("small-graph", "too-small", 5, severity="info|warning", says="MIN_GRAPH_SIZE")
_NOTHING_RAN = (r"nothing ran static|no subgraph ran|0 runs of subgraphs",)
CASE_19 = (
    *logs("19", "log_{}_default.txt", V3, counts(entered=3, hits=2, built=1), _SMALL, says=_NOTHING_RAN),
    *logs("19", "log_{}_default.txt", ("262",), counts(entered=3, hits=2), _SMALL, says=_NOTHING_RAN),
    *logs("19", "log_{}_default_mgs0.txt", ALL, one_graph(3)),
)

# --- 23: numpy's random numbers; the reasons come from the collector. Gaps in the subgraphs' names are normal, and the true
# guards of the empty pieces between are no fallbacks.
_RANDOM = Expected("graph-break", "random-api", 6, precision=FUNCTION)
_NUMPY = Expected("graph-break", "numpy-api", 6, precision=FUNCTION)
_DRAWN = (replace(_RANDOM, line=None, precision=None, names=8), replace(_NUMPY, line=None, precision=None, names=8))
_UNSAID = ("translations", "breaks")
CASE_23 = (
    *logs(
        "23", "log_{}_default.txt", ("300",),
        counts(entered=12, translated=4, hits=4, fallback_hits=4, built=4, runs=6, breaks=3),
        _RANDOM, _NUMPY, sourced=_DRAWN, may=("graph-break",), absent=("fallback", "not-captured"),
    ),
    *logs(
        "23", "log_{}_default.txt", ("322", "331", "331py310"),
        counts(entered=15, translated=5, hits=4, fallback_hits=6, built=5, runs=6, breaks=4),
        _RANDOM, _NUMPY, sourced=_DRAWN, may=("graph-break",), absent=("fallback", "not-captured"),
    ),
    *logs("23", "log_{}_serialized.txt", ("300", "331"), {}, _RANDOM, _NUMPY, sourced=_DRAWN, may=("graph-break",), open=_UNSAID),
    # 2.6 fails in the code that it wrote in place of jitter: of the user's lines only the definition is told
    *logs(
        "23", "log_{}_default.txt", ("262",), counts(entered=1, built=1, runs=1),
        Expected("not-comparable", severity="error", says="module' has no attribute 'rand'"),
    ),
)  # fmt: skip

# --- 27, 28: endings from outside
CASE_27 = (
    Truth(
        "27",
        "log_331_bus.txt",
        findings=(Expected("environment", severity="error", says=r"(?=.*/dev/shm)(?=.*17969)(?=.*\bpid\b|.*process)"),),
    ),
    *nothing("27", "log_{}_dyn.txt", ("331",)),
    *nothing("27", "log_{}_sot.txt", ("331",)),
)
_OUTSIDE = Expected("benign-exit", severity="info")
CASE_28 = (
    Truth("28", "log_p262.txt", findings=(replace(_OUTSIDE, says=r"(?=.*\b40\b)(?=.*12246)"),), steps=40),
    Truth("28", "log_p331.txt", findings=(replace(_OUTSIDE, says=r"(?=.*\b39\b)(?=.*12234)"),), steps=39),
)

# --- 33: print(float(tensor)): two breaks, an empty subgraph between. A forced subgraph is built and never runs.
_HALVES = {"entered": 6, "translated": 3, "hits": 2, "fallback_hits": 1, "built": 3, "breaks": 2}
_READ = Expected("host-sync", "float-read", 6, precision=FUNCTION)
_PRINT = Expected("host-sync", "print", 6, precision=FUNCTION)
_READ_SOURCED = (replace(_READ, line=None, precision=None, names=9), replace(_PRINT, line=None, precision=None, names=9))
_BROKEN = Expected("graph-break", line=6, precision=FUNCTION)
_READ_SUSPECTED = tuple(replace(entry, suspected=True) for entry in _READ_SOURCED)
_ERROR_IN_SIMULATION = Expected("not-comparable", "inner-error", severity="error", precision=LINE)
CASE_33 = (
    *logs("33", "log_{}_default.txt", V3, counts(**_HALVES, runs=4), _READ, _PRINT, sourced=_READ_SOURCED),
    *logs(
        "33", "log_force_{}.txt", ("none", "1"), counts(**_HALVES, runs=4),
        _BROKEN, may=("graph-break",), sourced=_READ_SUSPECTED,
    ),
    *logs(
        "33", "log_force_{}.txt", ("0", "0-1"), counts(**_HALVES, runs=2), _BROKEN,
        forced(0), sourced=(forced(0), *_READ_SUSPECTED),
        may=("graph-break",),
    ),
    *logs(
        "33", "log_force_{}.txt", ("2",), counts(**_HALVES, runs=2), _BROKEN,
        forced(2), sourced=(forced(2), *_READ_SUSPECTED),
        may=("graph-break",),
    ),
    *logs("33", "log_{}_default.txt", ("262",), counts(entered=1), replace(_ERROR_IN_SIMULATION, line=9, says="__float__")),
)  # fmt: skip

# --- 37: limits of compile time: three lookups missed, none was translated
_LIMITED = counts(entered=4, misses=3, built=1, runs=1)
_LIMIT = Expected("compile-limit", "compile-time", 9, precision=FUNCTION)
CASE_37 = (
    *logs(
        "37", "log_{}_default.txt", ("331",), counts(entered=4, translated=4, misses=3, built=4, runs=4, recompiles=3),
        Expected("recompile", "float-guard", 9, precision=FUNCTION, says=r"\bk\b"),
        sourced=(Expected("recompile", "float-guard", 10),),
        may=("recompile",),
    ),
    *logs("37", "log_{}_per_code.txt", ("331",), _LIMITED, replace(_LIMIT, says="per code"), absent=("recompile", "cache-limit")),
    *logs(
        "37", "log_{}_total.txt", ("331",), _LIMITED,
        replace(_LIMIT, says=r"(?=.*max compile time total, skip)(?=.*0\.00173)"), absent=("recompile", "cache-limit"),
    ),
)  # fmt: skip

# --- 39: an if on a tensor, after a comprehension that 2.6 does not like
_IF_39 = Expected("graph-break", line=9, precision=FUNCTION)
CASE_39 = (
    *logs(
        "39", "log_{}_sot.txt", V3, counts(entered=2, translated=2, built=2, runs=2, breaks=1), _IF_39,
        sourced=(Expected("graph-break", names=12, says=r"\bwhere\b", suspected=None),),
    ),
    *logs(
        "39", "log_{}_sot.txt", ("262",), counts(entered=2, translated=2, fallbacks=1),
        Expected("not-captured|fallback", line=9, says="<listcomp>"), may=("fallback",),
    ),
    *nothing("39", "log_{}_ast.txt", V3),
    *crash("39", "log_262_ast.txt"),
    *nothing("39", "log_{}_dyn.txt"),
)  # fmt: skip

# --- 40: a branch on a value: both sides are translated, which is no recompile
_BRANCHES = counts(entered=8, translated=3, hits=5, built=3, runs=8, breaks=1)
_IF = Expected("graph-break", line=15, precision=FUNCTION)
_IF_TOLD = Expected("graph-break", "tensor-if", 19, precision=LINE, says=r"paddle\.where")
_ITEM = Expected("host-sync", "item", 15, precision=FUNCTION)
CASE_40 = (
    *logs(
        "40", "log_{}_if.txt", ALL, _BRANCHES, _IF,
        sourced=(Expected("graph-break", names=19, says=r"\bwhere\b", suspected=None),), absent=("recompile",),
    ),
    # the marker is Paddle 3.3's
    *logs("40", "log3_p{}_if.txt", ("300",), _BRANCHES, _IF_TOLD, absent=("recompile",)),
    *logs(
        "40", "log3_p{}_if.txt", ("331",), _BRANCHES,
        replace(_IF_TOLD, says=r"paddle\.where.*capture_control_flow"), absent=("recompile",),
    ),
    *logs("40", "log_{}_where.txt", ALL, one_graph(4)),
    *logs(
        "40", "log_{}_item.txt", ("322", "331", "331py310"),
        counts(entered=8, translated=3, hits=5, misses=1, built=3, runs=8, breaks=1, recompiles=1),
        _ITEM, Expected("recompile", "value-guard", 15, severity="info|warning"),
        sourced=(replace(_ITEM, line=None, precision=None, names=24),), may=("recompile",),
    ),
    # 3.0 traces item(): the break is min() on the result
    *logs(
        "40", "log_{}_item.txt", ("300",), counts(entered=8, translated=2, hits=6, built=2, runs=8, breaks=1),
        Expected("graph-break|host-sync", "tensor-value", 15, precision=FUNCTION), absent=("recompile",),
    ),
    *logs("40", "log_{}_item.txt", ("262",), counts(entered=1), replace(_ERROR_IN_SIMULATION, line=24, says="__abs__")),
)  # fmt: skip

# --- 41: a collector that ends the program from 3.2
CASE_41 = (
    *logs(
        "41", "log_p{}.txt", ("322", "331"), {},
        Expected("not-comparable|environment", severity="error", says="(?=.*KeyError: '?fx)(?=.*subgraph_relation)"),
        may=("environment",),
    ),
    *logs("41", "log_p{}.txt", ("300",), {}),
)  # fmt: skip

ENDINGS = (
    *CASE_13, *CASE_14, *CASE_19, *CASE_23, *CASE_27, *CASE_28, *CASE_33, *CASE_37, *CASE_39, *CASE_40, *CASE_41,
)  # fmt: skip
