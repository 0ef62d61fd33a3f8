"""How programs ended: the cause of a failure, its words, and whether a signal from outside did any harm."""

from __future__ import annotations

from collections.abc import Iterator

from sotprobe.analyze.facts import Facts
from sotprobe.analyze.rules.base import plural
from sotprobe.model import Evidence, Run
from sotprobe.model.run import LOG
from sotprobe.model.site import EXACT
from sotprobe.paddle_compat import vocabulary
from sotprobe.paddle_compat.log_lines.crash import TERMINATION

HIGHER_ORDER = "higher-order-gradient"
_TERMINATED_ADVICE = (
    "See what ended it: a timeout that was too short, a scheduler, or the launcher because another process had failed (its log "
    "says so). Give it more time if it was still building."
)
_SIGNAL_ADVICE = {
    "SIGKILL": "Look in the kernel's log (dmesg) for its out-of-memory killer, and in the other logs for what failed first.",
    "SIGABRT": "See what a C++ library said before it aborted; run the program alone with python -X faulthandler.",
}
_CRASH_ADVICE = "Run the program alone with python -X faulthandler: it prints the Python line that the crash happened in."
_ERROR_ADVICE = "Fix the program first: its traceback is at that line of the log."
# Of a longer stack, as a recursion has, so many of the innermost lines are told.
_STACK_LINES = 6
# A program whose first function was called so often was past its first translations.
_CALLS_UNDER_WAY = 2


def cause_of(run: Run) -> str:
    """The cause of a run that failed."""
    ended = run.exit
    if ended.reason == "error":
        return vocabulary.classify_error(ended.error_type, ended.error_message, ended.simulated, ended.traceback)
    return ended.reason if ended.reason in ("signal", "timeout", "no-start") else "unknown"


def terminated(run: Run) -> bool:
    """Whether a log shows that somebody asked the program to end."""
    return run.program.kind == LOG and run.exit.reason == "signal" and run.exit.signal in TERMINATION


def was_under_way(run: Run) -> bool:
    """Whether the program had done what it was started for, as far as it came: steps, or calls of what is captured."""
    return _steps(run) > 0 or _calls(run) >= _CALLS_UNDER_WAY


def _steps(run: Run) -> int:
    return int(run.counts.get("log.all_steps", run.counts.get("log.steps", 0)))


def _calls(run: Run) -> int:
    return int(run.counts.get("log.all_calls", run.counts.get("log.calls", 0)))


def progress(run: Run) -> str:
    """How far the program came, by its log."""
    steps, calls = _steps(run), _calls(run)
    words = [plural(steps, "step") + " of a benchmark"] if steps else []
    words += [plural(calls, "call") + " of the first function"] if calls else []
    return f"{' and '.join(words)} logged" if words else "no step and no line of SOT was logged"


def harmless_title(run: Run) -> str:
    """Without numbers: the ranks of one program differ in them, and are one finding."""
    what = "its steps" if _steps(run) else "calls of what is captured"
    return f"the program was ended from outside by {run.exit.signal} after it had logged {what}: harmless"


def why_harmless(run: Run) -> Iterator[Evidence]:
    """What is there in spite of a signal, and who sent it."""
    text = f"{progress(run)} before the signal: they stand; how the program would have gone on is not known"
    yield Evidence("log", text, run.directory)
    yield from _sender(run)
    yield from run.exit.evidence


def _sender(run: Run) -> Iterator[Evidence]:
    if run.exit.sender and run.exit.signal in TERMINATION:
        yield Evidence("log", f"the signal came from {run.exit.sender}", run.directory)


def advice_for_log(run: Run, cause: str) -> str | None:
    """What to do about an end that only a log is known of; None where the table of causes says it."""
    if terminated(run):
        return _TERMINATED_ADVICE
    if cause == "signal":
        return _SIGNAL_ADVICE.get(run.exit.signal or "", _CRASH_ADVICE)
    return _ERROR_ADVICE if cause == "program-error" else None


def evidence_of_log(facts: Facts, run: Run, cause: str) -> Iterator[Evidence]:
    """What a log tells of its end: the lines that say so first, then how far the program came."""
    ended = run.exit
    yield from ended.evidence
    yield Evidence("log", progress(run), run.directory)
    yield from _sender(run)
    if len(ended.stack) > 1:
        above = "... > " if len(ended.stack) > _STACK_LINES else ""
        sites = [f"{site} ({site.function})" for site in ended.stack[-_STACK_LINES:]]
        yield Evidence("log", f"user stack: {above}{' > '.join(sites)}")
    elif ended.site is not None and not ended.stack:
        where = "the last line that SOT simulated" if ended.site.precision == EXACT else "the last function that SOT entered"
        yield Evidence("log", f"{where}: {ended.site.function} at {ended.site}")
    if cause == HIGHER_ORDER:
        yield from boundaries(facts)


def boundaries(facts: Facts) -> Iterator[Evidence]:
    """The functions that are captured, where the gradient of a gradient stops."""
    events = facts.events("translate")
    frames = dict.fromkeys(event.frame for event in events if event.frame is not None and not event.break_lines)
    names = ", ".join(f"{frame.function} ({frame})" for frame in frames)
    if names:
        yield Evidence("sot", f"what SOT captured, and its gradient stops at: {names}")
