"""Whole frames given up, and what Paddle warns about."""

import logging

import paddle
from paddle.jit import to_static

logger = logging.getLogger("hooks")


@to_static(full_graph=False)
def dict_update(x):
    options = {}
    y = x * 2
    options.update(bias=1)  # <dict-update>
    return y + options["bias"]


@to_static(full_graph=False)
def paddle_shape(x):
    y = x * 2
    rows = paddle.shape(y)[0]
    numbers = [float(i) for i in range(int(rows))]  # <paddle-shape>
    return y + numbers[0]


@to_static(full_graph=False)
def frame_with(x):
    with paddle.no_grad():  # <frame-with>
        y = x * 2
    return y + 1


@to_static(full_graph=False)
def log_in_forward(x):
    y = x * 2
    logger.info("sum")  # <logging>
    return y + 1


@to_static(full_graph=False)
def calls_locals(x):
    y = x * 2
    return y + len(locals())  # <locals>


@to_static(full_graph=False)  # <zero-size>
def zero_size(x):
    return x * 2 + 1


@to_static(full_graph=False)
def forced(x):
    y = x * 2
    paddle.jit.sot.psdb.fallback()  # <psdb>
    return y


def subtract(a, b):
    return a - b  # <inner-error>


@to_static(full_graph=False)
def mixed_types(x, y):
    return subtract(x * 2, y)


def decorated_twice(step):
    net = paddle.nn.Linear(3, 3)
    net = to_static(net, full_graph=False)
    to_static(net, full_graph=False)  # <redecorated>


def with_input_spec(step):
    spec = [paddle.static.InputSpec([None, 3], "float32")]
    to_static(lambda x: x + 1, input_spec=spec, full_graph=False)  # <input-spec>


ones = paddle.ones([2, 3])

SCENARIOS = {
    "dict-update": (2, lambda step: dict_update(ones)),
    "paddle-shape": (2, lambda step: paddle_shape(ones)),
    "frame-with": (2, lambda step: frame_with(ones)),
    "logging": (2, lambda step: log_in_forward(ones)),
    "locals": (1, lambda step: calls_locals(ones)),
    "zero-size": (3, lambda step: zero_size(paddle.ones([0 if step == 1 else 2, 3]))),
    "psdb": (1, lambda step: forced(ones)),
    "inner-error": (1, lambda step: mixed_types(ones, ones.cast("int64"))),
    "redecorated": (1, decorated_twice),
    "input-spec": (1, with_input_spec),
}
