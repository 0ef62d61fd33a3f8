from __future__ import annotations

import json as stdlib_json
import math
import runpy
from dataclasses import replace
from pathlib import Path

import pytest

from sotprobe.errors import EXIT_FAILED, InputError
from sotprobe.report import json

SAMPLES = runpy.run_path(str(Path(__file__).parents[2] / "golden" / "report_samples.py"))["SAMPLES"]

MODE_KEYS = {"ips", "step_ms", "steps", "rounds", "compile_ms", "loss"}
STATIC_KEYS = {"subgraphs", "translations", "recompiles", "breaks", "fallbacks", "not_captured"}
FINDING_KEYS = {
    "slug",
    "severity",
    "title",
    "site",
    "count_per_step",
    "cost_ms_per_step",
    "cost_share",
    "advice",
    "evidence",
}


def strict(text: str):
    def refuse(constant):
        raise AssertionError(f"{constant} is not JSON")

    return stdlib_json.loads(text, parse_constant=refuse)


@pytest.mark.parametrize("name", SAMPLES)
def test_has_every_agreed_key_and_is_strict_json(name):
    data = strict(json.render(SAMPLES[name]))
    assert data["format_version"] == 1
    agreed = {"program", "environment", "modes", "ratio", "parity", "verdict", "findings", "read_stats"}
    assert agreed <= data.keys()
    for mode, figures in data["modes"].items():
        assert figures.keys() >= MODE_KEYS
        assert figures["step_ms"].keys() == {"median", "mean", "min", "max"}
        assert (figures.keys() >= STATIC_KEYS) is (mode == "static")
    for finding in data["findings"]:
        assert finding.keys() >= FINDING_KEYS
    if data["ratio"] is not None:
        assert data["ratio"].keys() >= {"static_over_dynamic", "low", "high", "confident"}
    if data["parity"] is not None:
        agreed = {"comparable", "reasons", "outputs_equal", "max_abs_error", "max_rel_error", "first_divergent_step"}
        assert agreed <= data["parity"].keys()


@pytest.mark.parametrize("name", SAMPLES)
def test_comes_back_as_it_was(name):
    text = json.render(SAMPLES[name])
    again = json.parse(text)
    assert json.render(again) == text
    if not strict(text)["non_finite"] and name != "hostile":  # NaN is not equal to itself
        assert again == SAMPLES[name]


def test_cost_is_in_milliseconds():
    finding = strict(json.render(SAMPLES["seed_story"]))["findings"][0]
    assert finding["cost_ms_per_step"] == pytest.approx(4.3)
    assert finding["site"] == {"path": "cases/detection_loss.py", "line": 58, "function": "rotate_weight", "precision": "line"}


def test_missing_is_null_and_never_zero():
    data = strict(json.render(SAMPLES["no_timings"]))
    assert data["modes"]["static"]["ips"] is None
    assert data["modes"]["static"]["step_ms"]["median"] is None
    assert data["modes"]["static"]["recompiles"] is None
    assert data["findings"][0]["cost_ms_per_step"] is None


def test_figures_that_are_not_finite_are_null_and_named():
    data = strict(json.render(SAMPLES["one_mode"]))
    assert data["modes"]["static"]["loss"] == [None, None, 0.5]
    assert data["non_finite"] == {"/modes/static/loss/0": "nan", "/modes/static/loss/1": "inf"}
    loss = json.from_dict(data).modes["static"].loss
    assert math.isnan(loss[0])
    assert loss[1:] == (math.inf, 0.5)


def test_pointer_of_a_key_with_slash_and_tilde_comes_back():
    environment = {"a/b~c": {"x": -math.inf}}
    diagnosis = replace(SAMPLES["clean"], environment=environment)
    data = strict(json.render(diagnosis))
    assert data["non_finite"] == {"/environment/a~1b~0c/x": "-inf"}
    assert json.from_dict(data).environment == environment


def test_unknown_keys_are_ignored():
    data = json.to_dict(SAMPLES["clean"])
    data["findings"] = []
    assert json.from_dict({**data, "later": 1}) == SAMPLES["clean"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "not JSON"),
        ("", "not JSON"),
        ("[]", "no format_version"),
        ("{}", "no format_version"),
        ('{"format_version": 2}', "format_version 2"),
        ('{"format_version": "1"}', "format_version '1'"),
        ('{"format_version": 1}', "incomplete or damaged"),
        ('{"format_version": 1, "non_finite": {"/modes/static/loss/7": "nan"}}', "incomplete or damaged"),
    ],
)
def test_what_is_no_result_is_one_clear_error(text, words):
    with pytest.raises(InputError, match="saved result") as caught:
        json.parse(text)
    assert words in caught.value.message
    assert caught.value.hint
    assert caught.value.exit_code == EXIT_FAILED
