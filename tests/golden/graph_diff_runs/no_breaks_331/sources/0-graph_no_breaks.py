"""The model of graph_five_breaks.py after its breaks were taken out: one subgraph."""

import paddle


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.a = paddle.nn.Linear(8, 8)
        self.b = paddle.nn.Linear(8, 8)
        self.scale = paddle.full([8], 2.0)

    def forward(self, x, mask):
        h = self.a(x).tanh()
        h = (h * self.scale).tanh() + 1
        h = h + h.sum() + mask
        h = paddle.where(h.sum() > 0, h * 2, h - 2)
        u = h.detach()
        return self.b(helper(h, u)).mean()  # <- call


def helper(h, u):
    v = h * u
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
