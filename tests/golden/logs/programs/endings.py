"""Programs that end badly, for the logs in ``endings``: ``python endings.py KIND``. The logs' lines are those of this file."""

import faulthandler
import os
import signal
import sys
import time

import numpy
import paddle
import paddle.distributed

KIND = sys.argv[1] if len(sys.argv) > 1 else ""


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.linear = paddle.nn.Linear(4, 4)

    def forward(self, x):
        y = self.linear(x)
        if KIND.startswith("shape"):
            y = paddle.matmul(y, paddle.ones([3, 2]))
        return paddle.tanh(y) * 2 + y


class Samples(paddle.io.Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        if index == 5:
            if KIND == "loader-error":
                raise ValueError("bad sample")
            os.kill(os.getpid(), {"loader-killed": signal.SIGKILL, "loader-bus": signal.SIGBUS}.get(KIND, signal.SIGSEGV))
        return numpy.zeros([2], "float32")


def load():
    for batch in paddle.io.DataLoader(Samples(), batch_size=2, num_workers=1):
        print(f"batch {batch[0].shape}", flush=True)
        time.sleep(0.5)


def work():
    """What ``spawn`` runs: the second process fails."""
    if int(os.environ["PADDLE_TRAINER_ID"]) == 1:
        if KIND == "spawn-error":
            raise ValueError("rank one failed")
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(30)


def train(kind):
    """What ``launch`` and ``timeout`` run."""
    net = paddle.jit.to_static(Net(), full_graph=False)
    for step in range(6):
        net(paddle.ones([2, 4]))
        print(f"[TRAIN] epoch: 1, iter: {step}/400, loss: 2.2, batch_cost: 0.3, ips: 9.95 samples/sec", flush=True)
        if os.environ.get("PADDLE_TRAINER_ID") == "1" and step == 3:
            os.kill(os.getpid(), {"launch-segv": signal.SIGSEGV, "launch-killed": signal.SIGKILL}[kind])
        time.sleep(0.2)
    time.sleep(60)


def end(x):
    if KIND == "signal":
        os.kill(os.getpid(), signal.SIGSEGV)
    if KIND == "interrupt":
        signal.raise_signal(signal.SIGINT)
    if KIND.startswith("enforce"):
        paddle.matmul(x, paddle.ones([3, 2]))
    if KIND == "chain":
        try:
            {}["key"]
        except KeyError as error:
            raise RuntimeError("the key is needed") from error
    if KIND == "group":
        raise ExceptionGroup("two", [ValueError("one\ntwo lines"), TypeError("other")])  # noqa: F821
    if KIND == "recursion":
        end(x)
    if KIND == "syntax":
        exec(compile("x = = 1\n", "/proj/settings.py", "exec"))


def main():
    if KIND.startswith("loader"):
        load()
    elif KIND.startswith("spawn"):
        paddle.distributed.spawn(work, nprocs=2, backend="gloo")
    elif KIND.startswith(("launch", "timeout")):
        train(KIND)
    elif KIND == "fault":
        faulthandler.enable()
        faulthandler._sigsegv()
    else:
        x = paddle.ones([2, 4])
        net = paddle.jit.to_static(Net(), full_graph=KIND.endswith("ast"))
        for step in range(2):
            print("step", step, float(net(x).mean()) > 0, flush=True)
        end(x)


if __name__ == "__main__":
    main()
