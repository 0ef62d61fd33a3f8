"""Record the logs in tests/golden/logs again, with the Paddle of this interpreter.

    python tools/capture_log.py [WHAT...]

Runs tests/golden/logs/programs/patterns.py once for each recording below that this Paddle and Python are for, writes
<paddle>_<python>_<what>.txt (.txt.gz when it is large) with paths of this machine replaced, and renews the lines of
PROVENANCE.md. WHAT are names of recordings; without any, all are made. Recording subgraph_relation needs graphviz, the Python
package and the program.
"""

from __future__ import annotations

import datetime
import gzip
import os
import platform
import re
import subprocess
import sys
import sysconfig
import tempfile
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).parents[1]
LOGS = ROOT / "tests" / "golden" / "logs"
PROGRAMS = LOGS / "programs"
PROVENANCE = LOGS / "PROVENANCE.md"
LARGE = 40_000


@dataclass(frozen=True)
class Recording:
    """``since`` and ``until`` are the first and last Paddle version that have it; ``everywhere``: also on Pythons but 3.11."""

    patterns: str
    environment: dict[str, str] = field(default_factory=dict)
    since: str = "2.6"
    until: str = "9"
    everywhere: bool = False


_PLAIN = "plain print_break helper_break tensor_if float_value shape_churn"
RECORDINGS = {
    "level1": Recording(
        "plain print_break tensor_if loop_break dict_update shape_churn int_argument no_grad zero_size symbolic",
        {"SOT_LOG_LEVEL": "1"},
    ),
    "level2": Recording(
        "print_break=2 helper_break=2 tensor_if=2 is_none=2 item_value float_value=2 loop_break=1 dict_update=2 format_tensor=1 "
        "shape_churn no_grad=1 numpy_read=1 list_of=2 generator=2 zero_size=2 closure_break=1",
        {"SOT_LOG_LEVEL": "2"},
        everywhere=True,
    ),
    "level3": Recording(
        "print_break=2 helper_break=1 loop_break=1 generator=1 text_argument=1 numpy_read=1 symbolic=2",
        {"SOT_LOG_LEVEL": "3"},
        everywhere=True,
    ),
    "level4": Recording("print_break=2 text_argument=1 inner_layers=1", {"SOT_LOG_LEVEL": "4"}),
    "level5": Recording("print_break=1 generator=1", {"SOT_LOG_LEVEL": "5"}),
    "guard_error": Recording("other_key", {"SOT_LOG_LEVEL": "2"}),
    "fastpath": Recording("small=35", {"SOT_LOG_LEVEL": "2", "SOT_UNSAFE_CACHE_FASTPATH": "1"}, since="3.2"),
    "limit_per_code": Recording("cached=3", {"SOT_LOG_LEVEL": "2", "SOTPROBE_LIMIT": "per-code"}, since="3.2"),
    "limit_total": Recording("cached=4", {"SOT_LOG_LEVEL": "2", "SOTPROBE_LIMIT": "total"}, since="3.2"),
    "guard_tree": Recording(
        "print_break=2 shape_churn float_value=2",
        {"SOT_LOG_LEVEL": "2", "SOT_ENABLE_GUARD_TREE": "1"},
        since="3.2",
    ),
    "guard_tree_strict": Recording(
        "shape_churn",
        {"SOT_LOG_LEVEL": "4", "SOT_ENABLE_GUARD_TREE": "1", "SOT_ENABLE_STRICT_GUARD_CHECK": "1"},
        since="3.2",
    ),
    "collect": Recording(
        _PLAIN, {"SOT_COLLECT_INFO": "breakgraph_reason,compile_count,subgraph_info"}, since="3.0"
    ),
    "collect_level2": Recording(
        "print_break=2 helper_break=2 float_value=2",
        {"SOT_LOG_LEVEL": "2", "SOT_COLLECT_INFO": "breakgraph_reason,compile_count,subgraph_info"},
        since="3.0",
    ),
    "collect_details": Recording(
        "plain=1 print_break=2", {"SOT_COLLECT_INFO": "breakgraph_reason,subgraph_info[details]"}, since="3.0"
    ),
    "collect_serialized": Recording(
        "plain=2 helper_break=1",
        {"SOT_COLLECT_INFO": "breakgraph_reason,compile_count,subgraph_info[details]", "SOT_SERIALIZE_INFO": "1"},
        since="3.0",
    ),
    "collect_hit_rate": Recording(_PLAIN, {"SOT_COLLECT_INFO": "new_symbol_hit_rate"}, since="3.0"),
    "collect_relation": Recording(
        "print_break=2 helper_break=1", {"SOT_COLLECT_INFO": "subgraph_relation"}, since="3.0", until="3.1"
    ),
    "ce_debug": Recording(_PLAIN, {"SOT_CE_DEBUG_MODE": "1"}, since="3.2"),
    "step_profiler": Recording(_PLAIN, {"ENABLE_SOT_STEP_PROFILER": "1"}, since="3.0"),
    "export": Recording("numpy_scalar=1 plain=1 print_break=1", {"SOT_EXPORT": "exported"}, since="3.0"),
}  # fmt: skip


def main(names: list[str]) -> int:
    unknown = set(names) - RECORDINGS.keys()
    if unknown:
        sys.stderr.write(f"no recording is called {', '.join(sorted(unknown))}\n{__doc__}")
        return 2
    paddle, python = version("paddlepaddle"), ".".join(platform.python_version_tuple()[:2])
    for what, recording in RECORDINGS.items():
        if (not names or what in names) and _is_for(recording, paddle, python):
            _record(f"{paddle}_py{python.replace('.', '')}_{what}", recording)
    return 0


def _is_for(recording: Recording, paddle: str, python: str) -> bool:
    number = _number(paddle)
    return (
        _number(recording.since) <= number
        and number[: len(_number(recording.until))] <= _number(recording.until)
        and (recording.everywhere or python == "3.11")
    )


def _number(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", text))


def _record(name: str, recording: Recording) -> None:
    environment = {"MIN_GRAPH_SIZE": "0", **recording.environment}
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, str(PROGRAMS / "patterns.py"), *recording.patterns.split()]
        done = subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, "PYTHONUNBUFFERED": "1", "COLUMNS": "80", **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        text = done.stdout.decode("utf-8", errors="surrogateescape")
        for drawing in Path(folder).rglob("*.svg"):
            (LOGS / f"{name}_{drawing.stem.rpartition('_')[2]}.svg").write_bytes(drawing.read_bytes())
    for real, shown in _replacements():
        text = text.replace(real, shown)
    written = _write(name, text.encode("utf-8", errors="surrogateescape"))
    shown_environment = " ".join(f"{key}={value}" for key, value in environment.items())
    _note(written, f"`{shown_environment} python programs/patterns.py {recording.patterns}`; exit code {done.returncode}")


def _write(name: str, data: bytes) -> str:
    for old in LOGS.glob(f"{name}.txt*"):
        old.unlink()
    file = LOGS / (f"{name}.txt.gz" if len(data) > LARGE else f"{name}.txt")
    file.write_bytes(gzip.compress(data, mtime=0) if len(data) > LARGE else data)
    return file.name


def _replacements() -> list[tuple[str, str]]:
    """Longest first: the environment may lie below the project, and the project below a home."""
    paths = {
        str(PROGRAMS): "/proj",
        sysconfig.get_paths()["purelib"]: f"/env/lib/python{platform.python_version().rpartition('.')[0]}/site-packages",
        sys.prefix: "/env",
        sysconfig.get_paths()["stdlib"]: f"/python/lib/python{platform.python_version().rpartition('.')[0]}",
        sys.base_prefix: "/python",
    }
    return sorted(paths.items(), key=lambda item: -len(item[0]))


def _note(name: str, command: str) -> None:
    """Renew the line about a log."""
    line = f"- `{name}`: {command}; Python {platform.python_version()}; {datetime.date.today().isoformat()}"
    lines = PROVENANCE.read_text(encoding="utf-8").splitlines() if PROVENANCE.exists() else []
    others = [old for old in lines if not old.startswith(f"- `{name}`:")]
    head = "\n".join(old for old in others if not old.startswith("- `")).rstrip()
    logs = "\n".join(sorted([*(old for old in others if old.startswith("- `")), line]))
    PROVENANCE.write_text(f"{head}\n\n{logs}\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
