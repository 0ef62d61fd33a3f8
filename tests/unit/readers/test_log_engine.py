"""The engine under ``log``: which reader a line belongs to, whose process it is, and what is remembered."""

from __future__ import annotations

import pytest
from log_engine import counted, load, read, read_line_by_line, real_logs, totals
from log_texts import calls, code, compiled, entry, fallback, hit, prefixed

from sotprobe.readers import logfile, passages, tokens
from sotprobe.readers.grammar import Token
from sotprobe.readers.log import READERS
from sotprobe.readers.text import LONGEST_LINE

USER = "epoch 1 step {} loss 0.25\n"


def counts(data: str | bytes) -> dict[str, int]:
    log = read(data.encode() if isinstance(data, str) else data)
    return {name: sum(parts.counts[name] for parts in log.parts) for name in log.parts[0].counts}


def same(one, other) -> None:
    """Two readings tell the same, to the line."""
    assert one.source.lines == other.source.lines
    assert one.stats == other.stats
    assert one.parts == other.parts


# --- an empty file, and lines of nobody


@pytest.mark.parametrize("data", [b"", b"\n", b"\n\n \n", b"hello\nworld", b"\r\n\r\n"])
def test_a_file_without_paddle_has_one_process_that_tells_nothing(data):
    (parts,) = read(data).parts
    assert (parts.rank, parts.level, parts.events, parts.calls) == (None, None, [], 0)
    assert parts.lines == data.count(b"\n") + (not data.endswith(b"\n") and data != b"")


# --- lines in unusual places


def test_lines_that_end_in_carriage_returns_too():
    plain = calls(30)
    assert counts(plain.replace("\n", "\r\n")) == counts(plain)


def test_coloured_lines():
    plain = calls(3)
    assert counts("".join(f"\x1b[32m{line}\x1b[0m\n" for line in plain.splitlines())) == counts(plain)


@pytest.mark.parametrize(
    "before", ["loss: 0.25 ", " 50%|#####     | 5/10", "\r 10%|#  |\r 20%|## |", "....", "\x1b[K\r 30%|### |\x1b[A"]
)
@pytest.mark.parametrize(
    ("line", "name", "number"),
    [
        (entry(), "frames_entered", 4),
        ("[Cache] all guards missed\n", "recompiles", 1),
        ("start subgraph compile and execution.\n", "subgraphs_built", 2),
        ("[FallbackWrapper] start run SIR: \n", "subgraph_runs", 4),
        (f"Unsupported Frame is {code()}, error message is: \n", "fallbacks", 1),
        ("[BreakGraph] break graph for if jump tensor\n", "breaks", 1),
    ],
    ids=["entry", "recompile", "built", "run", "fallback", "break"],
)
def test_a_line_behind_text_without_newline(before, line, name, number):
    assert counts(calls(3) + before + line)[name] == number


BEHIND = {
    "glog": ("W1130 06:44:32.285071 22449 gpu_resources.cc:119] Please NOTE: device: 0", "glog", "line"),
    "traceback": ("Traceback (most recent call last):", "pytrace", "head"),
    "signal": ("FatalError: `Segmentation fault` is detected by the operating system.", "crash", "received"),
    "shell": ("Segmentation fault (core dumped)", "crash", "shell"),
    "C++": ("terminate called after throwing an instance of 'std::bad_alloc'", "crash", "terminate"),
    "collector": ("SubGraphInfo (subgraph_info):", "sotinfo", "subgraphs"),
    "fallback note": ("Note: This fallback may be triggered by user code, or it", "sotlog", "fallback-note"),
    "opcode": ("[Translate Executor 1] (line  27) RESUME 0, stack is []", "sotlog", "opcode"),
}


@pytest.mark.parametrize(("line", "reader", "kind"), BEHIND.values(), ids=BEHIND)
@pytest.mark.parametrize("before", ["", "x = ", " 10%|#    | 1/10 [00:00<00:08,  1.05it/s]", "\r 10%|# |\r 20%|## |"])
def test_whose_a_line_behind_text_without_newline_is(line, reader, kind, before):
    token = tokens.Tokenizer([make() for make in READERS]).token((before + line).encode())
    assert (token.reader, token.kind, token.text) == (reader, kind, line)


@pytest.mark.parametrize(
    "line",
    [
        '    print("Traceback (most recent call last):")',
        "C++ Traceback (most recent call last): is a title",
        "the file a.cc:12] is not there",
        "the words FatalError: `x` alone",
    ],
)
def test_text_about_such_lines_is_the_users(line):
    assert tokens.Tokenizer([make() for make in READERS]).token(b"a: " + line.encode()).reader == "text"


def test_the_last_line_may_be_cut_anywhere():
    whole = calls(2) + entry()
    for size in range(len(whole) - len(entry()), len(whole)):
        log = read(whole[:size].encode())
        assert counted(log) == log.source.lines
        assert log.parts[0].counts["frames_entered"] == 2 + (size >= len(whole) - 1)


def test_bytes_that_are_no_text_between_lines():
    between = b"\n" + bytes(range(128, 256)) * 3 + b"\n"
    data = b"".join(line + between for line in calls(3).encode().splitlines(keepends=True))
    assert counts(data)["frames_entered"] == 3


def test_a_line_that_is_too_long_is_noted_and_what_comes_behind_it_is_read():
    long = b"x" * (LONGEST_LINE + 1) + b"\n"
    log = read(long + calls(2).encode() + long)
    (parts,) = log.parts
    assert parts.counts["frames_entered"] == 2
    assert [(note.line, note.text) for note in parts.notes] == [
        (1, "line 1 is longer than 4 MiB, and 1 more: the rest of it was not read")
    ]
    assert counted(log) == log.source.lines == calls(2).count("\n") + 2


# --- processes


def test_ranks_are_told_apart_line_by_line():
    ranks = [prefixed(rank, calls(3 + rank)).splitlines(keepends=True) for rank in range(2)]
    mixed = [line for pair in zip(*ranks, strict=False) for line in pair] + ranks[1][len(ranks[0]) :]
    log = read("".join(mixed).encode())
    assert {parts.rank: parts.counts["frames_entered"] for parts in log.parts} == {"0": 3, "1": 4}
    assert counted(log) == log.source.lines


def test_a_user_line_that_begins_like_a_rank_makes_no_process():
    log = read((calls(2) + "rank 7: of 12 in the table\n[rank3] hello\n").encode())
    assert [parts.rank for parts in log.parts] == [None]
    assert log.stats["text"].ignored == 2


def test_more_ranks_than_any_cluster_has_are_taken_together(monkeypatch):
    monkeypatch.setattr(logfile, "MOST_RANKS", 3)
    log = read("".join(prefixed(rank, calls(2)) for rank in range(6)).encode())
    assert {parts.rank: parts.counts["frames_entered"] for parts in log.parts} == {"0": 2, "1": 2, "2": 2, "others": 6}
    assert ["more than 3 processes" in note.text for note in log.parts[0].notes] == [True]


# --- what is remembered


def test_a_passage_is_read_as_its_lines_are():
    data = "".join(hit() + USER.format(step) for step in range(50))
    log = read((compiled() + data).encode())
    same(log, read_line_by_line((compiled() + data).encode()))
    assert sum(passage.uses for passage in log._book.all()) > 40


@pytest.mark.parametrize("path", real_logs(), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_real_logs_read_with_memory_and_without(path):
    """Six times in a row: a passage is recognised from the fourth time on, a block in it from the fifth."""
    data = (load(path)[:60_000] + b"\n") * 6
    same(read(data), read_line_by_line(data))


@pytest.mark.parametrize("block", [300, 1000, 4000])
def test_passages_that_the_blocks_of_the_file_cut(block):
    data = "".join(hit() + (USER.format(step) if step % 3 else "") for step in range(200)).encode()
    same(read(data, block=block), read_line_by_line(data))


def test_a_block_that_is_open_where_a_passage_begins():
    data = calls(20) + fallback() + hit() * 3 + compiled("other", 60) + hit() * 3
    same(read(data.encode()), read_line_by_line(data.encode()))


def test_a_block_that_opens_inside_a_passage():
    """The same lines once without and once with a subgraph being built: its statements are a block then."""
    run = "[FallbackWrapper] start run SIR: \n StatementIR: SIR_0\n  inputs: ['var_0']\n"
    built = "start subgraph compile and execution.\n" + run.partition("\n")[2]
    data = (entry() + run) * 5 + entry() + built + (entry() + run) * 5
    same(read(data.encode()), read_line_by_line(data.encode()))


LISTING = """\
[eval_frame_callback] OriginCode: forward
  4           0 RESUME                   0

  5           2 LOAD_FAST                0 (x)
              4 RETURN_VALUE
"""


def _held(log) -> int:
    return sum(held is not None for passage in log._book.all() for *_, held in passage.telling)


def test_a_block_in_a_passage_is_read_once():
    one = entry() + LISTING + hit().partition("\n")[2]
    log = read((one * 20).encode())
    same(log, read_line_by_line((one * 20).encode()))
    assert _held(log) == 1


@pytest.mark.parametrize("block", [250, 700, 1 << 20])
def test_a_block_at_the_end_of_a_passage_may_go_on_behind_the_end_of_a_block_of_the_file(block):
    data = ((hit() + LISTING) * 30 + hit() + LISTING * 2 + "              6 NOP\n\n").encode()
    log = read(data, block=block)
    same(log, read_line_by_line(data))
    assert _held(log) or block < 1000


def test_lines_behind_a_passage_belong_to_it_when_they_are_always_the_same():
    table = "SubGraphInfo (subgraph_info):\n[Number of subgraph] 1 [Sum of opnum] 11\n\n\n"
    log = read(((hit() + table) * 20).encode())
    same(log, read_line_by_line(((hit() + table) * 20).encode()))
    assert max(passage.lines for passage in log._book.all()) == (hit() + table).count("\n")
    epochs = "".join(hit() + USER.format(step % 5) for step in range(50))
    assert max(passage.lines for passage in read(epochs.encode())._book.all() if passage.uses > 1) == hit().count("\n")


def test_a_frame_with_more_ways_than_are_kept_is_still_read_right():
    guard = "lambda frame: frame.f_locals['x'].shape[0] == {}"
    ways = [hit().replace("lambda frame: frame.f_locals['x'].shape[0] == 2", guard.format(size)) for size in range(40)]
    data = "".join(ways[step * 7 % 40] for step in range(400)).encode()
    log = read(data)
    same(log, read_line_by_line(data))
    assert len(log._book.all()) <= 8


def test_passages_that_are_forgotten_are_counted(monkeypatch):
    monkeypatch.setattr(passages, "_MOST_BYTES", 3000)
    data = "".join(hit(f"f{step % 12}") for step in range(300)).encode()
    same(read(data), read_line_by_line(data))


def test_lines_that_are_forgotten_are_read_again(monkeypatch):
    monkeypatch.setattr(tokens, "_MEMO_BYTES", 4000)
    monkeypatch.setattr(tokens, "_MOST_SEEN", 5)
    data = "".join(hit(f"f{step % 12}") for step in range(100)).encode()
    same(read(data), read_line_by_line(data))


def test_lines_that_come_once_are_not_remembered():
    log = read("".join(USER.format(step) for step in range(5000)).encode())
    assert not log._tokenizer.memo
    assert log.stats["text"].ignored == 5000


# --- every quick line counts for its own reader


class _Quick:
    """A reader all of whose lines are quick."""

    aside = False

    def __init__(self, name: str, head: str):
        self.name = name
        self.heads = (head,)

    def token(self, head, text):
        return Token(self.name, "line", text, quick=True)

    def loose(self, text):
        return None

    def state(self, origin):
        return self

    def feed(self, token, line):
        raise AssertionError("a quick line says nothing outside a block")

    def finish(self, parts):
        parts.notes.append((self.name, parts.last_line.get(self.name)))


def test_quick_lines_are_counted_for_the_reader_whose_they_are():
    log = read(b"aaaa\nbbbb\naaaa\nbbbb\naaaa\nbbbb\naaaa\naaaa\n", grammars=[_Quick("a", "aaaa"), _Quick("b", "bbbb")])
    assert totals(log) == {"a": (5, 0, 0, 0), "b": (3, 0, 0, 0)}
    assert log.parts[0].notes == [("a", 8), ("b", 6)]


def test_a_head_that_is_too_short_is_a_mistake():
    with pytest.raises(ValueError, match="too short to tell a line by"):
        read(b"", grammars=[_Quick("a", "aaa")])
