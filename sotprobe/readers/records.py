"""records.jsonl to checked records: one JSON object a line, see docs/run-directory.md.

A line is *matched* when its kind is known and the fields this version reads have the types of the contract. Unknown kinds are
*unrecognised*, anything else *malformed*. A last line without its newline is what kill -9 leaves behind: *ignored*.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sotprobe.model import ReadStats, SourceSite
from sotprobe.readers.base import LineCounter

Display = Callable[[str], str]
Check = Callable[[Any], bool]


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_str(value: Any) -> bool:
    return isinstance(value, str)


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool)


def _list_of(check: Check) -> Check:
    return lambda value: isinstance(value, list) and all(check(item) for item in value)


def _row(*checks: Check) -> Check:
    """A list that begins with these."""
    return lambda value: (
        isinstance(value, list) and len(value) >= len(checks) and all(c(v) for c, v in zip(checks, value, strict=False))
    )


def _fields(required: dict[str, Check], optional: dict[str, Check] | None = None) -> Check:
    """A dict with these fields; the optional ones may be null or absent."""

    def check(value: Any) -> bool:
        return (
            isinstance(value, dict)
            and all(name in value and test(value[name]) for name, test in required.items())
            and all(value.get(name) is None or test(value[name]) for name, test in (optional or {}).items())
        )

    return check


def _is_id(value: Any) -> bool:
    return _is_int(value) or isinstance(value, str)


_is_site = _fields({"path": _is_str, "line": _is_int}, {"function": _is_str})
_numbers = _list_of(_is_number)
_COUNTS = ("entered", "hits", "fallback_hits", "translated", "cache_full", "compile_limit", "callback_ns")

_CHECKS: dict[str, Check] = {
    "int": _is_int,
    "number": _is_number,
    "str": _is_str,
    "bool": _is_bool,
    "id": _is_id,
    "site": _is_site,
    "sites": _list_of(_is_site),
    "dict": lambda value: isinstance(value, dict),
    "ints": _list_of(_is_int),
    "strs": _list_of(_is_str),
    "guards": _list_of(_fields({}, {"expression": _is_str})),
    "frames": _list_of(_fields({"code": _is_id}, dict.fromkeys(_COUNTS, _is_number))),
    "statements": _list_of(_fields({}, {"path": _is_str, "line": _is_int, "function": _is_str})),
    "tensors": _list_of(_fields({}, {"ir_shape": _numbers, "at_break": _is_bool})),
    "runs": _list_of(_fields({"name": _is_str}, dict.fromkeys(("count", "forward_ns", "backward_ns"), _is_number))),
    "shapes": _list_of(_row(_numbers)),
    "links": _list_of(
        _fields(
            {"from": _is_str, "output": _is_int, "origin": _is_str},
            {"to": _is_str, "input": _is_int, "count": _is_int, "shape": _list_of(_is_int), "dtype": _is_str, "bytes": _is_int},
        )
    ),
    "lines": _list_of(
        _fields(
            {"path": _is_str, "line": _is_int},
            {
                "function": _is_str,
                "hits": _is_number,
                "wall_ns": _is_number,
                "ops": _list_of(_row(_is_str, _is_number, _is_number)),
            },
        )
    ),
    "covered": _list_of(_row(_is_str, _list_of(_is_int), lambda value: isinstance(value, dict))),
}

# The fields read from each kind. A trailing "!" marks those that a record is useless without; the others may be null or absent.
_FIELDS: dict[str, str] = {
    "start": "python:str paddle:str gpu_build:bool env:dict cpu_count:int",
    "step": "index:int! source:str! wall_ns:int! translations:int loss:number batch_size:int partial:bool",
    "step-loss": "index:int! loss:number",
    "window": "start:int! end:int!",
    "code": "id:id! path:str! line:int! function:str! user:bool break_lines:ints break_sides:strs flags:strs",
    "translate": "step:int code:id! nth:int outcome:str! wall_ns:int message:str outer:sites",
    "break": "step:int code:id how:str site:site reason:str message:str opcode:str stack:sites outer:sites",
    "fallback": "step:int code:id site:site reason:str message:str error:str final_message:str stack:sites outer:sites",
    "recompile": "step:int code:id! entries:int guards:guards wall_ns:int site:site",
    "frames": "step:int! frames:frames!",
    "subgraph": "step:int name:str! code:id statements:statements ops:int inputs:tensors outputs:tensors compile_ns:int "
    "dropped:str",
    "subgraph-runs": "step:int! runs:runs!",
    "subgraph-shapes": "step:int name:str! inputs:shapes outputs:shapes",
    "subgraph-flow": "step:int! links:links!",
    "subgraph-time": "step_from:int! step_to:int! times:runs!",
    "eager-frame": "step:int phase:str path:str! line:int! function:str! count:int why:str called_from:site seen:bool",
    "lines": "step_from:int! step_to:int! wall_ns:int lines:lines! operators:int attributed:int compiled_forward:int "
    "translations:int",
    "coverage": "step:int! simulated:bool lines:covered!",
    "parity": "what:str! name:str! step:int! equal:bool! max_abs_error:number max_rel_error:number mismatch:str",
    "warning": "message:str! category:str site:site",
    "error": "type:str! message:str! site:site stack:sites traceback:str simulated:bool",
    "note": "text:str!",
    "refused": "message:str! hint:str slug:str",
    "end": "reason:str! code:int",
}


def _parse_fields(text: str) -> tuple[tuple[str, str, bool], ...]:
    fields = []
    for item in text.split():
        name, _, kind = item.partition(":")
        fields.append((name, kind.rstrip("!"), kind.endswith("!")))
    return tuple(fields)


_SCHEMA = {kind: _parse_fields(text) for kind, text in _FIELDS.items()}


@dataclass(frozen=True)
class Record:
    """One record: its kind, its line in the file, its fields as written."""

    kind: str
    line: int
    fields: Mapping[str, Any]

    def get(self, name: str, default: Any = None) -> Any:
        value = self.fields.get(name)
        return default if value is None else value


@dataclass(frozen=True)
class Records:
    """All records of a run by kind, in the order written. ``truncated`` is True when the last line was cut off."""

    by_kind: Mapping[str, list[Record]] = field(default_factory=dict)
    stats: ReadStats = field(default_factory=ReadStats)
    truncated: bool = False

    def of(self, kind: str) -> list[Record]:
        return self.by_kind.get(kind, [])

    def first(self, kind: str) -> Record | None:
        return next(iter(self.of(kind)), None)

    def last(self, kind: str) -> Record | None:
        found = self.of(kind)
        return found[-1] if found else None


def read_records(path: Path) -> Records:
    """Read a records.jsonl; never raises for its content, only for a file that cannot be opened."""
    counter = LineCounter()
    by_kind: dict[str, list[Record]] = defaultdict(list)
    truncated = False
    for number, text, complete in _lines(path):
        if not text.strip():
            counter.ignored()
            continue
        try:
            data = json.loads(text)
        except ValueError:
            if complete:
                counter.malformed(text)
            else:
                counter.ignored()
                truncated = True
            continue
        if not isinstance(data, dict) or not isinstance(data.get("kind"), str):
            counter.malformed(text)
        elif data["kind"] not in _SCHEMA:
            counter.unrecognised(text)
        elif not _fits(data):
            counter.malformed(text)
        else:
            counter.matched()
            by_kind[data["kind"]].append(Record(data["kind"], number, data))
    return Records(dict(by_kind), counter.stats(), truncated)


def _lines(path: Path) -> Iterator[tuple[int, str, bool]]:
    with path.open(encoding="utf-8", errors="replace", newline="\n") as stream:
        for number, line in enumerate(stream, 1):
            yield number, line.rstrip("\n"), line.endswith("\n")


def _fits(data: Mapping[str, Any]) -> bool:
    for name, kind, required in _SCHEMA[data["kind"]]:
        value = data.get(name)
        if value is None:
            if required:
                return False
        elif not _CHECKS[kind](value):
            return False
    return True


def to_site(value: Mapping[str, Any] | None, display: Display) -> SourceSite | None:
    """A site as written to a record; None stays None."""
    if value is None:
        return None
    return SourceSite(display(value["path"]), value["line"], value.get("function") or "")


def to_sites(values: list[Mapping[str, Any]], display: Display) -> tuple[SourceSite, ...]:
    return tuple(SourceSite(display(value["path"]), value["line"], value.get("function") or "") for value in values)
