"""Limits of SOT, dropped subgraphs, and how programs end."""

from __future__ import annotations

from sotprobe.paddle_compat.cause_table.record import Cause
from sotprobe.paddle_compat.versions import Versions

ENDINGS: tuple[Cause, ...] = (
    # Limits
    Cause(
        "cache-full",
        "a function whose 20 translations are in use",
        "SOT keeps 20 translations of a code object; then the frame runs eagerly, also for inputs that used to hit.",
        "Remove what causes the recompiles (see the recompile findings of this function).",
        "calls skipped because the cache is full",
    ),
    Cause(
        "compile-time",
        "the compile-time limit",
        "This function, or the process, has spent its compile time: new translations are refused.",
        "Make fewer translations; SOT_ENABLE_COMPILE_TIME_LIMIT=0 lifts the limit (Paddle 3.3).",
        "calls skipped because of the compile-time limit",
        versions=Versions(paddle_since="3.2"),
    ),
    Cause(
        "too-small",
        "a subgraph below MIN_GRAPH_SIZE",
        "A subgraph with fewer operators than MIN_GRAPH_SIZE (10) is built and thrown away; its lines run eagerly.",
        "Nothing for small helpers. MIN_GRAPH_SIZE=0 compiles them anyway, for a test.",
        "a subgraph that was built and dropped",
    ),
    # Programs that failed
    Cause(
        "inner-error",
        "SOT failed while simulating the program",
        "An operation that works in dynamic mode raised during capture, and SOT passed the error on.",
        "Make the operand types of this line explicit (astype, full), or move the line out of the captured function.",
        "an InnerError; the line is that of the simulated stack",
    ),
    Cause(
        "program-error",
        "the program raised",
        "The program ended with an exception.",
        "Fix the program in this mode first; the traceback is in the evidence.",
        "an exception that ended the program",
    ),
    Cause(
        "generated-code",
        "an error in the code that SOT put in place of a function",
        "The exception came out of bytecode that SOT wrote, so that of the user's lines only the function's definition is known. "
        "What SOT leaves to Python, as the calls at graph breaks, raises there too.",
        "Run the program in dynamic mode: if it fails there as well, the fault is the program's, else SOT's: keep the function "
        "out of capture (paddle.jit.not_to_static) and report it.",
        "a traceback whose innermost frame is SOT's code",
    ),
    Cause(
        "main-program",
        "main_program of a SOT function",
        "A function captured by SOT has no single program; this is a mismatch of modes, not an error of the model.",
        "Export with paddle.jit.to_static(..., full_graph=True).",
        "Paddle's RuntimeError about main_program",
    ),
    Cause(
        "higher-order-gradient",
        "a second derivative through a static subgraph",
        "The backward of a compiled subgraph has no backward of its own.",
        "Take the second derivative inside the captured function, or keep this function dynamic.",
        "Paddle's ValueError about an input that is not in the backward graph",
    ),
    Cause(
        "signal",
        "the program was killed by a signal",
        "The process ended by a signal.",
        "See the stacks in the evidence; run the program alone in this mode.",
        "the exit status of the child; the report of a signal in a log",
    ),
    Cause(
        "terminated",
        "ended from outside after its steps",
        "A timeout, a launcher, a profiler at the end of its window or the keyboard ended the program. Paddle prints a box about "
        "it that looks like a crash.",
        "Nothing to do after a timeout or a profiler: the lines before the signal stand. A launcher also ends its other "
        "processes when one failed; then see that one's log.",
        "SIGTERM, SIGINT or SIGHUP at the end of a log with lines of a benchmark, or with calls of what is captured",
    ),
    Cause(
        "timeout",
        "the program did not end in time",
        "The process was stopped at the timeout.",
        "Raise --timeout, or see in the stacks where it stood.",
        "the watchdog of the parent",
    ),
    Cause(
        "no-start",
        "the program never started",
        "The process ended before Paddle was ready.",
        "See stderr.txt in the run directory.",
        "a run without records",
    ),
    Cause(
        "unknown",
        "a reason sotprobe does not know",
        "SOT gave a reason that is not in this table.",
        "Read the evidence: it quotes Paddle's words.",
        "no known words in the reason",
    ),
)
