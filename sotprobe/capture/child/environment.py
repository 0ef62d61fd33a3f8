"""What the program ran on: versions and the settings that change what SOT does."""

from __future__ import annotations

import os
import platform
import time
from typing import Any

_PREFIXES = ("SOT_", "FLAGS_", "OMP_", "MKL_", "OPENBLAS_", "CUDA_", "GLOG_", "ENV_SOT_", "ENABLE_", "TRANSLATOR_")
_NAMES = ("MIN_GRAPH_SIZE", "STRICT_MODE", "COST_MODEL", "GRAPH_SIZE", "CLEAN_CODE", "SHOW_TRACKERS", "EVENT_LEVEL",
          "DY2ST_TEST")


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
        "env": {k: v for k, v in sorted(os.environ.items()) if k.startswith(_PREFIXES) or k in _NAMES},
    }
