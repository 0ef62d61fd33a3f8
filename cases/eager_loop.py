"""Many small eager operators on the lines of a Python loop, in both modes.

The loop is in a frame that SOT does not capture (a ``with``), so each step launches 3 operators 40 times from Python. One
assignment of all rows does the same.
"""

import contextlib
import unittest

import numpy as np
import paddle

FACTS = {
    "steps": 12,
    "findings": [
        {
            "slug": "eager-loop",
            "line": "loop",
            "severity": "warning",
            "count": 120.0,
            "evidence": "scale 40, set_value_with_tensor_ 40, slice 40",
        },
        {"slug": "not-captured", "cause": "with-block", "line": "with-block", "severity": "warning", "python": ">=3.11"},
        {"slug": "fallback", "cause": "with-block", "line": "with-block", "severity": "warning", "python": "<3.11"},
    ],
    "parity": {"comparable": True, "outputs_equal": True},
}


def work(x):
    """Twelve operators: a subgraph made of it is larger than MIN_GRAPH_SIZE (10)."""
    x = paddle.tanh(x * 0.5 + 0.25)
    x = paddle.tanh(x * 0.5 + 0.25)
    x = paddle.tanh(x * 0.5 + 0.25)
    return paddle.tanh(x * 0.5 + 0.25)


ROWS = 40


def func(table, rows):
    with contextlib.nullcontext():  # <- with-block
        for row in range(ROWS):  # <- loop
            table[row] = rows[row] * 0.5
    return work(table)


def init(step):
    return paddle.zeros([ROWS, 8]), paddle.full([ROWS, 8], 1.0 + step)


class BothModesAgree(unittest.TestCase):
    def test_outputs(self):
        inputs = init(0)
        static = paddle.jit.to_static(func)(*inputs)
        np.testing.assert_allclose(static.numpy(), func(*inputs).numpy(), rtol=1e-6)


if __name__ == "__main__":
    unittest.main()
