"""A frame that runs with the hook off for everything beneath it (``psdb.fallback(recursive=True)``, Paddle 3.2+).

The helper is a perfectly capturable function; it runs eagerly only because of its caller. The same happens without a
request when a captured exception or a graph that is too small ends the translation of a caller. The program asked for it,
so it is told and not warned of; what ran eagerly beneath is counted.
"""

import unittest

import numpy as np
import paddle
from paddle.jit.sot import psdb

FACTS = {
    "steps": 6,
    "requires": {"paddle": ">=3.2"},
    "findings": [
        {"slug": "fallback", "cause": "forced", "line": "fallback", "severity": "info", "count": 1.0},
    ],
    "static": {"subgraphs": 0, "fallbacks": 1, "not_captured": 2},
}


def work(x):
    """Twelve operators: a subgraph made of it is larger than MIN_GRAPH_SIZE (10)."""
    x = paddle.tanh(x * 0.5 + 0.25)
    x = paddle.tanh(x * 0.5 + 0.25)
    x = paddle.tanh(x * 0.5 + 0.25)
    return paddle.tanh(x * 0.5 + 0.25)


def helper(x):
    x = work(x)
    return work(x)


def func(x):
    psdb.fallback(recursive=True)  # <- fallback
    return helper(x) * 2.0


def init():
    return (paddle.ones([4, 8]),)


class BothModesAgree(unittest.TestCase):
    def test_outputs(self):
        inputs = init()
        static = paddle.jit.to_static(func)(*inputs)
        np.testing.assert_allclose(static.numpy(), func(*inputs).numpy(), rtol=1e-6)


if __name__ == "__main__":
    unittest.main()
