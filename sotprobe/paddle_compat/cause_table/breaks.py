"""Lines where capture stops, and reads on the host that stop it."""

from __future__ import annotations

from sotprobe.paddle_compat.cause_table.record import A_BREAK, PY311, PY312, Cause, Note
from sotprobe.paddle_compat.versions import Versions

BREAKS: tuple[Cause, ...] = (
    # Control flow and values that depend on tensors
    Cause(
        "tensor-if",
        "a Python if on a tensor",
        "The branch depends on a tensor's value, so capture stops here and goes on in the branch taken.",
        "Use paddle.where(cond, a, b) when both branches are cheap, or take the decision outside the captured function.",
        "the opcode of a conditional jump met a tensor; SOT's own collectors do not report it",
        notes=(
            Note(
                "From Paddle 3.3, paddle.jit.marker.capture_control_flow on a function of its own keeps both branches captured.",
                Versions(paddle_since="3.3"),
            ),
        ),
    ),
    Cause(
        "tensor-while",
        "a Python while on a tensor",
        "Every iteration is a graph break of its own: the loop is unrolled over resume functions.",
        "Loop over a Python number known beforehand, or use paddle.static.nn.while_loop.",
        "a conditional jump on a tensor on a while line",
        notes=(Note("From Python 3.12 the rest of the loop falls back to eager after two breaks.", PY312),),
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
        versions=PY311,
    ),
    Cause(
        "data-dependent-shape",
        "a shape that depends on data",
        "A Python value is wanted from a dimension that is only known at run time.",
        "Use `.shape[i]` instead of paddle.shape; keep sizes that depend on values (nonzero, masks) out of Python arithmetic.",
        A_BREAK + " about a dynamic shape",
    ),
    Cause(
        "tensor-value",
        "a tensor used as a Python value",
        "Python needs the value of a tensor that is still being captured.",
        "Keep the computation in tensor operations, or read the value outside the captured function.",
        A_BREAK + " about a tensor's Python value",
    ),
    # Calls that cannot be captured
    Cause(
        "builtin-call",
        "a builtin function that SOT cannot simulate",
        "SOT knows no symbolic form of this builtin or C function, so it runs between two subgraphs.",
        "Move the call out of the captured function or compute its result once and pass it in.",
        A_BREAK + " at a builtin function",
    ),
    Cause(
        "numpy-api",
        "a numpy call in captured code",
        "numpy computes on the host, outside any graph.",
        "Use the paddle function of the same name, or prepare the array before the captured call.",
        A_BREAK + " at a numpy function",
    ),
    Cause(
        "random-api",
        "Python or numpy random numbers in captured code",
        "The draw breaks the graph, and a drawn float is guarded by its value: every new value is a recompile.",
        "Draw with paddle.rand / paddle.uniform, or draw before the call and pass a tensor.",
        A_BREAK + " at random or numpy.random",
    ),
    Cause(
        "unsupported-api",
        "a Paddle function that SOT does not capture",
        "This Paddle function or Tensor method is only available in dynamic mode.",
        "Use an equivalent that to_static supports, or call it outside the captured function.",
        A_BREAK + " at a Paddle API",
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
        A_BREAK + " at an iterator",
    ),
    Cause(
        "infer-meta",
        "an operator whose shapes could not be inferred",
        "Shape inference failed during capture, so the operator runs eagerly.",
        "Check the operand shapes and dtypes of this line; give sizes as Python numbers.",
        A_BREAK + " at shape inference",
    ),
    Cause(
        "callback-hook",
        "a hook registered on a tensor or layer",
        "Hooks are Python callbacks of the eager graph; registering one in captured code makes the frame eager.",
        "Register hooks on leaf parameters outside forward, or do the work in the loss.",
        A_BREAK + " at register_hook",
    ),
    Cause(
        "record-event",
        "a profiler RecordEvent in captured code",
        "RecordEvent is a C object that SOT cannot rebuild after a break: the whole frame becomes eager.",
        "Put RecordEvent around the call of the captured function, not inside it.",
        A_BREAK + " at RecordEvent",
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
        A_BREAK + " asked for",
    ),
    # Reads on the host
    Cause(
        "print",
        "print in captured code",
        "print runs on the host between two subgraphs, and waits for the tensors it prints.",
        "Remove it, or print outside the captured function (every N steps).",
        A_BREAK + " at print",
        host_read=True,
    ),
    Cause(
        "item",
        "Tensor.item() in captured code",
        "The value is copied to the host, the graph is split, and a float that is used later is guarded by its value.",
        "Keep the value a 0-d tensor (paddle.clip, paddle.where, paddle.maximum), or read it after the step.",
        A_BREAK + " at Tensor.item",
        versions=Versions(paddle_since="3.2"),
        host_read=True,
    ),
    Cause(
        "numpy-read",
        "Tensor.numpy() or tolist() in captured code",
        "The tensor is copied to the host and the graph is split.",
        "Do the computation with paddle operators, or return the tensor and convert it outside.",
        A_BREAK + " at Tensor.numpy or tolist",
        host_read=True,
    ),
    Cause(
        "float-read",
        "float(tensor) in captured code",
        "The value is copied to the host, the graph is split, and the float is guarded by its value.",
        "Keep the value a 0-d tensor, or read it after the step.",
        A_BREAK + " at float()",
        host_read=True,
    ),
    Cause(
        "int-read",
        "int(tensor) in captured code",
        "The value is copied to the host and the graph is split.",
        "When it is a size, use `.shape[i]` instead of paddle.shape; otherwise keep it a tensor.",
        A_BREAK + " at int()",
        host_read=True,
    ),
    Cause(
        "bool-read",
        "bool(tensor) in captured code",
        "The value is copied to the host and the graph is split.",
        "Use paddle.where, paddle.logical_and / logical_or, or decide outside the captured function.",
        A_BREAK + " at bool()",
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
)
