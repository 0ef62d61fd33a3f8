"""The subgraph graph as JSON, and back again: what ``graph -o FILE.json`` writes and ``graph --diff`` reads.

    {"format_version": 1, "program": {...}, "environment": {...}, "step": n | null, "lines": {path: {number: text}},
     "nodes": [{"id", "kind": "subgraph|dynamic|tensor", "name", "state", "why", "cause", "site", "last_line", "frame", "chain",
                "sides", "spans": [[path, first, last]], "ops", "compiles", "runs_per_step", "compile_ms", "forward_ms",
                "backward_ms", "ms_per_step", "versions": [{"name", "step", "guards": [{"expression", "expected", "seen"}],
                "ops", "runs", "compile_ms", "cause"}],
                "statements": [{"text", "site"}],
                "inputs"/"outputs": [{"name", "dtype", "ir_shape", "real_shapes", "at_break"}]}],
     "edges": [{"source", "target", "kind": "control|tensor", "name", "ir_shape", "real_shapes", "dtype", "bytes", "per_step"}],
     "summary": {"subgraphs", "subgraph_versions", "recompiles", "dynamic_regions", "runs_per_step", "captured_op_share",
                 "captured_time_share", "min_ops", "median_ops", "bytes_to_dynamic", "bytes_from_dynamic"}}

Fields and units are those of the records in ``model.graph``; what is not known is null.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from sotprobe.errors import InputError
from sotprobe.model import (
    GraphEdge,
    GraphNode,
    GraphSummary,
    GraphVersion,
    Guard,
    ProgramInfo,
    SourceSite,
    Statement,
    SubgraphGraph,
    TensorMeta,
)
from sotprobe.model.codec import FORMAT_VERSION
from sotprobe.model.site import EXACT

_SITE = ("path", "line", "function", "precision")
# What `graph --diff -o FILE.json` writes says so under "kind".
DIFF_KIND = "graph-diff"
_HINT = "write it again with `sotprobe graph RUN -o FILE.json`"


def render(graph: SubgraphGraph) -> str:
    """The graph as indented ASCII JSON, ending in a newline."""
    return json.dumps(to_dict(graph), indent=2, allow_nan=False) + "\n"


def parse(text: str) -> SubgraphGraph:
    """The graph that ``render`` wrote. Raises InputError when the text is no such JSON or a newer format."""
    try:
        data = json.loads(text)
    except ValueError as error:
        raise InputError(f"the graph is not JSON: {error}", _HINT) from error
    return from_dict(data)


def to_dict(graph: SubgraphGraph) -> dict[str, Any]:
    """The graph as plain dicts, lists, strings and finite numbers."""
    return {
        "format_version": FORMAT_VERSION,
        "program": plain(graph.program),
        "environment": _value(graph.environment),
        "step": graph.step,
        "lines": _value(graph.lines),
        "nodes": [plain(node) for node in graph.nodes],
        "edges": [plain(edge) for edge in graph.edges],
        "summary": plain(graph.summary),
    }


def from_dict(data: Any) -> SubgraphGraph:
    """The graph that ``to_dict`` came from. Unknown keys are ignored; a newer format raises InputError."""
    if isinstance(data, Mapping) and data.get("kind") == DIFF_KIND:
        raise InputError("this is a comparison of two graphs, not a graph", "give one of the runs that were compared")
    if not isinstance(data, Mapping) or not {"format_version", "nodes", "edges"} <= data.keys():
        raise InputError("this JSON is no subgraph graph", _HINT)
    version = data["format_version"]
    if not isinstance(version, int) or version > FORMAT_VERSION:
        raise InputError(
            f"the graph has format_version {version!r}, this sotprobe reads up to {FORMAT_VERSION}",
            "read it with the version of sotprobe that wrote it, or a newer one",
        )
    try:
        return _graph(data)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"the graph is incomplete or damaged: {type(error).__name__}: {error}", _HINT) from error


def plain(record: Any) -> dict[str, Any]:
    """A record as plain dicts, lists, strings and finite numbers."""
    return {item.name: _value(getattr(record, item.name)) for item in fields(record)}


def _value(value: Any) -> Any:
    if isinstance(value, SourceSite):
        return {name: getattr(value, name) for name in _SITE}
    if hasattr(value, "__dataclass_fields__"):
        return plain(value)
    if isinstance(value, (list, tuple)):
        return [_value(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): _value(item) for key, item in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _graph(data: Mapping[str, Any]) -> SubgraphGraph:
    program = data["program"]
    return SubgraphGraph(
        nodes=tuple(_node(node) for node in data["nodes"]),
        edges=tuple(_edge(edge) for edge in data["edges"]),
        summary=GraphSummary(**_known(GraphSummary, data["summary"])),
        program=ProgramInfo(program["path"], program["kind"], tuple(program.get("arguments", ()))),
        environment=dict(data["environment"]),
        step=data.get("step"),
        lines={path: {int(line): text for line, text in texts.items()} for path, texts in data.get("lines", {}).items()},
    )


def _node(data: Mapping[str, Any]) -> GraphNode:
    return GraphNode(
        **{
            **_known(GraphNode, data),
            "site": _site(data.get("site")),
            "frame": _site(data.get("frame")),
            "chain": tuple(data.get("chain", ())),
            "sides": tuple(data.get("sides", ())),
            "spans": tuple((path, first, last) for path, first, last in data.get("spans", ())),
            "versions": tuple(_version(version) for version in data.get("versions", ())),
            "statements": tuple(Statement(item["text"], _site(item.get("site"))) for item in data.get("statements", ())),
            "inputs": tuple(_meta(meta) for meta in data.get("inputs", ())),
            "outputs": tuple(_meta(meta) for meta in data.get("outputs", ())),
        }
    )


def _version(data: Mapping[str, Any]) -> GraphVersion:
    guards = tuple(Guard(item["expression"], item.get("expected"), item.get("seen")) for item in data.get("guards", ()))
    return GraphVersion(**{**_known(GraphVersion, data), "guards": guards})


def _edge(data: Mapping[str, Any]) -> GraphEdge:
    return GraphEdge(**{**_known(GraphEdge, data), **_shapes(data)})


def _meta(data: Mapping[str, Any]) -> TensorMeta:
    return TensorMeta(**{**_known(TensorMeta, data), **_shapes(data)})


def _shapes(data: Mapping[str, Any]) -> dict[str, Any]:
    ir_shape: Sequence[int] | None = data.get("ir_shape")
    return {
        "ir_shape": None if ir_shape is None else tuple(ir_shape),
        "real_shapes": tuple(tuple(shape) for shape in data.get("real_shapes", ())),
    }


def _known(record: type, data: Mapping[str, Any]) -> dict[str, Any]:
    return {item.name: data[item.name] for item in fields(record) if item.name in data}


def _site(data: Mapping[str, Any] | None) -> SourceSite | None:
    return None if data is None else SourceSite(data["path"], data["line"], data["function"], data.get("precision", EXACT))
