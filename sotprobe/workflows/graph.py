"""``graph``: the subgraphs of a run as a picture, a page, JSON or a table."""

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
from sotprobe.analyze.graph_findings import findings_of
from sotprobe.analyze.graph_fold import Picture, picture
from sotprobe.capture import rundir
from sotprobe.errors import InputError, ToolMissing, UsageError
from sotprobe.model import Finding, Run, SourceSite, SubgraphGraph
from sotprobe.model.run import DIAGNOSIS, DYNAMIC, STATIC
from sotprobe.readers import rundir as reader
from sotprobe.readers.log import LogOptions, read_logs
from sotprobe.report import graph_dot, graph_html, graph_json, graph_svg
from sotprobe.report import json as json_report
from sotprobe.report.graph_words import Context, FindingAt
from sotprobe.workflows.show import SAVED

FORMATS = (".svg", ".dot", ".json", ".html")


@dataclass(frozen=True)
class GraphRequest:
    """What the user asked of ``graph``. ``source`` is a session, a run directory, a log or a saved graph.

    ``rank`` chooses a process of a log of several. ``full`` never folds, ``depth`` folds by parts of the module path.
    """

    source: str
    output: str | None = None
    step: int | None = None
    rank: str | None = None
    full: bool = False
    depth: int | None = None


@dataclass(frozen=True)
class GraphResult:
    """``notes`` say what was chosen where there was a choice."""

    picture: Picture
    context: Context
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Source:
    """A graph with what belongs to it: findings, where their report is, the program's lines, saved copies of its files."""

    graph: SubgraphGraph
    findings: Sequence[Finding] = ()
    report: Path | None = None
    sources: Mapping[str, str] = field(default_factory=dict)
    copies: Mapping[str, Path] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def graph(request: GraphRequest) -> GraphResult:
    """Read the source, build its graph and, with an output, write that.

    Raises InputError when there is no graph in the source or the output cannot be written, UsageError for an output of an
    unknown format, and ToolMissing when graphviz is needed and absent (the .dot file is then written in its place).
    """
    output = None if request.output is None else _checked(request.output)
    with _no_collector():
        source = _read(request)
        _check_drawable(source.graph, request.source)
        shown = picture(source.graph, full=request.full, depth=request.depth)
        result = GraphResult(shown, _context(source, output), source.notes)
        if output is not None:
            _write(output, result)
    return result


@contextmanager
def _no_collector() -> Iterator[None]:
    """Without the garbage collector, which takes half of the time looking for cycles in a million records that have none."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


# --- reading ---------------------------------------------------------------------------------------------------------


def _read(request: GraphRequest) -> _Source:
    path = Path(request.source)
    if path.suffix.lower() == ".json" and path.is_file():
        return _saved(path, request)
    if request.source != "-" and not path.exists():
        raise InputError(f"there is no {path}", "give a directory that compare or record saved, a log, or a saved graph (.json)")
    if path.is_dir():
        return _recorded(path, request)
    return _logged(request)


def _saved(path: Path, request: GraphRequest) -> _Source:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}", "give a file that `sotprobe graph -o FILE.json` wrote") from error
    saved = graph_json.parse(text)
    if request.step is not None and request.step != saved.step:
        what = "the whole run" if saved.step is None else f"step {saved.step}"
        raise UsageError(f"--step {request.step}: {path} is a saved graph of {what}", "give the run directory it was made from")
    return _Source(saved)


def _recorded(path: Path, request: GraphRequest) -> _Source:
    runs = reader.read_session(path)
    run = _diagnosing(runs, path)
    saved = path / SAVED
    if saved.is_file():
        findings: Sequence[Finding] = json_report.parse(saved.read_text(encoding="utf-8")).findings
    else:
        findings = analyze.diagnose(runs).findings
    records = to_records(build_graph(run, request.step))
    return _Source(records, findings, saved if saved.is_file() else None, run.sources, _copies(Path(run.directory)))


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


def _logged(request: GraphRequest) -> _Source:
    reading = read_logs([request.source], LogOptions())
    ranks = [str(run.environment.get("rank", number)) for number, run in enumerate(reading.runs)]
    if request.rank is not None and request.rank not in ranks:
        raise InputError(f"{request.source} has no rank {request.rank}", f"it has {', '.join(ranks[:20])}")
    chosen = ranks[0] if request.rank is None else request.rank
    run = reading.runs[ranks.index(chosen)]
    notes = ()
    if len(ranks) > 1 and request.rank is None:
        notes = (f"the log is of {len(ranks)} processes: this is rank {chosen}, --rank N shows another",)
    findings = analyze.diagnose([run]).findings
    return _Source(to_records(build_graph(run, request.step)), findings, sources=run.sources, notes=notes)


def _check_drawable(records: SubgraphGraph, source: str) -> None:
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


def _context(source: _Source, output: Path | None) -> Context:
    link = None if output is None else _relative_to(output.absolute().parent)
    report = None if link is None or source.report is None else link(source.report)
    findings = {
        node: tuple(
            FindingAt(position + 1, source.findings[position], None if report is None else f"{report}#/findings/{position}")
            for position in positions
        )
        for node, positions in findings_of(source.graph, source.findings).items()
    }
    return Context(_line_of(source.sources), _url_of(source.copies, link), findings)


def _line_of(sources: Mapping[str, str]) -> Callable[[SourceSite], str | None]:
    lines = cache(lambda path: sources[path].splitlines() if path in sources else [])

    def line_of(site: SourceSite) -> str | None:
        found = lines(site.path)
        return found[site.line - 1].strip() if 0 < site.line <= len(found) else None

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


# --- writing ---------------------------------------------------------------------------------------------------------


def _checked(output: str) -> Path:
    """The output's path; raises now rather than after minutes of reading."""
    path = Path(output)
    if path.suffix.lower() not in FORMATS:
        raise UsageError(f"cannot tell the format of {output}", f"end its name in {', '.join(FORMATS[:-1])} or {FORMATS[-1]}")
    parent = path.absolute().parent
    if path.is_dir() or not parent.is_dir() or not os.access(path if path.exists() else parent, os.W_OK):
        raise _unwritable(path)
    return path


def _unwritable(path: Path) -> InputError:
    return InputError(f"cannot write {path}", "give -o a file in an existing, writable directory")


def _write(path: Path, result: GraphResult) -> None:
    kind = path.suffix.lower()
    if kind == ".json":
        _save(path, graph_json.render(result.picture.graph))
    elif kind == ".dot":
        _save(path, graph_dot.render(result.picture, result.context))
    elif kind == ".svg":
        _save(path, _drawn(path, result, page=False))
    else:
        _save(path, graph_html.render(result.picture, result.context, _drawn(path, result, page=True)))


def _drawn(path: Path, result: GraphResult, *, page: bool) -> str:
    try:
        return graph_svg.render(graph_dot.render(result.picture, result.context, page=page))
    except ToolMissing as error:
        instead = path.with_suffix(".dot")
        _save(instead, graph_dot.render(result.picture, result.context))
        raise ToolMissing(f"{error.message}; wrote {instead} instead of {path}", error.hint) from error


def _save(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise _unwritable(path) from error
