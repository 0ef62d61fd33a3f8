"""The lines in which Paddle's suites tell how fast a step was.

Seen in logs of PaddleClas, Detection, OCR, Seg, Video, GAN, 3D, Rec, NLP, Speech, MIX, X and Science of 2020 to 2026, of
``paddle.profiler``'s timer and of the CE models.
"""

from __future__ import annotations

import re

STEP = "step"
SUMMARY = "summary"

_NUMBER = r"[-+]?(?:\d|nan|inf)"
# A literal of every figure, and how it goes on from there. Searching a line for the regexes themselves takes ten times as long.
_FIGURES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("ips", re.compile(rf"ips(?: \w+/s)? ?[:=] ?{_NUMBER}(?!\d*\.\d+\.\d)")),  # and no address
    ("batch_cost", re.compile(rf"batch_cost ?[:=] ?{_NUMBER}")),
    ("interval_samples_per_second", re.compile(rf"interval_samples_per_second: ?{_NUMBER}")),
    ("Elapse(ms)", re.compile(rf"Elapse\(ms\) ?= ?{_NUMBER}")),
)
# Figures over many steps, of an evaluation, or of the whole run: one of the literals is in each.
_SUMMARY_LITERALS = ("Eval", "EVAL", "val step", "END epoch", "[Avg]", "using time", "train_samples_per_second", "average ")
_SUMMARIES = re.compile(
    r"\[Eval\]|\[EVAL\]|\bEval iter\b|\bval step\b|\bEND epoch\b|\[Avg\]|\busing time\b"
    r"|\b(?:train|eval)_samples_per_second\b|\baverage (?:FPS|ips)\b"
)
# The table at the end of paddle.profiler's timer.
_TABLE = re.compile(r"\| +(?:reader_cost|batch_cost|ips) +\|")
# Long enough for every line seen; what is longer is no line of a training log.
_LONGEST = 4000
# A word may stand in a line several times before its figure does.
_MOST_TRIES = 8


def kind_of(text: str) -> str | None:
    """``step``, ``summary``, or None for a line without a figure of speed."""
    # Asked of every line of a program: a chain of tests takes half the time of a loop over them.
    if not ("ips" in text or "batch_cost" in text or "_per_second" in text or "Elapse(ms)" in text) or len(text) > _LONGEST:
        return None
    if any(map(text.__contains__, _SUMMARY_LITERALS)) and _SUMMARIES.search(text):
        return SUMMARY
    if text.startswith("|"):
        return SUMMARY if _TABLE.match(text) else None
    for literal, figure in _FIGURES:
        if literal in text and _has(text, literal, figure):
            return STEP
    return None


def _has(text: str, literal: str, figure: re.Pattern[str]) -> bool:
    at = text.find(literal)
    for _ in range(_MOST_TRIES):
        if at < 0:
            return False
        if not text[at - 1 : at].isalnum() and figure.match(text, at):
            return True
        at = text.find(literal, at + 1)
    return False
