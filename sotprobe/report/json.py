"""The result as JSON: what ``--json`` prints and ``diagnosis.json`` keeps, and back again for ``show``.

Every figure of the other reports is here, in the same unit. JSON has no NaN and no infinity, so a figure that is not
finite becomes ``null`` in its place and is named under ``non_finite`` by its JSON pointer (RFC 6901); nothing is lost.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from sotprobe.errors import InputError
from sotprobe.model import (
    Diagnosis,
    Evidence,
    ExitStatus,
    Finding,
    GraphSummary,
    LogSummary,
    ModeSummary,
    ParityVerdict,
    ProgramInfo,
    Ratio,
    ReadStats,
    SourceSite,
    Verdict,
)
from sotprobe.model.codec import FORMAT_VERSION
from sotprobe.model.run import STATIC
from sotprobe.model.site import EXACT

NS_PER_MS = 1e6

# Figures of ModeSummary that are plain JSON keys of the same name.
_MODE_PLAIN = ("ips", "ips_unit", "steps", "rounds", "first_step_ms", "compile_ms")
# What only the static mode has.
_MODE_COUNTS = ("subgraphs", "translations", "recompiles", "breaks", "fallbacks", "not_captured")
_STEP_MS = ("median", "mean", "min", "max")
_RATIO = ("static_over_dynamic", "low", "high", "confident", "pairs")
_PARITY = (
    "outputs_equal",
    "max_abs_error",
    "max_rel_error",
    "noise_abs",
    "gradient_rel_error",
    "first_divergent_step",
    "text",
)
_LOG_PLAIN = ("lines", "calls", "static_calls", "steps")
_LOG_LISTS = ("files", "ranks", "refused")
_EXIT_PLAIN = ("reason", "code", "signal", "error_type", "error_message", "stacks", "traceback", "wall_ns", "simulated")


def render(diagnosis: Diagnosis) -> str:
    """The result as indented ASCII JSON, ending in a newline."""
    return json.dumps(to_dict(diagnosis), indent=2, allow_nan=False) + "\n"


def parse(text: str) -> Diagnosis:
    """The result that ``render`` wrote. Raises InputError when the text is no such JSON or a newer format."""
    try:
        data = json.loads(text)
    except ValueError as error:
        raise InputError(f"the saved result is not JSON: {error}", _HINT_AGAIN) from error
    return from_dict(data)


def to_dict(diagnosis: Diagnosis) -> dict[str, Any]:
    """The result as plain dicts, lists, strings and finite numbers."""
    data = {
        "format_version": FORMAT_VERSION,
        "program": {
            "path": diagnosis.program.path,
            "kind": diagnosis.program.kind,
            "arguments": list(diagnosis.program.arguments),
        },
        "environment": dict(diagnosis.environment),
        "modes": {name: _mode_to_dict(mode) for name, mode in diagnosis.modes.items()},
        "ratio": None if diagnosis.ratio is None else _pick(diagnosis.ratio, _RATIO),
        "parity": None if diagnosis.parity is None else _parity_to_dict(diagnosis.parity),
        "verdict": {"slug": diagnosis.verdict.slug, "text": diagnosis.verdict.text},
        "findings": [_finding_to_dict(finding) for finding in diagnosis.findings],
        "read_stats": {name: _stats_to_dict(stats) for name, stats in diagnosis.read_stats.items()},
        "notes": [_evidence_to_dict(note) for note in diagnosis.notes],
        "saved_in": diagnosis.saved_in,
        "counts": None if diagnosis.counts is None else dict(diagnosis.counts),
        "log": None if diagnosis.log is None else _log_to_dict(diagnosis.log),
    }
    non_finite: dict[str, str] = {}
    finite = _only_finite(data, "", non_finite)
    return {**finite, "non_finite": non_finite}


def from_dict(data: Any) -> Diagnosis:
    """The Diagnosis that ``to_dict`` came from. Unknown keys are ignored; a newer format raises InputError."""
    if not isinstance(data, Mapping) or "format_version" not in data:
        raise InputError("the saved result has no format_version: it is not a result of sotprobe", _HINT_AGAIN)
    version = data["format_version"]
    if not isinstance(version, int) or version > FORMAT_VERSION:
        raise InputError(
            f"the saved result has format_version {version!r}, this sotprobe reads up to {FORMAT_VERSION}",
            "read it with the version of sotprobe that wrote it, or a newer one",
        )
    try:
        return _diagnosis_from_dict(_with_non_finite(data))
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise InputError(f"the saved result is incomplete or damaged: {type(error).__name__}: {error}", _HINT_AGAIN) from error


_HINT_AGAIN = "run `sotprobe compare` again, or give the run directory that compare printed"


def _diagnosis_from_dict(data: Mapping[str, Any]) -> Diagnosis:
    program, verdict = data["program"], data["verdict"]
    return Diagnosis(
        program=ProgramInfo(program["path"], program["kind"], tuple(program.get("arguments", ()))),
        environment=dict(data["environment"]),
        modes={name: _mode_from_dict(name, mode) for name, mode in data["modes"].items()},
        ratio=None if data["ratio"] is None else Ratio(**{key: data["ratio"][key] for key in _RATIO}),
        parity=None if data["parity"] is None else _parity_from_dict(data["parity"]),
        verdict=Verdict(verdict["slug"], verdict["text"]),
        findings=tuple(_finding_from_dict(finding) for finding in data["findings"]),
        read_stats={name: _stats_from_dict(stats) for name, stats in data["read_stats"].items()},
        notes=tuple(_evidence_from_dict(note) for note in data.get("notes", ())),
        saved_in=data.get("saved_in"),
        counts=data.get("counts"),
        log=None if data.get("log") is None else _log_from_dict(data["log"]),
    )


def _mode_to_dict(mode: ModeSummary) -> dict[str, Any]:
    data = _pick(mode, _MODE_PLAIN)
    data["step_ms"] = {name: getattr(mode, f"step_ms_{name}") for name in _STEP_MS}
    data["loss"] = list(mode.loss)
    data["exit"] = None if mode.exit is None else _exit_to_dict(mode.exit)
    if mode.mode == STATIC:
        data.update(_pick(mode, _MODE_COUNTS))
        data["graph"] = None if mode.graph is None else asdict(mode.graph)
    return data


def _mode_from_dict(name: str, data: Mapping[str, Any]) -> ModeSummary:
    return ModeSummary(
        mode=name,
        **{key: data[key] for key in _MODE_PLAIN},
        **{f"step_ms_{key}": data["step_ms"][key] for key in _STEP_MS},
        loss=tuple(data["loss"]),
        exit=None if data.get("exit") is None else _exit_from_dict(data["exit"]),
        **{key: data.get(key) for key in _MODE_COUNTS},
        graph=GraphSummary(**data["graph"]) if data.get("graph") else None,
    )


def _parity_to_dict(parity: ParityVerdict) -> dict[str, Any]:
    return {"comparable": parity.comparable, "reasons": list(parity.reasons), **_pick(parity, _PARITY)}


def _parity_from_dict(data: Mapping[str, Any]) -> ParityVerdict:
    return ParityVerdict(comparable=data["comparable"], reasons=tuple(data["reasons"]), **{key: data[key] for key in _PARITY})


def _finding_to_dict(finding: Finding) -> dict[str, Any]:
    return {
        "slug": finding.slug,
        "severity": finding.severity,
        "title": finding.title,
        "cause": finding.cause,
        "site": _site_to_dict(finding.site),
        "source_line": finding.source_line,
        "count_per_step": finding.count_per_step,
        "cost_ms_per_step": None if finding.cost_ns is None else finding.cost_ns / NS_PER_MS,
        "cost_note": finding.cost_note,
        "cost_share": finding.cost_share,
        "advice": finding.advice,
        "evidence": [_evidence_to_dict(evidence) for evidence in finding.evidence],
        "ranks": list(finding.ranks),
        "suspected": finding.suspected,
    }


def _finding_from_dict(data: Mapping[str, Any]) -> Finding:
    cost_ms = data["cost_ms_per_step"]
    return Finding(
        slug=data["slug"],
        severity=data["severity"],
        title=data["title"],
        site=_site_from_dict(data["site"]),
        advice=data["advice"],
        evidence=tuple(_evidence_from_dict(evidence) for evidence in data["evidence"]),
        cause=data.get("cause"),
        count_per_step=data["count_per_step"],
        cost_ns=None if cost_ms is None else cost_ms * NS_PER_MS,
        cost_note=data.get("cost_note"),
        cost_share=data["cost_share"],
        source_line=data.get("source_line"),
        ranks=tuple(data.get("ranks", ())),
        suspected=data.get("suspected", False),
    )


def _exit_to_dict(status: ExitStatus) -> dict[str, Any]:
    data = _pick(status, _EXIT_PLAIN)
    return {**data, "site": _site_to_dict(status.site), "stack": [_site_to_dict(site) for site in status.stack]}


def _exit_from_dict(data: Mapping[str, Any]) -> ExitStatus:
    stack = [_site_from_dict(site) for site in data["stack"]]
    return ExitStatus(
        **{key: data[key] for key in _EXIT_PLAIN},
        site=_site_from_dict(data["site"]),
        stack=tuple(site for site in stack if site is not None),
    )


def _site_to_dict(site: SourceSite | None) -> dict[str, Any] | None:
    return None if site is None else _pick(site, ("path", "line", "function", "precision"))


def _site_from_dict(data: Mapping[str, Any] | None) -> SourceSite | None:
    return None if data is None else SourceSite(data["path"], data["line"], data["function"], data.get("precision", EXACT))


def _evidence_to_dict(evidence: Evidence) -> dict[str, Any]:
    return _pick(evidence, ("reader", "text", "file", "line"))


def _evidence_from_dict(data: Mapping[str, Any]) -> Evidence:
    return Evidence(data["reader"], data["text"], data.get("file"), data.get("line"))


def _log_to_dict(log: LogSummary) -> dict[str, Any]:
    return {**_pick(log, _LOG_PLAIN), **{name: list(getattr(log, name)) for name in _LOG_LISTS}}


def _log_from_dict(data: Mapping[str, Any]) -> LogSummary:
    return LogSummary(**{name: data[name] for name in _LOG_PLAIN}, **{name: tuple(data[name]) for name in _LOG_LISTS})


def _stats_to_dict(stats: ReadStats) -> dict[str, Any]:
    data = _pick(stats, ("matched", "ignored", "unrecognised", "malformed"))
    return {**data, "samples": list(stats.samples)}


def _stats_from_dict(data: Mapping[str, Any]) -> ReadStats:
    counts = (data[key] for key in ("matched", "ignored", "unrecognised", "malformed"))
    return ReadStats(*counts, samples=tuple(data.get("samples", ())))


def _pick(record: object, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: getattr(record, name) for name in names}


def _only_finite(value: Any, pointer: str, found: dict[str, str]) -> Any:
    """``value`` with every NaN and infinity replaced by None; ``found`` gets their JSON pointers."""
    if isinstance(value, float) and not math.isfinite(value):
        found[pointer] = str(value)
        return None
    if isinstance(value, Mapping):
        return {str(key): _only_finite(item, f"{pointer}/{_escape(str(key))}", found) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_only_finite(item, f"{pointer}/{index}", found) for index, item in enumerate(value)]
    return value


def _with_non_finite(data: Mapping[str, Any]) -> Any:
    """A copy of ``data`` with the figures named under ``non_finite`` back in their places."""
    copy = json.loads(json.dumps(data))
    for pointer, text in copy.get("non_finite", {}).items():
        *parents, last = (part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:])
        place = copy
        for part in parents:
            place = place[int(part) if isinstance(place, list) else part]
        place[int(last) if isinstance(place, list) else last] = float(text)
    return copy


def _escape(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
