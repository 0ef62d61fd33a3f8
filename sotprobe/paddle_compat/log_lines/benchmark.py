"""The lines in which Paddle's suites tell how fast a step was.

Seen in logs of PaddleClas, Detection, OCR, Seg, Video, GAN, 3D, Rec, NLP, Speech, MIX, X and Science of 2020 to 2026, of
``paddle.profiler``'s timer and of the CE models.
"""

from __future__ import annotations

import re

STEP = "step"
SUMMARY = "summary"

# One of these is in every line with a figure.
_LITERALS = ("ips", "batch_cost", "per_second", "Elapse(ms)")
_NUMBER = r"[-+]?(?:\d|nan|inf)"
_FIGURE = re.compile(
    rf"(?:\bips|\bavg_ips|\bbatch_cost|\bavg_batch_cost)(?: \w+/s)? ?[:=] ?{_NUMBER}"
    rf"|\binterval_(?:samples|steps)_per_second: ?{_NUMBER}"
    rf"|\bElapse\(ms\) ?= ?{_NUMBER}"
)
_ADDRESS = re.compile(r"ips: ?\d+\.\d+\.\d+\.\d+")
# Figures over many steps, of an evaluation, or of the whole run.
_SUMMARIES = re.compile(
    r"\[Eval\]|\[EVAL\]|\bEval iter\b|\bval step\b|\bEND epoch\b|\[Avg\]|\busing time\b"
    r"|\b(?:train|eval)_(?:samples|steps)_per_second\b|\baverage (?:FPS|ips)\b|^\| +(?:reader_cost|batch_cost|ips) +\|"
)
# One of these is in every line that fits: most lines with a figure are no summaries, and need not be searched for one.
_SUMMARY_LITERALS = ("Eval", "EVAL", "val step", "END epoch", "[Avg]", "using time", "_per_second", "average ", "| ")
# Long enough for every line seen; what is longer is no line of a training log.
_LONGEST = 4000


def kind_of(text: str) -> str | None:
    """``step``, ``summary``, or None for a line without a figure of speed."""
    if len(text) > _LONGEST or not any(map(text.__contains__, _LITERALS)):
        return None
    if any(map(text.__contains__, _SUMMARY_LITERALS)) and _SUMMARIES.search(text):
        return SUMMARY
    return STEP if _FIGURE.search(text) and not _ADDRESS.search(text) else None
