"""Which files, functions and lines of two graphs are the same, although programs are edited, renamed and moved.

Lines that are the same place have the same slot. Where both programs' sources are known, slots come from their difference, as a
reviewer would see it. Else from what stands on the lines: the operators and breaks, at the same distance from the function's
definition or in the same order.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import lru_cache

from sotprobe.analyze.graph_diff_files import AFTER, BEFORE, Function, Side, function_of, last_part, pair_files
from sotprobe.model import GraphNode, SubgraphGraph
from sotprobe.model.graph import DYNAMIC_REGION, TENSOR
from sotprobe.paddle_compat.names import statement_operator

Slot = Hashable
# What a line is compared by: its text, or what is known to stand on it.
Line = str | frozenset[str]

# A rewritten line has at least that share of its words in common with the line in its place; in larger pieces none is looked for.
_REWRITTEN = 0.5
_MOST_REWRITTEN = 10_000
# A line of fewer words says too little to be found again elsewhere.
_ENOUGH_WORDS = 3
_WORD = re.compile(r"\w+")

operator_of = lru_cache(maxsize=1 << 16)(statement_operator)


class Alignment:
    """Files, functions and lines of two sides."""

    def __init__(self, before: Side, after: Side):
        self._sides = (before, after)
        self.files = pair_files(before, after)
        self._slots: tuple[dict[tuple[str, int], Slot], dict[tuple[str, int], Slot]] = ({}, {})
        self._as_is: tuple[dict[str, str], dict[str, str]] = ({}, {})
        self.has_sources: set[tuple[int, str]] = set()
        places = tuple(_signatures(side.graph) for side in self._sides)
        for one, two in self.files.items():
            code = (before.code(one), after.code(two))
            if code[BEFORE] and code[AFTER]:
                self.has_sources.update(((BEFORE, one), (AFTER, two)))
                self._by_source(one, two, *code)
            else:
                self._by_statements(one, two, places[BEFORE][one], places[AFTER][two])
        self._shared = frozenset(self._slots[BEFORE].values()) & frozenset(self._slots[AFTER].values())
        self._unedited = frozenset(self._as_is[AFTER])
        self._functions = self._pair_functions()

    def slot(self, side: int, path: str, line: int) -> Slot:
        """Equal for lines of both sides that are the same; a line that has no other has a slot of its own."""
        unedited = self._as_is[side].get(path)
        if unedited is not None:
            return unedited, line
        return self._slots[side].get((path, line)) or (side, path, line)

    def is_shared(self, slot: Slot) -> bool:
        """Whether a slot of a side is one of the other too."""
        return slot in self._shared or (isinstance(slot, tuple) and slot[0] in self._unedited)

    def function(self, side: int, node: GraphNode) -> Hashable:
        """Equal for functions of both sides that are the same."""
        own = function_of(node)
        return self._functions[side].get(own, (side, own))

    @property
    def functions(self) -> int:
        """How many functions are on both sides."""
        return len(set(self._functions[BEFORE].values()))

    def _lines_by_function(self, side: int) -> Mapping[Function, set[Slot]]:
        """The lines that the pieces of a function are known to have."""
        found: dict[Function, set[Slot]] = defaultdict(set)
        for node in self._sides[side].graph.nodes:
            sites = [node.site, *(statement.site for statement in node.statements)]
            found[function_of(node)].update(self.slot(side, site.path, site.line) for site in sites if site is not None)
        return found

    # Lines

    def _by_source(self, one: str, two: str, before: Mapping[int, str], after: Mapping[int, str]) -> None:
        both = before.keys() & after.keys()
        if 2 * len(both) >= min(len(before), len(after)) and all(before[line] == after[line] for line in both):
            self._as_is[BEFORE][one] = self._as_is[AFTER][two] = two
            return
        numbers = [sorted(before), sorted(after)]
        self._add(one, two, *numbers, [before[line] for line in numbers[BEFORE]], [after[line] for line in numbers[AFTER]])

    def _by_statements(self, one: str, two: str, before: _Lines, after: _Lines) -> None:
        for name in before:
            for own, other in _same_definitions(before[name], after.get(name, {})):
                first, second = before[name][own], after[name][other]
                shift = other - own if own and other else 0
                straight = sum(bool(signs & second.get(line + shift, frozenset())) for line, signs in first.items())
                lines, others = sorted(first), sorted(second)
                signs = ([first[line] for line in lines], [second[line] for line in others])
                if straight < _alike(*signs):
                    self._add(one, two, lines, others, *signs)
                    continue
                self._slots[AFTER].update(((two, line), (two, line)) for line in others)
                self._slots[BEFORE].update(((one, line), (two, line + shift)) for line in lines)

    def _add(
        self,
        one: str,
        two: str,
        before: Sequence[int],
        after: Sequence[int],
        texts: Sequence[Line],
        others: Sequence[Line],
    ) -> None:
        """Slots from the difference of two sequences of lines, of which ``before`` and ``after`` are the numbers."""
        pairs = _same_lines(texts, others)
        self._slots[BEFORE].update(((one, before[own]), (two, after[other])) for own, other in pairs)
        self._slots[AFTER].update(((two, line), (two, line)) for line in after)

    # Functions

    def _pair_functions(self) -> tuple[dict[Function, Hashable], dict[Function, Hashable]]:
        found: tuple[dict[Function, Hashable], dict[Function, Hashable]] = ({}, {})
        lines = [self._lines_by_function(side) for side in (BEFORE, AFTER)]
        every = [sorted({function_of(node) for node in side.graph.nodes if node.kind != TENSOR}) for side in self._sides]

        def pair(key: Callable[[int, Function], Hashable], *, one_only: bool = False, bare: bool = False) -> None:
            waiting: list[dict[Hashable, list[Function]]] = [defaultdict(list), defaultdict(list)]
            for side in (BEFORE, AFTER):
                for function in every[side]:
                    if function not in found[side]:
                        waiting[side][key(side, function)].append(function)
            for name, ones in waiting[BEFORE].items():
                others = waiting[AFTER].get(name, [])
                if name is None or (one_only and (len(ones), len(others)) != (1, 1)):
                    continue
                for own, other in zip(ones, others, strict=False):
                    if not bare or "." not in own.name or "." not in other.name:
                        found[BEFORE][own] = found[AFTER][other] = ("function", len(found[BEFORE]))

        def file(side: int, function: Function) -> str | None:
            return self.files.get(function.path) if side == BEFORE else function.path

        def defined(side: int, function: Function) -> Hashable:
            return self.slot(side, function.path, function.line) if function.line else None

        def renamed(side: int, function: Function) -> Hashable:
            shared = [self.is_shared(slot) for slot in lines[side][function]]
            return defined(side, function) if 2 * sum(shared) >= len(shared) else None

        pair(lambda side, function: (file(side, function), function.name, defined(side, function)))
        pair(lambda side, function: (file(side, function), function.name))
        pair(renamed)
        pair(lambda side, function: (file(side, function), last_part(function.name)), bare=True)  # a log does not know the class
        pair(lambda side, function: function.name, one_only=True)  # it went to another file
        return found


# --- lines -----------------------------------------------------------------------------------------------------------

# Of functions of one raw name: definition line (0 when not known), then what stands on each line. Of a file: those by name.
_Functions = Mapping[int, Mapping[int, frozenset[str]]]
_Lines = Mapping[str, _Functions]


def _difference(one: Sequence[Hashable], two: Sequence[Hashable]) -> Iterator[tuple[str, int, int, int, int]]:
    """difflib's opcodes; what both begin and end with alike is not looked at, which is most of a file."""
    shorter = min(len(one), len(two))
    head = next((at for at in range(shorter) if one[at] != two[at]), shorter)
    tail = next((at for at in range(shorter - head) if one[-1 - at] != two[-1 - at]), shorter - head)
    yield "equal", 0, head, 0, head
    inner = SequenceMatcher(None, one[head : len(one) - tail], two[head : len(two) - tail], autojunk=False)
    for tag, first, last, start, end in inner.get_opcodes():
        yield tag, first + head, last + head, start + head, end + head
    yield "equal", len(one) - tail, len(one), len(two) - tail, len(two)


def _same_definitions(before: _Functions, after: _Functions) -> Iterator[tuple[int, int]]:
    """Of functions of one raw name the definition lines that belong together: by full name, by line, then in order."""
    left = [list(before), list(after)]

    def full_name(functions: _Functions, start: int) -> Hashable:
        return next((sign for sign in functions[start].get(start, ()) if sign.startswith("def ")), None)

    def same_name(own: int, other: int) -> bool:
        return full_name(before, own) is not None and full_name(before, own) == full_name(after, other)

    for same in (
        lambda own, other: own == other and same_name(own, other),
        same_name,
        lambda own, other: own == other,
        lambda own, other: True,
    ):
        for own in list(left[BEFORE]):
            other = next((start for start in left[AFTER] if same(own, start)), None)
            if other is not None:
                left[BEFORE].remove(own)
                left[AFTER].remove(other)
                yield own, other


def _alike(one: Sequence[Hashable], two: Sequence[Hashable]) -> int:
    return sum(last - first for tag, first, last, _, _ in _difference(one, two) if tag == "equal")


def _same_lines(one: Sequence[Line], two: Sequence[Line]) -> list[tuple[int, int]]:
    """Positions of lines that are the same: unchanged, rewritten in their place, or moved as they are."""
    pairs: list[tuple[int, int]] = []
    left: tuple[list[int], list[int]] = ([], [])
    for tag, first, last, start, end in _difference(one, two):
        found = zip(range(first, last), range(start, end), strict=True) if tag == "equal" else ()
        if tag == "replace":
            found = _rewritten(one[first:last], two[start:end], first, start)
        mine = list(found)
        pairs += mine
        left[BEFORE].extend(sorted({*range(first, last)} - {own for own, _ in mine}))
        left[AFTER].extend(sorted({*range(start, end)} - {other for _, other in mine}))
    texts = [Counter(lines[at] for at in rest) for lines, rest in ((one, left[BEFORE]), (two, left[AFTER]))]
    places = {two[at]: at for at in left[AFTER]}
    alone = (at for at in left[BEFORE] if texts[BEFORE][one[at]] == texts[AFTER][one[at]] == 1)
    return pairs + [(at, places[one[at]]) for at in alone if len(_words(one[at])) >= _ENOUGH_WORDS]


def _rewritten(one: Sequence[Line], two: Sequence[Line], first: int, start: int) -> list[tuple[int, int]]:
    """In order, the lines of a piece that look most like those which stand in its place."""
    if len(one) * len(two) > _MOST_REWRITTEN:
        return []
    best = [[0.0] * (len(two) + 1) for _ in range(len(one) + 1)]
    alike = [[_likeness(mine, other) for other in two] for mine in one]
    for i in reversed(range(len(one))):
        for j in reversed(range(len(two))):
            both = best[i + 1][j + 1] + alike[i][j] if alike[i][j] >= _REWRITTEN else 0.0
            best[i][j] = max(both, best[i + 1][j], best[i][j + 1])
    found = []
    i = j = 0
    while i < len(one) and j < len(two):
        if best[i][j] == best[i + 1][j]:
            i += 1
        elif best[i][j] == best[i][j + 1]:
            j += 1
        else:
            found.append((first + i, start + j))
            i, j = i + 1, j + 1
    return found


def _likeness(one: Line, two: Line) -> float:
    """Twice what two lines have in common, of all that they have."""
    mine, other = _words(one), _words(two)
    return 2 * len(mine & other) / (len(mine) + len(other)) if mine and other else 0.0


@lru_cache(maxsize=1 << 12)
def _words(line: Line) -> frozenset[str]:
    return line if isinstance(line, frozenset) else frozenset(_WORD.findall(line))


def _signatures(graph: SubgraphGraph) -> Mapping[str, _Lines]:
    """What stands on the lines that a graph tells of, by file and function."""
    defined: dict[tuple[str, str], set[int]] = defaultdict(set)
    for node in graph.nodes:
        if node.frame is not None:
            defined[node.frame.path, node.frame.function].add(node.frame.line)
    found: dict[str, dict[str, dict[int, dict[int, frozenset[str]]]]] = defaultdict(
        lambda: defaultdict(lambda: defaultdict(lambda: defaultdict(frozenset)))
    )
    for path, function, line, sign in _signs(graph.nodes):
        above = max((start for start in defined.get((path, function), ()) if start <= line), default=0)
        found[path][function][above][line] |= {sign}
    ordered = {path: {name: dict(sorted(starts.items())) for name, starts in names.items()} for path, names in found.items()}
    return defaultdict(dict, ordered)


def _signs(nodes: Iterable[GraphNode]) -> Iterator[tuple[str, str, int, str]]:
    for node in nodes:
        at = node.frame or node.site
        if node.frame is not None:
            yield node.frame.path, node.frame.function, node.frame.line, f"def {node.name}"
        if at is not None:
            yield from ((at.path, at.function, line, "break") for line in node.chain if line)
            for path, first, last in node.spans:
                yield from ((path, at.function, line, "dynamic") for line in range(first, last + 1) if path == at.path)
        for statement in node.statements:
            if statement.site is not None:
                site = statement.site
                yield site.path, site.function, site.line, operator_of(statement.text)
        if node.kind == DYNAMIC_REGION and node.site is not None:
            yield node.site.path, node.site.function, node.site.line, f"{node.why} {node.cause}"
