"""A batch size that changes every step: fine.

The second size is one retranslation in which the dimension becomes symbolic; after that every size fits (Paddle 3.0-3.3).
It is worth knowing (the first two steps are slow) and nothing to change.
"""

import unittest

import numpy as np
import paddle

FACTS = {
    "steps": 8,
    "findings": [
        {"slug": "recompile", "cause": "shape-churn", "line": "first-use", "severity": "info", "count": 0.125},
    ],
    "static": {"recompiles": 1},
}


def work(x):
    """Twelve operators: a subgraph made of it is larger than MIN_GRAPH_SIZE (10)."""
    x = paddle.tanh(x * 0.5 + 0.25)  # <- first-use
    x = paddle.tanh(x * 0.5 + 0.25)
    x = paddle.tanh(x * 0.5 + 0.25)
    return paddle.tanh(x * 0.5 + 0.25)


def func(x):
    return work(x)


def init(step):
    return (paddle.ones([2 + step, 8]),)


class BothModesAgree(unittest.TestCase):
    def test_outputs(self):
        inputs = init(0)
        static = paddle.jit.to_static(func)(*inputs)
        np.testing.assert_allclose(static.numpy(), func(*inputs).numpy(), rtol=1e-6)


if __name__ == "__main__":
    unittest.main()
