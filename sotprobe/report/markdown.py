"""The result as GitHub Markdown, for an issue or a pull request: short, the findings folded.

Other people's text is escaped, so that it neither formats, links, mentions nor becomes HTML.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sotprobe.model import Diagnosis, Finding
from sotprobe.report import words
from sotprobe.report.text import code_line, one_line, visible

EVIDENCE_LINES = 5

# What Markdown reads as markup anywhere, and what it reads so at the start of a list item.
_SPECIAL = re.compile(r"[\\`*_\[\]<>|~&]|^[-+=]|(?<=^\d)[.)](?= )|(?<=^\d\d)[.)](?= )")
# Of these GitHub makes mentions, links and emoji even when they are escaped; an empty comment keeps them apart.
_AUTOMATIC = re.compile(r"[@#]|:(?=//|[\w+-]+:)")
_FENCE = re.compile(r"`+")


def render(diagnosis: Diagnosis) -> str:
    """Markdown with a heading of the third level, ending in a newline."""
    return "\n".join(_lines(diagnosis)) + "\n"


def _lines(diagnosis: Diagnosis) -> Iterator[str]:
    program = diagnosis.program
    yield f"### {_plain(diagnosis.verdict.text)}"
    yield ""
    versions = words.versions(diagnosis.environment)
    command = _code(" ".join((program.path, *program.arguments)))
    yield f"{command}{', ' if versions else ''}{_plain(versions)} ({_code(diagnosis.verdict.slug)})"
    yield ""
    yield from _speed(diagnosis)
    yield ""
    yield f"**Findings: {words.tally(diagnosis.findings)}**"
    for number, finding in enumerate(diagnosis.findings, 1):
        yield ""
        yield from _finding(number, finding)
    yield ""
    yield from _parity(diagnosis)
    yield from _failures(diagnosis)


def _speed(diagnosis: Diagnosis) -> Iterator[str]:
    ratio = diagnosis.ratio
    trust = "" if ratio is None else f" ({words.ratio_trust(ratio)})"
    yield f"static / dynamic: **{words.ratio_value(ratio)}**{trust}"
    if diagnosis.modes:
        yield ""
        yield from _table(list(words.speed_rows(list(diagnosis.modes.values()))))
    for mode in diagnosis.modes.values():
        if words.counts(mode):
            yield ""
            yield f"{_plain(mode.mode)}: {words.counts(mode)}"


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    head, *body = rows
    yield _row(head)
    yield f"|---|{'---:|' * (len(head) - 1)}"
    yield from map(_row, body)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(_plain, cells))} |"


def _finding(number: int, finding: Finding) -> Iterator[str]:
    cost, more = words.cost(finding)
    yield f"{number}. **{_plain(finding.severity)}** {_code(words.name(finding))} {_plain(finding.title)}: {cost}{more}"
    if finding.site is not None:
        yield f"   - {_code(words.place(finding.site))}"
    if finding.source_line:
        yield f"   - {_code(code_line(finding.source_line))}"
    for evidence in finding.evidence[:EVIDENCE_LINES]:
        yield f"   - {_plain(evidence.text)} ({_plain(words.source(evidence))})"
    if len(finding.evidence) > EVIDENCE_LINES:
        yield f"   - and {len(finding.evidence) - EVIDENCE_LINES} more"
    if finding.advice:
        yield f"   - Advice: {_plain(finding.advice)}"


def _parity(diagnosis: Diagnosis) -> Iterator[str]:
    parity = diagnosis.parity
    yield f"**Parity: {words.parity_outcome(parity)}**"
    if parity is not None:
        for text in (parity.text, *parity.reasons, words.parity_figures(parity)):
            if text:
                yield f"- {_plain(text)}"


def _failures(diagnosis: Diagnosis) -> Iterator[str]:
    for mode, status in words.failures(diagnosis.modes):
        yield ""
        yield f"**{_plain(mode.mode)} failed: {_plain(words.ending(status))}**"
        for text in (words.error(status), words.error_place(status)):
            if text:
                yield f"- {_code(one_line(text))}"


def _plain(text: str) -> str:
    return _AUTOMATIC.sub(r"\g<0><!-- -->", _SPECIAL.sub(r"\\\g<0>", one_line(text)))


def _code(text: str) -> str:
    """A code span, whatever backticks are in the text."""
    text = visible(" ".join(text.split()))
    longest = max(map(len, _FENCE.findall(text)), default=0)
    fence = "`" * (longest + 1)
    blank = " " if text.startswith("`") or text.endswith("`") or not text else ""
    return f"{fence}{blank}{text}{blank}{fence}"
