"""``next`` on a generator whose body computes.

The call breaks the graph, and the generator's frame is resumed by the interpreter with SOT's hook off: its own lines and
everything it calls run eagerly, without a word in the log.
"""

import unittest

import numpy as np
import paddle

FACTS = {
    "steps": 6,
    "findings": [
        {"slug": "graph-break", "cause": "builtin-call", "line": "next", "severity": "warning", "count": 1.0},
        {"slug": "not-captured", "cause": "generator", "line": "stream", "severity": "warning"},
    ],
    "static": {"subgraphs": 2, "breaks": 1},
}


def work(x):
    """Twelve operators: a subgraph made of it is larger than MIN_GRAPH_SIZE (10)."""
    x = paddle.tanh(x * 0.5 + 0.25)
    x = paddle.tanh(x * 0.5 + 0.25)
    x = paddle.tanh(x * 0.5 + 0.25)
    return paddle.tanh(x * 0.5 + 0.25)


def augmentations():  # <- stream
    while True:
        yield work(paddle.ones([4, 8]))


AUGMENTATIONS = augmentations()


def func(x):
    x = work(x)
    x = x + next(AUGMENTATIONS)  # <- next
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
