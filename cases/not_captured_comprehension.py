"""A list comprehension in the frame that to_static was given.

Since Python 3.12 a comprehension is part of its function (PEP 709) and brings an exception table with it, so SOT never sees the
frame and says nothing. On Python 3.10 and 3.11 it is a function of its own that is captured.
"""

import unittest

import numpy as np
import paddle

FACTS = {
    "steps": 6,
    "findings": [
        {
            "slug": "not-captured",
            "cause": "comprehension",
            "line": "comprehension",
            "severity": "warning",
            "count": 1.0,
            "python": ">=3.12",
        },
    ],
    "static": [
        {"python": ">=3.12", "breaks": 0, "fallbacks": 0, "not_captured": 1},
        {"python": "<3.12", "subgraphs": 1, "breaks": 0, "fallbacks": 0, "not_captured": 0},
    ],
}


def work(x):
    """Twelve operators: a subgraph made of it is larger than MIN_GRAPH_SIZE (10)."""
    x = paddle.tanh(x * 0.5 + 0.25)
    x = paddle.tanh(x * 0.5 + 0.25)
    x = paddle.tanh(x * 0.5 + 0.25)
    return paddle.tanh(x * 0.5 + 0.25)


def func(x):
    parts = [work(x + shift) for shift in (0.0, 1.0)]  # <- comprehension
    y = paddle.concat(parts)
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
