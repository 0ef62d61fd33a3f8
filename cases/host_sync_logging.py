"""A logging call in captured code.

Python 3.10: a break inside the logging module, at a line that is not the user's. Python 3.11+ with Paddle 3.2-3.3: the
simulation of logging raises, SOT takes that for the program's own exception, and the frame and everything beneath it run
eagerly for good.
"""

import logging
import unittest

import numpy as np
import paddle

FACTS = {
    "steps": 6,
    "requires": {"paddle": ">=3.2"},
    "findings": [
        {"slug": "host-sync", "cause": "logging", "line": "logging", "severity": "warning", "count": 1.0},
    ],
    "may": ["fallback", "graph-break", "not-captured"],
    "static": [
        {"python": "<3.11", "subgraphs": 2, "breaks": 1},
        {"python": ">=3.11", "subgraphs": 0},
    ],
}


def work(x):
    """Twelve operators: a subgraph made of it is larger than MIN_GRAPH_SIZE (10)."""
    x = paddle.tanh(x * 0.5 + 0.25)
    x = paddle.tanh(x * 0.5 + 0.25)
    x = paddle.tanh(x * 0.5 + 0.25)
    return paddle.tanh(x * 0.5 + 0.25)


log = logging.getLogger(__name__)


def func(x):
    x = work(x)
    log.info("half way")  # <- logging
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
