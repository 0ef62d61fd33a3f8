"""Four ways to make the host wait for the device in captured code: numpy(), item(), float() and print of a Tensor.

Each splits the graph, and on a GPU each also drains the queue of launched kernels, in dynamic mode as well.
"""

import unittest

import numpy as np
import paddle

FACTS = {
    "steps": 6,
    "findings": [
        {"slug": "host-sync", "cause": "numpy-read", "line": "numpy", "severity": "warning", "count": 1.0},
        {"slug": "host-sync", "cause": "item", "line": "item", "severity": "warning", "count": 1.0, "paddle": ">=3.2"},
        {"slug": "host-sync", "cause": "float-read", "line": "float", "severity": "warning", "count": 1.0},
        {"slug": "host-sync", "cause": "print", "line": "print", "severity": "warning", "count": 1.0},
    ],
    "static": [{"paddle": ">=3.2", "recompiles": 0, "breaks": 4}],
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
    array = x.numpy()  # <- numpy
    x = work(x)
    mean = x.mean().item()  # <- item
    x = work(x)
    peak = float(x.max())  # <- float
    x = work(x)
    print(x.min())  # <- print
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
