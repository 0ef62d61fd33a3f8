"""What SOT does with some patterns, for logs whose user output is known: every line of this program begins with ``USER ``.

    python patterns.py PATTERN[=CALLS]...      each is called three times, or CALLS times

What a pattern needs changed between its calls is in BEFORE. SOTPROBE_LIMIT=per-code or total lowers Paddle's limits of
compile time.
"""

import os
import sys

import numpy as np
import paddle
from paddle.jit.sot.utils.exceptions import InnerError

paddle.seed(1)


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.first = paddle.nn.Linear(4, 4)
        self.second = paddle.nn.Linear(4, 4)
        self.scale = 2.0

    def head(self, x):
        return self.second(x) * self.scale

    def forward(self, x):
        return self.head(paddle.tanh(self.first(x))) + 1


def plain(x, step):
    y = NET(x)
    return y.sum() + 2


def print_break(x, step):
    y = paddle.tanh(x) * 2
    print("USER in the graph break")
    return y.sum() - 1


def helper_break(x, step):
    y = paddle.exp(x)
    return say(y) + 1


def say(y):
    y = y * 3
    print("USER in the helper")
    return y.sum()


def tensor_if(x, step):
    y = paddle.tanh(x)
    if y.sum() > 100:
        return y - 1
    return y + 1


def is_none(x, step):
    y = paddle.tanh(x)
    if x is not None:
        y = y * 2
    return y + 1


def item_value(x, step):
    value = x.sum().item()
    return x * value + step


def float_value(x, step):
    value = float(x.sum() + step)
    return x * value


def loop_break(x, step):
    y = x
    for index in range(2):
        y = paddle.tanh(y)
        print("USER in the loop", index)
    return y * 2


def dict_update(x, step):
    options = {}
    options.update(scale=2.0)
    return paddle.tanh(x) * options["scale"]


def format_tensor(x, step):
    text = f"{x.shape}"
    return x * len(text)


def shape_churn(x, step):
    return paddle.concat([x] * (step + 1)).sum()


def int_argument(x, step):
    return x * (step + 3)


def text_argument(x, step):
    return named(x, f"name {step}\nsecond line")


def named(x, name):
    return x * len(name)


def generator(x, step):
    total = x
    for part in parts(x):
        total = total + part
    return total


def parts(x):
    yield x * 2
    yield x * 3


def list_of(x, step):
    return sum([part * 2 for part in (x, x + 1)])


def closure_break(x, step):
    results = []

    def inner(y):
        results.append(y + x)

    print("USER behind a closure")
    inner(x)
    return results[-1].sum()


def add_one(x):
    return x + 1


def closure(x, step):
    def inner(y):
        return add_one(y) * step_scale

    step_scale = 3
    return inner(x)


def numpy_read(x, step):
    value = paddle.tanh(x).numpy()
    return x + float(value.sum())


def numpy_call(x, step):
    return x * np.sqrt(4.0)


def numpy_scalar(x, step):
    return x * np.float32(2.0)


def while_tensor(x, step):
    y = x.sum()
    while y < 60:
        y = y * 2
    return y


def no_grad(x, step):
    with paddle.no_grad():
        y = x * 2
    return y + 1


def in_place(x, step):
    y = x * 1
    y[0] = 5.0
    y.add_(paddle.ones_like(y))
    return y.sum()


def random_number(x, step):
    import random

    return x * random.random()


def small(x, step):
    return x + 1


def inner_layers(x, step):
    return SEQUENTIAL(x).sum()


def global_value(x, step):
    return x * SETTINGS["scale"] + len(SETTINGS)


def other_key(x, step):
    return x * sum(OPTIONS.values())


def cached(x, step):
    return x * float(step) + 1


def zero_size(x, step):
    return paddle.concat([x[:0], x]).sum()


def symbolic(x, step):
    size = step + 4
    if size > 100:
        return x
    return x.reshape([-1])[: size % 3 + 1].sum() * size


NET = Net()
SEQUENTIAL = paddle.nn.Sequential(paddle.nn.Linear(4, 8), paddle.nn.ReLU(), paddle.nn.Linear(8, 2))
SETTINGS = {"scale": 2.0, "names": ("a", "b")}
OPTIONS = {"scale": 2.0}


def change_key(step):
    OPTIONS.clear()
    OPTIONS[f"key {step}"] = 2.0


# What 2.6 ends some patterns with.
FAILURES = (InnerError, AttributeError, TypeError, ValueError, RuntimeError)
BEFORE = {"other_key": change_key}


def run(name, calls):
    function = paddle.jit.to_static(globals()[name], full_graph=False)
    for step in range(calls):
        rows = step + 2 if name in ("shape_churn", "symbolic") else 2
        print("USER", name, step)
        BEFORE.get(name, lambda step: None)(step)
        x = paddle.ones([rows, 4])
        x.stop_gradient = False
        try:
            print("USER result", round(float(function(x, step).sum()), 2))
        except FAILURES as error:
            print("USER error", type(error).__name__)


def lower_limit(which):
    from paddle.jit.sot.opcode_translator.executor.executor_cache import OpcodeExecutorCache

    setattr(OpcodeExecutorCache, {"per-code": "MAX_COMPILE_TIME_PER_CODE", "total": "MAX_COMPILE_TIME_TOTAL"}[which], 1e-6)


if __name__ == "__main__":
    if "SOTPROBE_LIMIT" in os.environ:
        lower_limit(os.environ["SOTPROBE_LIMIT"])
    for argument in sys.argv[1:]:
        pattern, _, number = argument.partition("=")
        run(pattern, int(number or 3))
