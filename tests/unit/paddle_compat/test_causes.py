"""The table of causes: ids, advice for versions, and the page made from it."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from sotprobe.paddle_compat.cause_table import TABLE
from sotprobe.paddle_compat.causes import CAUSES, advice, cause
from sotprobe.paddle_compat.versions import Versions

ROOT = Path(__file__).parents[3]

STABLE_IDS = {
    "tensor-if", "tensor-while", "tensor-assert", "is-none-on-tensor", "builtin-call", "numpy-api", "random-api",
    "loop-body-break", "dict-update", "with-block", "no-grad", "try-block", "exception-table", "generator", "thread",
    "hook-off", "without-graph", "python-too-new", "skip-prefix", "locals-call", "print", "item", "numpy-read",
    "float-read", "int-read", "f-string", "logging", "data-dependent-shape", "unsupported-api", "unsupported-opcode",
    "callback-hook", "record-event", "value-guard", "shape-churn", "float-guard", "str-guard", "list-length",
    "list-of-tensors", "global-guard", "attribute-guard", "object-identity", "nan-guard", "type-guard",
    "training-toggle", "cache-full", "compile-time", "too-small", "inner-error", "unknown",
}  # fmt: skip


def test_ids_that_others_rely_on_are_there_and_no_id_comes_twice():
    assert set(CAUSES) >= STABLE_IDS
    assert len(CAUSES) == len(TABLE)


@pytest.mark.parametrize("item", TABLE, ids=lambda item: item.id)
def test_every_cause_says_all_it_should(item):
    assert item.title[0].islower() or item.title.split()[0] in ("Python", "Tensor.item()", "Tensor.numpy()", "SOT")
    for sentence in (item.meaning, item.hint, *(note.text for note in item.notes)):
        assert sentence.endswith(".")
    assert item.detected
    assert not item.detected.endswith(".")


def test_an_unknown_id_is_unknown():
    assert cause(None).id == "unknown"
    assert cause("of another sotprobe").id == "unknown"


@pytest.mark.parametrize(
    ("cause_id", "paddle", "python", "word", "other"),
    [
        ("loop-body-break", "3.3.1", "3.11.7", "from Paddle 3.3", "split into one subgraph"),
        ("with-block", "3.3.1", "3.10.13", "FallbackError", "without a word"),
        ("with-block", "3.3.1", "3.13.0", "without a word", "FallbackError"),
        ("no-grad", "3.0.0", "3.10.13", "on 3.0 it breaks", "without a word"),
        ("logging", "3.0.0", "3.11.7", "InnerError", "everything it calls"),
        ("logging", "3.2.2", "3.12.1", "everything it calls", "InnerError"),
        ("shape-churn", "3.3.1", "3.11.7", "Pad or bucket", "Before Paddle 3.0"),
        ("attribute-guard", "3.2.2", "3.11.7", "except one reached through a global", "unknown"),
    ],
)
def test_advice_is_for_the_versions_at_hand(cause_id, paddle, python, word, other):
    text = advice(cause_id, paddle, python)
    assert word in text
    assert other not in text


@pytest.mark.parametrize(
    ("paddle", "python", "holds"),
    [
        ("3.2.0", "3.11.7", True),
        ("3.2.2", "3.12.9", True),
        ("3.1.9", "3.11.7", False),
        ("3.3.0", "3.11.7", False),
        ("3.2.2", "3.10.13", False),
        ("3.2.2", "3.13.0", False),
        (None, None, True),
        ("0.0.0", "3.11.7", True),
        ("3.2.0-rc1", "3.11.0rc2", True),
    ],
)
def test_version_ranges_include_their_ends(paddle, python, holds):
    assert Versions("3.2", "3.2", "3.11", "3.12").hold(paddle, python) is holds


def test_version_ranges_read_well():
    assert str(Versions()) == "all versions"
    assert str(Versions(paddle_since="3.2", python_until="3.10")) == "Paddle 3.2 and later, Python up to 3.10"
    assert str(Versions(python_since="3.11", python_until="3.12")) == "Python 3.11 to 3.12"


def test_the_page_is_made_from_the_table():
    spec = importlib.util.spec_from_file_location("causes_page", ROOT / "tools" / "causes_page.py")
    page = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(page)
    assert (ROOT / "docs" / "causes.md").read_text(encoding="utf-8") == page.render(), "run tools/causes_page.py --write"
