"""Calls a case file's function under to_static several times: ``python calls.py CASE.py COUNT``."""

from __future__ import annotations

import inspect
import runpy
import sys

import paddle


def main(path: str, count: int) -> None:
    case = runpy.run_path(path)
    static = paddle.jit.to_static(case["func"], full_graph=False)
    takes_step = "step" in inspect.signature(case["init"]).parameters
    for step in range(count):
        static(*(case["init"](step) if takes_step else case["init"]()))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
