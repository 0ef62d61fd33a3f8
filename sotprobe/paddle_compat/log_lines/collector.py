"""What SOT_COLLECT_INFO and ENABLE_SOT_STEP_PROFILER print: reports of a step or of the whole process.

Read in ``utils/info_collector.py`` and ``profiler/kernel_stats.py`` of ``paddle/jit/sot``, 3.0.0, 3.2.2 and 3.3.1, and seen in
real logs of them; 2.6 has neither. A report is a title, its lines, and an empty line. With SOT_SERIALIZE_INFO=1 those about
subgraphs and break reasons are one line, JSON in base64.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from sotprobe.paddle_compat.log_lines.phrase import PROGRAM, Phrase
from sotprobe.paddle_compat.log_lines.sot import root_reason
from sotprobe.paddle_compat.versions import Span, span

# Titles of reports that have lines without a head of their own below them, and what these lines look like.
COMPILE_COUNT = "compile-count"
REASONS = "reasons"
# Empty lines at the end of a report: one of its own, one of ``print``, and that of details that were not asked for.
MOST_EMPTY = 2

COLLECTOR: tuple[Phrase, ...] = (
    Phrase("subgraphs", ("SubGraphInfo (subgraph_info):",)),
    # 3.0 writes colons.
    Phrase(
        "subgraph-count",
        ("[Number of subgraph]",),
        re.compile(r"(?P<colon>:?) (?P<subgraphs>\d{1,9}) \[Sum of opnum\]:? (?P<operators>\d{1,9})$"),
    ),
    Phrase(
        "subgraph",
        ("[SubGraphIdx]",),
        re.compile(r"(?P<colon>:?) (?P<index>\d{1,9}) +\[SIR Name\]:? (?P<name>\S+) +\[OpNum\]:? (?P<operators>\d{1,9})$"),
        follows=PROGRAM,
    ),
    Phrase("serialized", ("<sot>",), re.compile(r"(?P<data>[A-Za-z0-9+/=]+)</sot>\s*$")),
    Phrase(COMPILE_COUNT, ("CompileCountInfo (compile_count):",)),
    Phrase(REASONS, ("BreakGraphReasonInfo (breakgraph_reason):",)),
    Phrase("hit-rate", ("NewSymbolHitRateInfo (new_symbol_hit_rate):",)),
    Phrase("relation", ("SubGraphRelationInfo (subgraph_relation):",)),
    Phrase(
        "kernels",
        ("SOT step profiler info summary (",),
        re.compile(r"(?P<phase>ColdStart|Warmup), step#(?P<step>\d{1,9})\):"),
    ),
)

# The lines below a title. Reasons are whatever a message says, so they are told by their place.
# A report behind what the program printed without a newline.
INSIDE = (("Info (", re.compile(r"[A-Z]\w{1,40}Info \(\w{1,40}\):\s*$")), ("<sot>", re.compile("<sot>")))
COMPILE_COUNT_LINE = re.compile(r" {4}(?P<name>\S.{0,499}?) \((?P<path>.{1,4096}):(?P<line>\d{1,9})\): (?P<count>\d{1,9})$")
KERNEL_LINE = re.compile(r"(?P<mode>dygraph|static) kernel count: (?P<count>\d{1,9})$")
REPORT_LINE = re.compile(
    r"No \w+ info$|All tensor count: \d+, hit count: \d+$|Hit rate: [\d.]+$|Only one subgraph is generated$|"
    r"All subgraph are not the first call$|Please check .* for subgraph relation$|Please install graphviz|"
    r"(?:percentage )?(?:dygraph|static) kernel (?:count|duration): "
)
REASON_CLASS = re.compile(r"(?P<name>[A-Za-z_]\w*) \((?P<count>\d{1,9})\):$")
REASON_MARK = "\t"

_INLINED = re.compile(r'File "(?P<path>.*?)", line (?P<line>\d{1,9}), in (?P<name>.*?) encountered breakgraph error caused by')
_LONGEST = 20_000
_SIR_NAME = re.compile(r"SIR_\d+$")


def versions_of(colon: str) -> Span:
    """The versions of Paddle that write a count of subgraphs with or without a colon."""
    return span("3.0" if colon else "3.1+")


@dataclass(frozen=True)
class Inlined:
    """A function that a reason came out of: where it is defined."""

    path: str
    line: int
    name: str


def inlined(message: str) -> tuple[Inlined, ...]:
    """The functions a reason came up through, outermost first; none for a break in the frame itself."""
    return tuple(Inlined(found["path"], int(found["line"]), found["name"]) for found in _INLINED.finditer(message[:_LONGEST]))


def root(message: str) -> str:
    """What a reason says when the functions it came up through are left out."""
    return root_reason(message.splitlines())


@dataclass(frozen=True)
class Serialized:
    """A ``<sot>`` line: ``operators`` by subgraph name, or ``reasons`` (class, message); the other is None."""

    operators: Mapping[str, int] | None = None
    reasons: tuple[tuple[str, str], ...] | None = None


@lru_cache(maxsize=8)
def deserialize(data: str) -> Serialized | None:
    """What is in a ``<sot>`` line; None when it is damaged or of a kind that is not known."""
    try:
        loaded = json.loads(base64.b64decode(data, validate=True))
    except (binascii.Error, ValueError, RecursionError):  # a JSON error and one of UTF-8 are ValueErrors
        return None
    if not isinstance(loaded, dict):
        return None
    if "subgraph_info" in loaded:
        return _subgraphs(loaded["subgraph_info"])
    if "breakgraph_reason" in loaded:
        return _reasons(loaded["breakgraph_reason"])
    return None


def _subgraphs(entries: object) -> Serialized | None:
    if not isinstance(entries, list):
        return None
    operators = {}
    for entry in entries:
        name, number = (entry.get("SIR_name"), entry.get("OpNum")) if isinstance(entry, dict) else (None, None)
        if not isinstance(name, str) or not isinstance(number, int) or not _SIR_NAME.match(name):
            return None
        operators[name] = number
    return Serialized(operators=operators)


def _reasons(entries: object) -> Serialized | None:
    if not isinstance(entries, dict):
        return None
    reasons = []
    for name, messages in entries.items():
        if name == "count":
            continue
        if not isinstance(messages, list) or not all(isinstance(message, str) for message in messages):
            return None
        reasons.extend((name, message) for message in messages)
    return Serialized(reasons=tuple(reasons))
