"""The first code of a child process: ``python .../sotprobe/capture/start.py RUN_DIR``, run as a file, never imported.

The same as ``python -m sotprobe.capture.child RUN_DIR``, but with the sotprobe that started it, whatever else is
installed; without the current directory in front of the standard library (a project's ``profiler.py`` must not be
imported by sotprobe or Paddle where ``python program.py`` would not import it); and it dies with its parent.
"""

import sys

_ROOT = __file__.rpartition("/sotprobe/")[0]

# sys.path[0] is this file's directory. Until the child puts the program's directory in front, a directory without modules
# keeps the place, so that the standard library comes first.
sys.path[0] = sys.argv[1] if _ROOT in sys.path[1:] else _ROOT

import ctypes  # noqa: E402 - sys.path comes first
import runpy  # noqa: E402
import signal  # noqa: E402

if sys.platform == "linux":
    # A parent that was killed enforces no timeout any more.
    _PR_SET_PDEATHSIG = 1  # linux/prctl.h
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)

runpy.run_module("sotprobe.capture.child", run_name="__main__")
