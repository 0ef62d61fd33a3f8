"""Graph breaks. Lines with a marker like `# <name>` are what the test looks for."""

import paddle
from paddle.jit import to_static


def leaf(y):
    y = y * 2
    print("leaf")  # <nested-leaf>
    return y.tanh()


def middle(y):
    return leaf(y + 1) + 1  # <nested-middle>


@to_static(full_graph=False)
def nested(x):
    y = x - 1
    y = middle(y)  # <nested-root>
    return y + 3


@to_static(full_graph=False)
def tensor_if(x):
    y = x * 2
    if y.sum() > 0:  # <tensor-if>
        y = y + 1
    return y * 3


def branch(y):
    if y.sum() > 0:  # <inlined-if>
        return y + 1
    return y - 1


@to_static(full_graph=False)
def inlined_if(x):
    return branch(x * 2) * 3  # <inlined-if-root>


@to_static(full_graph=False)
def tensor_while(x):
    while x.sum() < 20:  # <tensor-while>
        x = x * 2
    return x


@to_static(full_graph=False)
def tensor_assert(x):
    y = x * 2
    assert y.sum() > 0  # <tensor-assert>
    return y + 1


@to_static(full_graph=False)
def is_not_none(x, mask=None):
    y = x * 2
    if mask is not None:  # <is-not-none>
        y = y + mask
    return y * 3


@to_static(full_graph=False)
def two_on_a_line(x):
    y = float(x.sum()) + float(x.mean())  # <two-on-a-line>
    return x + y


@to_static(full_graph=False)
def loop_break(x):
    for i in range(3):
        x = x + i
        print("loop")  # <loop-break>
    return x * 2


@to_static(full_graph=False)
def set_value_loop(parameters):
    for p in parameters:
        p.set_value(p * 0.5)  # <set-value>
    return parameters[0] + 1


def with_block(y):
    with paddle.no_grad():  # <inlined-with>
        y = y + 1
    return y


@to_static(full_graph=False)
def inlined_with(x):
    return with_block(x * 2) * 3  # <inlined-with-root>


@to_static(full_graph=False)
def numpy_read(x):
    y = x * 2
    z = y.numpy()  # <numpy-read>
    return y + z.shape[0]


@to_static(full_graph=False)
def many(x):
    y = x * 2
    print("one")  # <many-1>
    y = y + 1
    if y.sum() > 0:  # <many-2>
        y = paddle.nn.functional.relu(y) + paddle.nn.functional.tanh(y) + y.reshape([-1]).sum()
        print("three")  # <many-3>
    y = paddle.concat(
        [y, y],
        axis=0,
    )
    print("four")  # <many-4>

    y = y * 3
    z = float(y.sum())  # <many-5>
    y = paddle.nn.functional.softmax(y) + z
    print("six")  # <many-6>
    print("seven")  # <many-7>
    return y


@to_static(full_graph=False)
def one_side(x, flag):
    if flag:  # <side-branch>
        y = x * 2  # <side-taken>
    else:
        y = x * 3  # <side-not-taken>
        y = y + 1
    y = helped(y)
    label = "no tensor here"  # <side-plain>
    return y, label


def helped(y):
    scale = 4  # <side-inlined>
    return y * scale


x = paddle.ones([3])
parameters = [paddle.create_parameter([3], "float32") for _ in range(2)]

SCENARIOS = {
    "nested": (3, lambda step: nested(x)),
    "tensor-if": (2, lambda step: tensor_if(x)),
    "inlined-if": (1, lambda step: inlined_if(x)),
    "tensor-while": (1, lambda step: tensor_while(x)),
    "tensor-assert": (1, lambda step: tensor_assert(x)),
    "is-not-none": (2, lambda step: is_not_none(x, x)),
    "two-on-a-line": (1, lambda step: two_on_a_line(x)),
    "loop-break": (2, lambda step: loop_break(x)),
    "set-value": (2, lambda step: set_value_loop(parameters)),
    "inlined-with": (2, lambda step: inlined_with(x)),
    "numpy-read": (1, lambda step: numpy_read(x)),
    "one-side": (2, lambda step: one_side(x, True)),
    "many": (2, lambda step: many(x)),
}
