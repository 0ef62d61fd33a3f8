"""``eager-loop``: a Python loop whose body runs many small eager operators in every step of the static mode."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from sotprobe.analyze.facts import Facts, Line
from sotprobe.analyze.rules.base import LOOP_LINES, WARNING, Claim, Draft, make
from sotprobe.analyze.source import Loop
from sotprobe.model import Evidence, SourceSite

# Fewer operators a step than this are not worth a finding of their own.
MIN_OPERATORS = 30
_ADVICE = (
    "Replace the loop by one operator on whole tensors (put_along_axis or scatter instead of set-item, gather instead of "
    "get-item, a batched sum), or let the loop be captured: it is eager because its function is."
)


def eager_loop(facts: Facts) -> Iterator[Draft]:
    """Loops by their own line; of nested loops the outermost whose body runs more than once a step."""
    lines = facts.static_lines
    if lines is None:
        return
    for (path, loop), body in _loops(facts).items():
        operators: dict[str, float] = defaultdict(float)
        spent = 0.0
        for line in body:
            for name, (count, ns) in lines[line].operators.items():
                operators[name] += count
                spent += ns
        total = sum(operators.values())
        if total < MIN_OPERATORS:
            continue
        site = SourceSite(path, loop.line, lines[body[0]].site.function)
        runs = max(lines[line].hits for line in body)
        names = sorted(operators.items(), key=lambda item: -item[1])
        evidence = [
            Evidence("lines", f"{total:.0f} eager operators a step in {runs:.0f} iterations: {_names(names)}"),
            Evidence("lines", f"{spent * facts.to_timed / 1e6:.3f} ms a step inside these operators"),
        ]
        title = f"a Python loop runs {total:.0f} eager operators in every step"
        finding = make(facts, "eager-loop", WARNING, title, site, evidence, advice=_ADVICE, count_per_step=total)
        whole = frozenset((path, line) for line in range(loop.line, loop.body.last + 1))
        yield Draft(finding, Claim(lines=whole, rank=LOOP_LINES))


def _loops(facts: Facts) -> dict[tuple[str, Loop], list[Line]]:
    """Loop -> the lines of its body that ran operators."""
    found: dict[tuple[str, Loop], list[Line]] = defaultdict(list)
    for (path, line), total in (facts.static_lines or {}).items():
        file = facts.sources.file(path)
        if not total.operators or file is None:
            continue
        loops = [loop for loop in file.loops_at(line) if _runs_often(facts, path, loop.body.first)]
        if loops:
            found[path, loops[-1]].append((path, line))
    return found


def _runs_often(facts: Facts, path: str, first: int) -> bool:
    """Whether a body, by its first line, runs more than once a step."""
    total = (facts.static_lines or {}).get((path, first))
    return total is not None and total.hits > 1


def _names(names: list[tuple[str, float]]) -> str:
    shown = ", ".join(f"{name} {count:.0f}" for name, count in names[:6])
    return shown + (f" and {len(names) - 6} more" if len(names) > 6 else "")
