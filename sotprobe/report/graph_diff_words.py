"""The phrases and figures of a comparison of two subgraph graphs that the picture, the page and the table share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from sotprobe.analyze.graph_diff_picture import DiffPicture
from sotprobe.analyze.graph_fold import Group, Link
from sotprobe.model import GraphNode
from sotprobe.model import graph as kinds
from sotprobe.model.graph_diff import (
    GAINED,
    GONE,
    KEPT,
    LOST,
    MERGED,
    MOVED,
    OWNER,
    SAME_BREAKS,
    SAME_FUNCTION,
    SAME_PLACE,
    SPLIT,
    STATEMENTS,
    STATUSES,
    Change,
    Move,
    NodeDiff,
)
from sotprobe.report import graph_words as words
from sotprobe.report.text import count, figure, one_line, plural

UNKNOWN = "?"
ARROW = " -> "
# Nodes that a phrase names; the rest are counted.
MOST_NAMED = 4

# How a node was found when that is worth a line of its own.
WEAK = (SAME_FUNCTION, SAME_BREAKS, STATEMENTS)
HOW_WORDS = {
    SAME_PLACE: "file, function and breaks are the same",
    MOVED: "the same function and breaks, on other lines or in another file",
    SAME_FUNCTION: "the same function still runs dynamically",
    SAME_BREAKS: "it comes after as many breaks of the same function",
    STATEMENTS: "it computes the same or nearly",
    OWNER: "the same output or input of the same subgraph",
}


@dataclass(frozen=True)
class DiffContext:
    """What both sides quote and link beyond their graphs."""

    before: words.Context = field(default_factory=words.Context)
    after: words.Context = field(default_factory=words.Context)

    def of(self, item: NodeDiff) -> words.Context:
        """The side on which a node is shown: after, or before where it is gone."""
        return self.before if item.status == GONE else self.after

    def source_line(self, item: NodeDiff) -> str | None:
        """The program's line at a node, as it is now or as it was."""
        site = item.node.site
        return None if site is None else self.of(item).source_line(site)


# --- nodes -----------------------------------------------------------------------------------------------------------


def place(item: NodeDiff) -> str:
    """``lines 14-34``, ``lines 72-74 -> 40-61``, ``lines 19-20 (else)``."""
    if item.before is None or item.after is None:
        return _lines(item.node)
    old, new = words.lines(item.before), words.lines(item.after)
    if old != new and words.side(item.before) == words.side(item.after):
        return f"{old}{ARROW}{_short(_lines(item.after), old)}"
    return _lines(item.after) if old == new else f"{_lines(item.before)}{ARROW}{_short(_lines(item.after), old)}"


def _lines(node: GraphNode) -> str:
    side = words.side(node)
    return f"{words.lines(node)}{f' ({side})' if side else ''}"


def _short(text: str, other: str) -> str:
    """Without ``line`` or ``lines`` when the other begins with it too."""
    first, _, rest = text.partition(" ")
    return rest if first in ("line", "lines") and other.startswith(f"{first} ") else text


def named(item: NodeDiff) -> str:
    """A node in a phrase about others: ``lines 14-34 of Net.forward``."""
    return _where(item.node)


def state(item: NodeDiff) -> str:
    """``compiled once``, ``graph break: item -> fallback: loop-body-break``."""
    texts = [words.why(node) for node in (item.before, item.after) if node is not None]
    return ARROW.join(dict.fromkeys(texts))


def pair(item: NodeDiff, name: str, write: Callable[[float], str]) -> str:
    """A figure of both sides, ``12 -> 30``, or the one that both have; nothing when neither is known."""
    values = [getattr(node, name) for node in (item.before, item.after) if node is not None]
    if all(value is None for value in values):
        return ""
    return ARROW.join(dict.fromkeys(UNKNOWN if value is None else write(value) for value in values))


def facts(item: NodeDiff) -> Iterator[str]:
    """The figures of a node that do not depend on the machine, a line each."""
    region = item.node.kind == kinds.DYNAMIC_REGION
    ops, runs = pair(item, "ops", count), pair(item, "runs_per_step", count)
    size = f"{ops} {_noun(ops, 'op')}{' per step' if region and not runs else ''}" if ops else ""
    often = f"{runs} {_noun(runs, 'run')} per step" if ARROW not in runs else f"runs {runs} per step"
    if text := ", ".join(filter(None, (size, often if runs else ""))):
        yield text
    yield from other_facts(item)


def other_facts(item: NodeDiff) -> Iterator[str]:
    """What differs beyond operators, runs and compilations."""
    numbers = _change(item, "statements")
    if numbers:
        yield f"{_arrow(numbers, count)} statements"
    operators = _change(item, "operators")
    if operators and not _change(item, "ops") and not numbers:
        yield f"operators {_names(operators.before)}{ARROW}{_names(operators.after)}"
    if item.before is not None and item.after is not None and len(item.before.chain) != len(item.after.chain):
        yield f"after {len(item.before.chain)}{ARROW}{plural(len(item.after.chain), 'break')}"
    if text := ", ".join(f"{name} {_border(change)}" for name in ("inputs", "outputs") if (change := _change(item, name))):
        yield text


def recompiled(item: NodeDiff) -> str:
    """``x1 -> x20 recompiled: x.shape[0] 2, 3, 4…``; nothing when it was compiled once on both sides."""
    compiles = pair(item, "compiles", lambda value: f"x{count(value)}")
    if item.node.kind != kinds.SUBGRAPH or compiles in ("", "x1"):
        return ""
    most = max((node for node in (item.before, item.after) if node is not None), key=lambda node: len(node.versions))
    guard = words.guard_values(most.versions)
    return f"{compiles} compiled{': ' if guard else ''}{guard}"


def times(item: NodeDiff) -> str:
    """``0.833 -> 2.34 ms per step``: of one run each, which proves nothing about speed."""
    text = pair(item, "ms_per_step", figure)
    return f"{text} ms per step" if text else ""


def _change(item: NodeDiff, what: str) -> Change | None:
    return next((change for change in item.changes if change.what == what), None)


def _names(operators: Sequence[str]) -> str:
    """``sin, cos and 2 more``."""
    shown = ", ".join(words.cut(name, 24) for name in operators[:MOST_NAMED]) or "none"
    return f"{shown} and {len(operators) - MOST_NAMED} more" if len(operators) > MOST_NAMED else shown


def _arrow(change: Change, write: Callable) -> str:
    return f"{write(change.before)}{ARROW}{write(change.after)}"


def _noun(number: str, noun: str) -> str:
    return noun if number == "1" else f"{noun}s"


def _border(change: Change) -> str:
    """``[4, 8] -> [?, 8]`` of the first tensor that differs, or their numbers."""
    before, after = change.before, change.after
    if len(before) != len(after):
        return f"{len(before)}{ARROW}{len(after)}"
    old, new = next((old, new) for old, new in zip(before, after, strict=True) if old != new)
    return ARROW.join(dict.fromkeys(_tensor(tensor, with_type=old[0] != new[0]) for tensor in (old, new)))


def _tensor(tensor: tuple[str, tuple[int, ...] | None], *, with_type: bool) -> str:
    dtype, shape = tensor
    texts = (words.dims(shape) if shape is not None else "", words.cut(dtype, 16) if with_type or shape is None else "")
    return " ".join(filter(None, texts))


def how(item: NodeDiff) -> str:
    """Why two nodes are taken for one; nothing when nothing moved."""
    if item.how is None or item.how == SAME_PLACE:
        return ""
    return f"found by: {item.how} ({HOW_WORDS[item.how]})" if item.how in HOW_WORDS else f"found by: {words.cut(item.how, 40)}"


# --- where code went -------------------------------------------------------------------------------------------------


def moves_at(item: NodeDiff, shown: DiffPicture) -> Iterator[str]:
    """What the moves say of one node."""
    for move in shown.moves.get(item.id, ()):
        yield from _MOVE_WORDS[move.kind](item, move, shown)


def _merged(item: NodeDiff, move: Move, shown: DiffPicture) -> Iterator[str]:
    if item.id == move.after[0]:
        yield f"{len(move.before)} subgraphs merged here"
    else:
        yield f"merged into {named(shown.items[move.after[0]])}"


def _split(item: NodeDiff, move: Move, shown: DiffPicture) -> Iterator[str]:
    if item.id == move.before[0]:
        yield f"split into {len(move.after)} subgraphs"
    else:
        yield f"split from {_as_it_was(shown.items[move.before[0]])}"


def _lost(item: NodeDiff, move: Move, shown: DiffPicture) -> Iterator[str]:
    subgraph, region = (shown.items[ids[0]] for ids in (move.before, move.after))
    if item.id == subgraph.id:
        yield f"{_part(move)} run dynamically now: {named(region)}"
    else:
        yield f"took {_part(move)} of {_as_it_was(subgraph)}"


def _gained(item: NodeDiff, move: Move, shown: DiffPicture) -> Iterator[str]:
    region, subgraph = (shown.items[ids[0]] for ids in (move.before, move.after))
    if item.id == region.id:
        yield f"captured now: {named(subgraph)}"
    else:
        yield f"{_part(move)} ran dynamically: {_as_it_was(region)}"


_MOVE_WORDS = {MERGED: _merged, SPLIT: _split, LOST: _lost, GAINED: _gained}


def _part(move: Move) -> str:
    return f"{move.statements} of {plural(move.of, 'statement')}"


def _as_it_was(item: NodeDiff) -> str:
    """A node of the graph before, by its lines there."""
    return _where(item.before or item.node)


def _where(node: GraphNode) -> str:
    return f"{_lines(node)} of {words.cut(node.name, words.NAME_LIMIT)}"


def move_line(move: Move, shown: DiffPicture) -> str:
    """A move in a line: ``line 14, line 16 of Net.forward -> lines 14-21 of Net.forward, 15 of 19 statements``."""
    before = _list([item.before or item.node for item in map(shown.items.__getitem__, move.before)])
    after = _list([item.after or item.node for item in map(shown.items.__getitem__, move.after)])
    if move.kind == LOST:
        after += f" ({_why(shown.items[move.after[0]].after)})"
    elif move.kind == GAINED:
        before += f" ({_why(shown.items[move.before[0]].before)})"
    return f"{before}{ARROW}{after}, {_part(move)}"


def _why(region: GraphNode | None) -> str:
    return "" if region is None else words.why(region)


def _list(nodes: Sequence[GraphNode]) -> str:
    """``line 14, line 16 of Net.forward and 3 more``: the function is said once when it is the same."""
    shown = nodes[:MOST_NAMED]
    alone = len({node.name for node in shown}) == 1
    texts = [_lines(node) if alone else _where(node) for node in shown[:-1]]
    more = f" and {len(nodes) - MOST_NAMED} more" if len(nodes) > MOST_NAMED else ""
    return ", ".join([*texts, *map(_where, shown[-1:])]) + more


# --- folded nodes and edges ------------------------------------------------------------------------------------------


def group_facts(group: Group, shown: DiffPicture) -> Iterator[str]:
    """The lines of a folded node: how many of its nodes there are of each status."""
    statuses = [shown.items[member.id].status for member in group.members if member.kind != kinds.TENSOR]
    numbers = [f"{statuses.count(status)} {status}" for status in STATUSES if status in statuses]
    if numbers:
        yield ", ".join(numbers)
    items = [shown.items[member.id] for member in group.members]
    for what, of in (("subgraph", kinds.SUBGRAPH), ("dynamic region", kinds.DYNAMIC_REGION)):
        before = sum(item.before is not None and item.before.kind == of for item in items)
        after = sum(item.after is not None and item.after.kind == of for item in items)
        if before or after:
            yield plural(after, what) if before == after else f"{before}{ARROW}{after} {what}s"


def link_lines(link: Link, shown: DiffPicture) -> list[str]:
    """The label of a link: shapes, with what they were."""
    lines = words.link_lines(link)
    tensors = [edge for edge in link.edges if edge.kind == kinds.PASSES]
    if len(tensors) == 1:
        changes = [change for change in shown.edge(tensors[0]).changes if change.what == "ir_shape"]
        if changes:
            return [f"{words.dims(changes[0].before)}{ARROW}{lines[0]}", *lines[1:]]
    return lines


def edge_text(edge, shown: DiffPicture) -> str:
    """A tensor in one line, and what differs."""
    item = shown.edge(edge)
    changed = [f"{change.what.replace('_', ' ')} {_value(change)}" for change in item.changes]
    status = "" if item.status == KEPT else f"{item.status}: "
    return f"{status}{words.edge_text(edge)}{f' ({chr(59).join(changed)})' if changed else ''}"


def _value(change: Change) -> str:
    texts = [
        words.dims(value) if isinstance(value, tuple) else one_line(str(value), 40) for value in (change.before, change.after)
    ]
    return ARROW.join(texts)


# --- the whole comparison --------------------------------------------------------------------------------------------
