"""Names that SOT generates, as seen in logs of Paddle 3.0-3.3."""

from __future__ import annotations

import pytest

from sotprobe.paddle_compat.names import is_generated, is_resume, is_translated, original_name, statement_operator


@pytest.mark.parametrize(
    ("name", "original"),
    [
        ("#f_84ae0", "f"),
        ("$resume_0@f_af1a0", "f"),
        ("#$resume_0@f_af1a0", "f"),
        ("$resume_1@$resume_0@forward_af1a0", "forward"),
        ("#$resume_12@$resume_1@$resume_0@forward_af1a0", "forward"),
        ("#<lambda>_84ae0", "<lambda>"),
        ("#_private_8_head_7902e", "_private_8_head"),
        ("#step_12345_84ae0", "step_12345"),
    ],
)
def test_generated(name: str, original: str) -> None:
    assert original_name(name) == original
    assert is_generated(name)
    assert original_name(original) == original


@pytest.mark.parametrize("name", ["f", "layer_84ae0", "resume_0", "<listcomp>", "conv_12345", "forward_abcde", ""])
def test_a_name_of_the_user_is_never_cut(name: str) -> None:
    assert original_name(name) == name
    assert not is_generated(name)


def test_kinds() -> None:
    assert is_resume("$resume_0@f_af1a0")
    assert is_resume("#$resume_0@f_af1a0")
    assert not is_resume("#f_84ae0")
    assert is_translated("#f_84ae0")
    assert is_translated("#$resume_0@f_af1a0")
    assert not is_translated("$resume_0@f_af1a0")


@pytest.mark.parametrize(
    ("text", "operator"),
    [
        ("method     || var_3 = __add__ (var_1, 2)", "add"),
        ("method     || var_3 = __add__ ((var_1, 2), {})", "add"),  # 2.6
        ("method     || var_3 = tanh (var_1)", "tanh"),
        ("api        || var_3 = paddle.base.dygraph.generated_tensor_methods_patch._tanh (var_1)", "tanh"),  # 3.0
        ("api        || var_3 = paddle.tensor.math.tanh (var_1)", "tanh"),
        ("api        || var_3 = _operator.truediv (var_1, 2)", "truediv"),
        ("api        || var_3 = paddle.jit.sot.symbolic_shape.operators.symbolic_truediv (var_1, 2)", "truediv"),
        ("layer      || var_3 = Linear (var_1)", "Linear"),
        ("method     || None = __setattr__ (var_1, 'stop_gradient', False)", "setattr"),
        ("api        || var_1, var_2 = paddle.tensor.search.topk (var_0, 1)", "topk"),
        ("api        || var_1 = __ (var_0)", "__"),
        ("not a statement", "not a statement"),
        ("", ""),
    ],
)
def test_an_operator_has_one_name_however_it_is_called(text, operator):
    assert statement_operator(text) == operator
