"""``mode-divergent-path``: lines that only one mode ran, reported at the branch that decides."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from sotprobe.analyze.facts import Facts, Line
from sotprobe.analyze.rules.base import BRANCH_LINES, WARNING, Claim, Draft, make
from sotprobe.model import Evidence, Run, SourceSite

_ADVICE = (
    "The two modes do not run the same code here. Make the branch not depend on the mode, or compare like with like; what only one "
    "mode does is part of its time."
)


def mode_divergent_path(facts: Facts) -> Iterator[Draft]:
    """Branches that each mode took another way in the same traced steps, though both reached the branch."""
    dynamic, static = facts.dynamic, facts.static
    if dynamic is None or static is None:
        return
    steps = dynamic.coverage.keys() & static.coverage.keys()
    dynamic_ran, static_ran = (_statements(facts, run, steps) for run in (dynamic, static))
    if not dynamic_ran or not static_ran:
        return
    branches: dict[Line, dict[str, set[Line]]] = defaultdict(lambda: {"dynamic": set(), "static": set()})
    for mode, mine, theirs in (("dynamic", dynamic_ran, static_ran), ("static", static_ran, dynamic_ran)):
        for path, line in mine.keys() - theirs.keys():
            branch = _branch(facts, path, line, mine, theirs)
            if branch is not None:
                branches[branch][mode].add((path, line))
    names = {**dynamic_ran, **static_ran}
    for (path, line), sides in branches.items():
        site = SourceSite(path, line, names[path, line])
        evidence = [
            Evidence("coverage", f"only the {mode} mode ran line {_ranges(lines)}") for mode, lines in sides.items() if lines
        ]
        title = "the two modes take different branches here"
        finding = make(facts, "mode-divergent-path", WARNING, title, site, evidence, advice=_ADVICE)
        yield Draft(finding, Claim(lines=frozenset(sides["static"]), rank=BRANCH_LINES))


def _statements(facts: Facts, run: Run, steps) -> dict[Line, str]:
    """The statements that ran in some steps, by first line: a call over several lines is one statement."""
    found: dict[Line, str] = {}
    for step in steps:
        for site in run.coverage[step]:
            file = facts.sources.file(site.path)
            line = file.statement_line(site.line) if file else None
            if line is not None:
                found[site.path, line] = site.function
    return found


def _branch(facts: Facts, path: str, line: int, mine, theirs) -> Line | None:
    """The outermost if that both modes reached and that leads to a line only one of them ran."""
    file = facts.sources.file(path)
    if file is None:
        return None
    shared = [
        branch for branch in file.branches_at(line) if (path, branch.line) in mine and (path, branch.line) in theirs
    ]
    return (path, shared[0].line) if shared else None


def _ranges(lines: set[Line]) -> str:
    """``12-14, 20``"""
    numbers = sorted(line for _, line in lines)
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in ranges)
