"""Threads, generators, exceptions, recursion and a forked child, all in every step."""

import os
import sys
import threading

import paddle
from paddle import profiler


def recursive(x, depth):
    return x if depth == 0 else recursive(x * 1.0, depth - 1)  # recursion


def generator(x):
    for _ in range(3):
        x = x * 2.0  # generator
        yield x


def fails(x):
    x = x + 1.0  # before
    raise ValueError(x)


def catches(x):
    try:
        fails(x)
    except ValueError:
        return paddle.tanh(x)  # after


def in_thread(x, out):
    out.append(paddle.exp(x))  # thread


def forward(x):
    recursive(x, 50)
    for y in generator(x):
        paddle.abs(y)  # consumer
    catches(x)
    out = []
    worker = threading.Thread(target=in_thread, args=(x, out))
    worker.start()
    worker.join()
    return out[0]


def forked(x):
    child = os.fork()
    if child == 0:
        traced = sys.gettrace() is not None
        own = profiler.Profiler(targets=[profiler.ProfilerTarget.CPU], on_trace_ready=lambda prof: None)
        own.start()
        own.stop()
        os._exit(7 if traced or recursive(1.0, 3) != 1.0 else 0)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def main():
    x = paddle.ones([2])
    weight = paddle.create_parameter([1], "float32")
    optimizer = paddle.optimizer.SGD(0.1, parameters=[weight])
    codes = set()
    for _ in range(31):
        forward(x)
        codes.add(forked(x))
        (weight * 2.0).backward()
        optimizer.step()
        optimizer.clear_grad()
    print("children", sorted(codes), "trace", sys.gettrace(), threading.gettrace())


if __name__ == "__main__":
    main()
