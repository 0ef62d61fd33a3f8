"""Three operators: too few to compile.

A graph with fewer than MIN_GRAPH_SIZE (10) operators is built and thrown away without a word, so to_static has no effect at
all here. Nothing to repair, but no speed-up may be expected and nothing that is measured says anything about static mode.
"""

import unittest

import numpy as np
import paddle

FACTS = {
    "steps": 6,
    "findings": [
        {"slug": "small-graph", "cause": "too-small", "line": "first-operator", "severity": "info"},
    ],
    "static": {"subgraphs": 0, "breaks": 0, "fallbacks": 0},
}


def func(x):
    y = x * 2.0  # <- first-operator
    y = y + 1.0
    return y.tanh()


def init():
    return (paddle.ones([3]),)


class BothModesAgree(unittest.TestCase):
    def test_outputs(self):
        inputs = init()
        static = paddle.jit.to_static(func)(*inputs)
        np.testing.assert_allclose(static.numpy(), func(*inputs).numpy(), rtol=1e-6)


if __name__ == "__main__":
    unittest.main()
