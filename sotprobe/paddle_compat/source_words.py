"""How the causes of breaks and fallbacks look in a program's source: for logs that say why and not at which line.

A word is looked for in one line of code, without its comment. The first word of a cause that any line has decides.
"""

from __future__ import annotations

import re

WORDS: dict[str, tuple[re.Pattern[str], ...]] = {
    cause: tuple(re.compile(word) for word in words)
    for cause, words in {
        "print": (r"\bprint\(",),
        "item": (r"\.item\(",),
        "numpy-read": (r"\.(numpy|tolist)\(", r"\bnp\.(as)?array\("),
        "float-read": (r"\bfloat\(",),
        "int-read": (r"\bint\(",),
        "bool-read": (r"\bbool\(",),
        "dict-update": (r"\.update\(",),
        "random-api": (r"\b(np|numpy)\.random\.|\brandom\.\w+\(",),
        "numpy-api": (r"\b(np|numpy)\.\w+",),
        "callback-hook": (r"register_\w*hook\(",),
        # Made is not the trouble, begun is.
        "record-event": (r"\.begin\(", r"RecordEvent\("),
        "logging": (r"\blog(ger|ging)?\w*\.(debug|info|warning|warn|error|critical|exception|log)\(",),
        # What is known to end so: SOT takes an exception that the logging module catches for the program's (3.2+).
        "captured-exception": (r"\blog(ger|ging)?\w*\.(debug|info|warning|warn|error|critical|exception|log)\(",),
        "f-string": (r"""\b[rR]?[fF][rR]?["']""", r"\.format\(|%\s*\(?\w"),
        "locals-call": (r"\blocals\(",),
        "forced": (r"\bpsdb\.|force_dynamic|breakgraph",),
        "with-block": (r"^\s*(async\s+)?with\b",),
        "no-grad": (r"\b(no_grad|set_grad_enabled|enable_grad)\b",),
        "try-block": (r"^\s*try\s*:",),
        "tensor-while": (r"^\s*while\b",),
        "tensor-assert": (r"^\s*assert\b",),
    }.items()
}
# What may break a graph without a word of SOT below level 3.
BREAKING = ("print", "item", "numpy-read", "float-read", "int-read", "bool-read", "random-api", "logging", "forced")
