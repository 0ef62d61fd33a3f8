"""The files that ``paddle.distributed.launch`` writes: one log for each process of a node.

Read in ``distributed/launch/controllers/collective.py`` and ``rpc.py`` and in ``distributed/fleet/launch_utils.py`` of 2.6.2 to
3.3.1: ``log/workerlog.N``, standard output and errors of process N in one. N counts the processes of a node (``rpc`` alone counts
them over all nodes). ``log/default.NAME.log`` beside them is the launcher's own.
"""

from __future__ import annotations

import re

# CI archives compress, rename and append a suffix of their own.
_WORKER = re.compile(r"workerlog\.(?P<number>\d{1,9})(?:\.(?:log|txt|gz))*")


def worker_number(file_name: str) -> str | None:
    """The process that a file name stands for, ``3`` of ``workerlog.3``; None for any other file."""
    found = _WORKER.fullmatch(file_name)
    return str(int(found["number"])) if found else None
