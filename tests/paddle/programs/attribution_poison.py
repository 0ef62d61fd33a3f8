"""Ten print breaks before a helper: on Python 3.11 and 3.12 SOT then never looks into what break calls run."""

import sys

import paddle


def helper(x):
    for _ in range(12):
        x = x * 1.01
    print("helper")
    for _ in range(12):
        x = x + 0.01
    return x


def ten(x):
    print(1)
    print(2)
    print(3)
    print(4)
    print(5)
    print(6)
    print(7)
    print(8)
    print(9)
    print(10)
    return helper(x)


def few(x):
    print(1)
    return helper(x)


if __name__ == "__main__":
    static = paddle.jit.to_static(ten if sys.argv[1] == "ten" else few)
    x = paddle.ones([4])
    for _ in range(28):
        static(x)
