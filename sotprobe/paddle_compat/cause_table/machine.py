"""Causes that lie in the machine, in versions, or in how a log was taken; found in logs."""

from __future__ import annotations

from sotprobe.paddle_compat.cause_table.record import Cause
from sotprobe.paddle_compat.versions import Versions

COLLECTOR_CRASH = "collector-crash"

# The trouble is the machine's, whatever the program was doing.
MACHINE: tuple[Cause, ...] = (
    Cause(
        "out-of-memory",
        "out of memory",
        "An allocation failed. The GPU's number in Paddle's message counts the visible devices, not those of the machine.",
        "Look with nvidia-smi at who else uses that device; else make the batch smaller, or recompute activations.",
        'Paddle\'s "Out of memory error on GPU", ResourceExhausted, or CUDA error(2)',
    ),
    Cause(
        "shared-memory",
        "too little shared memory for the loader's workers",
        "A DataLoader worker died of a bus error: /dev/shm, through which it hands over its batches, was full.",
        "Give the container more (docker run --shm-size), use fewer workers or a smaller batch, or use_shared_memory=False.",
        'Paddle\'s "Unexpected BUS error encountered in DataLoader worker", or its SystemError about shared storage space',
    ),
    Cause(
        "loader-worker",
        "a loader's worker died",
        "A DataLoader worker process was killed or failed; the program ends at whatever line it stood on then.",
        "Run with num_workers=0 to see the worker's own error; killed by SIGKILL, the host was short of memory.",
        "Paddle's message about a DataLoader process, or its blocking queue",
    ),
    Cause(
        "cuda-version",
        "a driver too old for the CUDA of the installed Paddle",
        "Paddle was compiled for a newer CUDA than the driver supports. What its message calls the CUDA runtime version of the "
        "machine is the driver's.",
        "Install the Paddle wheel of the driver's CUDA version, or a newer driver.",
        "Paddle's warning or error about the CUDA it is compiled with, or an insufficient driver version",
    ),
    Cause(
        "cudnn-version",
        "a cuDNN older than the one Paddle was compiled with",
        "Another cuDNN than that of the wheel was loaded.",
        "See which libcudnn the dynamic linker finds (LD_LIBRARY_PATH); install the version Paddle was built with.",
        "Paddle's warning about the CUDNN it is compiled with",
    ),
    Cause(
        "gpu-architecture",
        "a GPU that the installed Paddle has no code for",
        "The wheel was not compiled for this GPU: kernels are missing, or compiled at their first use.",
        "Install a Paddle wheel whose list of architectures has this GPU.",
        "Paddle's warning about the GPU's architecture, or CUDA's error about a missing kernel image",
    ),
    Cause(
        "no-gpu",
        "no GPU was found, the CPU was used",
        "Paddle was built for GPUs, found none, and went on with the CPU: speeds say nothing of a GPU.",
        "Check the driver, the container's GPU runtime, and CUDA_VISIBLE_DEVICES.",
        "Paddle's warnings that no GPU was found or none is set",
    ),
)

SETTINGS: tuple[Cause, ...] = (
    Cause(
        COLLECTOR_CRASH,
        "the collector subgraph_relation ends the program",
        "From Paddle 3.2 on this collector of SOT_COLLECT_INFO looks for names that are not there any more, as soon as a "
        "subgraph runs.",
        "Leave subgraph_relation out of SOT_COLLECT_INFO: it works on Paddle 3.0 only, and from 3.2 on ends the program.",
        "a KeyError out of collect_subgraph_relation",
        versions=Versions(paddle_since="3.2"),
    ),
    Cause(
        "log-level",
        "speeds taken with SOT's log switched on",
        "SOT_LOG_LEVEL >= 2 prints several lines in every step: a step of 1 ms takes 1.4 to 1.6 times as long at level 2, 3.5 to "
        "5 times at level 3; a step of 0.1 ms takes 4 to 6 times as long at level 2.",
        "Measure with SOT_LOG_LEVEL unset; use this log for what was captured only.",
        "a log with lines of SOT and lines of a benchmark",
    ),
    Cause(
        "amp-no-effect",
        "automatic mixed precision has no effect on the CPU",
        "Paddle's amp_guard does nothing here: a run on the CPU says nothing of the speed or the types under AMP.",
        "Judge AMP on a GPU only.",
        "Paddle's warning about amp_guard",
    ),
)

# What ends a program without the model being to blame.
MACHINE_IDS = frozenset({COLLECTOR_CRASH, *(cause.id for cause in MACHINE)})
