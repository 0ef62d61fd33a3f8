"""From a graph to what a picture of it shows: small graphs node by node, large ones folded by function or by module."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from sotprobe.model.graph import (
    CACHE_FULL,
    COMPILED,
    DROPPED,
    DYNAMIC_REGION,
    PASSES,
    RECOMPILED,
    SUBGRAPH,
    TENSOR,
    GraphEdge,
    GraphNode,
    SubgraphGraph,
)

# A picture with more nodes than that is no longer read at its natural size.
MOST_DRAWN = 120
# Less than that says little of a large program; then up to so many are drawn, which still takes seconds only.
FEWEST_DRAWN = 12
STILL_DRAWN = 480

# What a group of nodes is drawn as: the first of these that one of its subgraphs is, else of its other nodes.
_STATES = (CACHE_FULL, RECOMPILED, COMPILED, DROPPED, DYNAMIC_REGION, TENSOR)
_PACKAGES = ("site-packages", "dist-packages")


@dataclass(frozen=True)
class Group:
    """Several nodes that are drawn as one. ``path`` is their file, None when they come from several.

    ``subgraphs`` counts places, ``versions`` all their translations, ``dynamic`` dynamic regions and dropped subgraphs.
    ``ops`` are those of the subgraphs, ``runs_per_step`` their runs, ``ms_per_step`` the time of all members; None when it is
    known of none.
    """

    id: str
    name: str
    path: str | None
    state: str
    members: tuple[GraphNode, ...]
    subgraphs: int
    versions: int
    dynamic: int
    ops: float | None
    runs_per_step: float | None
    ms_per_step: float | None


@dataclass(frozen=True)
class Link:
    """All edges that lead from one drawn node to another."""

    source: str
    target: str
    edges: tuple[GraphEdge, ...]

    @property
    def passes(self) -> bool:
        """Whether a tensor passes."""
        return any(edge.kind == PASSES for edge in self.edges)


@dataclass(frozen=True)
class Picture:
    """What is drawn of ``graph``. ``folded_by`` is ``function`` or ``module`` (then ``depth`` parts of its path), None for all.

    ``nodes`` keep the program's order.
    """

    graph: SubgraphGraph
    nodes: tuple[GraphNode | Group, ...]
    links: tuple[Link, ...]
    folded_by: str | None = None
    depth: int | None = None


def picture(
    graph: SubgraphGraph,
    *,
    full: bool = False,
    depth: int | None = None,
    most: int = MOST_DRAWN,
    status: Mapping[str, str] | None = None,
) -> Picture:
    """What to draw. ``depth`` folds by so many parts of the module path, ``full`` never folds.

    Without either, a graph of more than ``most`` nodes is folded by function, and by ever shorter module paths while that is
    still too many. A step that would leave next to nothing to see (all functions are in one file) is not taken.

    With a ``status`` for nodes by id, tensors of several are not drawn as one, and functions whose nodes have no status (nothing
    is to be seen there) are folded before all others.
    """
    if depth is not None:
        return _by_module(graph, depth)
    whole = _unfolded(graph, status or {})
    if full or len(whole.nodes) <= most:
        return whole
    if status is not None:
        quiet = _quiet_folded(graph, status)
        if len(quiet.nodes) <= most:
            return quiet
    folded = _folded(graph, _function_of, _function_group, "function")
    for coarser in _by_ever_shorter_paths(graph):
        if len(folded.nodes) <= most or (len(coarser.nodes) < FEWEST_DRAWN and len(folded.nodes) <= STILL_DRAWN):
            break
        folded = coarser
    return folded


def _by_ever_shorter_paths(graph: SubgraphGraph) -> Iterator[Picture]:
    deepest = max(map(len, module_parts(graph.nodes).values()), default=1)
    return (_by_module(graph, depth) for depth in range(deepest - 1, 0, -1))


# --- not folded ------------------------------------------------------------------------------------------------------


def _unfolded(graph: SubgraphGraph, status: Mapping[str, str]) -> Picture:
    """Every node by itself; only tensors that pass between the same nodes share one."""
    makers, takers = _neighbours(graph)
    bundles: dict[Hashable, list[GraphNode]] = defaultdict(list)
    for node in graph.nodes:
        shared = node.kind == TENSOR and (frozenset(makers[node.id]), frozenset(takers[node.id]), status.get(node.id))
        bundles[shared or node.id].append(node)
    return _drawn(graph, bundles.values(), _tensor_group, {})


def _neighbours(graph: SubgraphGraph) -> tuple[Mapping[str, list[str]], Mapping[str, list[str]]]:
    makers: dict[str, list[str]] = defaultdict(list)
    takers: dict[str, list[str]] = defaultdict(list)
    for edge in graph.edges:
        makers[edge.target].append(edge.source)
        takers[edge.source].append(edge.target)
    return makers, takers


def _tensor_group(members: Sequence[GraphNode]) -> Group:
    return _group(f"{members[0].id}+{len(members) - 1}", f"{len(members)} tensors", members)


# --- folded ----------------------------------------------------------------------------------------------------------


def _by_module(graph: SubgraphGraph, depth: int) -> Picture:
    parts = module_parts(graph.nodes)

    def key(node: GraphNode) -> Hashable:
        return parts[node.id][:depth]

    def group(members: Sequence[GraphNode]) -> Group:
        name = ".".join(parts[members[0].id][:depth])
        return _group(f"{name}.*", name, members)

    return _folded(graph, key, group, "module", depth)


def _quiet_folded(graph: SubgraphGraph, status: Mapping[str, str]) -> Picture:
    """Functions none of whose nodes has a status folded, the others node by node."""
    loud = {_function_of(node) for node in graph.nodes if node.kind != TENSOR and node.id in status}

    def key(node: GraphNode) -> Hashable:
        return node.id if _function_of(node) in loud else _function_of(node)

    return _folded(graph, key, _function_group, "function")


def _function_of(node: GraphNode) -> Hashable:
    return _path(node), node.name


def _function_group(members: Sequence[GraphNode]) -> Group:
    path, name = _path(members[0]), members[0].name
    return _group(f"{path}:{name}.*", name, members)


def _folded(
    graph: SubgraphGraph,
    key: Callable[[GraphNode], Hashable],
    group: Callable[[Sequence[GraphNode]], Group],
    by: str,
    depth: int | None = None,
) -> Picture:
    bundles: dict[Hashable, list[GraphNode]] = defaultdict(list)
    for node in graph.nodes:
        if node.kind != TENSOR:
            bundles[key(node)].append(node)
    return _drawn(graph, bundles.values(), group, _makers(graph), by, depth)


def _makers(graph: SubgraphGraph) -> dict[str, str]:
    """Of every tensor node what makes it: a folded picture shows that instead."""
    tensors = {node.id for node in graph.nodes if node.kind == TENSOR}
    return {edge.target: edge.source for edge in graph.edges if edge.target in tensors}


def _drawn(
    graph: SubgraphGraph,
    bundles: Iterable[Sequence[GraphNode]],
    group: Callable[[Sequence[GraphNode]], Group],
    instead: Mapping[str, str],
    by: str | None = None,
    depth: int | None = None,
) -> Picture:
    """The picture whose nodes are ``bundles``; a bundle of one is that node itself."""
    nodes: list[GraphNode | Group] = []
    place: dict[str, str] = {}
    for members in bundles:
        node = members[0] if len(members) == 1 else group(members)
        nodes.append(node)
        place.update((member.id, node.id) for member in members)
    links: dict[tuple[str, str], list[GraphEdge]] = defaultdict(list)
    for edge in graph.edges:
        source, target = (place.get(instead.get(end, end)) for end in (edge.source, edge.target))
        if source is not None and target is not None and (source != target or source == edge.source == edge.target):
            links[source, target].append(edge)
    drawn = tuple(Link(source, target, tuple(edges)) for (source, target), edges in links.items())
    return Picture(graph, tuple(nodes), drawn, by, depth)


def _group(identity: str, name: str, members: Sequence[GraphNode]) -> Group:
    subgraphs = [node for node in members if node.kind == SUBGRAPH and node.state != DROPPED]
    states = {node.state for node in subgraphs or members}
    paths = {_path(node) for node in members if node.kind != TENSOR}
    return Group(
        id=identity,
        name=name,
        path=paths.pop() if len(paths) == 1 else None,
        state=min(states, key=_STATES.index),
        members=tuple(members),
        subgraphs=len(subgraphs),
        versions=sum(node.compiles or 1 for node in subgraphs),
        dynamic=sum(node.state in (DYNAMIC_REGION, DROPPED) for node in members),
        ops=_total(node.ops for node in subgraphs),
        runs_per_step=_total(node.runs_per_step for node in subgraphs),
        ms_per_step=_total(node.ms_per_step for node in members),
    )


def _total(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


# --- module paths ----------------------------------------------------------------------------------------------------


def _path(node: GraphNode) -> str | None:
    return node.site.path if node.site is not None else None


def module_parts(nodes: Iterable[GraphNode]) -> dict[str, tuple[str, ...]]:
    """Node id to the parts of its module path, the class and the function last: ``ppdet, heads, detr_head, DETRHead, forward``.

    Of an installed package the path begins at the package, of other absolute paths below the directory that all of them share.
    """
    nodes = [node for node in nodes if node.kind != TENSOR]
    files = {path: _file_parts(path) for path in {_path(node) for node in nodes} if path is not None}
    rooted = [parts[:-1] for path, parts in files.items() if _is_absolute(path) and not _in_package(parts)]
    shared = _shared(rooted)
    modules: dict[str | None, tuple[str, ...]] = {None: ()}
    for path, parts in files.items():
        if _in_package(parts):
            modules[path] = parts[_in_package(parts) :]
        else:
            modules[path] = parts[shared:] if _is_absolute(path) else parts
    return {node.id: (*modules[_path(node)], *node.name.split(".")) for node in nodes}


def _shared(folders: Sequence[Sequence[str]]) -> int:
    """How many parts all of them begin with."""
    alike = (len(set(parts)) == 1 for parts in zip(*folders, strict=False))
    return sum(takewhile(bool, alike))


def _file_parts(path: str) -> tuple[str, ...]:
    *folders, file = re.split(r"[/\\]", path)
    stem = file.removesuffix(".py")
    kept = [part for part in folders if part not in ("", ".", "..") and not part.endswith(":")]
    return (*kept, stem) if stem != "__init__" or not kept else tuple(kept)


def _in_package(parts: Sequence[str]) -> int:
    """Where the path inside the installed package begins; 0 for a file that is in none."""
    return max((parts.index(name) + 1 for name in _PACKAGES if name in parts), default=0)


def _is_absolute(path: str) -> bool:
    return re.match(r"[/\\]|[A-Za-z]:[/\\]", path) is not None
