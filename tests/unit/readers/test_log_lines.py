"""One raw line to its process and its text."""

from __future__ import annotations

import time

import pytest

from sotprobe.readers.lines import decode, last_shown, split_rank
from sotprobe.readers.log import READERS
from sotprobe.readers.tokens import Tokenizer

DECODED = {
    "plain": (b"a line", "a line"),
    "UTF-8": ("训练".encode(), "训练"),
    "no UTF-8": (b"\xff\xfea\xc3", "\ufffd\ufffda\ufffd"),
    "colours": (b"\x1b[1;31m[Cache]\x1b[0m x\x1b[K", "[Cache] x"),
    "title": (b"\x1b]0;train.py\x07text", "text"),
    "link": (b"\x1b]8;;http://a\x1b\\text\x1b]8;;\x1b\\", "text"),
    "charset": (b"\x1b(Btext", "\x1b(Btext"),
    "lonely escape": (b"a\x1b", "a\x1b"),
}


@pytest.mark.parametrize(("raw", "text"), DECODED.values(), ids=DECODED)
def test_decode(raw, text):
    assert decode(raw) == text


SHOWN = {
    "CRLF": ("a\r", "a"),
    "progress": (" 10%|#  |\r 20%|## |", " 20%|## |"),
    "cleared": (" 10%|#  |\r         \r", " 10%|#  |"),
    "behind a progress bar": (" 10%|#  |\rstep 1", "step 1"),
    "nothing": ("\r\r \r", ""),
}


@pytest.mark.parametrize(("text", "shown"), SHOWN.values(), ids=SHOWN)
def test_last_shown(text, shown):
    assert last_shown(text) == shown


RANKS = {
    "torch and paddle": ("[rank0]: text", "0", " text"),
    "indented": ("[rank12]:   text", "12", "   text"),
    "without colon": ("[Rank 3] text", "3", " text"),
    "dash": ("[rank3] - text", "3", " text"),
    "torchrun": ("[default1]:    text", "1", "    text"),
    "trainer": ("[trainer-2]: text", "2", " text"),
    "mpirun": ("[1,4]<stdout>:  text", "4", "  text"),
    "mpirun 5": ("[1,4]<stderr>: text", "4", " text"),
    "no brackets": ("rank 7: text", "7", " text"),
    "pipe": ("rank_7 | text", "7", " text"),
    "nothing behind": ("[rank0]:", "0", ""),
    "no rank": ("[rank]: text", None, "[rank]: text"),
    "SOT": ("[Cache] Cache hit, Guard is", None, "[Cache] Cache hit, Guard is"),
    "user": ("ranking 7: text", None, "ranking 7: text"),
    "too long for a number": ("rank 1234567890: text", None, "rank 1234567890: text"),
}


@pytest.mark.parametrize(("text", "rank", "rest"), RANKS.values(), ids=RANKS)
def test_split_rank(text, rank, rest):
    assert split_rank(text) == (rank, rest)


@pytest.fixture
def tokens():
    """tokens(*raw lines) -> their (rank, text)"""

    def read(*lines: bytes):
        tokenizer = Tokenizer([make() for make in READERS])
        return [(token.rank, token.text) for token in map(tokenizer.token, lines)]

    return read


def test_the_space_behind_a_prefix_is_the_launchers(tokens):
    found = tokens(b"[rank0]: start subgraph compile and execution.", b"[rank0]:   inputs: ['var_0']")
    assert found == [("0", "start subgraph compile and execution."), ("0", "  inputs: ['var_0']")]


def test_a_launcher_that_puts_no_space(tokens):
    found = tokens(b"[default0]:start subgraph compile and execution.", b"[default0]:  inputs: ['var_0']")
    assert found == [("0", "start subgraph compile and execution."), ("0", "  inputs: ['var_0']")]


@pytest.mark.parametrize(
    "raw", [b"[rank1]: 10%\r20%\r[Cache] all guards missed", b"10%\r20%\r[rank1]: [Cache] all guards missed\r"]
)
def test_a_rank_with_a_progress_bar(tokens, raw):
    assert tokens(raw) == [("1", "[Cache] all guards missed")]


HOSTILE = (b"\x1b[", b"\x1b]", b"\x1b[0;", b"\r", b"a\r", b"\r ", b"[rank1]: ", b"[1,1]<stdout>:", b"\xff", b"rank ")


@pytest.mark.parametrize("piece", HOSTILE)
def test_time_grows_with_the_length_of_a_line(piece):
    def seconds(size: int) -> float:
        raw = piece * (size // len(piece))
        start = time.process_time()
        last_shown(split_rank(decode(raw))[1])
        return time.process_time() - start

    assert seconds(1 << 21) < 2  # a square would take minutes
