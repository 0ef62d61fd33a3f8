"""A unittest-style repro: its loop sits in Paddle's own range profiler."""

import unittest

import paddle
from paddle.profiler.utils import _nvprof_range


def body(x):
    for _ in range(6):
        x = x * 1.5 - x.tanh()
    return x.sum()


class TestBody(unittest.TestCase):
    def test_speed(self):
        fn = paddle.jit.to_static(body, full_graph=False)
        for step in range(30):
            with _nvprof_range(step, 4, 12):
                fn(paddle.ones([4, 4]))
        self.fail("exit_after_prof should have ended the loop")

    def test_other(self):
        raise AssertionError("must not run after the profiled one")


if __name__ == "__main__":
    unittest.main()
