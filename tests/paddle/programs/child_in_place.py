"""Mutates its input and returns a Python number beside a tensor."""

import paddle


def func(x):
    x[0] = x[0] + 1.0
    for _ in range(8):
        x = x * 1.0 + 0.5
    return x, 3


def init(step):
    return (paddle.ones([4, 2]),)
