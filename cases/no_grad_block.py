"""``with paddle.no_grad():`` in the forward that to_static was given.

The block costs the whole frame its capture (see not_captured_with.py for how each Python does it). Put the block's body
into a function of its own with ``@paddle.no_grad()`` on it: captured since Paddle 3.2.
"""

import unittest

import numpy as np
import paddle

FACTS = {
    "steps": 6,
    "findings": [
        {"slug": "no-grad-block", "cause": "no-grad", "line": "no-grad", "severity": "warning", "count": 1.0},
    ],
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

    def forward(self, x):
        with paddle.no_grad():  # <- no-grad
            target = work(x)
        return (work(self.fc(x)) - target).square().mean()


def model():
    return Net()


def init():
    return (paddle.linspace(-1.0, 1.0, 32).reshape([4, 8]),)


def loss(outputs):
    return outputs


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
