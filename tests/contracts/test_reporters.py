"""What every reporter must do, for every kind of result."""

from __future__ import annotations

import runpy
import unicodedata
from pathlib import Path

import pytest

from sotprobe.report import REPORTERS

GOLDEN = Path(__file__).parent.parent / "golden"
SAMPLES = runpy.run_path(str(GOLDEN / "report_samples.py"))["SAMPLES"]

each_reporter = pytest.mark.parametrize("reporter", REPORTERS, ids=lambda reporter: reporter.name)
each_sample = pytest.mark.parametrize("name", SAMPLES)


def content(reporter, name) -> bytes:
    written = reporter.render(SAMPLES[name])
    assert isinstance(written, bytes) == reporter.binary
    return written if reporter.binary else written.encode()  # strict: no lone surrogate may be left


def test_names_and_extensions_are_unique():
    for attribute in ("name", "extension"):
        values = [getattr(reporter, attribute) for reporter in REPORTERS]
        assert len(values) == len(set(values))


@each_reporter
@each_sample
def test_matches_its_golden(reporter, name):
    golden = GOLDEN / f"report_{name}.{reporter.extension}"
    assert content(reporter, name) == golden.read_bytes(), "if wanted: python tools/update_golden.py, and read the diff"


@each_reporter
@each_sample
def test_is_the_same_twice(reporter, name):
    assert content(reporter, name) == content(reporter, name)


@each_reporter
@each_sample
def test_text_has_nothing_that_a_terminal_acts_on(reporter, name):
    if reporter.binary:
        pytest.skip("not text")
    text = content(reporter, name).decode()
    bad = {char for char in text if char != "\n" and unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp")}
    assert bad == set()
    assert text.endswith("\n")


@each_reporter
@each_sample
def test_says_what_was_found_and_where(reporter, name):
    if reporter.binary:
        pytest.skip("not text")
    text = content(reporter, name).decode()
    diagnosis = SAMPLES[name]
    assert diagnosis.verdict.slug in text
    for finding in diagnosis.findings:
        assert finding.slug in text
        assert finding.severity in text


def test_every_golden_belongs_to_a_sample_and_a_reporter():
    expected = {f"report_{name}.{reporter.extension}" for name in SAMPLES for reporter in REPORTERS}
    found = {path.name for path in GOLDEN.glob("report_*")} - {"report_samples.py"}
    assert found == expected
