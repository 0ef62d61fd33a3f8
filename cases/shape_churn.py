"""A shape that is used as a number, with a batch and a length that both change every step.

From the second shape on both dimensions are symbolic, but ``math.sqrt`` needs the number itself: the length is guarded by
value again and every new one is a new translation. Divide by a constant, or by a Tensor. (Paddle 3.0 breaks the graph at
``math.sqrt`` instead.)
"""

import math
import unittest

import numpy as np
import paddle

FACTS = {
    "steps": 8,
    "requires": {"paddle": ">=3.2"},
    "findings": [
        {"slug": "recompile", "cause": "shape-churn", "line": "sqrt", "severity": "warning", "count": 0.875},
    ],
    "static": {"recompiles": 7},
    "parity": {"comparable": True, "outputs_equal": True},
}


def work(x):
    """Twelve operators: a subgraph made of it is larger than MIN_GRAPH_SIZE (10)."""
    x = paddle.tanh(x * 0.5 + 0.25)
    x = paddle.tanh(x * 0.5 + 0.25)
    x = paddle.tanh(x * 0.5 + 0.25)
    return paddle.tanh(x * 0.5 + 0.25)


def func(x):
    scores = paddle.matmul(x, x, transpose_y=True) / math.sqrt(x.shape[1])  # <- sqrt
    return work(scores).mean()


def init(step):
    return (paddle.ones([2 + step, 6 + step, 8]),)


class BothModesAgree(unittest.TestCase):
    def test_outputs(self):
        inputs = init(0)
        static = paddle.jit.to_static(func)(*inputs)
        np.testing.assert_allclose(static.numpy(), func(*inputs).numpy(), rtol=1e-6)


if __name__ == "__main__":
    unittest.main()
