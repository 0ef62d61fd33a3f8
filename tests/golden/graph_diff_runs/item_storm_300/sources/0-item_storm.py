"""``Tensor.item()`` of a value that changes every step.

Since Paddle 3.2 it breaks the graph and what comes back is guarded by equality: one retranslation of the rest of the
function per step, until the cache is full. Paddle 3.0 traces it as an operator and has neither.
"""

import unittest

import numpy as np
import paddle

FACTS = {
    "steps": 8,
    "findings": [
        {
            "slug": "recompile",
            "cause": "value-guard",
            "line": "item",
            "severity": "warning",
            "count": 0.875,
            "paddle": ">=3.2",
        },
    ],
    "static": [
        {"paddle": ">=3.2", "recompiles": 7, "breaks": 1},
        {"paddle": "<3.2", "recompiles": 0, "breaks": 0},
    ],
    "parity": {"comparable": True, "outputs_equal": True},
}


def work(x):
    """Twelve operators: a subgraph made of it is larger than MIN_GRAPH_SIZE (10)."""
    x = paddle.tanh(x * 0.5 + 0.25)
    x = paddle.tanh(x * 0.5 + 0.25)
    x = paddle.tanh(x * 0.5 + 0.25)
    return paddle.tanh(x * 0.5 + 0.25)


def func(x):
    x = work(x)
    scale = x.mean().item()  # <- item
    return work(x * scale)


def init(step):
    return (paddle.full([4, 8], 1.0 + step),)


class BothModesAgree(unittest.TestCase):
    def test_outputs(self):
        inputs = init(0)
        static = paddle.jit.to_static(func)(*inputs)
        np.testing.assert_allclose(static.numpy(), func(*inputs).numpy(), rtol=1e-6)


if __name__ == "__main__":
    unittest.main()
