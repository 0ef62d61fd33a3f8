"""A case file: the harness runs backward and optimizer."""

import paddle


def model():
    return paddle.nn.Sequential(paddle.nn.Linear(4, 4), paddle.nn.Tanh(), Twice())


class Twice(paddle.nn.Layer):
    def forward(self, x):
        y = x
        for _ in range(2):
            y = y * 3.0  # scale
        return y


def init():
    return paddle.ones([2, 4])


def loss(outputs):
    return outputs.mean()  # mean


def optimizer(layer):
    return paddle.optimizer.SGD(0.1, parameters=layer.parameters())
