"""A ``with`` block in the frame that to_static was given.

Python 3.11+ compiles it to an exception table, and SOT never sees such a frame: nothing is logged, everything in it is
eager. On Python 3.10 SOT says ``opcode: SETUP_WITH is not supported`` and falls back. The cure is the same: move the block
into its own function, or enter the context outside of the captured code.
"""

import unittest

import numpy as np
import paddle

FACTS = {
    "steps": 6,
    "findings": [
        {
            "slug": "not-captured",
            "cause": "with-block",
            "line": "with-block",
            "severity": "warning",
            "count": 1.0,
            "python": ">=3.11",
        },
        {
            "slug": "fallback",
            "cause": "with-block",
            "line": "with-block",
            "severity": "warning",
            "count": 1.0,
            "python": "<3.11",
        },
    ],
    "static": [
        {"python": ">=3.11", "fallbacks": 0, "breaks": 0, "not_captured": 1},
        {"python": "<3.11", "fallbacks": 1, "breaks": 0, "not_captured": 0},
    ],
}


def work(x):
    """Twelve operators: a subgraph made of it is larger than MIN_GRAPH_SIZE (10)."""
    x = paddle.tanh(x * 0.5 + 0.25)
    x = paddle.tanh(x * 0.5 + 0.25)
    x = paddle.tanh(x * 0.5 + 0.25)
    return paddle.tanh(x * 0.5 + 0.25)


class Stage:
    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False


def func(x):
    with Stage():  # <- with-block
        x = work(x)
    x = work(x)
    return x * 2.0 + 1.0


def init():
    return (paddle.ones([4, 8]),)


class BothModesAgree(unittest.TestCase):
    def test_outputs(self):
        inputs = init()
        static = paddle.jit.to_static(func)(*inputs)
        np.testing.assert_allclose(static.numpy(), func(*inputs).numpy(), rtol=1e-6)


if __name__ == "__main__":
    unittest.main()
