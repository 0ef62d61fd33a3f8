"""The rules: each looks at the facts and drafts findings; none prints, none measures."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sotprobe.analyze.facts import Facts
from sotprobe.analyze.rules.base import Draft
from sotprobe.analyze.rules.breaks import graph_break, host_sync
from sotprobe.analyze.rules.correctness import accuracy_mismatch, benign_exit, not_comparable
from sotprobe.analyze.rules.costs import compile_cost, guard_cost
from sotprobe.analyze.rules.divergent import mode_divergent_path
from sotprobe.analyze.rules.eager_loop import eager_loop
from sotprobe.analyze.rules.environment import environment
from sotprobe.analyze.rules.lost_frames import fallback, not_captured
from sotprobe.analyze.rules.mode_used import mode_used
from sotprobe.analyze.rules.no_grad import no_grad_block
from sotprobe.analyze.rules.recompiles import cache_limit, compile_limit, recompile
from sotprobe.analyze.rules.small_graph import small_graph

Rule = Callable[[Facts], Iterator[Draft]]

RULES: tuple[Rule, ...] = (
    accuracy_mismatch,
    not_comparable,
    mode_used,
    mode_divergent_path,
    eager_loop,
    no_grad_block,
    not_captured,
    fallback,
    host_sync,
    graph_break,
    recompile,
    cache_limit,
    compile_limit,
    guard_cost,
    small_graph,
    compile_cost,
    benign_exit,
    environment,
)
