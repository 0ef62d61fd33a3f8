"""What lines tell of the versions that printed them: by a version in them, by how they are spelled, by the opcodes they name.

Spellings were compared in ``paddle/jit/sot`` of 2.6.2, 3.0.0, 3.1.0, 3.2.2 and 3.3.1. A range is written like ``3.1+``,
``2.6-3.0`` or ``3.0``, without patch versions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from sotprobe.paddle_compat.log_lines.phrase import Phrase
from sotprobe.paddle_compat.versions import Span, span

# The oldest versions that SOT and its logs are known of.
OLDEST_PADDLE = (2, 6)
OLDEST_PYTHON = (3, 8)

# Heads of phrases that all versions print, each its own way.
_SPELLED: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "2.6",
        (
            "[Cache]: Cache hit", "[Cache]: Cache miss", "[Cache]: Guard function error", "StatmentIR: ", " StatmentIR: ",
            "def built_guard_fn", "Unsupport Frame is", "[BreakGraph] jump break graph", "[FOR_ITER] ", "[transform] ",
            "start execute opcode: ",
        ),
    ),
    (
        "2.6-3.0",
        ("[Cache]: ", "[Guard]: ", "[FasterGuard]: ", "[Resumed Function]: "),
    ),
    (
        "3.0+",
        (
            "StatementIR: ", " StatementIR: ", "Unsupported Frame is", "[EXECUTOR RUN] ", "[Cache] Cache hit",
            "[Cache] Cache miss", "[BreakGraph] break graph for if", "[BreakGraph] FOR_ITER", "[eval_frame_callback] OriginCode",
            "[eval_frame_callback] NewCode",
        ),
    ),
    (
        "3.1+",
        (
            "[Cache] Firstly call", "[Cache] Exceed max cache size", "[Cache] missed", "[Cache] all guards missed", "[Guard] ",
            "[Guard Tree] ", "[FasterGuard] ", "[Resumed Function] ", "call numpy.api", "call symbolic api",
        ),
    ),
    ("3.1-3.2", ("[Resumed Function] break graph in loop",)),
    ("3.2+", ("  params: [",)),
)  # fmt: skip

_OPCODES: tuple[tuple[str, str], ...] = (
    ("3.8-3.10", "CALL_FUNCTION CALL_FUNCTION_KW CALL_METHOD BINARY_ADD BINARY_SUBTRACT BINARY_MULTIPLY BINARY_TRUE_DIVIDE"),
    ("3.8-3.10", "INPLACE_ADD SETUP_WITH SETUP_FINALLY JUMP_ABSOLUTE DUP_TOP ROT_TWO ROT_THREE"),
    ("3.10", "GEN_START"),
    ("3.11", "PRECALL POP_JUMP_FORWARD_IF_FALSE POP_JUMP_FORWARD_IF_TRUE POP_JUMP_FORWARD_IF_NONE POP_JUMP_FORWARD_IF_NOT_NONE"),
    ("3.11+", "RESUME BINARY_OP PUSH_NULL RETURN_GENERATOR JUMP_BACKWARD COPY_FREE_VARS"),
    ("3.11-3.13", "BEFORE_WITH"),
    ("3.12+", "END_FOR LOAD_FAST_AND_CLEAR POP_JUMP_IF_NOT_NONE POP_JUMP_IF_NONE LOAD_FAST_CHECK"),
    ("3.12-3.13", "RETURN_CONST"),
    ("3.13+", "TO_BOOL CALL_KW LOAD_FAST_LOAD_FAST STORE_FAST_STORE_FAST STORE_FAST_LOAD_FAST"),
    ("3.14+", "LOAD_SPECIAL LOAD_SMALL_INT LOAD_FAST_BORROW"),
)

_NOT_SUPPORTED = re.compile(r"opcode: (?P<opcode>[A-Z_]+) is not supported")
# The loop that 3.3 no longer splits.
_FROM_33 = "during FOR_ITER simulation, falling back"

_IN_PATH = re.compile(r"/python(?P<version>3\.\d+)/")
_OPCODE_NAME = re.compile(r"\) (?P<opcode>[A-Z][A-Z_]+)")

# "Paddle version: 3.3.1" of ``paddle/tools/summary_env.py``, pip's lists, what training suites print when they start.
_PADDLE = re.compile(
    r"(?<![\w./-])paddle(?:paddle)?(?:[-_](?:gpu|xpu|npu|dcu|cpu|rocm))?(?:\.__version__|[ _-]version)?['\"]?"
    r"(?: is |\s*(?:==|=|:)\s*|\s+)['\"]?v?(?P<version>(?:[23]\.\d+\.\d+|0\.0\.0)[\w.+-]*)",
    re.IGNORECASE,
)
_PYTHON = re.compile(r"(?:^|\s)Python(?: version)?(?:\s*(?:==|=|:)\s*|\s+)(?P<version>3\.\d{1,3}\.\d{1,3})")
_ADVICE = re.compile(r"require|install |upgrad|at least|or (?:later|higher|above)|>=|not support", re.IGNORECASE)


# ``paddle.version.show()``
SHOWN = "full_version: "
_SHOWN = re.compile(r"full_version: (?P<version>\d+\.\d+\.\d+\S*)\s*$")


def shown(text: str) -> dict[str, str] | None:
    """The version that Paddle shows of itself."""
    found = _SHOWN.match(text)
    return {"paddle": found["version"]} if found else None


def printed(text: str) -> dict[str, str]:
    """The versions that a line states: ``paddle`` and ``python``. What it asks for is none."""
    found = {}
    if "addle" in text or "ADDLE" in text:
        paddle = _PADDLE.search(text)
        if paddle and not _ADVICE.search(text):
            found["paddle"] = paddle["version"].rstrip(".-+")
    if "Python" in text:
        python = _PYTHON.search(text)
        if python and not _ADVICE.search(text):
            found["python"] = python["version"]
    return found


def of_head(head: str, phrase: Phrase) -> tuple[Span, ...]:
    """The versions of Paddle that a line with this head may come from."""
    spans = [span(phrase.versions)] if phrase.versions else []
    spans.extend(span(versions) for versions, heads in _SPELLED if head.startswith(heads))
    return tuple(spans)


def of_message(message: str) -> tuple[Span, ...]:
    """The versions of Paddle that a message of a fallback may come from."""
    return (span("3.3+"),) if _FROM_33 in message else ()


def opcode_in(line: str) -> str | None:
    """The opcode that a line about an instruction names."""
    found = _OPCODE_NAME.search(line)
    return found["opcode"] if found else None


def refused_opcode(message: str) -> str | None:
    """The opcode that SOT says it does not support."""
    found = _NOT_SUPPORTED.search(message)
    return found["opcode"] if found else None


def of_opcodes(opcodes: Iterable[str]) -> list[Span]:
    """The versions of Python that have these opcodes."""
    named = set(opcodes)
    return [span(versions) for versions, names in _OPCODES if named & set(names.split())]


def python_in(path: str) -> str | None:
    """The version of Python in the path of one of its libraries."""
    found = _IN_PATH.search(path)
    return found["version"] if found else None
