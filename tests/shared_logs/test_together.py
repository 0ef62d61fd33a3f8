"""Logs of a shared case given together, and real training logs of the suites, which say nothing of SOT."""

from __future__ import annotations

from pathlib import Path

import pytest
from expected import COUNTS, told
from shared_cases import ABSENT, CASES, all_logs, diagnosis_of

from sotprobe.workflows.investigate import LogRequest, investigate

TRAINING = CASES.parent / "data" / "train_logs"
# Steps of each by the start of its name; the two of a parameter server print none.
STEPS = {"Bert": 50, "CtrDnn": 0, "DeepLabV3P": 40, "HRNetW18": 40, "ResNet50": 78, "Transformer": 29, "Word2Vec": 0}

pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason=ABSENT)


@pytest.mark.parametrize("name", sorted({path.parent.name for path in all_logs()}))
def test_logs_of_a_case_add_up(name: str) -> None:
    """Counts of several files are the sums, whatever their order, and no finding of one file is lost in the others'."""
    paths = [path for path in all_logs() if path.parent.name == name]
    one_by_one = [diagnosis_of(name.partition("_")[0], path.name) for path in paths]
    together = investigate(LogRequest([str(path) for path in paths])).diagnosis
    backwards = investigate(LogRequest([str(path) for path in reversed(paths)])).diagnosis
    counts = [diagnosis.counts or {} for diagnosis in one_by_one]
    assert {key: (together.counts or {})[key] for key in COUNTS} == {key: sum(one[key] for one in counts) for key in COUNTS}
    assert together.counts == backwards.counts
    assert together.findings == backwards.findings
    kinds = {(finding.slug, finding.cause, finding.site) for finding in together.findings}
    assert {(finding.slug, finding.cause, finding.site) for one in one_by_one for finding in one.findings} <= kinds


@pytest.mark.parametrize("name", sorted(STEPS))
def test_training_logs(name: str) -> None:
    (path,) = TRAINING.glob(f"{name}*")
    diagnosis = investigate(LogRequest([str(path)])).diagnosis
    assert diagnosis.log is not None
    assert diagnosis.log.steps == STEPS[name]
    assert not [told(finding) for finding in diagnosis.findings if finding.slug != "environment"]
    assert not any(stats.unrecognised or stats.malformed for stats in diagnosis.read_stats.values())
    assert sum(stats.matched + stats.ignored for stats in diagnosis.read_stats.values()) == _lines(path)


def _lines(path: Path) -> int:
    content = path.read_bytes()
    return content.count(b"\n") + (not content.endswith(b"\n"))
