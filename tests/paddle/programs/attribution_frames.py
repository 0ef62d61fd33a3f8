"""Frames that SOT does not take, called at graph breaks so that they start on their own."""

import threading

import paddle


def ops(x):
    for _ in range(12):
        x = x * 1.01 + 0.01
    return x


def with_block(x):
    with paddle.no_grad():
        y = ops(x)
    return y


def generator(x):
    for _ in range(2):
        yield ops(x)


def use_generator(x):
    made = generator(x)
    print("generator")
    total = x
    for y in made:
        total = total + y
    return total


def in_thread(x):
    out = []
    worker = threading.Thread(target=lambda: out.append(ops(x)))
    worker.start()
    worker.join()
    return out[0]


def hook_off(x):
    hook = paddle.framework.core.set_eval_frame(None)
    y = ops(x)
    paddle.framework.core.set_eval_frame(hook)
    return y


def captured(x):
    print("captured")
    return ops(x)


def forward(x):
    a = with_block(x)
    print("1")
    b = use_generator(x)
    print("2")
    c = in_thread(x)
    print("3")
    d = hook_off(x)
    print("4")
    e = captured(x)
    return a + b + c + d + e


if __name__ == "__main__":
    static = paddle.jit.to_static(forward)
    x = paddle.ones([4])
    for _ in range(30):
        static(x)
