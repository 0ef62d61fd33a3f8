"""A new layer object every step, as when a loss layer is constructed inside the training loop.

Layers are guarded by ``id``: an equal layer is another layer. Build it once.
"""

import unittest

import numpy as np
import paddle

FACTS = {
    "steps": 8,
    "findings": [
        {"slug": "recompile", "cause": "object-identity", "line": "layer", "severity": "warning", "count": 0.875},
    ],
    "static": {"recompiles": 7},
}


def work(x):
    """Twelve operators: a subgraph made of it is larger than MIN_GRAPH_SIZE (10)."""
    x = paddle.tanh(x * 0.5 + 0.25)
    x = paddle.tanh(x * 0.5 + 0.25)
    x = paddle.tanh(x * 0.5 + 0.25)
    return paddle.tanh(x * 0.5 + 0.25)


HEADS = []  # keeps them alive: a freed layer's id could be given to the next one


def func(x, head):
    return work(head(x))  # <- layer


def init(step):
    paddle.seed(step)
    HEADS.append(paddle.nn.Linear(8, 8))
    return paddle.ones([4, 8]), HEADS[-1]


class BothModesAgree(unittest.TestCase):
    def test_outputs(self):
        inputs = init(0)
        static = paddle.jit.to_static(func)(*inputs)
        np.testing.assert_allclose(static.numpy(), func(*inputs).numpy(), rtol=1e-6)


if __name__ == "__main__":
    unittest.main()
