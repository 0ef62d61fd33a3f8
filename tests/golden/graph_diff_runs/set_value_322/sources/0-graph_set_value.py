"""A teacher that follows its student by set_value in a loop: Paddle 3.2 splits the loop, 3.3 gives the whole function up."""

import paddle


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.layers = paddle.nn.LayerList([paddle.nn.Linear(8, 8) for _ in range(3)])
        self.teacher = paddle.nn.LayerList([paddle.nn.Linear(8, 8) for _ in range(3)])

    def forward(self, x):
        h = x
        for layer in self.layers:
            h = layer(h).tanh() * 2 + 1
        update(self.teacher.parameters(), self.layers.parameters())
        for layer in self.teacher:
            h = layer(h).tanh() + 1
        return h.mean()


def update(teacher, student):
    for old, new in zip(teacher, student):  # noqa: B905 - with strict the graph breaks at zip
        mixed = old.detach() * 0.9 + new.detach() * 0.1
        old.set_value(mixed)  # <- set-value


def main():
    paddle.seed(0)
    net = paddle.jit.to_static(Net(), full_graph=False)
    optimizer = paddle.optimizer.SGD(0.01, parameters=net.layers.parameters())
    for _ in range(12):
        loss = net(paddle.rand([4, 8]))
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()


if __name__ == "__main__":
    main()
