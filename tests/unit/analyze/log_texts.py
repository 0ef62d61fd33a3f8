"""Logs of a few lines, put together from lines of real ones (Paddle 3.3.1, Python 3.11, SOT_LOG_LEVEL 2 and 3)."""

from __future__ import annotations

PATH = "/proj/model.py"


def code(function: str = "forward", line: int = 15, address: str = "0x7f0a") -> str:
    return f'<code object {function} at {address}, file "{PATH}", line {line}>'


_SIR = """\
StatementIR: SIR_0
  inputs: ['var_0']
  params: []
  outputs: ['var_1']
  statements: 
    layer      || var_1 = Linear (var_0)  
"""  # noqa: W291 - as SOT writes it
RUN = f"[FallbackWrapper] start run SIR: \n {_SIR}"


def entry(function: str = "forward", line: int = 15) -> str:
    return f"[eval_frame_callback] start to translate: {code(function, line)}\n"


def first_call(function: str = "forward", line: int = 15) -> str:
    return f"{entry(function, line)}[Cache] Firstly call {code(function, line)}\n"


def compiled(function: str = "forward", line: int = 15) -> str:
    """A first call that is compiled and run."""
    return f"{first_call(function, line)}start subgraph compile and execution.\n{_SIR}{RUN}"


def hit(function: str = "forward", line: int = 15) -> str:
    """A call that runs what was compiled."""
    return f"{entry(function, line)}[Cache] Cache hit, Guard is \nlambda frame: frame.f_locals['x'].shape[0] == 2\n{RUN}"


def fallback(function: str = "head", line: int = 40, reason: str = "Not support builtin function: <class 'int'>") -> str:
    """A first call that is given up."""
    return (
        f"{first_call(function, line)}Unsupported Frame is {code(function, line)}, error message is: \n"
        "Traceback (most recent call last):\n"
        f"paddle.jit.sot.utils.exceptions.BreakGraphError: {reason}\n"
        "\n"
    )


def calls(number: int) -> str:
    return compiled() + hit() * (number - 1)


def prefixed(rank: int, text: str) -> str:
    """What a launcher makes of a process's lines."""
    return "".join(f"[rank{rank}]: {line}\n" for line in text.splitlines())
