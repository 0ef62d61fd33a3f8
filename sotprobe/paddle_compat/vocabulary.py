"""Paddle's words to cause ids: what SOT says when it breaks, falls back or misses a guard (Paddle 2.6-3.3).

The words are those of BreakGraphError, FallbackError and their reason classes, and of guard expressions, as seen in
``paddle/jit/sot`` of 3.0.0, 3.2.2 and 3.3.1. Nothing outside paddle_compat knows them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from sotprobe.model import Guard
from sotprobe.paddle_compat.cause_table.machine import COLLECTOR_CRASH
from sotprobe.paddle_compat.causes import CAUSES
from sotprobe.paddle_compat.log_lines import machine
from sotprobe.paddle_compat.names import is_generated

# Searched in order in "reason class: message"; the first match decides.
_WORDS: tuple[tuple[str, str], ...] = (
    (r"RecordEvent|PyCapsule", "record-event"),
    (r"`Tensor\.(_?item)`", "item"),
    (r"`Tensor\.(numpy|tolist|__array__)`", "numpy-read"),
    (r"`Tensor\.(_?register_(?:backward_)?hook)`|register_forward_\w+_hook", "callback-hook"),
    (r"builtin function: <class 'float'>|`Tensor\.__float__`", "float-read"),
    (r"builtin function: <class 'int'>|`Tensor\.__(int|index|long)__`", "int-read"),
    (r"builtin function: <class 'bool'>|`Tensor\.__bool__`", "bool-read"),
    (r"builtin function: print\b", "print"),
    (r"builtin function: (dict\.update\b|update with args: Args\(DictVariable)", "dict-update"),
    (r"UnsupportedRandomAPIBreak|builtin function: (Random|RandomState|Generator|random)\.", "random-api"),
    # Paddle 3.0 names builtins without their class.
    (r"builtin function: (rand\w*|uniform|normal|gauss|choices?|sample|shuffle) with args: Args\(ModuleVariable", "random-api"),
    (r"UnsupportedNumPyAPIBreak|NumPyArrayVariable|ndarray|[Nn]um[Pp]y", "numpy-api"),
    (r"`locals`", "locals-call"),
    (r"Do not support format|Currently only support ConstantVariable for both value and format", "f-string"),
    (r"opcode: (SETUP_WITH|BEFORE_WITH|SETUP_ASYNC_WITH|LOAD_SPECIAL)", "with-block"),
    (r"opcode: (SETUP_FINALLY|PUSH_EXC_INFO|RERAISE|CHECK_EXC_MATCH)|exception handling|exception bytecode", "try-block"),
    (r"opcode: (RETURN_GENERATOR|YIELD_VALUE|GEN_START|SEND|GET_AWAITABLE)", "generator"),
    (r"non-empty block stack", "try-block"),
    (r"Break graph in closure", "closure-break"),
    (r"ForceBreak|PsdbBreakReason|psdb\.|raise_break_graph_fn", "forced"),
    (r"UnsupportedIteratorBreak|Can not simulate iterator|user defined iterator|as iterator", "iterator"),
    (r"DataDependencyDynamicShapeBreak|dynamic shape", "data-dependent-shape"),
    (r"get_py_value|middle tensor|symbol from a inner tensor|DataDependencyControlFlowBreak", "tensor-value"),
    (r"InferMeta|NullMeta", "infer-meta"),
    (r"UnsupportedPaddleAPIBreak|DygraphInconsistentWithStaticBreak", "unsupported-api"),
    (r"Not support builtin function|BuiltinFunctionBreak", "builtin-call"),
    (
        r"opcode: \w+ is not supported|UnsupportedOperationBreak|non-const / non-tensor|Currently don't support predicate",
        "unsupported-opcode",
    ),
    (r"DataDependencyOperationBreak", "tensor-value"),
)
_COMPILED_WORDS = tuple((re.compile(pattern), cause) for pattern, cause in _WORDS)

_LOOP_FALLBACK = re.compile(r"during FOR_ITER simulation|in for loop body|Comprehensive for loop break graph")
_NO_GRAD = re.compile(r"\bwith\b.*\b(no_grad|set_grad_enabled|enable_grad|no_grad_)\b")
_LOGGING = re.compile(r"\blog(ger|ging)?\w*\.(debug|info|warning|warn|error|critical|exception|log)\(", re.IGNORECASE)
# Calls that reach their builtin only deep in a library: the user's line says more than the root reason.
_LINE_WORDS: tuple[tuple[re.Pattern[str], str], ...] = ((_LOGGING, "logging"),)
_FORMATTED = re.compile(r"""\b[rR]?[fF][rR]?["']|\.format\(|%\s*\(?\w""")


def classify_break(reason: str | None, message: str, opcode: str | None, how: str | None, source_line: str | None) -> str:
    """The cause of a graph break: class and root message of its reason; ``how`` is call, if, for or other."""
    line = (source_line or "").strip()
    if how == "if":
        return _jump_cause(opcode or "", line)
    for pattern, cause in _LINE_WORDS:
        if pattern.search(line):
            return cause
    return _by_words(reason, message, line)


def classify_fallback(reason: str | None, message: str, error: str | None, final_message: str, source_line: str | None) -> str:
    """The cause of a whole frame given up: ``message`` is the first error of the chain, ``final_message`` the last."""
    line = (source_line or "").strip()
    if _LOOP_FALLBACK.search(final_message) or _LOOP_FALLBACK.search(message):
        return "loop-body-break"
    if error == "SotCapturedException" or (error or "").startswith("SotCaptured"):
        return "logging" if _LOGGING.search(line) else "captured-exception"
    if error == "ConditionalFallbackError":
        return "zero-size"
    if _LOGGING.search(line):
        return "logging"
    if "predicate SymbolicVariable" in final_message:  # an if on a dynamic dimension, Paddle 3.0
        return "data-dependent-shape"
    cause = _by_words(reason, message, line)
    return _by_words(None, final_message, line) if cause == "unknown" else cause


def _jump_cause(opcode: str, line: str) -> str:
    if "NONE" in opcode:
        return "is-none-on-tensor"
    if line.startswith("while"):
        return "tensor-while"
    if line.startswith("assert"):
        return "tensor-assert"
    return "tensor-if"


# Paddle 3.0 does not say which Tensor method broke.
_UNNAMED_METHOD = "break_graph_tensor_method"
_METHODS = (
    (re.compile(r"\.(numpy|tolist|__array__)\("), "numpy-read"),
    (re.compile(r"\.item\("), "item"),
    (re.compile(r"\.register_hook\("), "callback-hook"),
)


def _by_words(reason: str | None, message: str, line: str) -> str:
    text = f"{reason or ''}: {message}"
    if _UNNAMED_METHOD in message:
        return next((cause for pattern, cause in _METHODS if pattern.search(line)), "unsupported-api")
    for pattern, cause in _COMPILED_WORDS:
        if pattern.search(text):
            if cause == "with-block" and _NO_GRAD.search(line):
                return "no-grad"
            if cause == "item" and "float(" in line and ".item(" not in line:
                return "float-read"
            return cause
    return "unknown"


def is_no_grad(source_line: str) -> bool:
    """Whether a line opens a block with a gradient mode."""
    return bool(_NO_GRAD.search(source_line))


def classify_eager(why: str | None) -> str:
    """The cause of a frame that ran as itself under to_static; the child's words are cause ids but for ``coroutine``."""
    if why == "coroutine":
        return "generator"
    return why if why in CAUSES else "unknown"


def classify_warning(message: str) -> str | None:
    """The cause a Python warning of Paddle stands for; None for one that is no cause."""
    if "full_graph=False is not supported in Python" in message:  # api.py, 2.6-3.3; the mode is AST then
        return "python-too-new"
    if "amp_guard can only be enabled on" in message:  # amp/auto_cast.py, 2.6-3.3
        return "amp-no-effect"
    return machine.classify(message)


# dy2static/program_translator.py, 2.6-3.3: one warning in three lines
_LONG_WARNINGS = ("full_graph=False don't support input_spec",)


def warning_goes_on(message: str) -> bool:
    """Whether a Python warning of Paddle has further lines behind this one."""
    return not message.strip() or message.startswith(_LONG_WARNINGS)


_FRAMES = re.compile(r'^  File ".*", line \d+, in (.+)$', re.MULTILINE)


def classify_error(error_type: str | None, message: str | None, simulated: bool, traceback: str | None = None) -> str:
    """The cause of an exception that ended the program."""
    text = message or ""
    if error_type == "KeyError" and "in collect_subgraph_relation" in (traceback or ""):  # compile_cache.py, 3.2-3.3
        return COLLECTOR_CRASH
    if "main_program when full_graph=False" in text:
        return "main-program"
    if "does not appear in the backward graph" in text:
        return "higher-order-gradient"
    trouble = machine.classify(text)
    if trouble is not None:
        return trouble
    if simulated or (error_type or "").endswith("InnerError"):
        return "inner-error"
    frames = _FRAMES.findall(traceback or "")
    return "generated-code" if frames and is_generated(frames[-1]) else "program-error"


# --- guards

_NUMBER = r"-?(?:\d+\.?\d*(?:e[+-]?\d+)?|\.\d+|inf|nan)"
# id(x) == 140…; __object_7() is not None and x == __object_7(); x == __object_7. But id(type(x)) == … is about the type.
_IDENTITY = re.compile(r"\bid\((?!type\()[^)]+\) == |__\w+\(\) is not None|== __\w+(\(\))?\)*$")
_COMPARED = re.compile(r"==\s*(?P<value>.+?)\)*\s*$", re.DOTALL)


def classify_guard(expression: str, expected: str | None, seen: str | None) -> str:
    """The cause of one failed guard. ``expected`` and ``seen`` are the values as text, where they are known."""
    if _IDENTITY.search(expression):
        return "object-identity"
    if expected is None:
        match = _COMPARED.search(expression)
        expected = match.group("value").strip() if match else None
    if expected is not None and re.fullmatch(r"(np\.\w+\()?nan\)?", expected.strip()):
        return "nan-guard"
    if re.search(r"\.dtype\b|\.stop_gradient\b|\.is_dist\(|\.place\b|_is_dense_tensor|DistInfo", expression):
        return "type-guard"
    if re.search(r"\.shape\b|MetaInfo\.from_tensor", expression):
        return "list-of-tensors" if re.search(r"\[\d+\]\)*\.shape\b|\[\d+\]\)\.guard_str", expression) else "shape-churn"
    if re.search(r"\blen\(", expression):
        return "list-length"
    if re.search(r"\.training\b", expression):
        return "training-toggle"
    if re.search(r"\bisinstance\(", expression) or _is_type_only(expression):
        return "type-guard"
    return _by_place(expression, expected)


def _is_type_only(expression: str) -> bool:
    return bool(re.search(r"\btype\(", expression)) and " and " not in expression


def _by_place(expression: str, expected: str | None) -> str:
    """Where the value lives decides first (a global, an attribute), then its type."""
    if re.search(r"frame\.f_locals\['resume_\d+_stack_\d+'\]", expression):
        return "value-guard"
    if "__globals__" in expression:  # of a function that was called
        return "global-guard"
    if re.search(r"f_(locals|globals)\['\w+'\](\[[^\]]*\])*\.\w+", expression):
        return "attribute-guard"
    if "f_globals" in expression:
        return "global-guard"
    return _by_value(expected)


def _by_value(expected: str | None) -> str:
    text = (expected or "").strip()
    if re.fullmatch(r"-?\d+", text):
        return "int-guard"
    if re.fullmatch(rf"(np\.\w+\()?{_NUMBER}\)?", text):
        return "float-guard"
    if text[:1] in {"'", '"'} or text[:2] in {"b'", 'b"'}:
        return "str-guard"
    return "constant-guard" if text else "unknown"


# When guards of several kinds failed together, the first of these is the reason worth telling.
_GUARD_ORDER = (
    "nan-guard", "value-guard", "object-identity", "list-of-tensors", "list-length", "training-toggle", "attribute-guard",
    "global-guard", "float-guard", "str-guard", "shape-churn", "int-guard", "constant-guard", "type-guard", "unknown",
)  # fmt: skip


def classify_guards(guards: Sequence[Guard]) -> str:
    """The cause of a recompile: that of most failed guards, ties by how much the cause says."""
    causes = Counter(classify_guard(guard.expression, guard.expected, guard.seen) for guard in guards)
    if not causes:
        return "unknown"
    return min(causes, key=lambda cause: (-causes[cause], _GUARD_ORDER.index(cause)))


def guarded_local(expression: str) -> str | None:
    """The local variable a guard starts from; None for a global or a stack slot of a resume function."""
    match = re.search(r"frame\.f_locals\['(\w+)'\]", expression)
    if match is None or match.group(1).startswith("resume_"):
        return None
    return match.group(1)


def readable(expression: str) -> str:
    """A guard in the program's own words: ``frame.f_locals['x'].shape[0]`` -> ``x.shape[0]``."""
    text = re.sub(r"___t_\d+ := ", "", expression)
    text = re.sub(r"frame\.f_locals\['resume_\d+_stack_\d+'\]", "(value from the break)", text)
    text = re.sub(r"frame\.f_(?:locals|globals)\['(\w+)'\]", r"\1", text)
    text = re.sub(r"id\(type\(.+?\)\) == \d+ and ", "", text)
    return re.sub(r"(?<!\w)\((\w+)\)(?=[.\[])", r"\1", text)


MOST_GUARDS = 4


def describe_guards(guards: Sequence[Guard]) -> str:
    """What failed and the value seen; of guards on one value the newest with how many more there are."""
    groups: dict[tuple[str, str | None], list[str]] = {}
    for guard in guards:
        text = readable(guard.expression)
        groups.setdefault((text.partition(" == ")[0], guard.seen), []).append(text)
    texts = []
    for (_, seen), found in groups.items():
        more = f" and {len(found) - 1} older" if len(found) > 1 else ""
        now = "" if seen is None else f" (now {seen})"
        texts.append(f"{found[0]}{more}{now}")
    if len(texts) > MOST_GUARDS:
        texts = [*texts[:MOST_GUARDS], f"{len(texts) - MOST_GUARDS} more guards"]
    return "; ".join(texts) if texts else "no failed guard recorded"


# --- messages


def first_line(message: str) -> str:
    """The first line of a message that says something."""
    return next((line.strip() for line in message.splitlines() if line.strip()), "")


def describe(reason: str | None, message: str) -> str:
    """A reason in Paddle's words, one line."""
    text = first_line(message)
    if reason and text:
        return f"{reason}: {text}"
    return reason or text or "no message"
