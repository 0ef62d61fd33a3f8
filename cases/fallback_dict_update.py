"""``dict.update(key=value)``: a break that cannot be resumed, so the whole frame runs eagerly.

The innermost error is the builtin call; what SOT logs last is ``BuiltinVariable does not implement "_reconstruct"``, which
is not the cause. The helpers that the frame calls are still captured one by one.
"""

import unittest

import numpy as np
import paddle

FACTS = {
    "steps": 6,
    "findings": [
        {"slug": "fallback", "cause": "dict-update", "line": "dict-update", "severity": "warning", "count": 1.0},
    ],
    "static": {"subgraphs": 1, "fallbacks": 1},
}


def work(x):
    """Twelve operators: a subgraph made of it is larger than MIN_GRAPH_SIZE (10)."""
    x = paddle.tanh(x * 0.5 + 0.25)
    x = paddle.tanh(x * 0.5 + 0.25)
    x = paddle.tanh(x * 0.5 + 0.25)
    return paddle.tanh(x * 0.5 + 0.25)


def func(x):
    parts = {"first": work(x)}
    parts.update(second=work(parts["first"]))  # <- dict-update
    return parts["second"] + parts["first"]


def init():
    return (paddle.ones([4, 8]),)


class BothModesAgree(unittest.TestCase):
    def test_outputs(self):
        inputs = init()
        static = paddle.jit.to_static(func)(*inputs)
        np.testing.assert_allclose(static.numpy(), func(*inputs).numpy(), rtol=1e-6)


if __name__ == "__main__":
    unittest.main()
