"""``mask is not None`` where mask is a Tensor.

Since Python 3.11 this compiles to POP_JUMP_IF_NONE, on which SOT breaks as if the Tensor's value were asked for; Python
3.10 has no such opcode and the test is resolved at translation (Paddle 3.0-3.3).
"""

import unittest

import numpy as np
import paddle

FACTS = {
    "steps": 6,
    "findings": [
        {
            "slug": "graph-break",
            "cause": "is-none-on-tensor",
            "line": "is-none",
            "severity": "warning",
            "count": 1.0,
            "python": ">=3.11",
        },
    ],
    "static": [
        {"python": ">=3.11", "subgraphs": 2, "breaks": 1},
        {"python": "<3.11", "subgraphs": 1, "breaks": 0},
    ],
}


def work(x):
    """Twelve operators: a subgraph made of it is larger than MIN_GRAPH_SIZE (10)."""
    x = paddle.tanh(x * 0.5 + 0.25)
    x = paddle.tanh(x * 0.5 + 0.25)
    x = paddle.tanh(x * 0.5 + 0.25)
    return paddle.tanh(x * 0.5 + 0.25)


def func(x, mask=None):
    x = work(x)
    if mask is not None:  # <- is-none
        x = x * mask
    return work(x)


def init():
    return paddle.ones([4, 8]), paddle.ones([4, 8])


class BothModesAgree(unittest.TestCase):
    def test_outputs(self):
        inputs = init()
        static = paddle.jit.to_static(func)(*inputs)
        np.testing.assert_allclose(static.numpy(), func(*inputs).numpy(), rtol=1e-6)


if __name__ == "__main__":
    unittest.main()
