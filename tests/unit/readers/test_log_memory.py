"""Memory does not grow with a log, whatever its lines say: a hostile log of 5 GB must not take more than a real one."""

from __future__ import annotations

import sys
import tracemalloc

import pytest
from log_engine import counted, read
from log_texts import code, entry, fallback, hit

from sotprobe.readers import passages, tokens

HOSTILE = {
    "code objects": lambda n: entry(f"f{n}").replace("0x7f0a", hex(n)),
    "recompiles": lambda n: entry(f"f{n % 50}") + f"[Cache] missed at x.shape[0] == {n}\n[Cache] all guards missed\n",
    "misses without end": lambda n: f"[Cache] missed at x.shape[0] == {n}\n",
    "subgraphs": lambda n: f"start subgraph compile and execution.\nStatementIR: SIR_{n}\n    api        || var_{n} = f (x) \n",
    "runs": lambda n: f"[FallbackWrapper] start run SIR: \n StatementIR: SIR_{n}\n",
    "fallbacks": lambda n: fallback(f"f{n}", reason=f"reason {n}"),
    "notes": lambda n: entry(f"f{n}") + "Note: This fallback may be triggered by user code\n",
    "breaks": lambda n: entry(f"f{n % 9}") + f"[BreakGraph] call function Break graph:\n    reason {n}\n",
    "ranks": lambda n: f"[rank{n}]: [Cache] all guards missed\n",
    "strange lines": lambda n: f"[Cache] nobody knows {n}\n",
    "user lines": lambda n: f"step {n}\n",
    "passages": lambda n: hit(f"f{n // 3}"),
    "opcodes": lambda n: f"[Translate Executor 1] (line {n}) LOAD_FAST x, stack is []\n",
    "code run": lambda n: f"[EXECUTOR RUN] Start execute opcode: {code(f'f{n}', n, hex(n))}\n",
    "listings": lambda n: f"[eval_frame_callback] OriginCode: f{n}\n  1  0 RESUME  0\n  2  2 RETURN_VALUE\n",
}


MOST = 50


def _scaled_down(monkeypatch) -> None:
    """Every bound of the readers (``MOST_...``) at 50, so that a few thousand lines show what would become of some GB."""
    for name, module in list(sys.modules.items()):
        if name.startswith("sotprobe.readers."):
            for constant, value in vars(module).items():
                if constant.lstrip("_").startswith("MOST_") and isinstance(value, int) and value > MOST:
                    monkeypatch.setattr(module, constant, MOST)
    monkeypatch.setattr(tokens, "_MEMO_BYTES", 100_000)
    monkeypatch.setattr(passages, "_MOST_BYTES", 100_000)


def _held(data: bytes) -> int:
    """Bytes that a reading still holds at its end."""
    tracemalloc.start()
    try:
        log = read(data)
        held = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert counted(log) == log.source.lines
    return held


@pytest.mark.parametrize("line", HOSTILE.values(), ids=HOSTILE)
def test_memory_is_bounded_whatever_comes(line, monkeypatch):
    _scaled_down(monkeypatch)
    few, many = ("".join(map(line, range(number))).encode() for number in (3000, 9000))
    read(few)  # what is made once is there then
    assert _held(many) < _held(few) * 1.2 + 250_000
