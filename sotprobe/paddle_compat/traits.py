"""What a version of Paddle on a version of Python does, as named behaviours.

This is the only place that compares version numbers. A behaviour is named for what it does, and says where it was
found: *run* means measured on the CPU wheels 3.0.0, 3.2.2 and 3.3.1, *source* read in the named Paddle file. 3.1 was
not run; it counts as 3.2 only where a source says so, else as 3.0. A develop build without a version ("0.0.0") counts
as the newest.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

NEWEST_KNOWN = (3, 3, 1)

# How often SOT looks at a code object that gives no subgraph before it lets it run as it is, for good (C source: eval_frame.c,
# run: 2.6.2 to 3.3.1).
LOOKS = 10

_NUMBERS = re.compile(r"\d+")
_VERSION = re.compile(r"\s*v?(\d+(?:\.\d+)*)")


def parse_version(text: str) -> tuple[int, int, int]:
    """Three numbers from a version string; what follows the release number is dropped.

    ``3.3.0.dev20250901``, ``3.3.0rc1``, ``3.0.0-beta2`` and ``3.2.2.post120`` are 3.3.0, 3.3.0, 3.0.0 and 3.2.2. A develop
    build ("0.0.0", "0.0.0.dev…") is the newest known version.

    Raises:
        ValueError: the text does not begin with a number.
    """
    match = _VERSION.match(text)
    if match is None:
        raise ValueError(f"not a version: {text!r}")
    numbers = [int(number) for number in _NUMBERS.findall(match[1])[:3]]
    major, minor, patch = numbers + [0] * (3 - len(numbers))
    return NEWEST_KNOWN if (major, minor, patch) == (0, 0, 0) else (major, minor, patch)


@dataclass(frozen=True)
class Traits:
    """The behaviours of one (Paddle, Python); every property is a fact with its source."""

    paddle: tuple[int, int, int]
    python: tuple[int, int]

    @property
    def sot_python_limit(self) -> tuple[int, int]:
        """The first Python on which ``full_graph=False`` silently becomes AST mode, with a warning (source: ``jit/api.py``)."""
        if self.paddle < (3, 0):
            return (3, 12)
        return (3, 15) if self.paddle >= (3, 3) else (3, 14)

    @property
    def sot_supported(self) -> bool:
        """Whether SOT runs at all on this Python."""
        return self.python < self.sot_python_limit

    # ---- what breaks the graph, or gives up the frame

    @property
    def loop_body_break_is_fallback(self) -> bool:
        """A graph break inside a ``for`` body makes the whole frame eager; before, the loop was split (run; source:
        ``OpcodeExecutor.FOR_ITER``, which lost ``_break_graph_when_for_loop`` in 3.3)."""
        return self.paddle >= (3, 3)

    @property
    def item_breaks(self) -> bool:
        """``Tensor.item()`` breaks the graph and its value is guarded; before, it was an operator of the graph (run)."""
        return self.paddle >= (3, 2)

    @property
    def broken_value_is_guarded(self) -> bool:
        """A Python number out of a break (``float(t)``, ``random.random()``, ``np.random.rand()``; ``item()`` where it breaks)
        is guarded by equality in the rest of the function: one recompile for every new value (run, all 3.x)."""
        return self.paddle >= (3, 0)

    @property
    def tensor_is_none_breaks(self) -> bool:
        """``x is None`` on a tensor breaks the graph: Python 3.11 has jump instructions of its own for it
        (``POP_JUMP_*_IF_NOT_NONE``), which SOT treats as a branch on a tensor (run)."""
        return self.python >= (3, 11)

    @property
    def logging_call_ends_program(self) -> bool:
        """A logging call in captured code raises InnerError out of the user's program (run: 3.0.0 with Python 3.11)."""
        return self.paddle < (3, 2) and self.python >= (3, 11)

    @property
    def captured_exception_disables_subtree(self) -> bool:
        """An exception caught inside library code that SOT simulates (a logging call) makes the frame and everything
        below it eager, without a location in the log (run: 3.2.2, 3.3.1; source: ``start_translate``)."""
        return self.paddle >= (3, 2) and self.python >= (3, 11)

    @property
    def no_grad_decorator_breaks(self) -> bool:
        """A function decorated with ``@paddle.no_grad()`` breaks the graph at its wrapper (run: 3.0.0; captured on 3.2.2)."""
        return self.paddle < (3, 2)

    @property
    def zero_size_falls_back(self) -> bool:
        """A tensor with a dimension of size 0 makes the frame eager under its guards, with everything below it
        (source: ``ConditionalFallbackError`` in ``variables/basic.py``; SOT_ENABLE_0_SIZE_FALLBACK)."""
        return self.paddle >= (3, 2)

    @property
    def global_object_counter_is_guarded(self) -> bool:
        """An ``int`` attribute of an object reached through a global (``NET.n += 1``) recompiles for every value. On ``self``,
        and in 3.0 in both cases, it becomes symbolic after one recompile (run)."""
        return self.paddle >= (3, 2)

    # ---- frames SOT never sees

    @property
    def exception_table_skips(self) -> bool:
        """A frame with ``with`` or ``try`` is left alone without a word; on Python 3.10 a ``with`` falls back and says so
        (run; C source: a code object with an exception table is skipped)."""
        return self.python >= (3, 11)

    @property
    def comprehension_makes_exception_table(self) -> bool:
        """A comprehension is inlined into its function and brings an exception table with it (PEP 709; run)."""
        return self.python >= (3, 12)

    @property
    def try_block_is_captured(self) -> bool:
        """``try`` without an exception is captured at frame level (run: 3.3.1 with Python 3.10; 3.0.0 falls back)."""
        return self.paddle >= (3, 2) and self.python < (3, 11)

    @property
    def generator_is_inlined(self) -> bool:
        """A generator consumed inside a captured frame is captured (run)."""
        return self.paddle >= (3, 2)

    @property
    def trampoline_poison(self) -> bool:
        """After ten break calls without a graph in the process, every function called at a break runs eagerly: all of
        them go through one Python function that gets marked (run: 3.2.2 and 3.3.1 on 3.11 and 3.12, not on 3.10 and
        3.13; 3.0.0 does not show it)."""
        return (3, 11) <= self.python < (3, 13) and not (3, 0) <= self.paddle < (3, 1)

    @property
    def late_entry_goes_eager(self) -> bool:
        """What was compiled after the 20th step runs compiled ten times, then eagerly for ever (run: 3.0.0; not 3.2.2)."""
        return self.paddle < (3, 2)

    # ---- limits

    @property
    def max_cache_size(self) -> int:
        """Translations kept of one code object; with so many, even inputs that used to hit run eagerly (source:
        ``OpcodeExecutorCache.MAX_CACHE_SIZE``; run)."""
        return 20

    @property
    def compile_time_limit(self) -> bool:
        """Frames are skipped after 40 s of compilation of one code object or 900 s in all (source: ``executor_cache.py``)."""
        return self.paddle >= (3, 2)

    @property
    def compile_time_limit_switch(self) -> bool:
        """SOT_ENABLE_COMPILE_TIME_LIMIT=0 lifts that limit (source: ``envs.py``)."""
        return self.paddle >= (3, 3)

    # ---- what can be relied on when looking

    @property
    def resume_lines_drift(self) -> bool:
        """Lines of resume functions are wrong in logs and tracebacks (run; source: ``create_linetable_calculator``)."""
        return self.python >= (3, 11)

    @property
    def collect_subgraph_relation_crashes(self) -> bool:
        """SOT_COLLECT_INFO=subgraph_relation ends the user's program with KeyError 'fx' (run; source: ``compile_cache.py``)."""
        return self.paddle >= (3, 2)

    @property
    def forced_ids_shift(self) -> bool:
        """Forcing a subgraph to dynamic captures its callees as new subgraphs, so the ids move (run: 3.0.0; not 3.3.1)."""
        return self.paddle < (3, 2)

    @property
    def recursive_fallback(self) -> bool:
        """``psdb.fallback(recursive=True)`` makes a function really dynamic; before, it is a TypeError (run)."""
        return self.paddle >= (3, 2)


def traits(paddle: str, python: str) -> Traits:
    """The behaviours of the given versions, as ``paddle.__version__`` and ``platform.python_version()`` write them.

    Raises:
        ValueError: one of them is not a version.
    """
    return Traits(parse_version(paddle), parse_version(python)[:2])
