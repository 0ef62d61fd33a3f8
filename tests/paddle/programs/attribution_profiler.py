"""A program that profiles itself: in the middle of a window, or all the time."""

import sys

import paddle
from paddle import profiler


def forward(x):
    for _ in range(3):
        x = x * 0.5  # scale
    return x


def operators(result):
    waiting = list(result.get_data().values())
    count = 0
    while waiting:
        node = waiting.pop()
        count += node.type.name == "Operator"
        waiting.extend(node.children_node)
    return count


def main(first, last):
    static = paddle.jit.to_static(forward)
    x = paddle.ones([4])
    weight = paddle.create_parameter([1], "float32")
    optimizer = paddle.optimizer.SGD(0.1, parameters=[weight])
    prof = None
    for step in range(32):
        if step == first:
            prof = profiler.Profiler(targets=[profiler.ProfilerTarget.CPU], on_trace_ready=lambda prof: None)
            prof.start()
        static(x)
        (weight * 2.0).backward()
        optimizer.step()
        optimizer.clear_grad()
        if step == last:
            prof.stop()
            print("operators", operators(prof.profiler_result))
            prof = None
    print("done")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
