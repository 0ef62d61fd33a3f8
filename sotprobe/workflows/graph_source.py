"""Where the graphs of ``graph`` and ``graph --diff`` come from, and what is beside them: findings, reports, source lines."""

from __future__ import annotations

import gc
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from urllib.parse import quote

from sotprobe import analyze
from sotprobe.analyze.graph import build_graph, to_records
from sotprobe.analyze.graph_drawing import drawn_graph
from sotprobe.analyze.graph_findings import findings_of
from sotprobe.capture import rundir
from sotprobe.errors import InputError, UsageError
from sotprobe.model import Finding, Run, SourceSite, SubgraphGraph
from sotprobe.model.run import DIAGNOSIS, DYNAMIC, STATIC
from sotprobe.readers import relation
from sotprobe.readers import rundir as reader
from sotprobe.readers.log import LogOptions, read_logs
from sotprobe.report import graph_json
from sotprobe.report import json as json_report
from sotprobe.report.graph_words import Context, FindingAt
from sotprobe.workflows.show import SAVED

_DRAWN = "Paddle's own drawing of one step: it does not tell where in the program a subgraph is"


@dataclass(frozen=True)
class Source:
    """A graph with what belongs to it: findings, where their report is, the program's lines, saved copies of its files."""

    graph: SubgraphGraph
    findings: Sequence[Finding] = ()
    report: Path | None = None
    sources: Mapping[str, str] = field(default_factory=dict)
    copies: Mapping[str, Path] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@contextmanager
def no_collector() -> Iterator[None]:
    """Without the garbage collector, which takes half of the time looking for cycles in a million records that have none."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


# --- reading ---------------------------------------------------------------------------------------------------------


def read_source(name: str, step: int | None = None, rank: str | None = None) -> Source:
    """The graph of a session, a run directory, a log, a saved graph or a drawing of Paddle 3.0, and what belongs to it.

    ``rank`` chooses a process of a log of several. Raises InputError when there is no graph in it, UsageError for a saved graph
    of another step.
    """
    path = Path(name)
    if path.suffix.lower() == ".json" and path.is_file():
        return _saved(path, step)
    if name != "-" and not path.exists():
        raise InputError(f"there is no {path}", "give a directory that compare or record saved, a log, or a saved graph (.json)")
    if path.is_dir():
        return _recorded(path, step)
    if relation.is_drawing(name):
        return _drawn(name, step)
    return _logged(name, step, rank)


def _drawn(name: str, step: int | None) -> Source:
    if step is not None:
        raise UsageError(f"--step {step}: {name} is a drawing of one step", "give the drawing of that step")
    return Source(drawn_graph(relation.read(name)), notes=(_DRAWN,))


def _saved(path: Path, step: int | None) -> Source:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}", "give a file that `sotprobe graph -o FILE.json` wrote") from error
    saved = graph_json.parse(text)
    if step is not None and step != saved.step:
        what = "the whole run" if saved.step is None else f"step {saved.step}"
        raise UsageError(f"--step {step}: {path} is a saved graph of {what}", "give the run directory it was made from")
    return Source(saved)


def _recorded(path: Path, step: int | None) -> Source:
    runs = reader.read_session(path)
    run = _diagnosing(runs, path)
    saved = path / SAVED
    if saved.is_file():
        findings: Sequence[Finding] = json_report.parse(saved.read_text(encoding="utf-8")).findings
    else:
        findings = analyze.diagnose(runs).findings
    records = to_records(build_graph(run, step))
    return Source(records, findings, saved if saved.is_file() else None, run.sources, _copies(Path(run.directory)))


def _diagnosing(runs: Sequence[Run], path: Path) -> Run:
    """The run whose subgraphs were recorded."""
    found = next((run for run in runs if run.mode == STATIC and run.purpose == DIAGNOSIS), None)
    if found is not None:
        return found
    if {run.mode for run in runs} == {DYNAMIC}:
        raise InputError(
            f"{path} is a run of the dynamic mode: it has no subgraphs",
            "give a session that compare saved, or run `sotprobe record PROGRAM --mode static`",
        )
    raise InputError(
        f"{path} has no diagnosing run of the static mode: its subgraphs were not recorded",
        "give the session, not one of its timing runs, or run `sotprobe record PROGRAM --mode static`",
    )


def _logged(name: str, step: int | None, rank: str | None) -> Source:
    reading = read_logs([name], LogOptions())
    ranks = [str(run.environment.get("rank", number)) for number, run in enumerate(reading.runs)]
    if rank is not None and rank not in ranks:
        raise InputError(f"{name} has no rank {rank}", f"it has {', '.join(ranks[:20])}")
    chosen = ranks[0] if rank is None else rank
    run = reading.runs[ranks.index(chosen)]
    notes = ()
    if len(ranks) > 1 and rank is None:
        notes = (f"the log is of {len(ranks)} processes: this is rank {chosen}, --rank N shows another",)
    findings = analyze.diagnose([run]).findings
    return Source(to_records(build_graph(run, step)), findings, sources=run.sources, notes=notes)


def check_drawable(records: SubgraphGraph, source: str) -> None:
    """Raise InputError for a graph without nodes."""
    if records.nodes:
        return
    if records.step is not None:
        raise InputError(f"in step {records.step} of {source} nothing ran below to_static", "leave --step out to see all of it")
    raise InputError(
        f"{source} has no subgraphs: SOT compiled nothing and told of nothing that it left",
        "see `sotprobe show` or `sotprobe log` for why; a log needs SOT_LOG_LEVEL=2 or more",
    )


def _copies(run_dir: Path) -> Mapping[str, Path]:
    """Shown path to the copy of that source file which the run saved."""
    try:
        names = json.loads((run_dir / "sources" / "index.json").read_text(encoding="utf-8"))
        job = json.loads((run_dir / rundir.RUN).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}  # a child that was killed has saved none; lines are then not linked
    shown = reader.display_paths(job["program"]["path"], job["program"].get("given") or job["program"]["path"], job.get("cwd"))
    return {shown(path): run_dir / "sources" / os.path.basename(str(name)) for path, name in names.items()}


# --- what is beside the graph ----------------------------------------------------------------------------------------


def context_of(source: Source, output: Path | None) -> Context:
    """What a picture quotes and links; links are relative to the output."""
    link = None if output is None else _relative_to(output.absolute().parent)
    report = None if link is None or source.report is None else link(source.report)
    findings = {
        node: tuple(
            FindingAt(position + 1, source.findings[position], None if report is None else f"{report}#/findings/{position}")
            for position in positions
        )
        for node, positions in findings_of(source.graph, source.findings).items()
    }
    return Context(_line_of(source.sources, source.graph.lines), _url_of(source.copies, link), findings)


def _line_of(sources: Mapping[str, str], told: Mapping[str, Mapping[int, str]]) -> Callable[[SourceSite], str | None]:
    lines = cache(lambda path: sources[path].splitlines() if path in sources else [])

    def line_of(site: SourceSite) -> str | None:
        found = lines(site.path)
        return found[site.line - 1].strip() if 0 < site.line <= len(found) else told.get(site.path, {}).get(site.line)

    return line_of


def _url_of(copies: Mapping[str, Path], link: Callable[[Path], str] | None) -> Callable[[SourceSite], str | None]:
    """Where a line is: in the user's own file while it is there, else in the copy that the run saved."""

    @cache
    def file_of(path: str) -> str | None:
        if link is None or "\0" in path:
            return None
        candidates = (Path(path), copies.get(path))
        return next((link(file) for file in candidates if file is not None and _is_file(file)), None)

    def url_of(site: SourceSite) -> str | None:
        file = file_of(site.path)
        return None if file is None else f"{file}#L{site.line}"

    return url_of


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # what a log calls a path may be none
        return False


def _relative_to(folder: Path) -> Callable[[Path], str]:
    def link(file: Path) -> str:
        path = os.path.relpath(file.absolute(), folder)
        return quote(path if path.startswith("..") else f"./{path}", safe="/.~-_")

    return link
