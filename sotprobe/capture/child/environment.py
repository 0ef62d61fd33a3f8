"""What the program ran on: versions and the settings that change what SOT does."""

from __future__ import annotations

import os
import platform
import time
from typing import Any

from sotprobe.paddle_compat import flags


def describe(paddle: Any) -> dict[str, Any]:
    """The fields of the ``start`` record."""
    import numpy

    return {
        "pid": os.getpid(),
        "wall_ns": time.time_ns(),
        "python": platform.python_version(),
        "paddle": paddle.__version__,
        "numpy": numpy.__version__,
        "gpu_build": bool(paddle.is_compiled_with_cuda()),
        "device": str(paddle.get_device()),
        "cpu_count": os.cpu_count(),
        "env": flags.recorded(os.environ),
    }
