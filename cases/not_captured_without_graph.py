"""Ten graph breaks without a graph between them, then a function that breaks too.

On Python 3.11 and 3.12 all calls at a break go through one shared trampoline of SOT. Once it was seen ten times without a
subgraph beneath it, it is marked WITHOUT_GRAPH and everything called through it runs eagerly, silently, for the rest of
the process (Paddle 3.0-3.3; Python 3.10 and 3.13 are not affected).
"""

import unittest

import numpy as np
import paddle

FACTS = {
    "steps": 6,
    "findings": [
        {"slug": "host-sync", "cause": "print", "line": "prints", "severity": "warning", "count": 10.0},
        {"slug": "host-sync", "cause": "print", "line": "print-inside", "severity": "warning"},
        {
            "slug": "not-captured",
            "cause": "without-graph",
            "line": "helper",
            "severity": "warning",
            "count": 1.0,
            "python": ">=3.11,<3.13",
        },
    ],
    "static": [
        {"python": ">=3.11,<3.13", "subgraphs": 2},
        {"python": "<3.11", "subgraphs": 4},
        {"python": ">=3.13", "subgraphs": 4},
    ],
    "parity": {"comparable": True, "outputs_equal": True},
}


def work(x):
    """Twelve operators: a subgraph made of it is larger than MIN_GRAPH_SIZE (10)."""
    x = paddle.tanh(x * 0.5 + 0.25)
    x = paddle.tanh(x * 0.5 + 0.25)
    x = paddle.tanh(x * 0.5 + 0.25)
    return paddle.tanh(x * 0.5 + 0.25)


def helper(x):  # <- helper
    x = work(x)
    print("in the helper")  # <- print-inside
    return work(x)


def func(x):
    x = work(x)
    print(1), print(2), print(3), print(4), print(5), print(6), print(7), print(8), print(9), print(10)  # <- prints
    x = helper(x)
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
