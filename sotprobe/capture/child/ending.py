"""How the user's program ended, as records."""

from __future__ import annotations

import traceback
from types import TracebackType

from sotprobe.capture.child.emit import Emitter
from sotprobe.capture.child.userfiles import is_user_file
from sotprobe.paddle_compat.names import original_name
from sotprobe.paddle_compat.simulation import SIMULATION_ERROR, root_message, simulated_stack


def record_error(emit: Emitter, error: BaseException, *, step: int) -> None:
    """Write the ``error`` record of an exception that ended the program.

    The site is the innermost user line; for an error in SOT's simulation that of the simulated stack, because the real
    one ends at the call of the to_static function.
    """
    real = _user_frames(error.__traceback__)
    simulated = []
    if type(error).__name__ == SIMULATION_ERROR:
        simulated = [_site(*frame) for frame in simulated_stack(str(error)) if is_user_file(frame[0])]
    stack = real + simulated
    emit.now(
        "error",
        step=step,
        type=type(error).__name__,
        message=root_message(str(error)) if simulated else str(error),
        site=stack[-1] if simulated else user_site(error),
        stack=stack,
        simulated=bool(simulated),
        traceback="".join(traceback.format_exception(type(error), error, error.__traceback__))[-20_000:],
    )


def user_site(error: BaseException) -> dict | None:
    """The innermost user line of an exception; for a SyntaxError the line that does not parse."""
    if isinstance(error, SyntaxError) and error.filename:
        return _site(error.filename, error.lineno or 0, "<module>")
    frames = _user_frames(error.__traceback__)
    return frames[-1] if frames else None


def _user_frames(tb: TracebackType | None) -> list[dict]:
    frames = []
    while tb is not None:
        code = tb.tb_frame.f_code
        if is_user_file(code.co_filename):
            frames.append(_site(code.co_filename, tb.tb_lineno, original_name(code.co_name)))
        tb = tb.tb_next
    return frames


def _site(path: str, line: int, function: str) -> dict:
    return {"path": path, "line": line, "function": function}
