"""Which tensor goes from one subgraph to the next, and which comes from outside.

Only some steps are looked at: those that translate something, and two behind. There every run of a subgraph is compared with
the outputs seen so far in the step. Tensors are known by identity and held weakly: nothing lives longer for being watched, and
an ``id`` that was given to a new tensor is told by the reference that died. What was changed in place on the way is no
longer what the subgraph made.

No class of the standard library is built here (dataclass, NamedTuple): SOT's frame hook is on while subgraphs run, and it would
translate their generated code.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping
from typing import Any

from sotprobe.paddle_compat.hooks.session import Session

QUIET_STEPS = 2  # how many steps are looked at after one that translated something
_MOST_LINKS = 20_000  # a step
_MOST_SETS = 64  # different sets of subgraphs that a step may run before they are no news any more
_DEEPEST = 4  # containers in the arguments of a to_static call
_MOST_ARGUMENTS = 10_000

SUBGRAPH = "subgraph"
DYNAMIC = "dynamic"
INPUT = "input"


class _Made:
    """An output of a run. ``described`` is its shape, dtype and bytes."""

    __slots__ = ("described", "name", "position", "reference", "taken", "version")

    def __init__(self, tensor: Any, name: str, position: int):
        self.reference = weakref.ref(tensor)
        self.name = name
        self.position = position
        self.version = tensor.inplace_version
        self.described = _described(tensor)
        self.taken = False


class _Outside:
    """A tensor that no subgraph of the step made, and who took it first."""

    __slots__ = ("name", "origin", "position", "reference")

    def __init__(self, tensor: Any, name: str, position: int, origin: str):
        self.reference = weakref.ref(tensor)
        self.name = name
        self.position = position
        self.origin = origin


def _described(tensor: Any) -> tuple[tuple[int, ...], str, int]:
    shape = tuple(tensor.shape)
    size = tensor.element_size()
    for length in shape:
        size *= length
    return shape, str(tensor.dtype).removeprefix("paddle."), size


class Flow:
    """Emits ``subgraph-flow`` records. ``recording`` says whether this step is looked at, ``tensor`` is the class of tensors."""

    def __init__(self, session: Session, tensor: type):
        self._session = session
        self._tensor = tensor
        self.recording = True
        self._quiet = 0
        self._sets: set[frozenset[str]] = set()
        self._earlier: dict[int, Any] = {}
        self._begin()

    def _begin(self) -> None:
        self._made: dict[int, _Made] = {}
        self._outside: dict[int, _Outside] = {}
        self._arguments: dict[int, Any] = {}
        self._all: list[_Made] = []
        self._links: dict[tuple[Any, ...], int] = {}

    def called(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        """The program calls something that is to_static: these are the caller's tensors."""
        if self.recording:
            self._add_arguments([*args, *kwargs.values()], 0)

    def _add_arguments(self, values: Iterable[Any], depth: int) -> None:
        for value in values:
            if len(self._arguments) >= _MOST_ARGUMENTS:
                return
            if isinstance(value, self._tensor):
                self._arguments[id(value)] = weakref.ref(value)
            elif depth < _DEEPEST and isinstance(value, (list, tuple)):
                self._add_arguments(value, depth + 1)
            elif depth < _DEEPEST and isinstance(value, dict):
                self._add_arguments(value.values(), depth + 1)

    def before(self, name: str, inputs: Iterable[Any]) -> None:
        """Subgraph ``name`` is about to run on these tensors."""
        for position, tensor in enumerate(inputs):
            made = self._made.get(id(tensor))
            if made is not None and made.reference() is tensor and made.version == tensor.inplace_version:
                made.taken = True
                self._count(name, position, made.name, made.position, SUBGRAPH, made.described)
            else:
                outside = self._from_outside(tensor, name, position)
                self._count(name, position, outside.name, outside.position, outside.origin, _described(tensor))

    def after(self, name: str, outputs: Iterable[Any]) -> None:
        """Subgraph ``name`` made these tensors."""
        for position, tensor in enumerate(outputs):
            made = self._made[id(tensor)] = _Made(tensor, name, position)
            self._all.append(made)

    def _count(self, to: str | None, input_: int | None, source: str, output: int, origin: str, described: tuple) -> None:
        key = (to, input_, source, output, origin, *described)
        if key in self._links or len(self._links) < _MOST_LINKS:
            self._links[key] = self._links.get(key, 0) + 1

    def _from_outside(self, tensor: Any, name: str, position: int) -> _Outside:
        outside = self._outside.get(id(tensor))
        if outside is None or outside.reference() is not tensor:
            outside = self._outside[id(tensor)] = _Outside(tensor, name, position, self._origin(tensor))
        return outside

    def _origin(self, tensor: Any) -> str:
        made = self._made.get(id(tensor))
        if made is not None and made.reference() is tensor:
            return DYNAMIC  # changed in place
        for known in (self._arguments, self._earlier):
            reference = known.get(id(tensor))
            if reference is not None and reference() is tensor:
                return INPUT
        return INPUT if tensor.persistable else DYNAMIC

    def end_step(self, index: int, ran: Iterable[str], *, translated: bool) -> None:
        """Emit what passed in the step that ended, and decide whether the next one is looked at."""
        if self.recording:
            self._emit(index)
        if self._is_news(frozenset(ran)) or translated:
            self._quiet = 0
            self.recording = True
        else:
            self._quiet += 1
            self.recording = self._quiet < QUIET_STEPS

    def _is_news(self, names: frozenset[str]) -> bool:
        if names in self._sets or len(self._sets) >= _MOST_SETS:
            return False
        self._sets.add(names)
        return True

    def _emit(self, index: int) -> None:
        for made in self._all:
            if not made.taken:
                self._count(None, None, made.name, made.position, SUBGRAPH, made.described)
        links = [_fields(key, count) for key, count in self._links.items()]
        if links:
            self._session.emit("subgraph-flow", step=index, links=links)
        references = [entry.reference for entry in (*self._outside.values(), *self._all)]
        self._earlier = {id(tensor): reference for reference in references if (tensor := reference()) is not None}
        self._begin()


def _fields(key: tuple[Any, ...], count: int) -> dict[str, object]:
    to, input_, source, output, origin, shape, dtype, size = key
    return {
        "to": to,
        "input": input_,
        "from": source,
        "output": output,
        "origin": origin,
        "count": count,
        "shape": list(shape),
        "dtype": dtype,
        "bytes": size,
    }
