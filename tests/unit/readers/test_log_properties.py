"""What holds of any bytes, and of real logs that were cut up, mixed and damaged."""

from __future__ import annotations

import json
import random
import re

import log_damage
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from log_engine import counted, read, read_line_by_line, totals

from sotprobe.errors import InputError
from sotprobe.report import json as json_report
from sotprobe.workflows.investigate import LogRequest, investigate

settings.register_profile(
    "log", derandomize=True, deadline=None, database=None, max_examples=300, suppress_health_check=list(HealthCheck)
)
settings.load_profile("log")

damaged = st.integers(0, 2**32).map(lambda seed: log_damage.damaged(random.Random(seed)))
# Before and behind a progress bar.
_NAMES_A_PROCESS = re.compile(rb"\[(?:rank|default|trainer|worker)|<std|(?:^|\r)rank", re.IGNORECASE | re.MULTILINE)
any_log = st.one_of(damaged, damaged, st.binary(max_size=400), st.lists(st.sampled_from(log_damage.INSERTED)).map(b"".join))


# A mark of UTF-8 or UTF-16 is no text, gzip is another.
_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\x1f\x8b")


def read_if_text(data: bytes, **options):
    assume(not data.startswith(_MARKS))
    try:
        return read(data, **options)
    except InputError:
        assume(False)


@given(any_log)
def test_every_line_is_counted_exactly_once(data):
    log = read_if_text(data)
    text = data.replace(b"\0", b"")
    assert log.source.lines == text.count(b"\n") + (text != b"" and not text.endswith(b"\n")) == counted(log)


@given(damaged)
def test_what_is_remembered_changes_nothing(data):
    data = (data + b"\n") * 6
    log, plain = read_if_text(data), read_line_by_line(data)
    assert log.stats == plain.stats
    assert log.parts == plain.parts


@given(damaged, st.sampled_from([200, 1000, 5000]))
def test_the_size_of_blocks_changes_nothing(data, block):
    log, blocks = read_if_text(data), read_if_text(data, block=block)
    assert log.stats == blocks.stats
    assert log.parts == blocks.parts


@given(damaged, st.floats(0, 1))
def test_the_halves_of_a_file_have_its_lines_but_one(data, place):
    cut = int(place * len(data))
    whole, first, second = read_if_text(data), read_if_text(data[:cut]), read_if_text(data[cut:])
    more = first.source.lines + second.source.lines - whole.source.lines
    assert more in (0, 1)
    assert counted(first) + counted(second) == counted(whole) + more


@given(damaged)
def test_a_prefix_of_the_launcher_changes_no_count(data):
    lines = data.removesuffix(b"\n").split(b"\n")
    assume(data and not _NAMES_A_PROCESS.search(data))
    plain = read_if_text(b"".join(line + b"\n" for line in lines))
    ranked = read_if_text(b"".join(b"[rank0]: " + line + b"\n" for line in lines))
    assert totals(ranked) == totals(plain)
    assert [parts.counts for parts in ranked.parts] == [parts.counts for parts in plain.parts]


@pytest.mark.parametrize("seed", range(6))
def test_the_order_of_files_changes_nothing(tmp_path, seed):
    chance = random.Random(seed)
    names = [tmp_path / name for name in ("workerlog.0", "workerlog.1", "train.log", "a.log")]
    for name in names:
        name.write_bytes(b"".join(log_damage.part(chance)))

    def page(files) -> dict:
        result = investigate(LogRequest([str(name) for name in files]))
        return json.loads(json_report.render(result.diagnosis))

    first = page(names)
    for _ in range(3):
        chance.shuffle(names)
        assert page(names) == first
