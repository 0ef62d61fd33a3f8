"""A float attribute of the layer that its forward updates (a decaying temperature, a running rate).

It is guarded by value at the entry and is different at each entry. Make it a buffer, or update it outside of forward.
"""

import unittest

import numpy as np
import paddle

FACTS = {
    "steps": 8,
    "findings": [
        {"slug": "recompile", "cause": "attribute-guard", "line": "attribute", "severity": "warning", "count": 0.875},
    ],
    "static": {"recompiles": 7},
}


def work(x):
    """Twelve operators: a subgraph made of it is larger than MIN_GRAPH_SIZE (10)."""
    x = paddle.tanh(x * 0.5 + 0.25)
    x = paddle.tanh(x * 0.5 + 0.25)
    x = paddle.tanh(x * 0.5 + 0.25)
    return paddle.tanh(x * 0.5 + 0.25)


class Annealed(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.temperature = 1.0

    def forward(self, x):
        self.temperature = self.temperature * 0.9  # <- attribute
        return work(x * self.temperature)


def model():
    return Annealed()


def init():
    return (paddle.ones([4, 8]),)


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
