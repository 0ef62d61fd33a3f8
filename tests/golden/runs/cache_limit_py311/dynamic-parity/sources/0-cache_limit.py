"""More than twenty different guarded values: the cache of the frame is full.

A frame keeps 20 translations. The next new value is run eagerly, and from then on so is *every* call, also with values that
were compiled: the size is checked before the guards (Paddle 2.6-3.3).
"""

import unittest

import numpy as np
import paddle

FACTS = {
    "steps": 30,
    "findings": [
        {"slug": "recompile", "cause": "float-guard", "line": "scale", "severity": "warning", "count": 0.633},
        {"slug": "cache-limit", "cause": "cache-full", "line": "frame", "severity": "warning"},
    ],
    "static": {"recompiles": 19},
}


def work(x):
    """Twelve operators: a subgraph made of it is larger than MIN_GRAPH_SIZE (10)."""
    x = paddle.tanh(x * 0.5 + 0.25)
    x = paddle.tanh(x * 0.5 + 0.25)
    x = paddle.tanh(x * 0.5 + 0.25)
    return paddle.tanh(x * 0.5 + 0.25)


def func(x, scale):  # <- frame
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
