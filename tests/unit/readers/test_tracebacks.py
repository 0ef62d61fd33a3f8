"""Python tracebacks line by line: which lines belong to one, and which exceptions are chained."""

from __future__ import annotations

from pathlib import Path

import pytest

from sotprobe.readers.tracebacks import HEAD, LONGEST_KEPT, MOST_LINES, Traceback

ENDINGS = Path(__file__).parents[2] / "golden" / "logs" / "endings"


def parsed(text: str) -> tuple[Traceback, str | None]:
    """The traceback at the beginning of a text, and the first line that does not belong to it."""
    traceback = Traceback()
    for line in text.splitlines():
        if not traceback.takes(line):
            return traceback, line
    return traceback, None


def recorded(name: str) -> tuple[Traceback, str | None]:
    """The first traceback of a real log."""
    text = (ENDINGS / f"331_{name}.txt").read_text()
    return parsed(text[text.index(f"\n{HEAD}") + 1 :])


def raised(text: str) -> list[str]:
    return [one.name for one in parsed(text)[0].chain]


FRAME = '  File "/proj/model.py", line 7, in forward\n    y = f(x)\n        ^^^^\n'
ONE = f"{HEAD}\n{FRAME}ValueError: bad\n"


# --- real ones


def test_a_chain_is_told_cause_first():
    traceback, after = recorded("chain")
    assert [(one.type, one.text) for one in traceback.chain] == [("KeyError", "'key'"), ("RuntimeError", "the key is needed")]
    assert traceback.chain[1].frames[-1] == ("/proj/endings.py", 78, "end")
    assert after is None


def test_the_error_of_the_simulation_holds_the_traceback_behind_it():
    """Three exceptions are chained; the tracebacks quoted in the messages of two of them are no exceptions of the chain."""
    traceback, after = recorded("shape")
    assert [one.name for one in traceback.chain] == ["ValueError", "InnerError", "InnerError"]
    assert traceback.chain[-1].text.startswith("In simulate execution:")
    assert "Origin Exception is:" in traceback.chain[-1].text
    assert traceback.chain[-1].text.endswith("binary.cc:3087)")
    assert after is None


def test_so_it_is_with_boxes_in_the_messages():
    traceback, after = recorded("shape_stack2")
    assert [one.name for one in traceback.chain] == ["ValueError", "InnerError", "InnerError"]
    assert after is None


def test_the_ast_mode_tells_the_users_lines_in_the_message():
    traceback, after = recorded("shape-ast")
    assert [one.name for one in traceback.chain] == ["ValueError"]
    assert traceback.chain[0].text.startswith("In transformed code:")
    assert "<--- HERE" in traceback.chain[0].text
    assert after is None


def test_a_box_is_the_message_of_its_error():
    """FLAGS_call_stack_level=2."""
    traceback, after = recorded("enforce_stack2")
    assert [one.name for one in traceback.chain] == ["ValueError"]
    assert "Error Message Summary:" in traceback.chain[0].text
    assert traceback.chain[0].text.endswith("binary.cc:3087)")
    assert after is None


def test_a_repeated_line_of_a_recursion():
    traceback, after = recorded("recursion")
    assert [one.name for one in traceback.chain] == ["RecursionError"]
    assert after is None


def test_a_syntax_error_has_its_file_as_last_frame():
    traceback, _ = recorded("syntax")
    assert traceback.chain[0].name == "SyntaxError"
    assert traceback.chain[0].frames[-1] == ("/proj/settings.py", 1, "<module>")


def test_an_exception_group_is_one_exception():
    text = (ENDINGS / "331_group.txt").read_text()
    traceback, after = parsed(text[text.index("  + Exception Group") :] + "  more of the user's\n")
    (group,) = traceback.chain
    assert (group.type, group.message[0]) == ("ExceptionGroup", "two (2 sub-exceptions)")
    assert group.frames[-1] == ("/proj/endings.py", 80, "end")
    assert "TypeError: other" in group.text
    assert after == "  more of the user's"


def test_the_error_of_a_spawned_process_is_chained_to_that_of_its_parent():
    traceback, _ = recorded("spawn-error")
    assert [(one.name, one.frames[-1][1]) for one in traceback.chain] == [("Exception", 453), ("ValueError", 50)]


def test_so_is_that_of_a_loaders_worker():
    traceback, after = recorded("loader-error")
    assert [one.text for one in traceback.chain] == ["DataLoader worker(0) caught ValueError with message:", "bad sample"]
    assert after == "batch paddle.Size([2])"


# --- where one ends


@pytest.mark.parametrize("line", ["epoch 1", "step: 3", "[Cache] Cache hit, Guard is ", "CompileCountInfo (compile_count):"])
def test_a_line_at_the_margin_ends_it(line):
    assert parsed(f"{ONE}{line}\n")[1] == line


def test_indented_lines_behind_a_blank_one_are_the_users():
    traceback, after = parsed(f"{ONE}\n    loss 0.3\n")
    assert after == "    loss 0.3"
    assert traceback.chain[0].text == "bad"


def test_a_second_one_that_is_not_chained_is_another():
    traceback, after = parsed(f"{ONE}\n{ONE}")
    assert len(traceback.chain) == 1
    assert after == HEAD


@pytest.mark.parametrize(
    "words",
    [
        "During handling of the above exception, another exception occurred:",
        "The above exception was the direct cause of the following exception:",
    ],
)
def test_a_chained_one_is_not(words):
    assert raised(f"{ONE}\n{words}\n\n{ONE}") == ["ValueError", "ValueError"]


def test_paddles_message_goes_on_to_its_place_in_the_source():
    """A bus error of a worker: the last line of the message is at the margin."""
    message = "SystemError: (Fatal) DataLoader process (pid   1. If run\n  2. If run\nBus error (at /paddle/data_loader.cc:166)\n"
    traceback, after = parsed(f"{HEAD}\n{FRAME}{message}\nepoch 2\n")
    assert traceback.chain[0].text.endswith("Bus error (at /paddle/data_loader.cc:166)")
    assert after == "epoch 2"


def test_a_place_that_never_comes_takes_no_more_than_some_lines():
    lines = "".join(f"epoch {number}\n" for number in range(100))
    _, after = parsed(f"{HEAD}\n{FRAME}ValueError: (InvalidArgument) cut here\n{lines}")
    assert after is not None
    assert int(after.split()[1]) < 20


def test_a_box_that_never_ends_takes_none_of_the_users_lines():
    box = "ValueError: \n\n" + "-" * 38 + "\nC++ Traceback (most recent call last):\n" + "-" * 38 + "\n0   paddle::f()\n"
    assert parsed(f"{HEAD}\n{FRAME}{box}epoch 2\n")[1] == "epoch 2"


def test_lines_with_a_margin_are_no_exceptions_by_that():
    assert raised("  + Exception Group Traceback (most recent call last):\n  | x\n  | y: z\n") == [""]


def test_a_group_that_never_ends_takes_no_more_than_some_lines():
    lines = "".join(f"epoch {number}\n" for number in range(100))
    assert parsed(f"  + Exception Group Traceback (most recent call last):\n{lines}")[1] is not None


@pytest.mark.parametrize("name", ["MyFailure", "pkg.errors.Failure", "StopIteration", "KeyboardInterrupt"])
def test_classes_of_any_kind(name):
    assert raised(f"{HEAD}\n{FRAME}{name}\n") == [name.rpartition(".")[2]]


def test_an_unfinished_one_raised_nothing():
    traceback, after = parsed(f"{HEAD}\n{FRAME}loss 0.3\n")
    assert not traceback.complete
    assert after == "loss 0.3"


def test_long_ones_and_long_lines_are_bounded():
    traceback, after = parsed(f"{HEAD}\n" + FRAME * MOST_LINES)
    assert after is not None
    assert len(traceback.chain[0].frames) < MOST_LINES
    (one,) = parsed(f"{HEAD}\n{FRAME}ValueError: {'x' * 5_000_000}\n")[0].chain
    assert len(one.text) <= LONGEST_KEPT
