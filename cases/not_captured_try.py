"""A ``try`` in the frame that to_static was given; nothing is ever raised.

Python 3.11+: an exception table, so SOT never sees the frame and says nothing. Python 3.10: Paddle 3.3 captures it whole,
Paddle 3.0 falls back (``opcode: SETUP_FINALLY is not supported``).
"""

import unittest

import numpy as np
import paddle

FACTS = {
    "steps": 6,
    "findings": [
        {
            "slug": "not-captured",
            "cause": "try-block",
            "line": "try-block",
            "severity": "warning",
            "count": 1.0,
            "python": ">=3.11",
        },
        {
            "slug": "fallback",
            "cause": "try-block",
            "line": "try-block",
            "severity": "warning",
            "python": "<3.11",
            "paddle": "<3.2",
        },
    ],
    "static": [
        {"python": ">=3.11", "fallbacks": 0, "not_captured": 1},
        {"python": "<3.11", "paddle": ">=3.3", "subgraphs": 1, "fallbacks": 0, "not_captured": 0},
    ],
}


def work(x):
    """Twelve operators: a subgraph made of it is larger than MIN_GRAPH_SIZE (10)."""
    x = paddle.tanh(x * 0.5 + 0.25)
    x = paddle.tanh(x * 0.5 + 0.25)
    x = paddle.tanh(x * 0.5 + 0.25)
    return paddle.tanh(x * 0.5 + 0.25)


def func(x):
    try:  # <- try-block
        y = work(x)
    except ValueError:
        y = x
    y = work(y)
    return y * 2.0 + 1.0


def init():
    return (paddle.ones([4, 8]),)


class BothModesAgree(unittest.TestCase):
    def test_outputs(self):
        inputs = init()
        static = paddle.jit.to_static(func)(*inputs)
        np.testing.assert_allclose(static.numpy(), func(*inputs).numpy(), rtol=1e-6)


if __name__ == "__main__":
    unittest.main()
