"""Work done in a ``threading.Thread`` started inside the captured function.

SOT's hook belongs to the thread that made the to_static call, so what another thread runs is eager and never mentioned.
Starting the thread also gives up the frame that does it.
"""

import threading
import unittest

import numpy as np
import paddle

FACTS = {
    "steps": 6,
    "findings": [
        {"slug": "fallback", "cause": "builtin-call", "line": "thread", "severity": "warning", "count": 1.0},
        {"slug": "not-captured", "cause": "thread", "line": "body", "severity": "warning", "count": 1.0},
    ],
    "may": ["graph-break"],
    "static": {"subgraphs": 2},
}


def work(x):
    """Twelve operators: a subgraph made of it is larger than MIN_GRAPH_SIZE (10)."""
    x = paddle.tanh(x * 0.5 + 0.25)
    x = paddle.tanh(x * 0.5 + 0.25)
    x = paddle.tanh(x * 0.5 + 0.25)
    return paddle.tanh(x * 0.5 + 0.25)


def in_thread(x):
    results = []

    def body():  # <- body
        results.append(work(x))

    thread = threading.Thread(target=body)  # <- thread
    thread.start()
    thread.join()
    return results[0]


def func(x):
    x = work(x)
    x = in_thread(x)
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
