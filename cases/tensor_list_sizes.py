"""A list of Tensors, one for each image, whose sizes change at different steps (ground truth boxes).

Each Tensor of the list gets its own dynamic dimension, but only when it is first seen to change: a list of six costs six
translations before it is stable, and none after that.
"""

import unittest

import numpy as np
import paddle

FACTS = {
    "steps": 24,
    "findings": [
        {"slug": "recompile", "cause": "list-of-tensors", "line": "boxes", "severity": "info", "count": 0.25},
    ],
    "static": {"recompiles": 6},
}


def func(boxes):
    total = 0.0
    for image in boxes:
        total = total + (image * 0.5 + 0.25).sum()  # <- boxes
    return total


def init(step):
    sizes = [3 + step if image < step else 3 for image in range(6)]
    return ([paddle.ones([size, 4]) for size in sizes],)


class BothModesAgree(unittest.TestCase):
    def test_outputs(self):
        inputs = init(0)
        static = paddle.jit.to_static(func)(*inputs)
        np.testing.assert_allclose(static.numpy(), func(*inputs).numpy(), rtol=1e-6)


if __name__ == "__main__":
    unittest.main()
