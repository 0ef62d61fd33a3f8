"""``train()`` and ``eval()`` in turn: fine.

``training`` is part of a layer's guard, so there is one translation for each; after that both are found in the cache.
"""

import unittest

import numpy as np
import paddle

FACTS = {
    "steps": 8,
    "findings": [
        {"slug": "recompile", "cause": "training-toggle", "line": "layers", "severity": "info", "count": 0.125},
    ],
    "static": {"recompiles": 1},
    "parity": {"comparable": True, "outputs_equal": True},
}


def work(x):
    """Twelve operators: a subgraph made of it is larger than MIN_GRAPH_SIZE (10)."""
    x = paddle.tanh(x * 0.5 + 0.25)
    x = paddle.tanh(x * 0.5 + 0.25)
    x = paddle.tanh(x * 0.5 + 0.25)
    return paddle.tanh(x * 0.5 + 0.25)


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = paddle.nn.Linear(8, 8)
        self.drop = paddle.nn.Dropout(0.5)

    def forward(self, x):
        return work(self.drop(self.fc(x)))  # <- layers


NET = Net()


def model():
    return NET


def init(step):
    if step % 4 < 2:
        NET.train()
    else:
        NET.eval()
    return (paddle.ones([4, 8]),)


class BothModesAgree(unittest.TestCase):
    def test_outputs(self):
        inputs = init(0)
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
