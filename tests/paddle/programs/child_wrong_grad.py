"""Paddle's own wrong gradient under to_static: z instead of 2*z (Paddle 3.0.0-3.3.1, SOT and AST)."""

import paddle


def func(x):
    z = x.detach()
    z.stop_gradient = False
    y = (z * z).sum()
    return paddle.grad(y, z)[0] * 1.0, x.exp().log().tanh().sin().cos().sum()


def init():
    return (paddle.to_tensor([1.0, 2.0, 3.0]),)
