"""What Paddle says when the machine is the trouble, not the model: versions that do not fit, memory, workers that died.

Read in ``phi/backends/gpu/gpu_resources.cc``, ``phi/core/memory/allocation``, ``imperative/data_loader.cc`` and
``io/dataloader`` of 2.6.2 to 3.3.1 (``device_context.cc`` before 2.3), and seen in public reports. The ids are of
``cause_table.machine``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

OUT_OF_MEMORY = "out-of-memory"
SHARED_MEMORY = "shared-memory"
LOADER_WORKER = "loader-worker"
CUDA_VERSION = "cuda-version"
CUDNN_VERSION = "cudnn-version"
GPU_ARCHITECTURE = "gpu-architecture"
NO_GPU = "no-gpu"

# Searched in order; the first phrase in a text decides.
_PHRASES: tuple[tuple[str, str], ...] = (
    ("Out of memory error on GPU", OUT_OF_MEMORY),
    ("CUDA error(2), out of memory", OUT_OF_MEMORY),
    ("cudaErrorMemoryAllocation", OUT_OF_MEMORY),
    ("Fail to alloc memory of", OUT_OF_MEMORY),
    ("(ResourceExhausted)", OUT_OF_MEMORY),
    ("ResourceExhaustedError", OUT_OF_MEMORY),
    ("Unexpected BUS error encountered in DataLoader worker", SHARED_MEMORY),
    ("insufficient shared storage space", SHARED_MEMORY),
    ("exited is killed by signal: Bus error", SHARED_MEMORY),
    ("DataLoader process (pid", LOADER_WORKER),
    ("encountered in DataLoader worker", LOADER_WORKER),
    ("workers exit unexpectedly, pids", LOADER_WORKER),
    ("Blocking queue is killed because the data reader raises", LOADER_WORKER),  # QUEUE_KILLED
    ("installed Paddle is compiled with CUDNN", CUDNN_VERSION),
    ("installed Paddle is compiled with CUDA", CUDA_VERSION),
    ("CUDA driver version is insufficient", CUDA_VERSION),
    ("CUDA error(35)", CUDA_VERSION),
    ("The GPU architecture in your current machine", GPU_ARCHITECTURE),
    ("The GPU compute capability in your current machine", GPU_ARCHITECTURE),
    ("no kernel image is available for execution", GPU_ARCHITECTURE),
    ("no GPU found in runtime", NO_GPU),
    ("your CUDA device is not set properly", NO_GPU),
)

# The main thread's error when the loader's thread has failed, whose own error was printed before.
QUEUE_KILLED = "Blocking queue is killed because the data reader raises"
_FROM_WORKER = re.compile(r"DataLoader worker\(\d+\) caught \w+ with message:")

# Starts of lines that stand alone, or that a message of several lines goes on with. True: the line itself says what is wrong.
HEADS: Mapping[str, bool] = {
    "Out of memory error on GPU ": True,
    "ERROR: Unexpected BUS error encountered in DataLoader": True,
    "ERROR: Unexpected segmentation fault encountered in DataLoader": True,
    "ERROR: Unexpected floating-point exception encountered in DataLoader": True,
    "Please check whether there is any other process using GPU ": False,
    "Please decrease the batch size of your model.": False,
    "1. If yes, please stop them, or start PaddlePaddle on another GPU": False,
    "2. If no, please decrease the batch size of your model": False,
    "Or set environment variable `FLAGS_gpu_memory_limit_mb`": False,
    # base/core.py prints these where FLAGS_prim_* are set
    "all prim enabled: ": False,
    "forward prim enabled: ": False,
    "backward prim enabled: ": False,
    "eager prim enabled: ": False,
}

# A worker writes it past all buffers: it may stand behind what the program was printing.
WORKER_ERROR = "ERROR: Unexpected "

# PaddleSeg prints it, shells with set -x and launchers do, and users put it before the command.
VISIBLE = "CUDA_VISIBLE_DEVICES"
_VISIBLE = re.compile(VISIBLE + r"""['"]?\]?\s*(?::|==?)\s*['"]?(?P<devices>-?\d+(?:\s*,\s*\d+)*)""")

_VERSIONS = re.compile(
    r"compiled with (?P<what>CUDA|CUDNN|MIOPEN)\s?(?P<built>[\d.]+\d).{0,12}?, ?but (?:CUDA|CUDNN|MIOPEN)\S* (?:\w+ )?version "
    r"in your machine is (?:CUDA)?(?P<here>[\d.]+\d)",
    re.DOTALL,
)
_ON_GPU = re.compile(r"Out of memory error on GPU(?: Virtual Memory)? (?P<index>\d{1,9})")
_WANTED = re.compile(r"Cannot allocate (?P<wanted>\S+) memory.*?available memory is only (?P<left>[\d.]+\w+)", re.DOTALL)
_SPLICED = re.compile(r"(?P<head>.*?DataLoader process )\(pid .*?(?P<tail>exited is killed by signal: [^\n]+)", re.DOTALL)
_KILLED = re.compile(r"exited is killed by signal: (?P<said>[^\n]+)")


def classify(text: str) -> str | None:
    """The cause that a message stands for; None when it says nothing of the machine."""
    return next((cause for phrase, cause in _PHRASES if phrase in text), None)


def shortened(text: str) -> str:
    """A message about a worker without the advice that Paddle 3.3 puts into the place of its process id."""
    found = _SPLICED.match(text)
    return f"{found['head']}(pid ...) {found['tail']}" if found else text


def from_worker(text: str) -> bool:
    """Whether a message quotes the error of a loader's worker."""
    return _FROM_WORKER.search(text) is not None


def visible_devices(text: str) -> str | None:
    """What a line says that CUDA_VISIBLE_DEVICES is."""
    found = _VISIBLE.search(text)
    return "".join(found["devices"].split()) if found else None


def explain(cause: str, text: str, visible: str | None = None) -> list[str]:
    """What a message means, in sentences. ``visible`` is CUDA_VISIBLE_DEVICES where it is known."""
    makers = {
        OUT_OF_MEMORY: lambda: _about_memory(text, visible),
        SHARED_MEMORY: lambda: _about_worker(text),
        LOADER_WORKER: lambda: _about_worker(text),
        CUDA_VERSION: lambda: _about_versions(text),
        CUDNN_VERSION: lambda: _about_versions(text),
    }
    return makers.get(cause, list)()


def _about_versions(text: str) -> list[str]:
    """What Paddle calls the CUDA runtime's version is that of the driver (``gpu_resources.cc``: ``local_cuda_version``)."""
    found = _VERSIONS.search(text)
    if found is None:
        return []
    what, built, here = found["what"], found["built"], found["here"]
    if what == "CUDA":
        return [f"built for CUDA {built}; the driver of this machine goes up to CUDA {here}"]
    return [f"built for {what} {built}; {what} {here} was found"]


def _about_memory(text: str, visible: str | None) -> list[str]:
    said = []
    amounts = _WANTED.search(text)
    if amounts is not None:
        said.append(f"{amounts['wanted']} were asked for, {amounts['left']} were free")
    found = _ON_GPU.search(text)
    if found is not None:
        said.append(_which_gpu(int(found["index"]), visible))
    return said


def _which_gpu(index: int, visible: str | None) -> str:
    """Paddle counts the devices that the process can see."""
    name = f"GPU {index} is {_ORDINALS.get(index, f'number {index}')} of the visible devices, not of the machine"
    devices = visible.split(",") if visible else []
    if index < len(devices):
        return f"{name}: with CUDA_VISIBLE_DEVICES={visible} that is device {devices[index]}"
    return f"{name}: CUDA_VISIBLE_DEVICES, which the log does not tell, says which device that is"


_ORDINALS = {0: "the first", 1: "the second", 2: "the third"}


def _about_worker(text: str) -> list[str]:
    """Paddle fills the message in the wrong order (3.3.1): the signal's place has the worker's pid, the pid's the advice."""
    found = _KILLED.search(text)
    if found is None:
        return []
    said = found["said"].partition("(at ")[0].strip().rstrip(".")
    if said.isdigit():
        return [f"{said} is the worker's process id, not a signal: Paddle's message has the two swapped"]
    return [f"the worker was killed by: {said}"]
