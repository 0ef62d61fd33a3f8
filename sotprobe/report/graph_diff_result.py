"""The result of a comparison of two subgraph graphs: what is compared, its figures side by side, and the line that sums it up."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from sotprobe.analyze.graph_diff_picture import DiffPicture
from sotprobe.model.graph_diff import CHANGED, GAINED, GONE, KEPT, LOST, MERGED, NEW, SPLIT, Figure, GraphDiff, GraphSide, Move
from sotprobe.report import graph_words as words
from sotprobe.report.graph_diff_words import ARROW, UNKNOWN
from sotprobe.report.text import count, percent, plural, size

FIGURE_WORDS: dict[str, tuple[str, Callable[[float], str]]] = {
    "subgraphs": ("subgraphs", count),
    "subgraph_versions": ("subgraph versions", count),
    "recompiles": ("recompiles", count),
    "dynamic_regions": ("dynamic regions", count),
    "runs_per_step": ("runs per step", count),
    "captured_op_share": ("ops captured", percent),
    "captured_time_share": ("time captured", percent),
    "min_ops": ("ops per subgraph, min", count),
    "median_ops": ("ops per subgraph, median", count),
    "bytes_to_dynamic": ("to dynamic code per step", size),
    "bytes_from_dynamic": ("back per step", size),
}
_COUNTS = ("subgraphs", "subgraph versions", "recompiles", "dynamic regions", "runs per step")
_SHARES = ("captured_op_share", "captured_time_share")


def side_title(side: GraphSide) -> str:
    """The program and the versions of one side."""
    return words.title(side)


def headlines(diff: GraphDiff) -> Iterator[str]:
    """What is compared, and what came out, in a few lines."""
    yield f"before: {side_title(diff.before)}"
    yield f"after: {side_title(diff.after)}"
    yield verdict(diff)


def verdict(diff: GraphDiff) -> str:
    """The result in one line."""
    if not diff.common:
        return "nothing in common: no file and function is in both graphs"
    if diff.same:
        return "no difference"
    counts = [f"{number} {status}" for status in (CHANGED, GONE, NEW, KEPT) if (number := diff.count(status))]
    return "; ".join(filter(None, (", ".join(counts), ", ".join(_moved(diff.moves)))))


def _moved(moves: Sequence[Move]) -> Iterator[str]:
    """``7 subgraphs merged into 1``, ``5 statements lost to dynamic code``."""
    for kind, into in ((MERGED, "merged into"), (SPLIT, "split into")):
        mine = [move for move in moves if move.kind == kind]
        if mine:
            before, after = ({node for move in mine for node in getattr(move, side)} for side in ("before", "after"))
            yield f"{plural(len(before), 'subgraph')} {into} {len(after)}"
    for kind, text in ((LOST, "lost to dynamic code"), (GAINED, "gained from dynamic code")):
        number = sum(move.statements for move in moves if move.kind == kind)
        if number:
            yield f"{plural(number, 'statement')} {text}"


def figures(diff: GraphDiff) -> Iterator[tuple[str, str, str, str]]:
    """(what, before, after, difference) of each figure of the summary that a side knows."""
    for item in diff.figures:
        name, write = FIGURE_WORDS.get(item.name, (item.name.replace("_", " "), count))
        if item.before is not None or item.after is not None:
            sides = (UNKNOWN if value is None else write(value) for value in (item.before, item.after))
            yield (name, *sides, _difference(item, write))


def _difference(item: Figure, write: Callable[[float], str]) -> str:
    if item.difference is None:
        return ""
    if item.difference == 0:
        return "0"
    amount = abs(item.difference)
    text = f"{amount * 100:.0f} points" if item.name in _SHARES else write(amount)
    return f"{'+' if item.difference > 0 else '-'}{text}"


def figure_lines(diff: GraphDiff) -> Iterator[str]:
    """The figures that differ, counts and measures apart: ``subgraphs 7 -> 1, dynamic regions 5 -> 0``."""
    found = [(what, f"{what} {old}{ARROW}{new}") for what, old, new, _ in figures(diff) if old != new]
    counts = [text for what, text in found if what in _COUNTS]
    for texts in (counts, [text for _, text in found if text not in counts]):
        if texts:
            yield ", ".join(texts)


def caption(shown: DiffPicture) -> str:
    """The result and the folding in one line."""
    return "; ".join(filter(None, (verdict(shown.diff), words.folding(shown.picture))))
