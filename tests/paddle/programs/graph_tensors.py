"""Dynamic code between two subgraphs: it changes one tensor in place, makes others and frees them, and leaves one alone."""

import paddle


def between(changed, kept):
    with paddle.no_grad():  # <- with
        changed.add_(paddle.ones([2, 3]))
        for _ in range(5):
            made = paddle.rand([2, 3])  # each is freed when the next one is made
        return made


def forward(x):
    changed = x + 1.0
    kept = x * 2.0
    made = between(changed, kept)  # <- call
    return (changed + kept + made).tanh().mean()


def main():
    paddle.seed(0)
    step = paddle.jit.to_static(forward, full_graph=False)
    for _ in range(10):
        step(paddle.ones([2, 3]))


if __name__ == "__main__":
    main()
