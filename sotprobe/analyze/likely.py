"""Lines that a break or fallback may be on, when a log only names the function: by what SOT said of it, or by what can break.

Below level 3 a log names no line. Of a reason like "builtin function: print" there is often one line only that it can be.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from sotprobe.analyze.callgraph import Place, Program, dotted, walk_own
from sotprobe.analyze.source import Sources
from sotprobe.model import Event, Evidence, SourceSite
from sotprobe.model.site import FUNCTION, NEAR
from sotprobe.paddle_compat import causes
from sotprobe.paddle_compat.source_words import BREAKING, WORDS

UNKNOWN = "unknown"
_MOST = 5
_DEEPEST = 3
_COMMENT = re.compile(r"#[^\"']*$")
# A test made of these depends on no tensor.
_PLAIN_TESTS = frozenset({"isinstance", "issubclass", "hasattr", "callable", "len", "type", "any", "all"})
_KINDS = frozenset({"break", "fallback"})
_BRANCHES = frozenset({"tensor-if", "tensor-while", "tensor-assert", "is-none-on-tensor"})
_STATEMENTS = {ast.While: "tensor-while", ast.Assert: "tensor-assert"}


@dataclass(frozen=True)
class Candidate:
    site: SourceSite
    cause: str


class Likely:
    """Places events of one log. ``inferred`` are the (cause, site) of those whose cause, too, only the source suggests."""

    def __init__(self, program: Program, sources: Sources, paddle: str | None, python: str | None):
        self._program = program
        self._sources = sources
        self._is_none_breaks = causes.cause("is-none-on-tensor").versions.hold(paddle, python)
        self.inferred: set[tuple[str, SourceSite]] = set()

    def placed(self, events: Iterable[Event]) -> list[Event]:
        """The events, those with a line where the source has one for them, and with what it suggests as evidence."""
        events = list(events)
        unknown = self._unexplained_breaks(events)
        return [unknown.get(id(event)) or self._placed(event) for event in events]

    def _placed(self, event: Event) -> Event:
        cause = event.cause or UNKNOWN
        if event.kind not in _KINDS or not _only_function(event) or cause == UNKNOWN:
            return event
        return self._with(event, self._of_frame(_frame(event), cause))

    def _unexplained_breaks(self, events: Iterable[Event]) -> dict[int, Event]:
        """Breaks without a reason. As many as there are lines that may break are taken to be those, in their order."""
        by_frame: dict[SourceSite, list[Event]] = defaultdict(list)
        for event in events:
            if event.kind == "break" and _only_function(event) and event.cause in (None, UNKNOWN):
                by_frame[_frame(event)].append(event)
        placed = {}
        for frame, breaks in by_frame.items():
            candidates = self._of_frame(frame, UNKNOWN)
            breaks.sort(key=lambda event: len(event.break_lines))
            for number, event in enumerate(breaks):
                own = [candidates[number]] if len(candidates) == len(breaks) else candidates
                placed[id(event)] = self._with(event, own)
        return placed

    def _with(self, event: Event, found: Sequence[Candidate]) -> Event:
        if not found:
            return event
        if len({item.site for item in found}) > 1:
            more = tuple(Evidence("source", f"may be {self._told(item)}") for item in found[:_MOST])
            return replace(event, evidence=(*event.evidence, *more))
        only = found[0]
        if event.cause in (None, UNKNOWN):
            self.inferred.add((only.cause, only.site))
        text = f"line {only.site.line} is the only one of {only.site.function} that it can be: {self._quoted(only)}"
        evidence = (*event.evidence, Evidence("source", text))
        return replace(event, cause=only.cause, site=replace(only.site, precision=NEAR), evidence=evidence)

    def _quoted(self, candidate: Candidate) -> str:
        return self._sources.line(candidate.site.path, candidate.site.line) or ""

    def _told(self, candidate: Candidate) -> str:
        known = causes.cause(candidate.cause)
        return f"line {candidate.site.line}: {self._quoted(candidate)} ({known.title}). {known.hint}"

    # --- candidates

    def _of_frame(self, frame: SourceSite, cause: str) -> list[Candidate]:
        place = self._program.place(frame.path, frame.line, frame.function)
        return self._candidates(place, cause, 0) if place is not None else []

    def _candidates(self, place: Place, cause: str, depth: int) -> list[Candidate]:
        """Lines of a function for a cause, in source order; when it has none, those of the functions it calls."""
        own = self._breaking(place) if cause == UNKNOWN else list(self._of_cause(place, cause))
        found = list(dict.fromkeys(own))
        if found or depth >= _DEEPEST:
            return found
        below = [item for call in self._program.calls(place) for item in self._candidates(call.callee, cause, depth + 1)]
        return list(dict.fromkeys(below))

    def _of_cause(self, place: Place, cause: str) -> Iterator[Candidate]:
        if cause in _BRANCHES:
            yield from (item for item in self._branches(place) if item.cause == cause)
            return
        lines = list(self._code(place))
        for word in WORDS.get(cause, ()):
            found = [number for number, text in lines if word.search(text)]
            if found:
                yield from (Candidate(_site(place, number), cause) for number in found)
                return

    def _breaking(self, place: Place) -> list[Candidate]:
        """What may break the graph: reads on the host, random numbers, and branches that may be on a tensor."""
        found = [item for cause in BREAKING for item in self._of_cause(place, cause)]
        return sorted([*found, *self._branches(place)], key=lambda item: item.site.line)

    def _code(self, place: Place) -> Iterator[tuple[int, str]]:
        """The lines of a function's statements, without comments and strings that stand for themselves."""
        texts = {
            line
            for node in walk_own(place.function.node)
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
        }
        file = self._sources.file(place.path)
        body = place.function.node.body[0].lineno
        for number in sorted(file.own_lines(place.function) if file else ()):
            if number >= body and number not in texts:
                yield number, _COMMENT.sub("", file.line(number) or "")

    def _branches(self, place: Place) -> Iterator[Candidate]:
        for node in walk_own(place.function.node):
            if isinstance(node, (ast.If, ast.While, ast.Assert, ast.IfExp)):
                cause = _test_on_tensor(node.test)
                if cause == "tensor-if":
                    cause = _STATEMENTS.get(type(node), cause)
                if cause is not None and (cause != "is-none-on-tensor" or self._is_none_breaks):
                    yield Candidate(_site(place, node.test.lineno), cause)


def _only_function(event: Event) -> bool:
    return event.site is not None and event.site.precision == FUNCTION


def _frame(event: Event) -> SourceSite:
    """Where the function is defined: what a site of this precision is."""
    return event.frame or event.site


def _site(place: Place, line: int) -> SourceSite:
    return SourceSite(place.path, line, place.function.name)


def _test_on_tensor(test: ast.expr) -> str | None:
    """The cause that a test would be when it meets a tensor; None when it cannot be one."""
    if isinstance(test, ast.BoolOp):
        return next((cause for value in test.values if (cause := _test_on_tensor(value)) is not None), None)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _test_on_tensor(test.operand)
    if isinstance(test, ast.Compare):
        sides = (test.left, *test.comparators)
        if any(isinstance(side, ast.Constant) and side.value is None for side in sides):
            return "is-none-on-tensor" if isinstance(test.left, ast.Name) else None
        if any(isinstance(side, ast.Constant) and isinstance(side.value, (str, bytes, bool)) for side in sides):
            return None
        if any(isinstance(operator, (ast.In, ast.NotIn, ast.Is, ast.IsNot)) for operator in test.ops):
            return None
        return "tensor-if" if any(_may_be_tensor(side) for side in sides) else None
    return "tensor-if" if _may_be_tensor(test) else None


def _may_be_tensor(node: ast.expr) -> bool:
    """Attributes of ``self`` are flags; sizes and what isinstance and its like return are no tensors."""
    name = dotted(node)
    if name is not None:
        return not name.startswith("self.") and not name.endswith((".shape", ".ndim", ".training", ".dtype"))
    if isinstance(node, ast.Call):
        return (dotted(node.func) or "") not in _PLAIN_TESTS
    if isinstance(node, ast.Subscript):
        return _may_be_tensor(node.value)
    if isinstance(node, ast.BinOp):
        return _may_be_tensor(node.left) or _may_be_tensor(node.right)
    return False
