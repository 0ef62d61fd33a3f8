"""A training loop whose eager lines and operators are known; each line that counts is marked."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "site-packages"))

import attribution_library
import paddle
import paddle.nn.functional as F


def scaled(x, times):
    for _ in range(times):
        x = x * 0.5  # scale
    return x


def helper(x):
    return scaled(x, 4) + paddle.tanh(x)  # helper


def write(table, value):
    with paddle.no_grad():
        for i in range(16):
            table[i] = value  # set
    return table


def forward(x, weight, table):
    hidden = F.linear(x, weight)  # linear
    hidden = attribution_library.normalise(hidden)  # library
    write(table, 1.0)
    print("forward", flush=True)  # print
    return helper(hidden).sum() + table.sum()  # loss


def train(steps=32):
    static = paddle.jit.to_static(forward)
    x = paddle.ones([4, 4])
    weight = paddle.create_parameter([4, 4], "float32")
    optimizer = paddle.optimizer.SGD(0.1, parameters=[weight])
    table = paddle.zeros([16])
    for _ in range(steps):
        loss = static(x, weight, table)
        loss.backward()  # backward
        optimizer.step()  # optimizer
        optimizer.clear_grad()
    return loss


if __name__ == "__main__":
    print("loss", float(train()))
