"""``mode-divergent-path``: lines that only one mode ran, reported at the branch that decides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sotprobe.analyze.facts import Facts, Line
from sotprobe.analyze.rules.base import BRANCH_LINES, WARNING, Claim, Draft, make
from sotprobe.analyze.source import Branch, SourceFile
from sotprobe.model import Evidence, Run, SourceSite
from sotprobe.model.run import DYNAMIC, STATIC

_ADVICE = (
    "The two modes do not run the same code here. Make the branch not depend on the mode, or compare like with like; what "
    "only one mode does is part of its time."
)


def mode_divergent_path(facts: Facts) -> Iterator[Draft]:
    """Branches of which the modes took opposite sides in the same steps.

    What SOT compiled shows in the step it was translated in: by the lines simulated, or by those its statements came from.
    Lines without operators are then not known to have run, so a side counts as taken only where a line on it is seen, or where
    the branch itself is and its body is not.
    """
    if facts.dynamic is None or facts.static is None:
        return
    steps = _steps(facts.dynamic) & _steps(facts.static)
    seen = {run.mode: _statements(facts, run, steps) for run in (facts.dynamic, facts.static)}
    for path in sorted({path for path, _ in seen[DYNAMIC]} & {path for path, _ in seen[STATIC]}):
        file = facts.sources.file(path)
        for branch in file.branches if file else ():
            sides = {mode: _sides(file, branch, path, lines) for mode, lines in seen.items()}
            if sides[DYNAMIC] and sides[STATIC] and not sides[DYNAMIC] & sides[STATIC]:
                yield _draft(facts, file, branch, path, sides)


def _steps(run: Run) -> set[int]:
    built = {graph.built_at_step for graph in run.subgraphs if graph.built_at_step is not None}
    return set(run.coverage) | built


def _statements(facts: Facts, run: Run, steps: Iterable[int]) -> set[Line]:
    """The statements that ran or were captured in some steps, by first line: a call over several lines is one."""
    wanted = set(steps)
    sites = {site for step in wanted for site in run.coverage.get(step, ())}
    for graph in run.subgraphs:
        if graph.built_at_step in wanted:
            sites.update(statement.site for statement in graph.statements if statement.site is not None)
    found = set()
    for site in sites:
        file = facts.sources.file(site.path)
        line = file.statement_line(site.line) if file else None
        if line is not None:
            found.add((site.path, line))
    return found


def _sides(file: SourceFile, branch: Branch, path: str, lines: set[Line]) -> set[str]:
    """The sides of a branch that a mode was seen on; functions defined on a side are no part of it."""
    function = file.function_at(branch.line)
    sides = {
        side
        for where, line in lines
        if where == path and (side := branch.side(line)) is not None and file.function_at(line) == function
    }
    return sides or ({"else"} if (path, branch.line) in lines else set())


def _draft(facts: Facts, file: SourceFile, branch: Branch, path: str, sides: dict[str, set[str]]) -> Draft:
    function = file.function_at(branch.line)
    site = SourceSite(path, branch.line, function.name if function else "<module>")
    evidence = [Evidence("coverage", text) for mode in (DYNAMIC, STATIC) for text in _texts(branch, mode, sides[mode])]
    finding = make(
        facts, "mode-divergent-path", WARNING, "the two modes take different sides of this branch", site, evidence, advice=_ADVICE
    )
    ran = [branch.body if side == "if" else branch.orelse for side in sides[STATIC]]
    lines = frozenset((path, line) for span in ran if span for line in range(span.first, span.last + 1))
    return Draft(finding, Claim(lines=lines, rank=BRANCH_LINES))


def _texts(branch: Branch, mode: str, sides: set[str]) -> Iterator[str]:
    for side in sides:
        span = branch.body if side == "if" else branch.orelse
        if span is None:
            yield f"the {mode} mode skips line {branch.body.first}-{branch.body.last}"
        else:
            yield (
                f"only the {mode} mode runs line {span.first}-{span.last}"
                if span.last > span.first
                else (f"only the {mode} mode runs line {span.first}")
            )
