from __future__ import annotations

import runpy
from dataclasses import replace
from pathlib import Path

import pytest

from sotprobe.model import Evidence
from sotprobe.report import markdown

SAMPLES = runpy.run_path(str(Path(__file__).parents[2] / "golden" / "report_samples.py"))["SAMPLES"]
SEED = SAMPLES["seed_story"]


def with_evidence(text):
    return replace(SEED, findings=(replace(SEED.findings[0], evidence=(Evidence("hooks", text),)),))


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("set_value_ of [red] <b> a|b `x`", r"set\_value\_ of \[red\] \<b\> a\|b \`x\`"),
        ("@paddle.no_grad() in #123", r"@<!-- -->paddle.no\_grad() in #<!-- -->123"),
        ("see http://a.b :smile: and line 3: 4", "see http:<!-- -->//a.b :<!-- -->smile: and line 3: 4"),
        ("1. first", r"1\. first"),
        ("- item", r"\- item"),
        ("two\n\nparagraphs", "two paragraphs"),
        ("1.85 times", "1.85 times"),
    ],
)
def test_text_of_others_neither_formats_nor_links_nor_mentions(text, written):
    assert f"   - {written} (hooks)\n" in markdown.render(with_evidence(text))


@pytest.mark.parametrize(("line", "span"), [("x = `a`", "`` x = `a` ``"), ("f(x)", "`f(x)`"), ("``", "``` `` ```")])
def test_source_line_is_a_code_span_whatever_backticks_it_has(line, span):
    diagnosis = replace(SEED, findings=(replace(SEED.findings[0], source_line=line),))
    assert f"   - {span}\n" in markdown.render(diagnosis)


def test_table_rows_have_the_same_number_of_cells():
    rows = [line for line in markdown.render(SEED).splitlines() if line.startswith("|")]
    assert {row.count("|") for row in rows} == {4}
    assert "| step ms, median | 4.71 | 11.2 |" in rows


def test_failure_is_told_with_its_place():
    page = markdown.render(SAMPLES["failed_static"])
    assert "**static failed: error, exit code 1, after 3.40 s**" in page
    assert "- `ppdet/modeling/losses.py:131 in bbox_loss, while SOT simulated it`" in page
