"""No optimizer and no range: a step is the outermost call of the to_static function."""

import paddle


def helper(x):
    return x * 3


def forward(x):
    y = helper(x)
    for _ in range(8):
        y = y.tanh() + x
    return y


if __name__ == "__main__":
    inner = paddle.jit.to_static(helper, full_graph=False)
    fn = paddle.jit.to_static(forward, full_graph=False)
    for _ in range(7):
        fn(paddle.ones([3]))
        inner(paddle.ones([3]))
