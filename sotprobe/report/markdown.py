"""The result as GitHub Markdown, for an issue or a pull request: short, the findings folded.

Other people's text is escaped, so that it neither formats, links, mentions nor becomes HTML.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sotprobe.model import Diagnosis, Finding, LogSummary
from sotprobe.report import logwords, words
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
    yield f"### {_plain(diagnosis.verdict.text)}"
    yield ""
    yield _head(diagnosis)
    yield ""
    yield from _speed(diagnosis) if diagnosis.log is None else _counts(diagnosis)
    yield ""
    yield f"**Findings: {words.tally(diagnosis.findings)}{logwords.no_costs(diagnosis)}**"
    for number, finding in enumerate(diagnosis.findings, 1):
        yield ""
        yield from _finding(number, finding, diagnosis)
    yield ""
    yield from _parity(diagnosis) if diagnosis.log is None else _read(diagnosis.log, diagnosis)
    yield from _failures(diagnosis)


def _head(diagnosis: Diagnosis) -> str:
    program, log = diagnosis.program, diagnosis.log
    versions = words.versions(diagnosis.environment)
    if log is None:
        name, more = " ".join((program.path, *program.arguments)), [versions]
    else:
        name, more = logwords.files(log), [versions, logwords.level(diagnosis.environment), logwords.processes(log)]
    facts = "".join(f", {_plain(text)}" for text in more if text)
    return f"{_code(name)}{facts} ({_code(diagnosis.verdict.slug)})"


def _counts(diagnosis: Diagnosis) -> Iterator[str]:
    for label, figures in logwords.counts(diagnosis):
        yield f"- {label}: {figures}"


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
        if words.split(mode):
            yield ""
            yield words.split(mode)


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    head, *body = rows
    yield _row(head)
    yield f"|---|{'---:|' * (len(head) - 1)}"
    yield from map(_row, body)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(_plain, cells))} |"


def _finding(number: int, finding: Finding, diagnosis: Diagnosis) -> Iterator[str]:
    log, logs = diagnosis.log, logwords.names(diagnosis)
    severity = _plain(finding.severity) + (" suspected" if finding.suspected else "")
    yield f"{number}. **{severity}** {_code(words.name(finding))} {_plain(finding.title)}{_cost(finding, log)}"
    if finding.site is not None:
        yield f"   - {_code(words.place(finding.site))}"
    if finding.source_line:
        yield f"   - {_code(code_line(finding.source_line))}"
    for evidence in finding.evidence[:EVIDENCE_LINES]:
        where = words.source(evidence, logs)
        yield f"   - {_plain(evidence.text)}" + (f" ({_plain(where)})" if where else "")
    if len(finding.evidence) > EVIDENCE_LINES:
        yield f"   - and {len(finding.evidence) - EVIDENCE_LINES} more"
    if finding.advice:
        yield f"   - Advice: {_plain(finding.advice)}"


def _cost(finding: Finding, log: LogSummary | None) -> str:
    """A log has no times: in place of a cost, which processes it is about and how often it happens there."""
    if log is None:
        return f": {''.join(words.cost(finding))}"
    ranks, count = logwords.ranks(finding, log), logwords.per_call(finding)
    facts = "; ".join(filter(None, (ranks, count)))
    return f": {_plain(facts)}" if facts else ""


def _read(log: LogSummary, diagnosis: Diagnosis) -> Iterator[str]:
    yield f"**Read**: {logwords.lines(log, diagnosis.read_stats)}"
    for path in logwords.paths(log):
        yield f"- {_code(path)}"
    for text in (*logwords.refused(log), *(note.text for note in diagnosis.notes)):
        yield f"- {_plain(text)}"


def _parity(diagnosis: Diagnosis) -> Iterator[str]:
    parity = diagnosis.parity
    yield f"**Parity: {words.parity_outcome(parity)}**"
    if parity is not None:
        for text in (parity.text, *parity.reasons, words.parity_figures(parity)):
            if text:
                yield f"- {_plain(text)}"


def _failures(diagnosis: Diagnosis) -> Iterator[str]:
    for mode, status in words.failures(diagnosis.modes):
        if diagnosis.log is not None and not logwords.more_to_say(status, diagnosis):
            continue
        yield ""
        who = _plain(mode.mode) if diagnosis.log is None else "the program"
        yield f"**{who} failed: {_plain(words.ending(status))}**"
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
