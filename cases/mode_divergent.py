"""A branch that only the static mode takes.

The attribute says whether to_static is on, as a configuration flag of a real model does. What one mode runs and the other
does not is no fair comparison: the branch line is named.
"""

import unittest

import numpy as np
import paddle
from paddle.jit.dy2static.program_translator import ProgramTranslator

FACTS = {
    "steps": 6,
    "findings": [
        {"slug": "mode-divergent-path", "line": "branch", "severity": "warning"},
    ],
    "static": {"subgraphs": 1, "breaks": 0},
    "parity": {"comparable": True, "outputs_equal": True},
}


def work(x):
    """Twelve operators: a subgraph made of it is larger than MIN_GRAPH_SIZE (10)."""
    x = paddle.tanh(x * 0.5 + 0.25)
    x = paddle.tanh(x * 0.5 + 0.25)
    x = paddle.tanh(x * 0.5 + 0.25)
    return paddle.tanh(x * 0.5 + 0.25)


class Net(paddle.nn.Layer):
    def __init__(self, to_static):
        super().__init__()
        self.to_static = to_static

    def forward(self, x):
        x = work(x)
        if self.to_static:  # <- branch
            rows = []
            for row in range(x.shape[0]):
                rows.append(work(x[row]))
            x = paddle.stack(rows)
        else:
            x = work(x)
        return x


def model():
    return Net(to_static=ProgramTranslator.get_instance().enable_to_static)


def init():
    return (paddle.linspace(-1.0, 1.0, 32).reshape([4, 8]),)


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
