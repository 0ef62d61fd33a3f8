"""Frames that run eagerly: given up aloud, or skipped without a word."""

from __future__ import annotations

from sotprobe.paddle_compat.cause_table.record import PY311, PY312, SILENT, Cause, Note
from sotprobe.paddle_compat.versions import Versions

FRAMES: tuple[Cause, ...] = (
    # Whole frames given up
    Cause(
        "loop-body-break",
        "a graph break in the body of a for loop",
        "A break inside a loop body takes the whole frame down: every line of the function runs eagerly.",
        "Move the breaking line out of the loop, or move the loop into a function of its own so that only it is eager.",
        "a fallback during the simulation of a for loop",
        notes=(
            Note(
                "The loop is split into one subgraph an iteration; from Paddle 3.3 it makes the frame eager.",
                Versions(paddle_until="3.2"),
            ),
            Note("This is so from Paddle 3.3; 3.0-3.2 only split the loop.", Versions(paddle_since="3.3")),
        ),
    ),
    Cause(
        "dict-update",
        "dict.update in captured code",
        "dict.update breaks the graph and SOT cannot rebuild the call, so the whole frame becomes eager.",
        "Assign the items one by one (d[key] = value) or write {**a, **b}.",
        "a break at dict.update",
    ),
    Cause(
        "with-block",
        "a with block in the function",
        "A frame that contains a with block is not captured.",
        "Move the with block into its own function, so that only that function runs eagerly.",
        "a with statement in a frame that SOT left alone",
        notes=(
            Note("On Python 3.11+ SOT skips the frame without a word.", PY311),
            Note("On Python 3.10 SOT gives the frame up with a FallbackError.", Versions(python_until="3.10")),
        ),
    ),
    Cause(
        "no-grad",
        "a with paddle.no_grad() block in the function",
        "The with block keeps the whole function from being captured, not only its own lines.",
        "Move the with block into its own function, or decorate that function with @paddle.no_grad().",
        "a with statement on paddle.no_grad in a frame that SOT left alone",
        notes=(
            Note("On Python 3.11+ SOT skips the frame without a word.", PY311),
            Note("The decorator is captured from Paddle 3.2; on 3.0 it breaks the graph.", Versions(paddle_until="3.1")),
        ),
    ),
    Cause(
        "try-block",
        "a try block in the function",
        "A frame that contains a try block is not captured.",
        "Move the try block to the caller, or into its own function: that is inlined when captured code calls it.",
        "a try statement in a frame that SOT left alone",
        notes=(Note("Python 3.10 with Paddle 3.2+ captures it; Python 3.11+ never does.", Versions(paddle_since="3.2")),),
    ),
    Cause(
        "comprehension",
        "a comprehension in the function",
        "From Python 3.12 a comprehension is part of its function and brings an exception table: the frame is skipped.",
        "Write the comprehension as a loop, or move it into its own function.",
        "a comprehension in a frame with an exception table",
        versions=PY312,
    ),
    Cause(
        "inner-code",
        "a lambda, comprehension or generator expression in the function",
        "Paddle 2.6 on Python 3.11 leaves every function alone in which one of them is written.",
        "Write it as a loop or as a function of its own outside; Paddle 3.0 captures such functions.",
        "Paddle's line `Found code object <listcomp>, skip it`",
        versions=Versions(paddle_until="2.6"),
    ),
    Cause(
        "exception-table",
        "a frame with an exception table",
        "SOT skips every frame whose code has an exception table (with, try, async, and comprehensions from Python 3.12).",
        "Move the construct into its own function.",
        SILENT + "; its code has an exception table",
        versions=PY311,
    ),
    Cause(
        "generator",
        "a generator or coroutine",
        "The body of a generator that is run outside captured code is never captured.",
        "Build a list in a plain function, or consume the generator inside the captured function (Paddle 3.2+).",
        SILENT + "; it is a generator",
    ),
    Cause(
        "called-from-generator",
        "a function called from a generator",
        "SOT's hook is off while the body of a generator runs, so what it calls is not captured either.",
        "Call the function from plain code: let the generator yield its arguments.",
        SILENT + "; a generator is below the to_static call on its stack",
    ),
    Cause(
        "thread",
        "a function run in another thread",
        "SOT's hook belongs to the thread that made the to_static call.",
        "Call to_static functions from the main thread, or wrap the thread's function itself.",
        SILENT + "; it ran in another thread",
    ),
    Cause(
        "hook-off",
        "a function below a frame that turned capture off",
        "Its caller ran with SOT's hook off, so nothing below it can be captured.",
        "Change the caller: its own finding says why it runs eagerly.",
        SILENT + "; its caller had been given up with everything below it",
    ),
    Cause(
        "without-graph",
        "a function that SOT has stopped looking at",
        "After ten calls without a subgraph SOT marks a code object and never looks into it again.",
        "Let the function be called from captured code, or give it enough operators for a subgraph from its first call on.",
        SILENT + "; it was seen before and no longer is",
        notes=(
            Note(
                "On Python 3.11 and 3.12 ten graph breaks at calls do that to SOT's own trampoline: use Python 3.10 or 3.13.",
                Versions(python_since="3.11", python_until="3.12"),
            ),
            Note("On Paddle 3.0 what is compiled after step 20 runs ten times and is then eager.", Versions(paddle_until="3.1")),
        ),
    ),
    Cause(
        "python-too-new",
        "a Python that this Paddle's SOT does not support",
        "to_static used AST transformation instead of SOT.",
        "Use a Python that this Paddle supports, or a newer Paddle.",
        "Paddle's own warning",
    ),
    Cause(
        "never-called",
        "no to_static call at all",
        "The program ran in both modes without calling anything that to_static had made.",
        "Wrap a layer or function of your own with paddle.jit.to_static and call what it returns, or give the flag that does.",
        "an attribution window in which no line ran below a to_static call",
    ),
    Cause(
        "skip-prefix",
        "code in a file that SOT always skips",
        "Paddle itself and some modules of the standard library are never captured as frames.",
        "Call the function from captured code (inlining ignores the list) or keep a copy in your own package.",
        SILENT + "; its file is on SOT's skip list",
    ),
    Cause(
        "locals-call",
        "a call of locals()",
        "The mere name `locals` in a function makes SOT give it up at entry.",
        "Name the variables instead of reading locals().",
        "a fallback about locals",
    ),
    Cause(
        "captured-exception",
        "an exception inside SOT taken for the program's",
        "An error during simulation was captured as the program's own: the frame and everything it calls run eagerly.",
        "Move the line that raises out of the captured function.",
        "a translation that ended in a captured exception",
        versions=Versions(paddle_since="3.2"),
    ),
    Cause(
        "zero-size",
        "a tensor without elements",
        "A frame called with a zero-size tensor runs eagerly for that call.",
        "Usually harmless; skip empty batches before the captured call.",
        "a conditional fallback",
    ),
)
