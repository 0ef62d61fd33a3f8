"""A Python ``if`` on a Tensor's value.

SOT cannot know at translation time which branch runs, so the graph is split at the ``if``: two subgraphs a step instead of
one. No collector of Paddle reports this break (3.0-3.3). ``paddle.where`` keeps it in one graph.
"""

import unittest

import numpy as np
import paddle

FACTS = {
    "steps": 6,
    "findings": [
        {"slug": "graph-break", "cause": "tensor-if", "line": "tensor-if", "severity": "warning", "count": 1.0},
    ],
    "static": {"subgraphs": 2, "breaks": 1, "recompiles": 0, "fallbacks": 0, "not_captured": 0},
}


def work(x):
    """Twelve operators: a subgraph made of it is larger than MIN_GRAPH_SIZE (10)."""
    x = paddle.tanh(x * 0.5 + 0.25)
    x = paddle.tanh(x * 0.5 + 0.25)
    x = paddle.tanh(x * 0.5 + 0.25)
    return paddle.tanh(x * 0.5 + 0.25)


def func(x):
    x = work(x)
    if x.mean() > 0:  # <- tensor-if
        x = x * 0.5
    else:
        x = x - 0.5
    return work(x)


def init():
    return (paddle.ones([4, 8]),)


class BothModesAgree(unittest.TestCase):
    def test_outputs(self):
        inputs = init()
        static = paddle.jit.to_static(func)(*inputs)
        np.testing.assert_allclose(static.numpy(), func(*inputs).numpy(), rtol=1e-6)


if __name__ == "__main__":
    unittest.main()
