"""The whole training step is under to_static: backward and the optimizer run at graph breaks inside the call."""

import paddle

net = paddle.nn.Sequential(*[paddle.nn.Linear(8, 8) for _ in range(6)])
sgd = paddle.optimizer.SGD(0.1, parameters=net.parameters())


def train_step(x):
    y = net(x)
    for _ in range(8):
        y = y * 0.5 + y.tanh()
    loss = (y**2).mean()
    loss.backward()
    sgd.step()
    sgd.clear_grad()
    return loss


if __name__ == "__main__":
    step = paddle.jit.to_static(train_step, full_graph=False)
    for _ in range(6):
        step(paddle.ones([4, 8]))
    from paddle.jit.sot.opcode_translator.executor.executor_cache import OpcodeExecutorCache

    print("translations", OpcodeExecutorCache().translate_count)
