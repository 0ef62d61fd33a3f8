"""Ends badly, in the way its argument says."""

import os
import signal
import sys
import time

import paddle


def subtract(a, b):
    c = a * 2.0
    return c - b  # how == "simulation": float32 minus int64, fine in dynamic mode only


def forward(a, b):
    return subtract(a, b).sum()


how = sys.argv[1]
fn = paddle.jit.to_static(forward, full_graph=False)
for step in range(10):
    if step == 5:
        if how == "raise":
            raise ValueError("five is too many")
        if how == "exit":
            sys.exit(7)
        if how == "segfault":
            import ctypes

            ctypes.string_at(0)
        if how in ("SIGTERM", "SIGKILL"):
            os.kill(os.getpid(), getattr(signal, how))
        if how == "hang":
            time.sleep(600)
        if how == "chdir":
            os.chdir("/")
    kind = "int64" if how == "simulation" else "float32"
    fn(paddle.ones([2]), paddle.ones([2], dtype=kind))
