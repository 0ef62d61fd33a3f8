"""records.jsonl: every line is counted once, and nothing in it can stop the reader."""

from __future__ import annotations

import json

import pytest

from sotprobe.readers.records import read_records

STEP = {"kind": "step", "index": 0, "source": "case", "wall_ns": 5, "translations": None}


def write(tmp_path, *lines: str, end: str = "\n"):
    path = tmp_path / "records.jsonl"
    path.write_text("\n".join(lines) + end)
    return path


def test_known_records_are_matched_and_kept_in_order(tmp_path):
    second = {**STEP, "index": 1}
    records = read_records(write(tmp_path, json.dumps(STEP), json.dumps(second)))
    assert [record.get("index") for record in records.of("step")] == [0, 1]
    assert [record.line for record in records.of("step")] == [1, 2]
    assert (records.stats.matched, records.stats.malformed, records.truncated) == (2, 0, False)


def test_a_last_line_cut_off_by_a_kill_is_ignored_and_told(tmp_path):
    path = write(tmp_path, json.dumps(STEP), '{"kind": "step", "ind', end="")
    records = read_records(path)
    assert (records.stats.matched, records.stats.ignored, records.stats.malformed) == (1, 1, 0)
    assert records.truncated


def test_a_last_line_without_newline_that_is_whole_counts(tmp_path):
    records = read_records(write(tmp_path, json.dumps(STEP), end=""))
    assert records.stats.matched == 1
    assert not records.truncated


def test_unknown_kinds_are_unrecognised_and_unknown_fields_do_no_harm(tmp_path):
    future = {"kind": "flux", "x": 1}
    records = read_records(write(tmp_path, json.dumps(future), json.dumps({**STEP, "new": 1})))
    assert (records.stats.unrecognised, records.stats.matched) == (1, 1)
    assert records.stats.samples == (json.dumps(future),)


@pytest.mark.parametrize(
    "line",
    [
        "not json",
        "[1, 2]",
        '{"no": "kind"}',
        '{"kind": 3}',
        '{"kind": "step", "source": "case", "wall_ns": 5}',
        '{"kind": "step", "index": "0", "source": "case", "wall_ns": 5}',
        '{"kind": "step", "index": true, "source": "case", "wall_ns": 5}',
        '{"kind": "break", "site": {"path": "x"}}',
        '{"kind": "fallback", "stack": [3]}',
        '{"kind": "frames", "step": 0, "frames": [1]}',
        '{"kind": "note", "text": null}',
        "\x00\x00\x00",
    ],
)
def test_what_does_not_fit_the_contract_is_malformed_and_left_out(tmp_path, line):
    records = read_records(write(tmp_path, line, json.dumps(STEP)))
    assert (records.stats.malformed, records.stats.matched) == (1, 1)
    assert list(records.by_kind) == ["step"]


def test_every_line_is_counted_once(tmp_path):
    records = read_records(write(tmp_path, json.dumps(STEP), "", "junk", '{"kind": "flux"}', json.dumps(STEP)))
    stats = records.stats
    assert (stats.matched, stats.ignored, stats.unrecognised, stats.malformed) == (2, 1, 1, 1)


def test_long_samples_are_cut_and_few(tmp_path):
    records = read_records(write(tmp_path, *["x" * 5000] * 30))
    assert len(records.stats.samples) == 10
    assert all(len(sample) == 200 for sample in records.stats.samples)


def test_bytes_that_are_no_utf8_do_not_stop_it(tmp_path):
    path = tmp_path / "records.jsonl"
    path.write_bytes(b'{"kind": "note", "text": "\xff\xfe"}\n' + json.dumps(STEP).encode() + b"\n")
    assert read_records(path).stats.matched == 2


def test_line_numbers_are_those_of_the_file_whatever_the_text_holds(tmp_path):
    text = {"kind": "note", "text": "one\u2028two\x0bthree"}
    path = tmp_path / "records.jsonl"
    path.write_text(json.dumps(text, ensure_ascii=False) + "\n" + json.dumps(STEP) + "\n")
    assert read_records(path).of("step")[0].line == 2
