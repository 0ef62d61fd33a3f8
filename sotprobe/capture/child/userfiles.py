"""Whose code a file is: the user's, or a library's (never a finding's site)."""

from __future__ import annotations

import functools
import os
import site
import sys
import sysconfig


def _library_prefixes() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    roots = {paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    roots.update(site.getsitepackages())
    roots.add(site.getusersitepackages())
    # A venv's base installation holds the standard library.
    roots.add(os.path.join(sys.base_prefix, "lib", f"python{sys.version_info[0]}.{sys.version_info[1]}"))
    roots.add(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))  # sotprobe itself
    return tuple(os.path.join(os.path.realpath(root), "") for root in roots) + tuple(
        os.path.join(root, "") for root in roots
    )


_PREFIXES = _library_prefixes()
_PARTS = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")


@functools.cache
def is_user_file(path: str) -> bool:
    """True for files of the user's program; False for the standard library, installed packages and generated code."""
    if not path or path.startswith("<"):
        return False
    return not (path.startswith(_PREFIXES) or any(part in path for part in _PARTS))


def put_first(directory: str) -> None:
    """Make ``directory`` the first place to import from, as ``python directory/program.py`` would.

    It replaces what the interpreter put there for sotprobe's own start, unless sotprobe is imported from there.
    """
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
    if sys.path[0] == root and root not in sys.path[1:]:
        sys.path.insert(0, directory)
    else:
        sys.path[0] = directory
