"""A Python float that is different every step.

Floats are guarded by value and never become symbolic: every new value is a new translation, until the 20 cache entries of
the frame are used up. Pass it as a Tensor.
"""

import unittest

import numpy as np
import paddle

FACTS = {
    "steps": 8,
    "findings": [
        {"slug": "recompile", "cause": "float-guard", "line": "scale", "severity": "warning", "count": 0.875},
    ],
    "static": {"recompiles": 7},
}


def work(x):
    """Twelve operators: a subgraph made of it is larger than MIN_GRAPH_SIZE (10)."""
    x = paddle.tanh(x * 0.5 + 0.25)
    x = paddle.tanh(x * 0.5 + 0.25)
    x = paddle.tanh(x * 0.5 + 0.25)
    return paddle.tanh(x * 0.5 + 0.25)


def func(x, scale):
    return work(x * scale)  # <- scale


def init(step):
    return paddle.ones([4, 8]), 0.5 + 0.25 * step


class BothModesAgree(unittest.TestCase):
    def test_outputs(self):
        inputs = init(0)
        static = paddle.jit.to_static(func)(*inputs)
        np.testing.assert_allclose(static.numpy(), func(*inputs).numpy(), rtol=1e-6)


if __name__ == "__main__":
    unittest.main()
