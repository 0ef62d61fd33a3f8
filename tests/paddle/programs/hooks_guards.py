"""Guards that miss: what they compared, and the line that read the value."""

import math
import os

import paddle
from paddle.jit import to_static

scale = 2


@to_static(full_graph=False)
def item_storm(x):
    y = x * 2
    value = y.mean().item()  # <item>
    y = y + 1
    return y * value  # <item-use>


@to_static(full_graph=False)
def float_storm(x):
    return x * float(x.sum()) + 1  # <float>


@to_static(full_graph=False)
def shape_churn(x):
    y = x * 2  # <shape>
    return y + 1


class Counter(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        self.n += 1
        return x * self.n  # <self-n>


@to_static(full_graph=False)
def list_length(x, numbers):
    for number in numbers:  # <list-length>
        x = x + number
    return x


@to_static(full_graph=False)
def reads_global(x):
    y = x + 1
    return y * scale  # <global>


class Holder:
    n = 0


holder = Holder()


@to_static(full_graph=False)
def counts_on_global(x):
    holder.n += 1  # <global-object>
    return x * 2


@to_static(full_graph=False)
def nan_number(x, number):
    return x * number  # <nan>


@to_static(full_graph=False)
def several(x, k, name, options):
    y = x * k  # <several-k>
    if name == "first":
        y = y + 1
    return y + options["bias"]


@to_static(full_graph=False)
def object_identity(x, function):
    return function(x) + 1  # <object>


@to_static(full_graph=False)
def cache_full(x, k):
    return x * k


@to_static(full_graph=False)
def compile_limit(x, k):
    return x * k + 1


def double(x):
    return x * 2


def triple(x):
    return x * 3


def global_step(step):
    global scale
    scale = 2 if step < 2 else 3
    reads_global(ones)


def limited_step(step):
    from paddle.jit.sot.opcode_translator.executor.executor_cache import OpcodeExecutorCache

    compile_limit(ones, 0.5 + step)
    if step == 1:
        OpcodeExecutorCache.MAX_COMPILE_TIME_PER_CODE = -1
    elif step == 2:
        OpcodeExecutorCache.MAX_COMPILE_TIME_PER_CODE = 40


def too_small_step(step):
    os.environ["MIN_GRAPH_SIZE"] = "10"
    try:
        small(ones)
        small_with_break(ones)
    finally:
        os.environ["MIN_GRAPH_SIZE"] = "0"


def forced_step(step):
    os.environ["SOT_FORCE_FALLBACK_SIR_IDS"] = "0-100000"
    try:
        forced(ones)
    finally:
        os.environ["SOT_FORCE_FALLBACK_SIR_IDS"] = ""


@to_static(full_graph=False)
def small(x):
    return x * 2  # <small>


@to_static(full_graph=False)
def small_with_break(x):
    y = x * 2  # <small-break-1>
    print("small")
    return y + 1  # <small-break-2>


@to_static(full_graph=False)
def forced(x):
    return x * 2


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.linear = paddle.nn.Linear(4, 2)

    def forward(self, x):
        y = self.linear(x)  # <linear>
        y = paddle.nn.functional.relu(y)  # <relu>
        return y.sum(axis=1), y  # <sum>


ones = paddle.ones([3])
counter = to_static(Counter(), full_graph=False)
net = to_static(Net(), full_graph=False)

SCENARIOS = {
    "item-storm": (4, lambda step: item_storm(ones + step)),
    "float-storm": (3, lambda step: float_storm(ones + step)),
    "shape-churn": (5, lambda step: shape_churn(paddle.ones([3 + step]))),
    "self-n": (4, lambda step: counter(ones)),
    "list-length": (3, lambda step: list_length(ones, [1.0] * (step + 1))),
    "global": (4, lambda step: global_step(step)),
    "nan": (3, lambda step: nan_number(ones, math.nan)),
    "several": (2, lambda step: several(ones, 0.5 + step, "second" if step else "first", {"bias": step})),
    "object": (2, lambda step: object_identity(ones, triple if step else double)),
    "global-object": (3, lambda step: counts_on_global(ones)),
    "cache-full": (23, lambda step: cache_full(ones, 0.5 + step % 21)),
    "compile-limit": (4, lambda step: limited_step(step)),
    "too-small": (2, lambda step: too_small_step(step)),
    "forced": (1, lambda step: forced_step(step)),
    "subgraph": (3, lambda step: net(paddle.ones([2 + step, 4]))),
}
