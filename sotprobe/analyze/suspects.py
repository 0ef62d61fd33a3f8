"""Functions that SOT may have skipped without a line in the log: only the source tells of them.

A log shows the frames that SOT was asked about, at level 3 also what it inlined. A function of the program that is called below
to_static, that the log never shows, and whose code is of a kind that SOT skips silently, is suspected. It may as well be one
that the program never called: that is why it is only suspected.
"""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

from sotprobe.analyze.callgraph import CALLED, Place, ProgramFile, calls_in, dotted, walk_own
from sotprobe.analyze.facts import Facts
from sotprobe.analyze.lost import cause_of
from sotprobe.analyze.source import Construct
from sotprobe.model import Evidence, SourceSite
from sotprobe.model.site import EXACT
from sotprobe.paddle_compat.names import TO_STATIC
from sotprobe.paddle_compat.traits import NEWEST_KNOWN, Traits
from sotprobe.paddle_compat.versions import parse_version

MOST_SUSPECTS = 20
# When the log does not tell its Python, the first that skips silently is taken.
_ASSUMED_PYTHON = (3, 11)
_CONTEXT_MANAGERS = frozenset({"contextmanager", "asynccontextmanager"})
_INLINED_LEVEL = 3


@dataclass(frozen=True)
class Suspect:
    """``frame`` is where the function is defined, ``site`` the line to blame.

    ``proven``: the log shows a frame that only this function can have called, so it ran.
    """

    frame: SourceSite
    site: SourceSite
    cause: str
    evidence: tuple[Evidence, ...]
    proven: bool = False


@lru_cache(maxsize=1)
def suspects(facts: Facts) -> tuple[Suspect, ...]:
    """Of a log with the source at hand; those nearest to what was given to to_static first."""
    if not facts.is_log or not facts.sources.paths:
        return ()
    return tuple(_Search(facts).found())[:MOST_SUSPECTS]


class _Search:
    """Goes from the functions that the log shows, and those that to_static was given, to what they call."""

    def __init__(self, facts: Facts):
        self._facts = facts
        self._program = facts.program
        run = facts.static
        self._entered = set(self._places(site for site, _ in run.entries))
        inlined = {site for sites in run.coverage.values() for site in sites}
        self._simulated = set(self._places(inlined)) | self._entered
        self._level = run.environment.get("log_level")
        self._broke = self._frames_of("break") | {place for site, lines in run.entries if lines for place in self._places([site])}
        self._eager = self._frames_of("fallback") | self._frames_of("eager-frame") | self._frames_of("cache-full")
        python = parse_version(str(run.environment.get("python") or run.environment.get("python_seen") or ""))
        self._python = python[:2] if python else None

    def _places(self, sites: Iterable[SourceSite]) -> Iterator[Place]:
        for site in sites:
            place = self._program.place(site.path, site.line, site.function)
            if place is not None:
                yield place

    def _frames_of(self, kind: str) -> set[Place]:
        return set(self._places(event.frame for event in self._facts.events(kind) if event.frame is not None))

    def found(self) -> Iterator[Suspect]:
        users = [user for found in self._managers.values() for user in found]
        waiting = deque((place, None) for place in (*sorted(self._entered, key=_order), *self._given(), *users))
        seen: set[Place] = set()
        handed: set[SourceSite] = set()
        while waiting:
            place, caller = waiting.popleft()
            shown = place in self._simulated
            if place in seen or not (shown or self._may_run_as_frame(place, caller)):
                continue
            seen.add(place)
            suspect = None if shown else self._suspect(place, caller)
            if suspect is not None:
                self._eager.add(place)
                yield suspect
            if shown or suspect is not None:
                waiting.extend((callee, place) for callee in self._callees(place))
                for found in self._handed_over(place):
                    if found.frame not in handed:
                        handed.add(found.frame)
                        yield found

    @cached_property
    def _managers(self) -> dict[Place, list[Place]]:
        """Generators of context managers that were entered, and the functions that use each of them."""
        shown = sorted((place for place in self._entered if is_context_manager(place)), key=_order)
        places = [place for file in self._program.files.values() for place in file.places] if shown else []
        return {
            manager: [place for place in places if any(call.callee == manager for call in self._program.calls(place))]
            for manager in shown
        }

    def _given(self) -> list[Place]:
        """What to_static is given in the source: functions, and the ``forward`` of layers."""
        found = []
        for file in self._program.files.values():
            for node in ast.walk(file.tree) if file.tree else ():
                if isinstance(node, ast.Call) and (dotted(node.func) or "").endswith(TO_STATIC) and node.args:
                    found.extend(self._of_argument(file, node.args[0]))
            found.extend(
                place for place in file.places if any(_is_to_static(item) for item in place.function.node.decorator_list)
            )
        return list(dict.fromkeys(found))

    def _of_argument(self, file: ProgramFile, argument: ast.expr) -> Iterator[Place]:
        name = dotted(argument.func if isinstance(argument, ast.Call) else argument)
        named = [place for place in file.places if place.owner is None and place.function.name == name]
        if named and not isinstance(argument, ast.Call):
            yield named[0]
        elif name in file.classes:
            yield from (file.methods[name, method] for method in CALLED if (name, method) in file.methods)
        else:  # an object of which class does not show: any layer of the file, unless the log shows one
            layers = [place for place in file.places if place.owner is not None and place.function.name == CALLED[0]]
            yield from layers if self._simulated.isdisjoint(layers) else ()

    def _may_run_as_frame(self, place: Place, caller: Place | None) -> bool:
        """What captured code calls is inlined, or called on its own where that broke the graph.

        Below level 3 a break shows by the rest of the function behind it, and behind a call that is returned there is none. A
        ``with`` breaks the graph when it is inlined; a ``try`` does not.
        """
        if caller is None or caller in self._eager or caller in self._broke:
            return True
        breaks = any(item.kind == "with" for item in self._constructs(place))
        return breaks and (self._level or 0) < _INLINED_LEVEL and place in self._returned_by(caller)

    def _returned_by(self, caller: Place) -> set[Place]:
        """What a function calls last: ``return self.loss(x)``."""
        returned = {id(node.value) for node in walk_own(caller.function.node) if isinstance(node, ast.Return)}
        return {call.callee for call in self._program.calls(caller) if id(call.node) in returned}

    def _callees(self, place: Place) -> Iterator[Place]:
        yield from (call.callee for call in self._program.calls(place))
        yield from self._program.made_in(place) if place.function.name in CALLED else ()

    def _suspect(self, place: Place, caller: Place | None) -> Suspect | None:
        function = place.function
        file = self._facts.sources.file(place.path)
        if file is None or is_context_manager(place):
            return None
        frame = SourceSite(place.path, function.defined, function.name, EXACT)
        if file.is_generator(function) or isinstance(function.node, ast.AsyncFunctionDef):
            return Suspect(frame, frame, "generator", self._evidence(place, caller, function.defined))
        constructs = self._constructs(place)
        if not constructs:
            return None
        first = next((item for item in constructs if cause_of(self._facts, place.path, item) == "no-grad"), constructs[0])
        site = SourceSite(place.path, first.line, function.name, EXACT)
        more = [str(item.line) for item in constructs if item.line != first.line]
        also = [Evidence("source", f"more of the kind at line {', '.join(more)}")] if more else []
        manager = next((manager for manager, users in self._managers.items() if users == [place]), None)
        if manager is not None:
            name = manager.function.name
            also.insert(0, Evidence("sotlog", f"{name} was entered, which only its with can have called: it ran"))
        evidence = (*self._evidence(place, caller, first.line, ran=manager is not None), *also)
        return Suspect(frame, site, cause_of(self._facts, place.path, first), evidence, proven=manager is not None)

    def _constructs(self, place: Place) -> list[Construct]:
        """What SOT skips silently on the log's Python; 3.11 when it is not known."""
        behaves = Traits(NEWEST_KNOWN, self._python or _ASSUMED_PYTHON)  # these two depend on Python only
        if not behaves.exception_table_skips:
            return []
        file = self._facts.sources.file(place.path)
        found = file.constructs(place.function) if file else []
        return [item for item in found if item.kind != "comprehension" or behaves.comprehension_makes_exception_table]

    def _evidence(self, place: Place, caller: Place | None, line: int, *, ran: bool = False) -> tuple[Evidence, ...]:
        quoted = self._facts.sources.line(place.path, line) or ""
        unless = "" if ran else ", or it was not called"
        told = [
            Evidence("source", f"line {line}: {quoted}"),
            Evidence("sotlog", f"the log never shows {place.function.name}: SOT was not asked about it{unless}"),
        ]
        if caller is not None:
            told.append(Evidence("source", f"{caller.function.name} calls it"))
        if self._python is None:
            told.append(Evidence("source", "the log does not tell its Python: this is so from 3.11 on (--python names it)"))
        return tuple(told)

    def _handed_over(self, place: Place) -> Iterator[Suspect]:
        """Functions that a shown function does not call itself: a thread's target, a generator it asks for the next value."""
        for callee, cause in (*self._threads(place), *self._generators(place)):
            if callee not in self._simulated:
                frame = SourceSite(callee.path, callee.function.defined, callee.function.name, EXACT)
                yield Suspect(frame, frame, cause, self._evidence(callee, place, callee.function.defined))

    def _threads(self, place: Place) -> Iterator[tuple[Place, str]]:
        for node in calls_in(place.function.node):
            if (dotted(node.func) or "").rpartition(".")[2] != "Thread":
                continue
            target = next((keyword.value for keyword in node.keywords if keyword.arg == "target"), None)
            callee = self._program.named(place, dotted(target) or "") if target is not None else None
            if callee is not None:
                yield callee, "thread"

    def _generators(self, place: Place) -> Iterator[tuple[Place, str]]:
        """Generators that were made at module level: they run with the hook off whoever asks them."""
        file = self._program.files[place.path]
        names = {node.id for node in walk_own(place.function.node) if isinstance(node, ast.Name)}
        for name in sorted(names & file.made_by.keys()):
            callee = self._program.named(place, file.made_by[name])
            source = self._facts.sources.file(callee.path) if callee else None
            if callee is not None and source is not None and source.is_generator(callee.function):
                yield callee, "generator"


def is_context_manager(place: Place) -> bool:
    """Whether a function is the generator of a context manager: a side effect of the ``with`` that uses it."""
    return any((_decorator(item) or "").rpartition(".")[2] in _CONTEXT_MANAGERS for item in place.function.node.decorator_list)


def _order(place: Place) -> tuple[str, int]:
    return (place.path, place.function.defined)


def _decorator(node: ast.expr) -> str | None:
    return dotted(node.func if isinstance(node, ast.Call) else node)


def _is_to_static(node: ast.expr) -> bool:
    return (_decorator(node) or "").rpartition(".")[2] == TO_STATIC
