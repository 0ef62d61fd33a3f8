"""Synthetic but realistic graphs, one per kind of picture. Run by path (runpy): it is data, not a module of the tests."""

from __future__ import annotations

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
from sotprobe.model import graph as kinds

ENVIRONMENT = {"paddle": "3.3.1", "python": "3.11.7", "gpu_build": False}

# What the program's lines say, for every sample: pictures and pages quote them.
SOURCES: dict[str, dict[int, str]] = {
    "cases/net.py": {
        14: "x = self.head(x)",
        16: "if x.mean() > 0:  # <- tensor-if",
        17: "x = x * 2",
        19: "x = paddle.nn.functional.relu(self.tail(x))",
        21: "print('mean', x.mean())",
        23: "scale = x.max().item()",
        26: "boxes = numpy.clip(x.numpy(), 0, scale)",
        30: "logging.getLogger('net').info('a message that is so long that no picture has a place for all of it')",
        34: "return self.out(paddle.to_tensor(boxes))",
    },
    "cases/storm.py": {9: "for size in sizes:", 10: "x = work(x[:size])", 12: "return x.sum()"},
}


def site(path: str, line: int, function: str) -> SourceSite:
    return SourceSite(path, line, function)


def statements(path: str, first: int, last: int, function: str, number: int) -> tuple[Statement, ...]:
    """``number`` statements over the lines from ``first`` to ``last``."""
    lines = [first + (last - first) * index // max(1, number - 1) for index in range(number)]
    names = ("matmul", "add", "relu", "reshape")
    return tuple(
        Statement(f"api || var_{index + 1} = paddle.{names[index % 4]} (var_{index})", site(path, line, function))
        for index, line in enumerate(lines)
    )


def subgraph(path: str, function: str, lines: tuple[int, int], chain: tuple[int, ...] = (), **more: object) -> GraphNode:
    first, last = lines
    ops = more.setdefault("ops", 12)
    more.setdefault("versions", (GraphVersion("SIR_0", 0, ops=ops, runs=24, compile_ms=31.2),))
    values = {
        "id": f"{path}:{function}@{','.join(map(str, chain))}",
        "kind": kinds.SUBGRAPH,
        "name": function,
        "state": kinds.COMPILED,
        "site": site(path, first, function.rpartition(".")[2]),
        "last_line": last,
        "chain": chain,
        "compiles": len(more["versions"]),
        "runs_per_step": 1.0,
        "compile_ms": 31.2,
        "forward_ms": 0.412,
        "backward_ms": 0.833,
        "ms_per_step": 0.412,
        "statements": statements(path, first, last, function.rpartition(".")[2], ops),
    }
    return GraphNode(**{**values, **more})


def dynamic(
    path: str, function: str, line: int, why: str, cause: str | None, chain: tuple[int, ...] = (), **more: object
) -> GraphNode:
    values = {
        "id": f"{path}:{function}@{','.join(map(str, chain))}!{why}:{line}",
        "kind": kinds.DYNAMIC_REGION,
        "name": function,
        "state": kinds.DYNAMIC_REGION,
        "site": site(path, line, function.rpartition(".")[2]),
        "last_line": line,
        "chain": chain,
        "ops": 3.0,
        "runs_per_step": 1.0,
        "ms_per_step": 0.061,
        "why": why,
        "cause": cause,
    }
    return GraphNode(**{**values, **more})


def tensor(owner: GraphNode, slot: str, name: str) -> GraphNode:
    return GraphNode(f"{owner.id}.{slot}", kinds.TENSOR, name, kinds.TENSOR)


def control(source: GraphNode, target: GraphNode) -> GraphEdge:
    return GraphEdge(source.id, target.id, kinds.CONTROL)


def passes(source: GraphNode, target: GraphNode, name: str = "var_7", **more: object) -> GraphEdge:
    values = {
        "ir_shape": (-1, 128),
        "real_shapes": ((64, 128),),
        "dtype": "float32",
        "bytes": 32768,
        "per_step": 1.0,
    }
    return GraphEdge(source.id, target.id, kinds.PASSES, name, **{**values, **more})


def graph(nodes: list[GraphNode], edges: list[GraphEdge], summary: GraphSummary, **more: object) -> SubgraphGraph:
    values = {"program": ProgramInfo("cases/net.py", "case"), "environment": ENVIRONMENT}
    return SubgraphGraph(tuple(nodes), tuple(edges), summary, **{**values, **more})


def one_subgraph() -> SubgraphGraph:
    """Everything is captured in one piece."""
    whole = subgraph(
        "cases/net.py", "Net.forward", (14, 34), ops=38,
        inputs=(TensorMeta("var_0", "float32", (64, 128), ((64, 128),)),),
        outputs=(TensorMeta("var_38", "float32", (64, 10), ((64, 10),)),),
    )  # fmt: skip
    summary = GraphSummary(1, 1, 0, 0, 1.0, 1.0, 1.0, 38, 38.0, 0.0, 0.0)
    return graph([whole], [], summary)


def five_breaks() -> SubgraphGraph:
    """Six pieces of one function: an if with both sides, prints, reads on the host, and one piece too small to keep."""
    path, name = "cases/net.py", "Net.forward"
    head = subgraph(path, name, (14, 16), versions=(GraphVersion("SIR_0", 0, ops=12, runs=24, compile_ms=31.2),))
    if_break = dynamic(path, name, 16, kinds.BREAK, "tensor-if", ops=1.0, ms_per_step=0.034)
    then_id, else_id = f"{path}:{name}@16then", f"{path}:{name}@16else"
    then = subgraph(
        path, name, (17, 21), (16,), id=then_id, ops=16, runs_per_step=0.75,
        versions=(GraphVersion("SIR_1", 0, ops=16, runs=18, compile_ms=40.1),),
    )  # fmt: skip
    other = subgraph(
        path, name, (19, 21), (16,), id=else_id, ops=14, runs_per_step=0.25,
        versions=(GraphVersion("SIR_6", 3, ops=14, runs=6, compile_ms=38.0),),
    )  # fmt: skip
    printed = dynamic(path, name, 21, kinds.BREAK, "builtin-call", (16,), ops=2.0)
    small = subgraph(
        path, name, (23, 23), (16, 21), ops=2, state=kinds.DROPPED, why=kinds.TOO_SMALL, compile_ms=4.4, forward_ms=None,
        backward_ms=None, ms_per_step=0.02, versions=(GraphVersion("SIR_2", 0, ops=2, compile_ms=4.4),),
    )  # fmt: skip
    item = dynamic(path, name, 23, kinds.BREAK, "item", (16, 21))
    numpy_call = dynamic(path, name, 26, kinds.BREAK, "numpy-api", (16, 21, 23), ops=9.0, ms_per_step=0.447)
    logged = dynamic(path, name, 30, kinds.BREAK, "logging", (16, 21, 23, 26), ops=None, ms_per_step=None)
    last = subgraph(
        path, name, (34, 34), (16, 21, 23, 26, 30), ops=6, state=kinds.RECOMPILED, cause="value-guard", compile_ms=72.5,
        versions=(
            GraphVersion("SIR_4", 0, ops=6, runs=1, compile_ms=30.0),
            GraphVersion(
                "SIR_5", 1, (Guard("frame.f_locals['scale'] == 0.5", "0.5", "0.75"),), 6, 23, 42.5, "value-guard",
            ),
        ),
    )  # fmt: skip
    shared = tensor(head, "out0", "var_12")
    boxes = tensor(last, "in0", "var_31")
    nodes = [head, shared, if_break, then, other, printed, small, item, numpy_call, logged, boxes, last]
    edges = [
        control(head, if_break),
        control(if_break, then),
        control(if_break, other),
        control(then, printed),
        control(other, printed),
        control(printed, small),
        control(small, item),
        control(item, numpy_call),
        control(numpy_call, logged),
        control(logged, last),
        passes(head, shared, "var_12"),
        passes(shared, then, "var_12", per_step=0.75),
        passes(shared, other, "var_12", per_step=0.25),
        passes(head, if_break, "var_11", ir_shape=(), real_shapes=((),), dtype="bool", bytes=1),
        passes(then, printed, "var_20", real_shapes=((64, 128), (32, 128))),
        passes(other, printed, "var_20", real_shapes=((64, 128),), per_step=0.25),
        passes(numpy_call, boxes, "var_31", ir_shape=None),
        passes(boxes, last, "var_31"),
    ]
    summary = GraphSummary(4, 5, 1, 6, 2.0, 0.87, 0.74, 6, 13.0, 65537.0, 32768.0)
    return graph(nodes, edges, summary)


def cache_full() -> SubgraphGraph:
    """A loop whose sizes are guarded one by one until SOT keeps no more translations."""
    path = "cases/storm.py"
    versions = [GraphVersion("SIR_1", 0, ops=24, runs=3, compile_ms=61.0)]
    for number in range(1, 20):
        older = [
            Guard(f"frame.f_locals['x'].shape[0] == {size}", str(size), str(number + 2)) for size in range(number + 1, 1, -1)
        ]
        versions.append(GraphVersion(f"SIR_{number * 2 + 1}", number, tuple(older), 24, 3, 58.0 + number, "shape-churn"))
    before = subgraph(path, "func", (7, 9), versions=(GraphVersion("SIR_0", 0, ops=12, runs=24, compile_ms=25.0),))
    loop = subgraph(
        path, "func", (9, 10), (9,), ops=24, state=kinds.CACHE_FULL, cause="shape-churn", versions=tuple(versions),
        compile_ms=1292.0, runs_per_step=2.5, why=kinds.CACHE_FULL,
        inputs=(TensorMeta("var_14", "float32", (-1, 8), tuple((size, 8) for size in range(2, 22))),),
    )  # fmt: skip
    missed = dynamic(path, "func", 10, kinds.CACHE_FULL, "cache-full", (9,), ops=36.0, ms_per_step=1.93)
    end = subgraph(path, "func", (12, 12), (9, 10), ops=11)
    shapes = tuple((size, 8) for size in range(2, 22))
    edges = [
        control(before, loop),
        control(before, missed),
        control(loop, end),
        control(missed, end),
        passes(before, loop, "var_13", ir_shape=(-1, 8), real_shapes=shapes, bytes=640),
        passes(loop, end, "var_20", ir_shape=(-1, 8), real_shapes=shapes, bytes=640),
    ]
    summary = GraphSummary(3, 22, 19, 1, 4.5, 0.55, 0.4, 11, 12.0, 1600.0, 1600.0)
    return graph([before, loop, missed, end], edges, summary, program=ProgramInfo("cases/storm.py", "script", ("--steps", "24")))


_PIECES = (
    ("ppdet/modeling/backbones/resnet.py", "ResNet.forward", 5),
    ("ppdet/modeling/necks/fpn.py", "FPN.forward", 4),
    ("ppdet/modeling/heads/detr_head.py", "DETRHead.forward", 6),
    ("ppdet/modeling/transformers/matchers.py", "HungarianMatcher.forward", 5),
    ("ppdet/modeling/losses/detr_loss.py", "DETRLoss._get_loss_class_and_boxes", 6),
    ("ppdet/modeling/losses/detr_loss.py", "DETRLoss.forward", 4),
)
_CAUSES = ("tensor-if", "item", "numpy-api", "builtin-call", "host-read")


def thirty() -> SubgraphGraph:
    """A detection model in thirty pieces: what engineers count before they repair it."""
    nodes: list[GraphNode] = []
    edges: list[GraphEdge] = []
    number, previous = 0, None
    for path, function, pieces in _PIECES:
        chain: tuple[int, ...] = ()
        for piece in range(pieces):
            first = 40 + piece * 23
            ops = 11 + (number * 37) % 80
            versions = [GraphVersion(f"SIR_{number}", 0, ops=ops, runs=24, compile_ms=20.0 + ops)]
            if number % 7 == 4:
                guard = Guard("frame.f_locals['target'].shape[0] == 3", "3", "5")
                versions.append(GraphVersion(f"SIR_{number + 40}", 2, (guard,), ops, 20, 60.0, "shape-churn"))
            more = {"state": kinds.RECOMPILED, "cause": "shape-churn"} if len(versions) > 1 else {}
            node = subgraph(
                path, function, (first, first + 17), chain, ops=ops, versions=tuple(versions), forward_ms=ops / 97, **more
            )  # fmt: skip
            nodes.append(node)
            if previous is not None:
                edges.append(control(previous, node))
                edges.append(passes(nodes[-3] if piece else previous, node, f"var_{number}", ir_shape=(-1, 256, -1, -1)))
            previous = node
            number += 1
            if piece + 1 < pieces:
                line = first + 19
                region = dynamic(path, function, line, kinds.BREAK, _CAUSES[number % 5], chain, ops=float(number % 6))
                nodes.append(region)
                edges.append(control(node, region))
                chain = (*chain, line)
                previous = region
    summary = GraphSummary(30, 34, 4, 24, 30.0, 0.91, 0.83, 11, 48.0, 1.2e6, 3.4e5)
    return graph(nodes, edges, summary, program=ProgramInfo("tools/train.py", "script", ("-c", "detr.yml")))


def from_log() -> SubgraphGraph:
    """What a log tells: no times, no shapes, no lines below the function."""
    path, name = "/proj/model.py", "forward"
    head = _log_node(path, name, (), "SIR_0")
    broke = GraphNode(
        f"{path}:{name}@!break:20", kinds.DYNAMIC_REGION, name, kinds.DYNAMIC_REGION, site(path, 20, name), why=kinds.BREAK,
        cause="builtin-call",
    )  # fmt: skip
    rest = _log_node(path, name, (20,), "SIR_1")
    summary = GraphSummary(2, 2, 0, 1, 2.0)
    return graph(
        [head, broke, rest], [control(head, broke), control(broke, rest)], summary,
        program=ProgramInfo("train.log", "log"), environment={},
    )  # fmt: skip


def _log_node(path: str, name: str, chain: tuple[int, ...], sir: str) -> GraphNode:
    return GraphNode(
        f"{path}:{name}@{','.join(map(str, chain))}", kinds.SUBGRAPH, name, kinds.COMPILED,
        SourceSite(path, 12, name, "function"), chain=chain, compiles=1, runs_per_step=1.0,
        versions=(GraphVersion(sir, None, runs=3),), statements=(Statement("method || var_1 = __mul__ (var_0, 2)", None),),
    )  # fmt: skip


NASTY = (
    "</script><script>window.hit=1</script>",
    "\"'`&amp;&lt;<b>bold</b>",
    "\\N\\G\\l\\n\\\\ \\",
    "line one\nline two\r\ttab\x00\x1b[31mred\x07",
    "\u202eevil\u2066 \u05d0\u05d1\u05d2 \u0645\u0631\u062d\u0628\u0627\u2028\u2029\ufffe\ud800\ufeff",
    "n" * 10_000,
    "javascript:window.hit=1//",
    '<TABLE><TR><TD HREF="javascript:window.hit=1">x</TD></TR></TABLE>',
    "<img src=x onerror=window.hit=1>",
    "]]><!--  -- > --> {{ 7 * 7 }} {% raw %} %s {0} ${x}",
)


def hostile() -> SubgraphGraph:
    """Every text that comes from user code or logs tries to be something else."""
    nodes: list[GraphNode] = []
    edges: list[GraphEdge] = []
    for index, text in enumerate(NASTY):
        path = f"{text}.py"
        node = GraphNode(
            f"{path}:{text}@{index}", kinds.SUBGRAPH, text, kinds.RECOMPILED, SourceSite(path, index + 1, text), index + 9,
            (index,), 12, 2, 1.0, 30.0, 0.4, None, 0.4, cause=text,
            versions=(
                GraphVersion(text, 0, ops=12),
                GraphVersion(text, 1, (Guard(f"frame.f_locals['{text}'] == {text}", text, text),), 12, cause=text),
            ),
            statements=(Statement(f"api || var_1 = {text} (var_0)", SourceSite(path, index + 1, text)),),
            inputs=(TensorMeta(text, text, (-1,), ((2,),)),),
        )  # fmt: skip
        region = GraphNode(
            f"{path}:{text}@{index}!{text}:3", kinds.DYNAMIC_REGION, text, kinds.DYNAMIC_REGION, SourceSite(path, 3, text),
            why=text, cause=text,
        )  # fmt: skip
        ball = GraphNode(f"{node.id}.out0", kinds.TENSOR, text, kinds.TENSOR)
        nodes += [node, region, ball]
        edges += [
            GraphEdge(node.id, region.id, kinds.CONTROL),
            GraphEdge(node.id, ball.id, kinds.PASSES, text, (-1, 3), ((2, 3),), text, 24, 1.0),
            GraphEdge(ball.id, region.id, kinds.PASSES, text, None, (), text),
        ]
    summary = GraphSummary(len(NASTY), 2 * len(NASTY), len(NASTY), len(NASTY))
    return graph(nodes, edges, summary, program=ProgramInfo(NASTY[0], "script", NASTY[1:4]), environment={"paddle": NASTY[8]})


def line_of(place: SourceSite) -> str | None:
    return SOURCES.get(place.path, {}).get(place.line)


def url_of(place: SourceSite) -> str | None:
    """Links to the files of the samples, and to nothing that a hostile one names."""
    return f"../{place.path}#L{place.line}" if place.path.startswith(("cases/", "ppdet/")) else None


SAMPLES = {
    "one_subgraph": one_subgraph(),
    "five_breaks": five_breaks(),
    "cache_full": cache_full(),
    "thirty": thirty(),
    "from_log": from_log(),
    "hostile": hostile(),
}
