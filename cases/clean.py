"""A small network that SOT captures whole: the control case.

Nothing to find: one subgraph, no break, no recompile, equal outputs, losses and gradients.
"""

import unittest

import numpy as np
import paddle

FACTS = {
    "steps": 8,
    "findings": [],
    "static": {"subgraphs": 1, "breaks": 0, "recompiles": 0, "fallbacks": 0, "not_captured": 0},
    "parity": {"comparable": True, "outputs_equal": True},
}


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.layers = paddle.nn.Sequential(
            paddle.nn.Linear(16, 32),
            paddle.nn.LayerNorm(32),
            paddle.nn.GELU(),
            paddle.nn.Linear(32, 32),
            paddle.nn.Tanh(),
            paddle.nn.Linear(32, 4),
        )

    def forward(self, x):
        return paddle.nn.functional.softmax(self.layers(x) * 0.5 + 0.1)


def model():
    return Net()


def init():
    return (paddle.linspace(-1.0, 1.0, 64).reshape([4, 16]),)


def loss(outputs):
    return (outputs * outputs).mean()


def optimizer(layer):
    return paddle.optimizer.SGD(0.1, parameters=layer.parameters())


class BothModesAgree(unittest.TestCase):
    def test_outputs(self):
        inputs = init()
        outputs = []
        for to_static in (False, True):
            paddle.jit.enable_to_static(to_static)
            paddle.seed(1)
            layer = model()
            run = paddle.jit.to_static(layer) if to_static else layer
            paddle.seed(2)
            outputs.append(run(*inputs).numpy())
        np.testing.assert_allclose(outputs[1], outputs[0], rtol=1e-6)


if __name__ == "__main__":
    unittest.main()
