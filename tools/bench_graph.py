"""What drawing a large graph takes: run directories of 100, 1,000 and 10,000 subgraph versions, from records to SVG and page.

    python tools/bench_graph.py [--versions 100 1000 10000] [--pieces 5] [--translations 4] [--statements 12] [--full]

A made-up program: each function is split by breaks into ``--pieces`` subgraphs, each of them translated ``--translations`` times
because a shape changed; functions lie in files of ten. Times are seconds, of one run each; `command` is a process of its own
from start to end (`sotprobe graph RUN -o FILE.html`), `its cpu` the processor time of that, which other work on the machine moves
less. `growth` is that of the total when there are ten times as many versions.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FUNCTIONS_IN_A_FILE = 10
LINES_OF_A_PIECE = 12
STAGES = ("read", "diagnose", "graph", "fold", "dot text", "dot", "page", "total", "command", "its cpu")

Record = dict[str, Any]


def main() -> None:
    arguments = _arguments()
    sys.path.insert(0, str(ROOT))
    shape = (arguments.pieces, arguments.translations, arguments.statements)
    print(
        f"{arguments.pieces} pieces a function, {arguments.translations} versions a piece, {arguments.statements} statements; s"
    )
    print(f"{'versions':>8}  {'places':>6}  {'drawn':>5}  {'records':>9}  " + "  ".join(f"{name:>8}" for name in STAGES))
    totals: list[tuple[int, float]] = []
    for versions in arguments.versions:
        with tempfile.TemporaryDirectory() as folder:
            run_dir = Path(folder) / "run"
            size = write_run(run_dir, versions, *shape)
            places, drawn, taken = measure(run_dir, full=arguments.full)
            taken |= command(run_dir, full=arguments.full)
        totals.append((versions, taken["total"]))
        cells = "  ".join(f"{taken[name]:8.3f}" for name in STAGES)
        print(f"{versions:>8}  {places:>6}  {drawn:>5}  {size / 1e6:6.1f} MB  {cells}", flush=True)
    for (few, short), (many, long) in pairwise(totals):
        growth = (long / short) ** (math.log(10) / math.log(many / few))
        print(f"{few} -> {many} versions: growth x{growth:.1f} for ten times as many")


def measure(run_dir: Path, *, full: bool) -> tuple[int, int, dict[str, float]]:
    """Places, drawn nodes, and the seconds of each stage."""
    from sotprobe import analyze
    from sotprobe.analyze.graph import build_graph, to_records
    from sotprobe.analyze.graph_findings import findings_of
    from sotprobe.analyze.graph_fold import picture
    from sotprobe.readers.rundir import read_run
    from sotprobe.report import graph_dot, graph_html, graph_svg
    from sotprobe.report.graph_words import Context, FindingAt

    gc.disable()  # as the command does
    taken: dict[str, float] = {}

    def timed(stage: str, work: Callable[[], Any]) -> Any:
        start = time.perf_counter()
        result = work()
        taken[stage] = time.perf_counter() - start
        return result

    run = timed("read", lambda: read_run(run_dir))
    findings = timed("diagnose", lambda: analyze.diagnose([run]).findings)
    graph = timed("graph", lambda: to_records(build_graph(run)))
    shown = timed("fold", lambda: picture(graph, full=full))
    at = {node: tuple(FindingAt(i + 1, findings[i]) for i in found) for node, found in findings_of(graph, findings).items()}
    context = Context(findings=at)
    text = timed("dot text", lambda: graph_dot.render(shown, context))
    svg = timed("dot", lambda: graph_svg.render(text))
    timed("page", lambda: graph_html.render(shown, context, svg))
    taken["total"] = sum(taken.values())
    gc.enable()
    gc.collect()
    return graph.summary.subgraphs, len(shown.nodes), taken


def command(run_dir: Path, *, full: bool) -> dict[str, float]:
    """Seconds of ``sotprobe graph RUN -o FILE.html`` on the clock, and of processor time with that of ``dot``."""
    options = ["--full"] if full else []
    called = [sys.executable, "-m", "sotprobe", "graph", str(run_dir), "-o", str(run_dir / "graph.html"), *options]
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(called, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
    taken, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return {"command": taken, "its cpu": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime}


# --- a run that never was --------------------------------------------------------------------------------------------


def write_run(run_dir: Path, versions: int, pieces: int, translations: int, statements: int) -> int:
    """Write a run directory with about so many subgraph versions; returns the size of its records in bytes."""
    run_dir.mkdir(parents=True)
    program = {"path": "/proj/train.py", "given": "train.py", "kind": "script", "arguments": []}
    head = {"format_version": 1, "kind": "run", "mode": "static", "purpose": "diagnosis", "round": 0, "program": program}
    (run_dir / "run.json").write_text(json.dumps({**head, "cwd": "/proj", "options": {}, "env": {}, "python": "python"}))
    (run_dir / "exit.json").write_text(json.dumps({"code": 0, "signal": None, "timed_out": False, "wall_ns": 1}))
    functions = max(1, round(versions / (pieces * translations)))
    records = run_dir / "records.jsonl"
    with records.open("w", encoding="utf-8") as file:
        for record in _records(functions, pieces, translations, statements):
            file.write(json.dumps({"t": 0, **record}) + "\n")
    return records.stat().st_size


def _records(functions: int, pieces: int, translations: int, statements: int) -> Iterator[Record]:
    """Step 0 translates everything once, each further one everything again, and the last two run what there is."""
    yield {"kind": "start", "python": "3.11.7", "paddle": "3.3.1", "gpu_build": False, "cpu_count": 2, "env": {}, "pid": 1}
    number = 0
    newest: dict[int, str] = {}
    for step in range(translations + 2):
        if step < translations:
            for frame in range(functions * pieces):
                newest[frame] = f"SIR_{number}"
                number += 1
                yield from _translation(frame, step, pieces, statements, newest)
        runs = [{"name": name, "count": 1, "forward_ns": 100_000} for name in newest.values()]
        yield {"kind": "subgraph-runs", "step": step, "runs": runs}
        links = [
            {"to": newest[frame + 1], "input": 0, "from": newest[frame], "output": 0, "origin": "subgraph", "count": 1}
            | {"shape": [step + 2, 64], "dtype": "float32", "bytes": 512}
            for frame in range(functions * pieces - 1)
        ]
        yield {"kind": "subgraph-flow", "step": step, "links": links}
        translated = functions * pieces if step < translations else 0
        frames = [{"code": frame, "entered": 1, "hits": 1 - bool(translated), "fallback_hits": 0} for frame in newest]
        more = {"translated": int(bool(translated)), "cache_full": 0, "compile_limit": 0, "callback_ns": 1000}
        yield {"kind": "frames", "step": step, "frames": [frame | more for frame in frames]}
        head = {"kind": "step", "index": step, "source": "case", "start_ns": step, "wall_ns": 10_000_000}
        yield {**head, "translations": translated, "loss": None, "batch_size": None}
    yield {"kind": "end", "reason": "returned", "code": 0}


def _translation(frame: int, step: int, pieces: int, statements: int, newest: dict[int, str]) -> Iterator[Record]:
    """One translation of a frame: the function itself, or what follows its last break."""
    function, piece = divmod(frame, pieces)
    file = f"/proj/models/part{function // FUNCTIONS_IN_A_FILE}.py"
    name = f"forward{function}"
    defined = 10 + (function % FUNCTIONS_IN_A_FILE) * 100
    lines = [defined + (index + 1) * LINES_OF_A_PIECE for index in range(pieces)]
    if step == 0:
        code = {"kind": "code", "id": frame, "path": file, "line": defined, "function": name, "user": True, "flags": []}
        raw = name if piece == 0 else f"$resume_{piece}@{name}_00000"
        yield {**code, "raw": raw, "break_lines": lines[:piece], "break_sides": [""] * piece}
    if piece < pieces - 1:
        site = {"path": file, "line": lines[piece], "function": name}
        broke = {"kind": "break", "step": step, "code": frame, "how": "call", "site": site, "reason": None, "opcode": "CALL"}
        yield {**broke, "message": "Calling `Tensor.item` causes breakgraph.", "stack": [site], "outer": []}
    if step:
        guard = {"expression": f"frame.f_locals['x'].shape[0] == {step + 1}", "expected": str(step + 1), "seen": str(step + 2)}
        missed = {"kind": "recompile", "step": step, "code": frame, "entries": step, "guards": [guard]}
        yield {**missed, "wall_ns": 50_000_000, "site": {"path": file, "line": defined, "function": name}}
    translated = {"kind": "translate", "step": step, "code": frame, "nth": step + 1, "outcome": "compiled"}
    yield {**translated, "wall_ns": 50_000_000, "message": "", "nested_disabled": False}
    texts = [
        {"text": f"api || var_{index + 1} = paddle.tanh (var_{index})", "path": file, "function": name}
        | {"line": lines[piece] - LINES_OF_A_PIECE + 1 + index % (LINES_OF_A_PIECE - 1)}
        for index in range(statements)
    ]
    tensor = {"name": "var_0", "ir_shape": [-1, 64], "dtype": "float32"}
    graph = {"kind": "subgraph", "step": step, "name": newest[frame], "code": frame, "statements": texts, "ops": statements}
    outputs = [{**tensor, "name": f"var_{statements}"}]
    yield {**graph, "inputs": [tensor], "outputs": outputs, "compile_ns": 30_000_000, "dropped": None, "params": 0}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--versions", nargs="+", type=int, default=(100, 1000, 10000))
    parser.add_argument("--pieces", type=int, default=5)
    parser.add_argument("--translations", type=int, default=4)
    parser.add_argument("--statements", type=int, default=12)
    parser.add_argument("--full", action="store_true", help="do not fold; graphviz then takes minutes for thousands of nodes")
    return parser.parse_args()


if __name__ == "__main__":
    main()
