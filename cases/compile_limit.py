"""The compile-time budget of a frame is used up.

Paddle 3.2+ stops translating a code object after 40 s and everything after 900 s. The budget is lowered here so that the
first retranslation meets it; a new value after that runs eagerly.
"""

import unittest

import numpy as np
import paddle
from paddle.jit.sot.opcode_translator.executor import executor_cache

FACTS = {
    "steps": 6,
    "requires": {"paddle": ">=3.2"},
    "findings": [
        {"slug": "compile-limit", "cause": "compile-time", "line": "frame", "severity": "warning"},
    ],
    "may": ["recompile"],
}


def work(x):
    """Twelve operators: a subgraph made of it is larger than MIN_GRAPH_SIZE (10)."""
    x = paddle.tanh(x * 0.5 + 0.25)
    x = paddle.tanh(x * 0.5 + 0.25)
    x = paddle.tanh(x * 0.5 + 0.25)
    return paddle.tanh(x * 0.5 + 0.25)


executor_cache.OpcodeExecutorCache.MAX_COMPILE_TIME_PER_CODE = 1e-6


def func(x, scale):  # <- frame
    return work(x * scale)  # <- scale


def init(step):
    return paddle.ones([4, 8]), 0.5 + 0.25 * step


class BothModesAgree(unittest.TestCase):
    def test_outputs(self):
        inputs = init(0)
        static = paddle.jit.to_static(func)(*inputs)
        np.testing.assert_allclose(static.numpy(), func(*inputs).numpy(), rtol=1e-6)


if __name__ == "__main__":
    unittest.main()
