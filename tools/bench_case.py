"""A small training step (a few milliseconds) with two subgraphs: small enough for the overhead of measuring to show."""

import paddle


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.head = paddle.nn.Sequential(*(paddle.nn.Linear(128, 128) for _ in range(6)))
        self.tail = paddle.nn.Sequential(*(paddle.nn.Linear(128, 128) for _ in range(6)))

    def forward(self, x):
        x = paddle.tanh(self.head(x))
        if x.mean() > -2:  # a tensor: the graph breaks here
            x = x * 2
        return self.tail(x)


def model():
    return Net()


def init():
    return (paddle.randn([64, 128]),)


def loss(outputs):
    return (outputs * outputs).mean()


def optimizer(layer):
    return paddle.optimizer.SGD(0.01, parameters=layer.parameters())


batch_size = 64
