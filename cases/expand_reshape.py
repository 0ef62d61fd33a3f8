"""A unittest repro of expand and reshape, run as a script, with its loop in ``paddle.profiler.utils._nvprof_range``.

This is how a slow subgraph is usually handed over: a layer, its inputs, a loop of steps of which some are profiled, and the
end of the process (SystemExit) when they are done. On a CPU build Paddle's own ``_nvprof_range`` fails in its first step.
"""

import unittest

import numpy as np
import paddle
from paddle.profiler.utils import _nvprof_range

FACTS = {
    "steps": 20,
    "window": [10, 20],
    "findings": [],
    "static": {"subgraphs": 1, "breaks": 0, "recompiles": 0, "not_captured": 0},
    "parity": {"comparable": True, "outputs_equal": True},
}


class ExpandReshape(paddle.nn.Layer):
    """Keys and values of few heads repeated for many query heads, as in grouped-query attention."""

    def __init__(self, heads=8, groups=2, width=16):
        super().__init__()
        self.heads, self.groups, self.width = heads, groups, width
        self.query = paddle.nn.Linear(heads * width, heads * width)
        self.key_value = paddle.nn.Linear(heads * width, 2 * groups * width)

    def repeat(self, x):
        batch, length, groups, width = x.shape
        x = x.unsqueeze(3).expand([batch, length, groups, self.heads // groups, width])
        return x.reshape([batch, length, self.heads, width])

    def forward(self, x):
        batch, length, _ = x.shape
        query = self.query(x).reshape([batch, length, self.heads, self.width]).transpose([0, 2, 1, 3])
        key, value = self.key_value(x).reshape([batch, length, self.groups, 2 * self.width]).split(2, axis=-1)
        key = self.repeat(key).transpose([0, 2, 3, 1])
        value = self.repeat(value).transpose([0, 2, 1, 3])
        weights = paddle.nn.functional.softmax(paddle.matmul(query, key) * self.width**-0.5)
        return paddle.matmul(weights, value).transpose([0, 2, 1, 3]).reshape([batch, length, -1])


class TestExpandReshape(unittest.TestCase):
    def setUp(self):
        paddle.seed(33)
        self.inputs = paddle.rand([4, 32, 128])

    def train(self, to_static):
        paddle.seed(33)
        net = ExpandReshape()
        if to_static:
            net = paddle.jit.to_static(net)
        for step in range(20):
            with _nvprof_range(step, 10, 20):
                out = net(self.inputs)
                out.mean().backward()
                net.clear_gradients()
        return out

    def test_train(self):
        out = self.train(to_static=True)
        np.testing.assert_array_equal(np.isfinite(out.numpy()), True)


if __name__ == "__main__":
    unittest.main()
