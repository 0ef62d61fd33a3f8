"""``paddle.grad`` inside captured code gives the wrong value.

``paddle.grad((z * z).sum(), z)`` is ``2 * z``; in static mode, SOT and AST alike, it returns ``z`` and does not raise
(Paddle 3.0-3.3). The output's stop_gradient differs too.
"""

import unittest

import numpy as np
import paddle

FACTS = {
    "steps": 6,
    "findings": [
        {"slug": "accuracy-mismatch", "severity": "error"},
    ],
    "parity": {"comparable": True, "outputs_equal": False, "first_divergent_step": 0},
    "static": {"subgraphs": 1, "breaks": 0},
}


def work(x):
    """Twelve operators: a subgraph made of it is larger than MIN_GRAPH_SIZE (10)."""
    x = paddle.tanh(x * 0.5 + 0.25)
    x = paddle.tanh(x * 0.5 + 0.25)
    x = paddle.tanh(x * 0.5 + 0.25)
    return paddle.tanh(x * 0.5 + 0.25)


def func(x):
    z = x.detach()
    z.stop_gradient = False
    slope = paddle.grad((z * z).sum(), z)[0]  # <- grad
    return work(slope)


def init():
    return (paddle.to_tensor([1.0, 2.0, 3.0]),)


class DynamicModeIsRight(unittest.TestCase):
    def test_slope(self):
        (x,) = init()
        np.testing.assert_allclose(func(x).numpy(), work(2.0 * x).numpy(), rtol=1e-6)


if __name__ == "__main__":
    unittest.main()
