"""``paddle.shape(x)`` used as a Python size.

It returns a Tensor, so ``int`` of it breaks the graph; ``x.shape[0]`` is a Python int and does not.
"""

import unittest

import numpy as np
import paddle

FACTS = {
    "steps": 6,
    "findings": [
        {
            "slug": "host-sync",
            "cause": "int-read",
            "line": "int-of-shape",
            "severity": "warning",
            "count": 1.0,
            "advice": ".shape[i]",
        },
    ],
    "static": {"subgraphs": 2, "breaks": 1},
}


def work(x):
    """Twelve operators: a subgraph made of it is larger than MIN_GRAPH_SIZE (10)."""
    x = paddle.tanh(x * 0.5 + 0.25)
    x = paddle.tanh(x * 0.5 + 0.25)
    x = paddle.tanh(x * 0.5 + 0.25)
    return paddle.tanh(x * 0.5 + 0.25)


def func(x):
    x = work(x)
    rows = paddle.shape(x)[0]
    grid = paddle.arange(int(rows), dtype="float32").reshape([-1, 1])  # <- int-of-shape
    return work(x * grid)


def init():
    return (paddle.ones([4, 8]),)


class BothModesAgree(unittest.TestCase):
    def test_outputs(self):
        inputs = init()
        static = paddle.jit.to_static(func)(*inputs)
        np.testing.assert_allclose(static.numpy(), func(*inputs).numpy(), rtol=1e-6)


if __name__ == "__main__":
    unittest.main()
