"""What SOT prints at SOT_LOG_LEVEL 3 to 5 beside its story: values, guards as they are built, code, programs, guard trees.

Nothing is concluded from most of these lines; they are known so that none of them counts as the user's. Every ``log``,
``log_do`` and ``print`` of ``paddle/jit/sot`` of 2.6.2, 3.0.0, 3.2.2 and 3.3.1 is here or in ``sot``.
"""

from __future__ import annotations

import re

from sotprobe.paddle_compat.log_lines import phrase
from sotprobe.paddle_compat.log_lines.phrase import Phrase
from sotprobe.paddle_compat.log_lines.sot import CODE

_CODE = re.compile(CODE)


def _tagged(tag: str, *texts: str) -> tuple[str, ...]:
    """2.6 and, for some lines, 3.0 write a colon behind the tag."""
    return tuple(f"[{tag}]{colon} {text}" for text in texts for colon in ("", ":"))


LISTINGS: tuple[Phrase, ...] = (
    # --- level 1: how often which sizes of a dimension were seen: "  frame.f_locals['x'].shape[0]: {2: 1, 3: 1}"
    Phrase(
        "dimension-sizes",
        ("  frame.f_locals[", "  frame.f_globals["),
        re.compile(r"[^{}]{1,4096}\]: \{[^{}]{0,4096}\}$"),
        level=1,
        shared=True,
        versions="3.0+",
    ),
    Phrase("breakpoint", ("add breakpoint at ",), re.compile(r".+:\d+$"), level=1, shared=True),
    # --- level 2: guards that cannot be evaluated
    Phrase("mirror-guard", ("[Cache] Mirror guard error: ",), re.compile(r"(?P<message>.*)"), versions="3.1+"),
    Phrase("guard-skipped", ("[Cache]: skip checking ",), re.compile(r"(?P<guard>.*)", re.DOTALL), versions="2.6"),
    Phrase("guard-skipped-why", ("         because error occured ",), body=True, versions="2.6"),
    # --- level 3: guards as they are built
    Phrase("guard-built", _tagged("Guard", "lambda frame:"), level=3, varies=True),
    Phrase("faster-guard", _tagged("FasterGuard", "transform "), level=3, varies=True, versions="3.0+"),
    Phrase("need-guard", ("Need guard value for SymbolicVariable(",), level=3, varies=True, versions="3.1+"),
    Phrase(
        "made-constant",
        ("Fallback SymbolicVariable(",),
        re.compile(r".*\) to ConstantVariable"),
        level=3,
        varies=True,
        versions="3.0+",
    ),
    Phrase(
        "value-needed",
        ("get_py_value from SymbolicVariable ",),
        re.compile(r".*? caused value need guard"),
        level=3,
        varies=True,
        unended=True,  # in 3.0
        versions="3.0+",
    ),
    # --- level 3: what is simulated
    Phrase("api-call", ("call paddle.api : ", "call numpy.api : ", "call symbolic api : "), level=3, body=True),
    Phrase("api-inputs", ("         inputs : (",), level=3, body=True, varies=True, follows=phrase.VALUE),
    Phrase("ast-call", ("[call AST] ",), level=3, versions="3.0+"),
    Phrase("amp-cast", ("[AMP] Cast ",), re.compile(r".* into float32$"), level=3, shared=True, versions="2.6-3.1"),
    Phrase("cell-names", ("[Executor] code options: co_cellvars=",), level=3, versions="2.6-3.0"),
    # --- level 3 and 4: code
    Phrase(
        "code-made",
        _tagged("Opcode Pass", "Original New Code ", "New Code After Opcode Pass "),
        re.compile(r"(?P<name>.*):"),
        level=3,
        follows=phrase.INSTRUCTIONS,
    ),
    Phrase(
        "generator-code",
        _tagged("Generator", "Create generator variable from generator function"),
        level=3,
        follows=phrase.INSTRUCTIONS,
        versions="3.1+",
    ),
    # --- level 4: the locals of a frame
    Phrase(
        "locals",
        ("[eval_frame_callback] ",),
        re.compile(r"(?P<name>\S+) with locals \[|\s+with cellvars \+ freevars:  |\s+(?P<variable>[\w.]+) = "),
        level=4,
        shared=True,  # with other lines of SOT
        varies=True,
        follows=phrase.TEXT,
    ),
    Phrase(
        "guard-of", (*_tagged("Guard", "guard_fn for "), "[Guard Tree] guard_fn for "), level=4, varies=True, follows=phrase.TEXT
    ),
    Phrase("guard-tree", ("[Cache] Guard tree:",), level=4, follows=phrase.GUARD_TREE, versions="3.1+"),
    Phrase("program-object", ("<paddle.jit.dy2static.pir_partial_program.",), level=4, body=True, varies=True, versions="3.0+"),
    Phrase("program", ("{ // block_idx:",), re.compile(r"\d+ +parent_idx:"), level=4, follows=phrase.PROGRAM, versions="2.6"),
    Phrase("run-done", ("[CompileCache] run sir forward success.",), level=4),
    Phrase("saved", ("[StartCompile] saved var: ",), level=4, varies=True, follows=phrase.TEXT, versions="2.6"),
    # Once for every class of variables, all on one line, when Paddle is imported with level 4 or more.
    Phrase("classes", ("{'default': [",), re.compile(r"\]\}|'VariableBase'"), level=4, shared=True, varies=True, unended=True),
    # --- level 5: how functions and caches are looked up
    Phrase("module-of", ("find paddle function with __module__: ",), level=5),
    Phrase(
        "module-found",
        ("                     with __name__  : ", "                     with results   : "),
        level=5,
        body=True,
    ),
    Phrase("no-module", (" False", " True"), re.compile(r"$"), level=5, body=True, shared=True),
    # The key is a hash in 2.6 and a tuple since.
    Phrase("lookup", ("cache hit: ",), re.compile(r" (?:-?\d+ $|\()"), level=5, shared=True, varies=True, follows=phrase.VALUE),
    Phrase(
        "inlined",
        ("[INLINE CALL] ",),
        re.compile(r"(?P<name>.+?) with locals:  "),
        level=5,
        varies=True,
        unended=True,
        follows=phrase.TEXT,
    ),
)

# How a line about an instruction ends: with the last value on its stack.
STACK_END = (")]", "[]")

# A line of ``dis`` or of SOT's own listing: "  16   2 LOAD_FAST  0 (self)" with ">>" and "-->" marks, -1 for an instruction
# without an offset; 3.13 has labels "L1:" in the place of offsets.
_INSTRUCTION = re.compile(
    r"(?:(?:\d{1,9}|--) +)?(?:--> *)?(?:>> *)?(?:L\d{1,9}: +)?(?:-?\d{1,9} +)?[A-Z][A-Z_0-9]{2,39}(?P<rest> .*|$)", re.DOTALL
)
# What else stands in a listing of ``dis``.
INSTRUCTION_NOTE = re.compile(r"\s*(?:ExceptionTable:|L?\d+ to L?\d+ -> |Disassembly of <code object )|\s+--\s*$")


def instruction(text: str) -> str | None:
    """What stands behind the opcode of a line of a listing; None for another line. All begin with a blank or a number."""
    found = _INSTRUCTION.match(text.lstrip()) if text[:1].isspace() or text[:1].isdigit() else None
    return found["rest"] if found else None


# "ShapeMatchGuard(locals[x]) |", one deeper below the other; trees of several translations are joined by "and".
GUARD_TREE_LINE = re.compile(r"\s|\w+Guard\(|\(.*\)(?: \|)?$|and$|$")

# The text of a program ends at a brace in the first column; everything in it is indented.
PROGRAM_START = "{"
PROGRAM_END = "}"

# Between the two lines of dashes of 2.6: counts, and at level 5 every program.
BOX_LINE = re.compile(r"-{20}|(?:SubgraphNum|OpNum): \d+$|subgraph \d+, OpNum: \d+$|[{}]|\s|$")
