"""What SOT prints at SOT_LOG_LEVEL 0 to 3: frames, the cache, subgraphs, breaks and fallbacks.

Read in ``paddle/jit/sot`` of 2.6.2, 3.0.0, 3.2.2 and 3.3.1 and seen in real logs of them. Levels 4 and 5 and the listings of
level 3 are in ``listings``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sotprobe.paddle_compat.log_lines.phrase import BOX, INSTRUCTIONS, VALUE, Phrase

# Bounded, so that a line without end takes no more than its share of time.
CODE = (
    r"<code object (?P<name>.{1,500}?) at (?P<address>0x[0-9a-f]{1,20}), "
    r'file "(?P<path>[^"]{0,4096})", line (?P<line>\d{1,9})>'
)
_CODE = re.compile(CODE)

ENTRY_HEAD = "[eval_frame_callback] start to translate: "


def _cache(text: str) -> tuple[str, ...]:
    """2.6 writes a colon behind ``[Cache]``, 3.0 in some lines, 3.2 and 3.3 never."""
    return (f"[Cache] {text}", f"[Cache]: {text}")


SOT: tuple[Phrase, ...] = (
    # --- frames and the cache
    # Every call of every frame that reaches SOT, hit or miss: not a compilation.
    Phrase("frame-entry", (ENTRY_HEAD,), _CODE),
    Phrase("first-call", _cache("Firstly call "), _CODE),
    Phrase("cache-hit", _cache("Cache hit, Guard is")),
    Phrase("cache-miss", _cache("Cache miss, Guard is")),
    Phrase("guard", ("lambda frame:",), re.compile(r" ?(?P<guard>.*)", re.DOTALL)),
    Phrase("guard", ("def built_guard_fn(frame):",), versions="2.6"),
    Phrase("guard-body", ("    _sot_tmp_", "    return _sot_tmp_"), body=True, versions="2.6"),
    Phrase("missed-at", _cache("missed at "), re.compile(r"(?P<guard>.*)", re.DOTALL)),
    Phrase("all-missed", _cache("all guards missed")),
    Phrase("guard-error", _cache("Guard function error: "), re.compile(r"(?P<message>.*)")),
    Phrase("guard-is", _cache("Guard is")),
    Phrase(
        "guard-error-at",
        _cache("Error occurred when checking guard "),
        re.compile(r"(?P<guard>.*?): (?P<message>[^:]*)$", re.DOTALL),
    ),
    Phrase("flaky-guard", _cache("missed guard not found.")),
    Phrase("cache-full", _cache("Exceed max cache size, skip it")),
    Phrase("compile-limit", _cache("Exceed max compile time per code, skip it"), versions="3.1+"),
    Phrase("total-limit", _cache("Exceed max compile time total, skip it"), versions="3.1+"),
    Phrase("fastpath", _cache("The CACHE_HIT_FASTPATH_THRESHOLD has been reached"), versions="3.1+"),
    Phrase("global-object", _cache("meet global object"), level=4, varies=True, follows=VALUE),
    Phrase(
        "time-spent",
        ("[SOT] Current compile time total is ", "[SOT] Current total compile time is "),
        re.compile(r"(?P<spent>[\d.e+-]+), exceed max compile time total (?P<limit>[\d.e+-]+)"),
        level=0,
        versions="3.1+",
    ),
    Phrase("export", ("[SOT] Export SIR_",), re.compile(r"\d{1,9} (?:Success|Failed)"), level=0, versions="3.0+"),
    # --- subgraphs
    Phrase("built", ("start subgraph compile and execution.",)),
    Phrase("run", ("[FallbackWrapper] start run SIR:",)),
    Phrase(
        "sir-head",
        ("StatementIR: ", " StatementIR: ", "StatmentIR: ", " StatmentIR: "),
        re.compile(r"(?P<name>SIR_\d+)"),
    ),
    Phrase(
        "sir-body",
        (
            "  inputs: [",
            "  params: [",
            "  outputs: [",
            "  statements:",
            "    api        || ",
            "    method     || ",
            "    layer      || ",
            "    AST        || ",
            "    call       || ",
        ),
        body=True,
    ),
    # --- fallbacks: the traceback follows
    Phrase("fallback", ("Unsupported Frame is ", "Unsupport Frame is "), re.compile(CODE + r", error message is:")),
    # Whatever Paddle caught says no more than this (3.2+).
    Phrase("fallback-note", ("Note: This fallback may be triggered by user code",), level=1, versions="3.2+"),
    Phrase("skip-notice", ("Found code object ",), re.compile(r"(?P<name>\S+), skip it"), versions="2.6"),
    # --- breaks
    Phrase("break-call", ("[BreakGraph] call function Break graph:",), re.compile(r" ?(?P<reason>.*)"), level=3),
    Phrase(
        "break-if",
        ("[BreakGraph] break graph for if jump tensor", "[BreakGraph] jump break graph, because if tensor"),
        level=3,
    ),
    Phrase(
        "break-for",
        ("[BreakGraph] FOR_ITER sim for loop failed for:", "[FOR_ITER] sim for loop failed for:"),
        re.compile(r" ?(?P<reason>.*)"),
        level=3,
    ),
    # --- what is being simulated
    Phrase("simulate", ("[EXECUTOR RUN] Start execute opcode: ",), _CODE, level=3),
    # 2.6 does not say where an inlined function ends: with the instruction that returns.
    Phrase("simulate-unended", ("start execute opcode: ",), _CODE, level=3, versions="2.6"),
    Phrase("simulated", ("[EXECUTOR RUN] End execute opcode: ",), _CODE, level=3),
    # A statement joins the subgraph: told with its inputs.
    Phrase("statement", ("         inputs : ((",), level=3),
    Phrase("new-code", ("[eval_frame_callback] NewCode: ", "[transform] NewCode: "), re.compile(r"(?P<name>.*)"), level=3),
    Phrase(
        "same-code",
        ("[eval_frame_callback] NewCode (same as origin code): ", "[transform] NewCode (same as origin code): "),
        re.compile(r"(?P<name>.*)"),
        level=3,
    ),
    Phrase(
        "origin-code", ("[eval_frame_callback] OriginCode: ", "[transform] OriginCode: "), re.compile(r"(?P<name>.*)"), level=3
    ),
    # A loop's body is simulated as a function of its own, and never runs as one.
    Phrase(
        "loop-code",
        (
            "[Resumed Function] Inline call for loop function ",
            "[Resumed Function]: Inline call for loop function ",
            "[Resumed Function] break graph in loop create loop body as",
            "[Resumed Function]: break graph in loop create loop body as",
        ),
        re.compile(r"(?P<name>.*)"),
        level=3,
        follows=INSTRUCTIONS,
    ),
    # --- dynamic dimensions
    Phrase("dynamic-axes", ("Start analyse dynamic axes for ",), re.compile(r"(?P<expression>.*?) in " + CODE), level=1),
    Phrase(
        "dynamic-tensor",
        ("  -> Tensor ",),
        re.compile(r"(?P<expression>.*) with dynamic axes \[(?P<axes>[\d, ]*)\]"),
        level=1,
    ),
    # --- 2.6: steps and a box of counts
    Phrase("step", ("[Cost Model] ",), versions="2.6"),
    Phrase("box", ("---------------- PaddleSOT graph info ----------------",), level=1, follows=BOX, versions="2.6"),
    Phrase("box-count", ("SubgraphNum: ", "OpNum: "), re.compile(r"(?P<number>\d{1,9})"), level=1, versions="2.6"),
)

# [Translate Executor 1] (line  27) PRECALL      2, stack is [...]; before 3.2: [Translate InlineFn]: (line  27) ...
OPCODE_HEAD = "[Translate "
OUTERMOST_HEAD = "[Translate Executor"
_OPCODE = re.compile(r"\[Translate \w+ ?(?P<depth>\d{1,9})?\]:? ?\(line +(?P<line>\d{1,9})\) (?P<opcode>\w+)")

# Messages of FallbackError that go on in lines at the margin: "Break graph in closure is not support." (3.1+).
MESSAGE_GOES_ON = ("`co_freevars`: ", "`co_cellvars`: ")
# A message below [BreakGraph] goes on in lines that are indented by this much.
REASON_INDENT = "    "
_INLINE_26 = re.compile(r"^\(+(?P<reason>.*?)\)+ raised while inline call")
# What the caller says when an inlined function has met a branch on a tensor: that function's own line came before.
INLINED_BRANCH = "OpcodeInlineExecutor want "  # break graph when simulate control flow; 2.6: call _break_graph_in_jump
_TELLING_FILES = {"paddle/profiler/utils.py": "RecordEvent"}
_CAUSED_BY = re.compile(r'^\s*File ".*", line \d+, in .* encountered breakgraph error caused by\s*$')

# Subgraphs with fewer operators are thrown away, unless the variable of that name says otherwise (``envs.py``, 2.6 to 3.3).
MIN_GRAPH_SIZE = 10
_NO_OPERATOR = ("= paddle.__sir_alias__ ", "= paddle.tensor.attribute.shape ", "= __getitem__ ", "= __setattr__ ")
_OPERATORS_OF_A_METHOD = 3  # x * 2: a constant made, cast, and the product

# Lines that begin like this are SOT's; without a phrase they are of a version this sotprobe does not know.
FAMILIES = (
    "[SOT]",
    "[Cache]",
    "[BreakGraph]",
    "[eval_frame_callback]",
    "[transform]",
    "[FallbackWrapper]",
    "[EXECUTOR RUN]",
    "[Guard]",
    "[Guard Tree]",
    "[Opcode Pass]",
    "[StartCompile]",
    "[FasterGuard]",
    "[CompileCache]",
    "[Resumed Function]",
    "[Generator]",
    "[Cost Model]",
    "[FOR_ITER]",
    "[INLINE CALL]",
    "[StatementIR",
    "start subgraph",
    "Unsupported Frame",
    "Unsupport Frame",
    "StatementIR",
    "StatmentIR",
)

# Long enough to be no accident in somebody's text: a line that a print without a newline ended up in front of.
EMBEDDED_NOTES = (
    ("Note: This fallback ", re.compile("Note: This fallback may be triggered by user code")),
    ("Start analyse ", re.compile("Start analyse dynamic axes for ")),
)
EMBEDDED = re.compile(
    r"\[eval_frame_callback\] start to translate: <code|\[Cache\]:? (?:Firstly|Cache|missed|all guards|Exceed)|"
    r"\[FallbackWrapper\] start run SIR|start subgraph compile and execution\.|Unsupport(?:ed)? Frame is <code|"
    r"\[BreakGraph\] |\[Translate (?:Executor|Inline\w*)\b|\[EXECUTOR RUN\] (?:Start|End) execute|start execute opcode: <code|"
    r"\[Cost Model\] New step start|find paddle function with __module__: |get_py_value from SymbolicVariable SymbolicVariable\(|"
    r"\[Generator\]:? Create generator variable"
)


def opcode_of(line: str) -> tuple[int | None, int, str] | None:
    """(inline depth, line, opcode) of a line of the simulation; before 3.2 the depth is not told.

    The line is wrong in resume functions on Python 3.11+.
    """
    found = _OPCODE.match(line)
    if found is None:
        return None
    return (int(found["depth"]) if found["depth"] else None, int(found["line"]), found["opcode"])


def root_reason(lines: list[str]) -> str:
    """The innermost reason of a break: what is left without the inlined calls it came up through."""
    said = [line.strip() for line in lines if line.strip() and not _CAUSED_BY.match(line)]
    text = said[-1] if said else ""
    inlined = _INLINE_26.match(text)
    return inlined["reason"] if inlined else text


def is_true_guard(guard: str) -> bool:
    """Whether a cached entry has no guard: it stands for a frame that was given up, not for a subgraph."""
    return guard.strip() == "True"


def ends_function(line: str) -> bool:
    """Whether an instruction of the simulation is the last of its function."""
    found = opcode_of(line)
    return found is not None and found[2] == "RETURN_VALUE"


def telling_api(lines: Sequence[str]) -> str | None:
    """The API that a reason names only by the file of Paddle it came up through."""
    return next((name for line in lines for file, name in _TELLING_FILES.items() if file in line), None)


def least_operators(statements: Sequence[str]) -> int:
    """How many operators some statements are at least: those about shapes may be none."""
    return sum(not any(word in statement for word in _NO_OPERATOR) for statement in statements)


def most_operators(statements: Sequence[str]) -> int | None:
    """How many they are at most; None when a layer or function is among them, which may be any number."""
    if not statements or not all(statement.startswith("method") for statement in statements):
        return None
    return _OPERATORS_OF_A_METHOD * len(statements)


def is_statement(line: str) -> bool:
    """Whether a line of a subgraph is one of its statements."""
    return " || " in line
