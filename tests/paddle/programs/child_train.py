"""A training script with arguments: two optimizers, a step is one of the first."""

import argparse

import paddle

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, required=True)
parser.add_argument("--steps", type=int, default=12)
options = parser.parse_args()

net = paddle.jit.to_static(paddle.nn.Sequential(*[paddle.nn.Linear(8, 8) for _ in range(6)]), full_graph=False)
side = paddle.create_parameter([1], "float32")
first = paddle.optimizer.Adam(options.lr, parameters=net.parameters())
second = paddle.optimizer.SGD(options.lr, parameters=[side])
for _ in range(options.steps):
    loss = (net(paddle.randn([4, 8])) ** 2).mean() + side.sum()
    loss.backward()
    first.step()
    second.step()
    first.clear_grad()
    second.clear_grad()
print("trained", options.lr)
