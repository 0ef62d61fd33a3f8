"""Five breaks in forward, one of them in a helper, with tensors that pass on in every way there is."""

import paddle


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.a = paddle.nn.Linear(8, 8)
        self.b = paddle.nn.Linear(8, 8)
        self.scale = paddle.full([8], 2.0)

    def forward(self, x, mask):
        h = self.a(x).tanh()
        print("one")  # <- one
        h = (h * self.scale).tanh() + 1
        n = h.numpy()  # <- numpy
        h = h + paddle.to_tensor(n).sum() + mask
        if h.sum() > 0:  # noqa: SIM108 - the graph breaks here  # <- if
            h = h * 2
        else:
            h = h - 2
        u = h.detach()
        print("mean", h.mean())  # <- print
        return self.b(helper(h, u)).mean()  # <- call


def helper(h, u):
    v = h * u
    print("in helper")  # <- helper
    return v.sin() + u


def main():
    paddle.seed(0)
    net = paddle.jit.to_static(Net(), full_graph=False)
    optimizer = paddle.optimizer.SGD(0.01, parameters=net.parameters())
    for _ in range(12):
        loss = net(paddle.rand([4, 8]), paddle.ones([4, 8]))
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()


if __name__ == "__main__":
    main()
