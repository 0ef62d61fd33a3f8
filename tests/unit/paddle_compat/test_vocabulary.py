"""Paddle's words, as collected from real logs of 2.6-3.3 and from the hooks, to causes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sotprobe.model import Guard
from sotprobe.paddle_compat import vocabulary as words
from sotprobe.paddle_compat.causes import CAUSES

MESSAGES = Path(__file__).parents[4] / "shared" / "data" / "MESSAGES.md"


def collected(heading: str) -> list[str]:
    text = MESSAGES.read_text(encoding="utf-8").partition(f"# Distinct {heading} messages")[2].partition("\n# ")[0]
    return re.findall(r"^- `(.*?)` \([\w,]+\)$", text, re.MULTILINE)


@pytest.mark.skipif(not MESSAGES.is_file(), reason="the collection of messages is not here")
def test_every_collected_message_is_known():
    """But for the wrappers, which name no cause: a chain's first error is asked, not its last."""
    wrappers = re.compile(r"_reconstruct|processing break graph|encountered breakgraph error|raised while inline call")
    fallbacks, breaks = collected("FallbackError"), collected("BreakGraphError")
    assert len(fallbacks) > 5
    assert len(breaks) > 5
    unknown = [m for m in fallbacks if not wrappers.search(m) and words.classify_fallback(None, m, None, "", None) == "unknown"]
    unknown += [m for m in breaks if not wrappers.search(m) and words.classify_break(None, m, None, "call", None) == "unknown"]
    assert unknown == []


@pytest.mark.parametrize(
    ("message", "line", "cause"),
    [
        ("opcode: SETUP_WITH is not supported.", "with paddle.no_grad():", "no-grad"),
        ("opcode: BEFORE_WITH is not supported.", "with no_grad():", "no-grad"),
        ("opcode: BEFORE_WITH is not supported.", "with paddle.set_grad_enabled(False):", "no-grad"),
        ("opcode: BEFORE_WITH is not supported.", "with paddle.amp.auto_cast():", "with-block"),
        ("opcode: BEFORE_WITH is not supported.", None, "with-block"),
        ("opcode: SETUP_FINALLY is not supported.", "try:", "try-block"),
        ("opcode: RETURN_GENERATOR is not supported.", None, "generator"),
        ("Break graph in closure is not support.\n`co_freevars`: ()", None, "closure-break"),
        ("Not support builtin function: update with args: Args(DictVariable)", None, "dict-update"),
        ("Not support builtin function: random with args: Args(ModuleVariable)", None, "random-api"),
        ("Not support builtin function: rand with args: Args(ModuleVariable)", None, "random-api"),
        ("Currently don't support predicate SymbolicVariable", "if x.shape[0] > 3:", "data-dependent-shape"),
        ("Comprehensive for loop break graph is not supported.", None, "loop-body-break"),
    ],
)
def test_fallbacks(message, line, cause):
    assert words.classify_fallback(None, message, "FallbackError", message, line) == cause


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("logging.info('x')", "logging"),
        ("logger.warning(x)", "logging"),
        ("self.log.debug(x)", "logging"),
        ("x = d[k]", "captured-exception"),
    ],
)
def test_captured_exceptions(line, cause):
    assert words.classify_fallback(None, "20", "SotCapturedKeyError", "20", line) == cause


def test_a_break_deep_in_the_logging_module_is_told_by_the_users_line():
    message = "Not support builtin function: acquire with args: Args(ObjectVariable)"
    assert words.classify_break("BuiltinFunctionBreak", message, "CALL", "call", "log.info('step')") == "logging"


@pytest.mark.parametrize(
    ("line", "cause"),
    [("a = y.numpy()", "numpy-read"), ("y.register_hook(f)", "callback-hook"), ("y.set_value(x)", "unsupported-api")],
)
def test_paddle_30_does_not_name_the_method_so_the_line_does(line, cause):
    message = "call break_graph_tensor_method."
    assert words.classify_break("DataDependencyOperationBreak", message, "CALL", "call", line) == cause


def test_float_of_a_tensor_reaches_item_but_is_float():
    message = "Calling `Tensor.item` causes breakgraph."
    assert words.classify_break("DataDependencyOperationBreak", message, "CALL", "call", "s = float(y.sum())") == "float-read"
    assert words.classify_break("DataDependencyOperationBreak", message, "CALL", "call", "s = float(y.item())") == "item"


def test_every_cause_that_words_can_name_is_in_the_table():
    assert {cause for _, cause in words._WORDS} <= set(CAUSES)
    assert set(words._GUARD_ORDER) <= set(CAUSES)


@pytest.mark.parametrize(
    "why", ["generator", "thread", "exception-table", "hook-off", "without-graph", "called-from-generator", "python-too-new"]
)
def test_the_childs_words_for_eager_frames_are_causes(why):
    assert words.classify_eager(why) == why


@pytest.mark.parametrize(("why", "cause"), [("coroutine", "generator"), ("flux", "unknown"), (None, "unknown")])
def test_other_words_for_eager_frames(why, cause):
    assert words.classify_eager(why) == cause


@pytest.mark.parametrize(
    ("expression", "cause"),
    [
        ("MetaInfo.from_tensor(frame.f_locals['x']).guard_str() == '([2, 6, 8], paddle.float32, True)'", "shape-churn"),
        ("(frame.f_locals['x'].shape[0] > 3)", "shape-churn"),
        ("id(frame.f_locals['head']) == 139766843316496", "object-identity"),
        ("id(type(frame.f_locals['head'])) == 139766843316496", "type-guard"),
        ("frame.f_locals['k'] == np.float64(0.5)", "float-guard"),
        ("frame.f_locals['k'] == -inf", "float-guard"),
        ("frame.f_locals['self'].cfg['rate'] == 0.5", "attribute-guard"),
        ("frame.f_locals['k'][0] == 0.5", "float-guard"),
        ("frame.f_globals['NET'].n == 3", "attribute-guard"),
        ("frame.f_globals['TABLE']['k'] == 3", "global-guard"),
        ("not bool(frame.f_locals['x'].shape[0] > 3)", "shape-churn"),
        ("frame.f_locals['fn'].__globals__['G'] == 1", "global-guard"),
        ("not frame.f_locals['x']._is_dense_tensor_hold_allocation()", "type-guard"),
    ],
)
def test_guards_without_values(expression, cause):
    assert words.classify_guard(expression, None, None) == cause


def test_a_recompile_without_guards_is_unknown():
    assert words.classify_guards(()) == "unknown"


def test_guards_read_like_the_program():
    guards = [
        Guard("frame.f_locals['x'].shape[1] == 6", "6", "8"),
        Guard("frame.f_locals['x'].shape[1] == 7", "7", "8"),
        Guard("frame.f_globals['G'] == 1.0", "1.0", "2.0"),
        Guard("frame.f_locals['resume_0_stack_1'] == 0.5", "0.5", None),
    ]
    assert words.describe_guards(guards) == (
        "x.shape[1] == 6 and 1 older (now 8); G == 1.0 (now 2.0); (value from the break) == 0.5"
    )


def test_of_many_guards_the_first_few_are_told():
    guards = [Guard(f"frame.f_locals['x{i}'].shape[0] == 2", "2", "3") for i in range(20)]
    assert words.describe_guards(guards).endswith("x3.shape[0] == 2 (now 3); 16 more guards")


def test_the_local_a_guard_is_about():
    assert words.guarded_local("frame.f_locals['k'] == 0.5") == "k"
    assert words.guarded_local("frame.f_locals['resume_0_stack_1'] == 0.5") is None
    assert words.guarded_local("frame.f_globals['G'] == 1.0") is None
