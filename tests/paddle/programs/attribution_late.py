"""A function that is translated once more after the 20th step."""

import paddle


def forward(x, k):
    for _ in range(12):
        x = x * k
    return x


if __name__ == "__main__":
    static = paddle.jit.to_static(forward)
    x = paddle.ones([4])
    for step in range(40):
        static(x, 1.5 if step < 21 else 2.5)
