"""The table of ``causes``: data only.

Facts were measured on Paddle 3.0.0, 3.2.2 and 3.3.1 with Python 3.10-3.13.
"""

from __future__ import annotations

from dataclasses import dataclass

from sotprobe.paddle_compat.versions import Versions

_ALWAYS = Versions()


@dataclass(frozen=True)
class Note:
    """Something that holds for some versions only."""

    text: str
    versions: Versions


@dataclass(frozen=True)
class Cause:
    """``host_read`` marks causes that read or print a tensor's value on the host: as a graph break they are ``host-sync``."""

    id: str
    title: str
    meaning: str
    hint: str
    detected: str
    versions: Versions = _ALWAYS
    notes: tuple[Note, ...] = ()
    host_read: bool = False


_PY311 = Versions(python_since="3.11")
_PY312 = Versions(python_since="3.12")
_BREAKS = "a graph break"
_MISSED = "a guard that failed"
_SILENT = "a frame that ran as itself under to_static without SOT saying why"

TABLE: tuple[Cause, ...] = (
    # Control flow and values that depend on tensors
    Cause(
        "tensor-if",
        "a Python if on a tensor",
        "The branch depends on a tensor's value, so capture stops here and goes on in the branch taken.",
        "Use paddle.where(cond, a, b) when both branches are cheap, or take the decision outside the captured function.",
        "the opcode of a conditional jump met a tensor; SOT's own collectors do not report it",
    ),
    Cause(
        "tensor-while",
        "a Python while on a tensor",
        "Every iteration is a graph break of its own: the loop is unrolled over resume functions.",
        "Loop over a Python number known beforehand, or use paddle.static.nn.while_loop.",
        "a conditional jump on a tensor on a while line",
        notes=(Note("From Python 3.12 the rest of the loop falls back to eager after two breaks.", _PY312),),
    ),
    Cause(
        "tensor-assert",
        "an assert on a tensor",
        "The assert reads a tensor's value on the host and splits the graph.",
        "Check once outside the hot path, run with python -O, or drop the assert.",
        "a conditional jump on a tensor on an assert line",
    ),
    Cause(
        "is-none-on-tensor",
        "an `is None` test on a tensor argument",
        "The test never depends on the tensor's value, but on Python 3.11+ its opcode breaks the graph all the same.",
        "Decide with a Python flag, or test before the tensor is made (a default argument, isinstance).",
        "a POP_JUMP...NONE opcode met a tensor; SOT's own collectors do not report it",
        versions=_PY311,
    ),
    Cause(
        "data-dependent-shape",
        "a shape that depends on data",
        "A Python value is wanted from a dimension that is only known at run time.",
        "Use `.shape[i]` instead of paddle.shape; keep sizes that depend on values (nonzero, masks) out of Python arithmetic.",
        _BREAKS + " about a dynamic shape",
    ),
    Cause(
        "tensor-value",
        "a tensor used as a Python value",
        "Python needs the value of a tensor that is still being captured.",
        "Keep the computation in tensor operations, or read the value outside the captured function.",
        _BREAKS + " about a tensor's Python value",
    ),
    # Calls that cannot be captured
    Cause(
        "builtin-call",
        "a builtin function that SOT cannot simulate",
        "SOT knows no symbolic form of this builtin or C function, so it runs between two subgraphs.",
        "Move the call out of the captured function or compute its result once and pass it in.",
        _BREAKS + " at a builtin function",
    ),
    Cause(
        "numpy-api",
        "a numpy call in captured code",
        "numpy computes on the host, outside any graph.",
        "Use the paddle function of the same name, or prepare the array before the captured call.",
        _BREAKS + " at a numpy function",
    ),
    Cause(
        "random-api",
        "Python or numpy random numbers in captured code",
        "The draw breaks the graph, and a drawn float is guarded by its value: every new value is a recompile.",
        "Draw with paddle.rand / paddle.uniform, or draw before the call and pass a tensor.",
        _BREAKS + " at random or numpy.random",
    ),
    Cause(
        "unsupported-api",
        "a Paddle function that SOT does not capture",
        "This Paddle function or Tensor method is only available in dynamic mode.",
        "Use an equivalent that to_static supports, or call it outside the captured function.",
        _BREAKS + " at a Paddle API",
    ),
    Cause(
        "unsupported-opcode",
        "a Python construct that SOT cannot simulate",
        "SOT's interpreter has no implementation of this operation on these operands.",
        "Rewrite the line with plainer Python, or move it into a function that is called outside captured code.",
        "an unsupported opcode or operand in the reason",
    ),
    Cause(
        "iterator",
        "iteration over an object that SOT cannot simulate",
        "SOT only simulates loops over lists, tuples, dicts, ranges, tensors and generators it can see into.",
        "Build a list first, outside the captured function, and loop over that.",
        _BREAKS + " at an iterator",
    ),
    Cause(
        "infer-meta",
        "an operator whose shapes could not be inferred",
        "Shape inference failed during capture, so the operator runs eagerly.",
        "Check the operand shapes and dtypes of this line; give sizes as Python numbers.",
        _BREAKS + " at shape inference",
    ),
    Cause(
        "callback-hook",
        "a hook registered on a tensor or layer",
        "Hooks are Python callbacks of the eager graph; registering one in captured code makes the frame eager.",
        "Register hooks on leaf parameters outside forward, or do the work in the loss.",
        _BREAKS + " at register_hook",
    ),
    Cause(
        "record-event",
        "a profiler RecordEvent in captured code",
        "RecordEvent is a C object that SOT cannot rebuild after a break: the whole frame becomes eager.",
        "Put RecordEvent around the call of the captured function, not inside it.",
        _BREAKS + " at RecordEvent",
    ),
    Cause(
        "closure-break",
        "a graph break in a function with a closure",
        "After a break SOT cannot rebuild variables shared with an inner function, so the frame becomes eager.",
        "Pass the variable as an argument instead of closing over it, or remove the break.",
        "a fallback about closures",
    ),
    Cause(
        "forced",
        "a break or fallback asked for by the program",
        "The program itself told SOT to stop here (psdb, marker.force_dynamic).",
        "Remove the call when it is no longer wanted.",
        _BREAKS + " asked for",
    ),
    # Reads on the host
    Cause(
        "print",
        "print in captured code",
        "print runs on the host between two subgraphs, and waits for the tensors it prints.",
        "Remove it, or print outside the captured function (every N steps).",
        _BREAKS + " at print",
        host_read=True,
    ),
    Cause(
        "item",
        "Tensor.item() in captured code",
        "The value is copied to the host, the graph is split, and a float that is used later is guarded by its value.",
        "Keep the value a 0-d tensor (paddle.clip, paddle.where, paddle.maximum), or read it after the step.",
        _BREAKS + " at Tensor.item",
        versions=Versions(paddle_since="3.2"),
        host_read=True,
    ),
    Cause(
        "numpy-read",
        "Tensor.numpy() or tolist() in captured code",
        "The tensor is copied to the host and the graph is split.",
        "Do the computation with paddle operators, or return the tensor and convert it outside.",
        _BREAKS + " at Tensor.numpy or tolist",
        host_read=True,
    ),
    Cause(
        "float-read",
        "float(tensor) in captured code",
        "The value is copied to the host, the graph is split, and the float is guarded by its value.",
        "Keep the value a 0-d tensor, or read it after the step.",
        _BREAKS + " at float()",
        host_read=True,
    ),
    Cause(
        "int-read",
        "int(tensor) in captured code",
        "The value is copied to the host and the graph is split.",
        "When it is a size, use `.shape[i]` instead of paddle.shape; otherwise keep it a tensor.",
        _BREAKS + " at int()",
        host_read=True,
    ),
    Cause(
        "bool-read",
        "bool(tensor) in captured code",
        "The value is copied to the host and the graph is split.",
        "Use paddle.where, paddle.logical_and / logical_or, or decide outside the captured function.",
        _BREAKS + " at bool()",
        host_read=True,
    ),
    Cause(
        "f-string",
        "a tensor or its shape formatted in a string",
        "Formatting a tensor or its shape cannot be simulated: the whole frame becomes eager.",
        "Build the text outside the captured function, or format plain Python numbers.",
        "a fallback at a format opcode",
        host_read=True,
    ),
    Cause(
        "logging",
        "a logging call in captured code",
        "The logging module cannot be simulated.",
        "Log outside the captured function, or behind a Python flag that is False while training.",
        "a break or a captured exception below the logging module",
        host_read=True,
        notes=(
            Note(
                "From Paddle 3.2 on Python 3.11+ the whole frame and everything it calls run eagerly.",
                Versions(paddle_since="3.2", python_since="3.11"),
            ),
            Note(
                "Paddle 3.0 on Python 3.11 stops with an InnerError instead.",
                Versions(paddle_until="3.0", python_since="3.11"),
            ),
        ),
    ),
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
            Note("On Python 3.11+ SOT skips the frame without a word.", _PY311),
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
            Note("On Python 3.11+ SOT skips the frame without a word.", _PY311),
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
        versions=_PY312,
    ),
    Cause(
        "exception-table",
        "a frame with an exception table",
        "SOT skips every frame whose code has an exception table (with, try, async, and comprehensions from Python 3.12).",
        "Move the construct into its own function.",
        _SILENT + "; its code has an exception table",
        versions=_PY311,
    ),
    Cause(
        "generator",
        "a generator or coroutine",
        "The body of a generator that is run outside captured code is never captured.",
        "Build a list in a plain function, or consume the generator inside the captured function (Paddle 3.2+).",
        _SILENT + "; it is a generator",
    ),
    Cause(
        "called-from-generator",
        "a function called from a generator",
        "SOT's hook is off while the body of a generator runs, so what it calls is not captured either.",
        "Call the function from plain code: let the generator yield its arguments.",
        _SILENT + "; a generator is below the to_static call on its stack",
    ),
    Cause(
        "thread",
        "a function run in another thread",
        "SOT's hook belongs to the thread that made the to_static call.",
        "Call to_static functions from the main thread, or wrap the thread's function itself.",
        _SILENT + "; it ran in another thread",
    ),
    Cause(
        "hook-off",
        "a function below a frame that turned capture off",
        "Its caller ran with SOT's hook off, so nothing below it can be captured.",
        "Change the caller: its own finding says why it runs eagerly.",
        _SILENT + "; its caller had been given up with everything below it",
    ),
    Cause(
        "without-graph",
        "a function that SOT has stopped looking at",
        "After ten calls without a subgraph SOT marks a code object and never looks into it again.",
        "Let the function be called from captured code, or give it enough operators for a subgraph from its first call on.",
        _SILENT + "; it was seen before and no longer is",
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
        _SILENT + "; its file is on SOT's skip list",
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
    # Guards
    Cause(
        "value-guard",
        "a value read from a tensor or drawn at random is guarded",
        "The value is known to SOT only as a constant: every new value is a recompile, and after 20 the frame runs eagerly.",
        "Keep the value a tensor; do not bring it back to Python inside the captured function.",
        _MISSED + " on a value that a graph break brought in",
    ),
    Cause(
        "shape-churn",
        "an input whose shape changes",
        "A new shape missed the guards. The second value makes the dimension dynamic, which settles most cases.",
        "Pad or bucket the inputs, or declare the dimension in input_spec as None.",
        _MISSED + " on a shape",
        notes=(Note("Before Paddle 3.0 every new shape is a recompile.", Versions(paddle_until="2.6")),),
    ),
    Cause(
        "float-guard",
        "a float that changes",
        "Floats are guarded by value and never become symbolic: every new value is a recompile.",
        "Pass a 0-d tensor (paddle.full([], value)) instead of a Python float.",
        _MISSED + " on a float",
    ),
    Cause(
        "int-guard",
        "an int that changes",
        "The second value makes an int symbolic, which settles most cases.",
        "Nothing when it happens once; pass a tensor when it goes on.",
        _MISSED + " on an int",
        notes=(Note("Before Paddle 3.0 every new value is a recompile.", Versions(paddle_until="2.6")),),
    ),
    Cause(
        "str-guard",
        "a string that changes",
        "Strings are guarded by value: every new one is a recompile.",
        "Keep names and messages out of the captured function.",
        _MISSED + " on a string",
    ),
    Cause(
        "constant-guard",
        "a flag or other constant that changes",
        "A bool, None or other constant is guarded by value: each value has its own translation.",
        "Fine for a flag with few values; otherwise pass a tensor.",
        _MISSED + " on a constant",
    ),
    Cause(
        "list-length",
        "a container whose length changes",
        "The length is guarded: a list that grows by one every call is a recompile every call.",
        "Do not append to attributes or globals in captured code; return the value and collect it outside.",
        _MISSED + " on a length",
    ),
    Cause(
        "list-of-tensors",
        "a list of tensors whose sizes change",
        "Every tensor of the list has its own shape guards, and they change one after the other.",
        "Pad the tensors to one size, or concatenate them into one tensor with a dynamic dimension.",
        _MISSED + " on the shape of a list's element",
    ),
    Cause(
        "global-guard",
        "a global variable that changes",
        "Globals are guarded by value.",
        "Pass it as an argument; a number that changes every call as a tensor.",
        _MISSED + " on a global",
    ),
    Cause(
        "attribute-guard",
        "an attribute that changes",
        "An attribute read in captured code is guarded by value.",
        "Keep counters out of forward, or keep the value in a tensor (a buffer). A float or str attribute never becomes "
        "symbolic: every new value is a recompile.",
        _MISSED + " on an attribute",
        notes=(
            Note(
                "An int attribute becomes symbolic at its second value, except one reached through a global (from Paddle 3.2).",
                Versions(paddle_since="3.2"),
            ),
        ),
    ),
    Cause(
        "object-identity",
        "a different object in the same place",
        "The guard asks for the very same object (self, a callback): every new instance is a recompile.",
        "Create the layer or object once and reuse it; many instances of one class share one code object and its 20 entries.",
        _MISSED + " on an object's identity",
    ),
    Cause(
        "nan-guard",
        "a guarded value that is NaN",
        "NaN never equals itself, so this guard can never match: every call is a recompile.",
        "Replace the NaN sentinel by None or by a tensor.",
        _MISSED + " that compares with NaN",
    ),
    Cause(
        "type-guard",
        "an input whose type, dtype or stop_gradient changes",
        "dtype, stop_gradient and the Python type of inputs are guarded.",
        "Convert inputs to one dtype before the call, and set stop_gradient the same way every step.",
        _MISSED + " on a type",
    ),
    Cause(
        "training-toggle",
        "switching between train() and eval()",
        "Each of the two modes has its own translation, made once.",
        "Nothing: both stay compiled.",
        _MISSED + " on the attribute training",
    ),
    Cause(
        "guard-error",
        "a guard that raised",
        "A guard that cannot be evaluated never matches.",
        "Give the guarded value the same structure on every call.",
        "an error while a guard was checked",
    ),
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
        "the exit status of the child",
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
