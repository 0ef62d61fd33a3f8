"""The environment of a child: what it is given, which variables are recorded, and which do nothing or do harm.

The names per version were read from the installed packages of Paddle 2.6.2, 3.0.0, 3.2.2 and 3.3.1: every
``EnvironmentVariable`` of ``paddle/jit`` and ``paddle/utils``, and ``os.getenv`` of ``paddle/jit/dy2static``.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass

MIN_GRAPH_SIZE = "MIN_GRAPH_SIZE"
LOG_LEVEL = "SOT_LOG_LEVEL"

# The minor versions that were read; 3.1 was not, so a name is in doubt there when 3.0 and 3.2 differ.
_READ = ((2, 6), (3, 0), (3, 2), (3, 3))
_ALL = frozenset(_READ)
_SINCE_30 = frozenset({(3, 0), (3, 2), (3, 3)})
_SINCE_32 = frozenset({(3, 2), (3, 3)})
_ONLY_26 = frozenset({(2, 6)})

NAMES: Mapping[str, frozenset[tuple[int, int]]] = {
    "CLEAN_CODE": _ONLY_26,
    "COST_MODEL": _ONLY_26,
    "DY2ST_TEST": _ONLY_26,
    "ENABLE_CINN_IN_DY2ST": _SINCE_32,
    "ENABLE_FALL_BACK": _ALL,
    "ENABLE_SOT_STEP_PROFILER": _SINCE_30,
    "ENV_SOT_TRACE_NUMPY": _SINCE_32,
    "EVENT_LEVEL": _ONLY_26,
    "MIN_GRAPH_SIZE": _ALL,
    "SHOW_TRACKERS": _ONLY_26,
    "SOT_ALLOW_DYNAMIC_SHAPE": _SINCE_30,
    "SOT_BREAK_GRAPH_ON_GET_SYMBOLIC_VALUE": _SINCE_30,
    "SOT_CE_DEBUG_MODE": _SINCE_32,
    "SOT_COLLECT_INFO": _SINCE_30,
    "SOT_ENABLE_0_SIZE_FALLBACK": _SINCE_32,
    "SOT_ENABLE_COMPILE_TIME_LIMIT": frozenset({(3, 3)}),
    "SOT_ENABLE_FASTER_GUARD": _SINCE_30,
    "SOT_ENABLE_GUARD_TREE": _SINCE_30,
    "SOT_ENABLE_STRICT_GUARD_CHECK": _SINCE_32,
    "SOT_EVENT_LEVEL": _SINCE_30,
    "SOT_EXPORT": _SINCE_30,
    "SOT_FORCE_FALLBACK_SIR_IDS": _SINCE_30,
    "SOT_LOG_LEVEL": _ALL,
    "SOT_SERIALIZE_INFO": _SINCE_30,
    "SOT_SPECIALIZED_DIM_NUMBERS": _SINCE_32,
    "SOT_UNSAFE_CACHE_FASTPATH": _SINCE_32,
    "SOT_WITH_CONTROL_FLOW": _SINCE_30,
    "STRICT_MODE": _ALL,
    "TRANSLATOR_CODE_LEVEL": _ALL,
    "TRANSLATOR_VERBOSITY": _ALL,
}

# IntegerEnvironmentVariable falls back to its default, without a word, on anything that int() refuses (3.0-3.3).
_INTEGERS = frozenset({"MIN_GRAPH_SIZE", "SOT_LOG_LEVEL", "SOT_EVENT_LEVEL"})

# Nobody but SOT uses these prefixes, so a name with one that no version reads is a mistake.
_SOT_PREFIXES = ("SOT_", "ENV_SOT_", "ENABLE_SOT_")

# What else decides speed or values and is safe to keep in a run directory.
_RECORDED_PREFIXES = (*_SOT_PREFIXES, "FLAGS_", "GLOG_", "TRANSLATOR_", "CUDA_", "NCCL_", "OMP_", "MKL_", "KMP_")
_RECORDED_NAMES = frozenset({"NVIDIA_TF32_OVERRIDE", "OPENBLAS_NUM_THREADS", "PYTHONHASHSEED"})

# A name this close to a known one was meant to be it.
_NEAR = 0.75
# Of common names of other programs, near to a SOT name by chance.
_FOREIGN = frozenset({"LOG_LEVEL"})

# Measured on the CPU wheels: at 55 characters and more the process aborts at exit ("free(): invalid pointer", 3.3.1).
_LONG_VMODULE = 55


@dataclass(frozen=True)
class EnvironmentIssue:
    """A variable that is set to no effect or to bad effect.

    ``kind`` is ``ignored`` (this version does not read it, or not this value), ``distorts`` (it slows the static mode
    down) or ``breaks`` (it can end the program). ``near`` is the name that was probably meant, None when there is none.
    """

    name: str
    value: str
    kind: str
    text: str
    advice: str
    near: str | None = None


def child_environment(inherited: Mapping[str, str], given: Mapping[str, str], seed: int) -> dict[str, str]:
    """The environment of a child: the user's own, plus what the user asked for.

    Python's string hashes are fixed as well unless the user did so: else the order of a set differs from process to
    process, and with it the order of parameters and random draws.
    """
    return {"PYTHONHASHSEED": str(seed % 2**32), **inherited, **given}


def recorded(environment: Mapping[str, str]) -> dict[str, str]:
    """Those variables that decide what SOT does or how fast it is: what a run directory keeps."""
    return {name: value for name, value in sorted(environment.items()) if _is_recorded(name)}


def check_environment(environment: Mapping[str, str], paddle_version: str) -> list[EnvironmentIssue]:
    """What is wrong with the variables of a run under ``paddle_version``, in the order of their names."""
    version = _minor(paddle_version)
    issues = []
    for name, value in sorted(environment.items()):
        issue = _ignored(name, value, version, paddle_version) or _harmful(name, value, version)
        if issue is not None:
            issues.append(issue)
    return issues


def _is_recorded(name: str) -> bool:
    return name in NAMES or name in _RECORDED_NAMES or name.startswith(_RECORDED_PREFIXES) or near_name(name) is not None


def near_name(name: str, among: Mapping[str, object] | None = None) -> str | None:
    """The SOT variable that ``name`` was probably meant to be: ``GRAPH_SIZE`` -> ``MIN_GRAPH_SIZE``."""
    if name in NAMES or name in _FOREIGN or not re.search("[A-Z]_[A-Z]", name):
        return None
    close = difflib.get_close_matches(name, among or NAMES, n=1, cutoff=_NEAR)
    return close[0] if close else None


def _ignored(name: str, value: str, version: tuple[int, int], full: str) -> EnvironmentIssue | None:
    if name in NAMES:
        if not _reads(name, version):
            text = f"Paddle {full} does not read {name}; {_versions(name)} does"
            return _issue(name, value, "ignored", text, _instead(name, version))
        if name in _INTEGERS and not _is_int(value):
            text = f"{name}={value} is no integer, so Paddle uses its default without a word"
            return _issue(name, value, "ignored", text, f"set {name} to an integer")
        return None
    near = near_name(name, {known: None for known in NAMES if _reads(known, version)})
    if near is None and not name.startswith(_SOT_PREFIXES):
        return None
    advice = f"did you mean {near}?" if near else f"remove {name}"
    return _issue(name, value, "ignored", f"no Paddle version reads {name}", advice, near)


def _instead(name: str, version: tuple[int, int]) -> str:
    replacements = {"EVENT_LEVEL": "SOT_EVENT_LEVEL"}
    other = replacements.get(name)
    return f"use {other}" if other and _reads(other, version) else f"remove {name}"


def _harmful(name: str, value: str, version: tuple[int, int]) -> EnvironmentIssue | None:
    if name == LOG_LEVEL and _is_int(value) and int(value) > 1:
        text = f"{name}={value} logs during every step: a small model ran {_slowdown(int(value))} slower with it"
        return _issue(name, value, "distorts", text, f"unset {name}: sotprobe needs no log to explain a run")
    if name == "SOT_COLLECT_INFO" and "subgraph_relation" in value and version >= (3, 2):
        text = "subgraph_relation ends the program with KeyError: 'fx' as soon as a subgraph runs (3.2.2, 3.3.1)"
        return _issue(name, value, "breaks", text, "remove subgraph_relation")
    if name == "SOT_COLLECT_INFO" and "subgraph_info" in value:
        text = "subgraph_info prints at every step: a small model ran 1.5 times slower with it"
        return _issue(name, value, "distorts", text, "remove subgraph_info while measuring")
    if name == "GLOG_vmodule" and len(value) >= _LONG_VMODULE:
        text = f"a GLOG_vmodule of {len(value)} characters aborts the process at its end (free(): invalid pointer)"
        return _issue(name, value, "breaks", text, "shorten it with globs, e.g. run_program*=3")
    return None


def _slowdown(level: int) -> str:
    return "1.4 to 1.6 times" if level == 2 else "3.5 to 5 times"


def _issue(name: str, value: str, kind: str, text: str, advice: str, near: str | None = None) -> EnvironmentIssue:
    return EnvironmentIssue(name, value, kind, text, advice, near)


def _minor(version: str) -> tuple[int, int]:
    """``3.3.1`` -> (3, 3). A development build (``0.0.0``) counts as the newest that was read."""
    numbers = re.match(r"(\d{1,9})\.(\d{1,9})", version)
    found = (int(numbers[1]), int(numbers[2])) if numbers else (0, 0)
    return found if found > (0, 0) else _READ[-1]


def _reads(name: str, version: tuple[int, int]) -> bool:
    """Whether ``version`` reads ``name``; between two versions that were read, either suffices."""
    older = max((known for known in _READ if known <= version), default=_READ[0])
    newer = min((known for known in _READ if known >= version), default=_READ[-1])
    return older in NAMES[name] or newer in NAMES[name]


def _versions(name: str) -> str:
    known = sorted(NAMES[name])
    first, last = (".".join(map(str, version)) for version in (known[0], known[-1]))
    if known[-1] == _READ[-1]:
        return f"{first} and later" if first != last else f"{first}"
    return first if first == last else f"{first} to {last}"


def _is_int(value: str) -> bool:
    try:
        int(value)
    except ValueError:
        return False
    return True
