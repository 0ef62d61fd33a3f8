"""What ../shared/cases/README.md states of its logs, row by row, as counted in the logs themselves.

Lines are those of each repro.py. 262, 300, 322 and 331 are Paddle versions on Python 3.11, ``py310`` and so on other Pythons.
"""

from __future__ import annotations

from dataclasses import replace

from expected import FUNCTION, LINE, Expected, Truth, counts, logs, one_graph

V3 = ("300", "322", "331", "331py310")
V3_ON_311 = ("300", "322", "331")
ON_311 = ("262", *V3_ON_311)
ALL = ("262", *V3)

# 24 calls, each with something new: 20 translations fill the cache, 4 calls are skipped.
CHURN = counts(entered=24, translated=20, misses=19, exceeded=4, built=20, runs=20, recompiles=19)
# 24 calls: one recompile makes it symbolic, and stable since.
SYMBOLIC = counts(entered=24, translated=2, hits=22, misses=1, built=2, runs=24, recompiles=1)
FULL = Expected("cache-limit", "cache-full", precision=FUNCTION, says=r"(?=.*\b20\b)(?=.*\bcall 21\b)")
# 2.6 on numpy 2 crashes in the AST mode.
CRASH = Expected("not-comparable", "signal", severity="error", says="SIGSEGV|Segmentation fault")
# What a log without a line of SOT must say, and one whose only frame is a helper.
SILENCE = (r"skip|silent|without a (line|word|trace)",)


def crash(case: str, *names: str) -> list[Truth]:
    return [Truth(case, name, findings=(CRASH,)) for name in names]


def nothing(case: str, name: str, versions: tuple[str, ...] = ALL, **more) -> list[Truth]:
    """AST, dynamic mode, or no SOT_LOG_LEVEL: no lines of SOT and nothing to find."""
    return logs(case, name, versions, {}, **more)


def churned(case: str, name: str, cause: str, line: int, reads: int) -> list[Truth]:
    """2.6: every call something new, until the cache is full. ``reads`` is the line that reads it, which the source tells."""
    full = replace(FULL, line=line)
    sourced = (Expected("recompile", cause, reads), full)
    return logs(case, name, ("262",), CHURN, Expected("recompile", cause, line, precision=FUNCTION), full, sourced=sourced)


def settled(
    case: str, name: str, cause: str, line: int, reads: int, versions: tuple[str, ...] = V3, numbers: dict[str, int] = SYMBOLIC
) -> list[Truth]:
    """One recompile, and stable since."""
    end = "stays compiled since" if numbers is SYMBOLIC else "nothing after it"
    once = Expected("recompile", cause, line, "info", FUNCTION, says=f"1 recompile in call 2, .*{end}")
    return logs(case, name, versions, numbers, once, sourced=(replace(once, line=reads, precision=None),))


# --- 01: paddle.shape as a Python size. The root is int(Tensor), not the _reconstruct message of the last error; the four hits
# and SIR_0 are not compiled. The comprehension is a second frame with a fallback of its own.
_OP = counts(entered=6, translated=2, fallback_hits=4, built=1, fallbacks=2)
_INT = Expected("fallback", "int-read", 15, precision=FUNCTION, says=r"<class 'int'>.*\.shape\[i\]|\.shape\[i\].*<class 'int'>")
# 2.6 skips a function with a comprehension in it, and says so in a line of its own.
_SKIPPED = Expected("not-captured|fallback", line=15, says="<listcomp>")
CASE_01 = (
    *logs("01", "log_{}_op.txt", V3, _OP, _INT, sourced=(replace(_INT, line=None, precision=None, names=22),), may=("fallback",)),
    *logs("01", "log3_p{}_op.txt", ("300", "331"), _OP, replace(_INT, line=22, precision=LINE), may=("fallback",)),
    *logs("01", "log_{}_attr.txt", V3, one_graph(3)),
    *(
        row
        for name in ("log_262_op.txt", "log_262_attr.txt")
        for row in logs(
            "01", name, ("262",), counts(entered=6, translated=2, fallback_hits=4, fallbacks=1), _SKIPPED, may=("fallback",)
        )
    ),
)

# --- 03: try and with. From Python 3.11 such a frame never reaches SOT and nothing is logged; the generator of the context
# manager is a side effect, not the cause.
_GENERATOR = counts(entered=3, fallback_hits=2, fallbacks=1)
_TRY = Expected("not-captured", "try-block", 26, severity="warning|info", suspected=True)
_WITH = Expected("not-captured", "with-block", 36, severity="warning|info", suspected=True)
# tag was entered, so the function with its `with` ran: that is proven, and tag is no more than a sign of it
_PROVEN = (Expected("not-captured", "with-block", 36, says="tag was entered"), _TRY, Expected("fallback", "generator", 9, "info"))
CASE_03 = (
    *logs("03", "log_{}_plain.txt", (*ALL, "300py310", "331py312", "331py313"), one_graph(3)),
    *logs("03", "log_{}_try.txt", (*ON_311, "331py312", "331py313"), {}, sourced=(_TRY, _WITH), says=SILENCE),
    *logs("03", "log_{}_with.txt", ("331py312", "331py313"), {}, sourced=(_TRY, _WITH), says=SILENCE),
    *logs("03", "log_{}_with.txt", ON_311, _GENERATOR, sourced=_PROVEN, says=SILENCE, may=("fallback",)),
    *logs("03", "log3_p{}_with.txt", ("300", "331"), _GENERATOR, sourced=_PROVEN, says=SILENCE, may=("fallback",)),
    *logs("03", "log_{}_try.txt", ("331py310",), one_graph(3)),
    *logs(
        "03", "log_{}_try.txt", ("300py310",), _GENERATOR,
        Expected("fallback", "try-block", 25, precision=FUNCTION, says="SETUP_FINALLY"),
        sourced=(Expected("fallback", "try-block", names=26),),
    ),
    *logs(
        "03", "log_{}_with.txt", ("331py310",), _GENERATOR,
        Expected("fallback", "with-block", 35, precision=FUNCTION, says="SETUP_WITH"),
        sourced=(Expected("fallback", "with-block", names=36),),
    ),
    # 3.0 breaks in contextlib first: what falls back is the rest of forward
    *logs(
        "03", "log_{}_with.txt", ("300py310",),
        counts(entered=6, translated=2, fallback_hits=4, built=1, fallbacks=1, breaks=1),
        Expected("fallback", "with-block", 35, precision=FUNCTION, says="the rest of forward.*SETUP_WITH"),
        sourced=(Expected("fallback", "with-block", names=36),),
        may=("graph-break",),
    ),
)  # fmt: skip

# --- 05: every call another shape
CASE_05 = tuple(
    row
    for kind in ("batch", "seq", "two")
    for row in (
        *churned("05", f"log_{{}}_{kind}.txt", "shape-churn", 17, reads=18),
        *settled("05", f"log_{{}}_{kind}.txt", "shape-churn", 17, reads=18),
    )
) + tuple(row for kind in ("const", "pad") for row in logs("05", f"log_{{}}_{kind}.txt", ALL, one_graph(24)))

# --- 06: a Python counter; `step is None` on a Tensor, which only Python 3.11+ breaks at and no collector records
_IS_NONE = Expected("graph-break", line=14, precision=FUNCTION)
_IS_NONE_SOURCED = Expected("graph-break", "is-none-on-tensor", names=15, suspected=None)
_SPLIT = {"entered": 48, "translated": 2, "hits": 46, "runs": 24, "breaks": 1}
CASE_06 = (
    *churned("06", "log_{}_arg.txt", "int-guard", 14, reads=15),
    *churned("06", "log_{}_attr.txt", "attribute-guard", 14, reads=16),
    *settled("06", "log_{}_arg.txt", "int-guard", 14, reads=15),
    *settled("06", "log_{}_attr.txt", "attribute-guard", 14, reads=16),
    *logs("06", "log_{}_tensor.txt", ("262",), counts(**_SPLIT, built=1), _IS_NONE, sourced=(_IS_NONE_SOURCED,)),
    *logs("06", "log_{}_tensor.txt", V3_ON_311, counts(**_SPLIT, built=2), _IS_NONE, sourced=(_IS_NONE_SOURCED,)),
    *logs("06", "log_{}_tensor.txt", ("331py310",), one_graph(24)),
)

# --- 08: the program's own profiler changes nothing; RecordEvent in forward makes the frame eager
_EVENT = Expected("fallback", "record-event", 16, precision=FUNCTION, says="RecordEvent")
_EVENT_SOURCED = (replace(_EVENT, line=None, precision=None, names=19),)
CASE_08 = (
    *logs("08", "log_{}_off.txt", ALL, one_graph(6)),
    *logs("08", "log_{}_on.txt", ALL, one_graph(6)),
    *logs(
        "08", "log_{}_record_event.txt", ("262",), counts(entered=6, fallback_hits=5, fallbacks=1),
        _EVENT, sourced=_EVENT_SOURCED,
    ),
    *logs(
        "08", "log_{}_record_event.txt", V3, counts(entered=6, fallback_hits=5, built=1, fallbacks=1),
        _EVENT, sourced=_EVENT_SOURCED,
    ),
)  # fmt: skip

# --- 09, 11, 15, 17, 24, 31: controls
_AMP = (r"autocast|\bAMP\b",)
CONTROLS = (
    *logs("09", "log_{}_sot.txt", ALL, one_graph(1)),
    *nothing("09", "log_{}_ast.txt"),
    *nothing("09", "log_{}_dyn.txt"),
    *logs("11", "log_{}_sot.txt", ALL, one_graph(1)),
    *nothing("11", "log_{}_ast.txt", V3),
    *crash("11", "log_262_ast.txt"),
    *settled(
        "15", "log_{}_sot.txt", "shape-churn", 18, 19, ALL,
        counts(entered=2, translated=2, misses=1, built=2, runs=2, recompiles=1),
    ),
    *nothing("15", "log_{}_ast.txt", V3),
    *nothing("15", "log_{}_ast_prim.txt", V3),
    *crash("15", "log_262_ast.txt", "log_262_ast_prim.txt"),
    *logs("17", "log_{}_sot.txt", ALL, one_graph(1)),
    *nothing("17", "log_{}_ast.txt", V3),
    *crash("17", "log_262_ast.txt"),
    *logs("24", "log_{}_sot.txt", ALL, one_graph(3)),
    *logs("24", "log_{}_sot_prim.txt", ALL, one_graph(3)),
    *nothing("24", "log_{}_ast.txt", V3),
    *crash("24", "log_262_ast.txt"),
    # Paddle says that a CPU ignores autocast: these logs cannot judge AMP
    *logs("31", "log_{}_sot.txt", ALL, one_graph(3), says=_AMP),
    *nothing("31", "log_{}_ast.txt", V3, says=_AMP),
    *nothing("31", "log_{}_dyn.txt", says=_AMP),
    *crash("31", "log_262_ast.txt"),
)  # fmt: skip

# --- 29, 35, 43: steps in the formats of all suites; eval lines, averages and what a launcher prints of `ips` are none
_STEPS = {
    "PaddleClas_2020": 14,
    "PaddleDetection": 30,
    "PaddleDetection_2020": 14,
    "PaddleOCR_2020": 14,
    "PaddleSeg_Matting": 14,
    "too_few": 9,
}
_SUITES = (
    "Paddle3D", "PaddleClas", "PaddleClas_static", "PaddleDetection_nomem", "PaddleGAN", "PaddleMIX", "PaddleNLP_bert",
    "PaddleNLP_gpt_tokens", "PaddleNLP_trainer", "PaddleNLP_transformer", "PaddleOCR", "PaddleRec", "PaddleScience",
    "PaddleSeg", "PaddleSpeech_s2t", "PaddleSpeech_t2s", "PaddleVideo", "nan_inf", "nul_and_cr", "paddle_profiler_timer",
    *_STEPS,
)  # fmt: skip
BENCHMARKS = (
    *(Truth("29", f"{suite}.log", steps=_STEPS.get(suite, 24)) for suite in _SUITES),
    Truth("35", "train.log", steps=140),
    Truth("43", "dygraph.log", steps=20),
    Truth("43", "static.log", steps=20),
)

TABLE = (*CASE_01, *CASE_03, *CASE_05, *CASE_06, *CASE_08, *CONTROLS, *BENCHMARKS)
