"""A string that is different every step (a sample's name, a file name).

Strings are guarded by value: one translation for each.
"""

import unittest

import numpy as np
import paddle

FACTS = {
    "steps": 8,
    "findings": [
        {"slug": "recompile", "cause": "str-guard", "line": "name", "severity": "warning", "count": 0.875},
    ],
    "static": {"recompiles": 7},
}


def work(x):
    """Twelve operators: a subgraph made of it is larger than MIN_GRAPH_SIZE (10)."""
    x = paddle.tanh(x * 0.5 + 0.25)
    x = paddle.tanh(x * 0.5 + 0.25)
    x = paddle.tanh(x * 0.5 + 0.25)
    return paddle.tanh(x * 0.5 + 0.25)


def func(x, name):
    return work(x) * len(name)  # <- name


def init(step):
    return paddle.ones([4, 8]), f"sample {step}"


class BothModesAgree(unittest.TestCase):
    def test_outputs(self):
        inputs = init(0)
        static = paddle.jit.to_static(func)(*inputs)
        np.testing.assert_allclose(static.numpy(), func(*inputs).numpy(), rtol=1e-6)


if __name__ == "__main__":
    unittest.main()
