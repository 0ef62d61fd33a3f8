"""Guards that fail, so that a frame is translated again."""

from __future__ import annotations

from sotprobe.paddle_compat.cause_table.record import A_MISS, Cause, Note
from sotprobe.paddle_compat.versions import Versions

GUARDS: tuple[Cause, ...] = (
    # Guards
    Cause(
        "value-guard",
        "a value read from a tensor or drawn at random is guarded",
        "The value is known to SOT only as a constant: every new value is a recompile, and after 20 the frame runs eagerly.",
        "Keep the value a tensor; do not bring it back to Python inside the captured function.",
        A_MISS + " on a value that a graph break brought in",
    ),
    Cause(
        "shape-churn",
        "an input whose shape changes",
        "A new shape missed the guards. The second value makes the dimension dynamic, which settles most cases.",
        "Pad or bucket the inputs, or declare the dimension in input_spec as None.",
        A_MISS + " on a shape",
        notes=(Note("Before Paddle 3.0 every new shape is a recompile.", Versions(paddle_until="2.6")),),
    ),
    Cause(
        "float-guard",
        "a float that changes",
        "Floats are guarded by value and never become symbolic: every new value is a recompile.",
        "Pass a 0-d tensor (paddle.full([], value)) instead of a Python float.",
        A_MISS + " on a float",
    ),
    Cause(
        "int-guard",
        "an int that changes",
        "The second value makes an int symbolic, which settles most cases.",
        "Nothing when it happens once; pass a tensor when it goes on.",
        A_MISS + " on an int",
        notes=(Note("Before Paddle 3.0 every new value is a recompile.", Versions(paddle_until="2.6")),),
    ),
    Cause(
        "str-guard",
        "a string that changes",
        "Strings are guarded by value: every new one is a recompile.",
        "Keep names and messages out of the captured function.",
        A_MISS + " on a string",
    ),
    Cause(
        "constant-guard",
        "a flag or other constant that changes",
        "A bool, None or other constant is guarded by value: each value has its own translation.",
        "Fine for a flag with few values; otherwise pass a tensor.",
        A_MISS + " on a constant",
    ),
    Cause(
        "list-length",
        "a container whose length changes",
        "The length is guarded: a list that grows by one every call is a recompile every call.",
        "Do not append to attributes or globals in captured code; return the value and collect it outside.",
        A_MISS + " on a length",
    ),
    Cause(
        "list-of-tensors",
        "a list of tensors whose sizes change",
        "Every tensor of the list has its own shape guards, and they change one after the other.",
        "Pad the tensors to one size, or concatenate them into one tensor with a dynamic dimension.",
        A_MISS + " on the shape of a list's element",
    ),
    Cause(
        "global-guard",
        "a global variable that changes",
        "Globals are guarded by value.",
        "Pass it as an argument; a number that changes every call as a tensor.",
        A_MISS + " on a global",
    ),
    Cause(
        "attribute-guard",
        "an attribute that changes",
        "An attribute read in captured code is guarded by value.",
        "Keep counters out of forward, or keep the value in a tensor (a buffer). A float or str attribute never becomes "
        "symbolic: every new value is a recompile.",
        A_MISS + " on an attribute",
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
        A_MISS + " on an object's identity",
    ),
    Cause(
        "nan-guard",
        "a guarded value that is NaN",
        "NaN never equals itself, so this guard can never match: every call is a recompile.",
        "Replace the NaN sentinel by None or by a tensor.",
        A_MISS + " that compares with NaN",
    ),
    Cause(
        "type-guard",
        "an input whose type, dtype or stop_gradient changes",
        "dtype, stop_gradient and the Python type of inputs are guarded.",
        "Convert inputs to one dtype before the call, and set stop_gradient the same way every step.",
        A_MISS + " on a type",
    ),
    Cause(
        "training-toggle",
        "switching between train() and eval()",
        "Each of the two modes has its own translation, made once.",
        "Nothing: both stay compiled.",
        A_MISS + " on the attribute training",
    ),
    Cause(
        "guard-error",
        "a guard that raised",
        "A guard that cannot be evaluated never matches.",
        "Give the guarded value the same structure on every call.",
        "an error while a guard was checked",
    ),
)
