"""``sotprobe log`` says of every log of ../shared/cases what its README states; truth.py is the table."""

from __future__ import annotations

import re

import pytest
from expected import COUNTS, Truth, told, words_of, wrong_findings
from shared_cases import ABSENT, CASES, all_logs, diagnosis_of, directory_of
from truth import TABLE
from truth_endings import ENDINGS

ROWS = (*TABLE, *ENDINGS)

# What the programs print.
OWN = re.compile(r"RESULT |mid [\d.]+$|batch \d |first [\d.]+ stop_gradient|break here$")

pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason=ABSENT)
every_log = pytest.mark.parametrize("truth", [pytest.param(row, id=row.id) for row in ROWS])


def test_every_log_has_a_row() -> None:
    known = [directory_of(row.case) / row.log for row in ROWS]
    assert len(known) == len(set(known))
    assert sorted(known) == all_logs()


@every_log
def test_counts(truth: Truth) -> None:
    found = diagnosis_of(truth.case, truth.log).counts
    assert found is not None
    asked = [name for name in COUNTS if name not in truth.open]
    assert {name: found[name] for name in asked} == {name: truth.counts.get(name, 0) for name in asked}


@every_log
def test_steps(truth: Truth) -> None:
    log = diagnosis_of(truth.case, truth.log).log
    assert log is not None
    assert log.steps == truth.steps


@every_log
def test_findings(truth: Truth) -> None:
    diagnosis = diagnosis_of(truth.case, truth.log)
    wrong = wrong_findings(diagnosis, truth.findings, truth.may)
    assert not wrong, "\n".join([*wrong, "said:", *map(told, diagnosis.findings)])
    assert not [told(finding) for finding in diagnosis.findings if finding.slug in truth.absent]


@every_log
def test_findings_with_the_source(truth: Truth) -> None:
    """What the source adds is marked as suspected and stays out of the way of what the log shows."""
    diagnosis = diagnosis_of(truth.case, truth.log, sourced=True)
    expected = truth.findings if truth.sourced is None else truth.sourced
    suspects = {finding.slug for finding in diagnosis.findings if finding.suspected} if truth.sourced else set()
    wrong = wrong_findings(diagnosis, expected, (*truth.may, *suspects))
    assert not wrong, "\n".join([*wrong, "said:", *map(told, diagnosis.findings)])


@every_log
def test_words(truth: Truth) -> None:
    """The verdict, a note or a finding says what a log cannot show, or what it proves."""
    diagnosis = diagnosis_of(truth.case, truth.log)
    said = [diagnosis.verdict.text, *(note.text for note in diagnosis.notes), *map(words_of, diagnosis.findings)]
    for words in truth.says:
        assert re.search(words, "\n".join(said), re.IGNORECASE), f"nothing says {words!r}:\n" + "\n".join(said)


@every_log
def test_every_line_is_counted_and_understood(truth: Truth) -> None:
    """These are logs of known versions of Paddle: nothing in them may be unrecognised or malformed."""
    stats = diagnosis_of(truth.case, truth.log).read_stats
    content = (directory_of(truth.case) / truth.log).read_bytes()
    lines = content.count(b"\n") + (not content.endswith(b"\n") and bool(content))
    assert sum(s.matched + s.ignored + s.unrecognised + s.malformed for s in stats.values()) == lines
    strange = {name: (s.unrecognised, s.malformed, s.samples) for name, s in stats.items() if s.unrecognised or s.malformed}
    assert not strange


@every_log
def test_only_the_programs_own_lines_are_ignored(truth: Truth) -> None:
    """What the programs print themselves, and lines without a word."""
    if not truth.log.endswith(".txt"):
        return
    ignored = sum(stats.ignored for stats in diagnosis_of(truth.case, truth.log).read_stats.values())
    lines = (directory_of(truth.case) / truth.log).read_text(errors="replace").split("\n")
    own = sum(bool(OWN.match(line)) for line in lines)
    blank = sum(not line.strip() for line in lines)
    assert own <= ignored <= own + blank


@every_log
def test_sites_are_lines_of_the_program(truth: Truth) -> None:
    """No library's file, no generated name, no line that the program does not have."""
    for sourced in (False, True):
        for finding in diagnosis_of(truth.case, truth.log, sourced=sourced).findings:
            if finding.site is None:
                continue
            program = directory_of(truth.case) / "repro.py"
            assert re.fullmatch(r"(/proj/.*/)?repro\.py", finding.site.path), told(finding)
            assert 0 < finding.site.line <= len(program.read_text().splitlines()), told(finding)
            assert re.match(r"[\w<]", finding.site.function), told(finding)


@every_log
def test_evidence_is_where_it_says(truth: Truth) -> None:
    """A line of the log that is named as evidence is there; what it quotes of SOT's words stands at it or just below."""
    diagnosis = diagnosis_of(truth.case, truth.log)
    lines = (directory_of(truth.case) / truth.log).read_text(errors="replace").split("\n")
    for finding in diagnosis.findings:
        for evidence in finding.evidence:
            if evidence.line is not None:
                assert 0 < evidence.line <= len(lines), (told(finding), evidence)


@every_log
def test_versions_are_never_wrong(truth: Truth) -> None:
    """What is not sure may be left out, but nothing may be said that is not so."""
    if truth.version is None:
        return
    environment = diagnosis_of(truth.case, truth.log).environment
    for name, known in zip(("paddle", "python"), truth.version, strict=True):
        for key in (name, f"{name}_seen"):
            said = environment.get(key)
            assert said is None or within(known, str(said)), f"{key}: {said!r}, but it was {known}"


def within(version: str, said: str) -> bool:
    """Whether ``3.2`` is in what was said: ``3.2``, ``3.2.2``, ``3.0+`` or ``3.0-3.2``."""
    asked, *bounds = ([int(part) for part in text.split(".")[:2]] for text in (version, *said.rstrip("+").split("-")))
    if said.endswith("+"):
        return asked >= bounds[0]
    return bounds[0] <= asked <= bounds[-1]
