"""What the source adds to a log: functions that may have been skipped silently, and lines that a break can be on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from sotprobe.model import Finding
from sotprobe.workflows.investigate import LogRequest, investigate

MODEL = """\
import contextlib
import threading

import paddle
from blocks import Block


@contextlib.contextmanager
def scope():
    yield


def warm(x):
    try:
        return x + 1
    finally:
        x = None


def stream():
    while True:
        yield warm(1)


STREAM = stream()


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.block = Block()

    def forward(self, x):
        with paddle.no_grad():
            y = warm(x)
        with scope():
            y = self.block(y)
        return y


def captured(x):
    return warm(x) * 2


def broken(x, mask):
    x = x + next(STREAM)
    print(x)
    if mask is None:
        x = warm(x)
    thread = threading.Thread(target=worker)
    thread.start()
    return [t for t in x]


def worker():
    return captured(paddle.ones([2]))


def unused(x):
    with scope():
        return x


NET = paddle.jit.to_static(Net())
"""
BLOCKS = """\
class Block:
    def forward(self, x):
        try:
            return x * 2
        except ValueError:
            return x
"""


def _line(words: str, text: str = MODEL) -> int:
    return next(number for number, line in enumerate(text.splitlines(), start=1) if words in line)


def _code(name: str, line: int, path: str = "/proj/model.py") -> str:
    return f'<code object {name} at 0x7f00{line:04x}{len(name):02x}, file "{path}", line {line}>'


def _entry(name: str, function: str | None = None) -> str:
    return f"[eval_frame_callback] start to translate: {_code(name, _line(f'def {function or name}('))}\n"


def _captured(name: str) -> str:
    code = _code(name, _line(f"def {name}("))
    return (
        f"{_entry(name)}[Cache] Firstly call {code}\n" + f"{_entry(name)}[Cache] Cache hit, Guard is \nlambda frame: x == 1\n" * 3
    )


def _broken(name: str) -> str:
    return f"{_captured(name)}" + f"{_entry(name)}{_entry(f'$resume_0@{name}_af1a0', name)}" * 4


Ask = Callable[..., list[Finding]]


@pytest.fixture
def ask(tmp_path: Path) -> Ask:
    """The findings about a log of the program above."""
    source = tmp_path / "src"
    source.mkdir()
    (source / "blocks.py").write_text(BLOCKS)
    (source / "other.py").write_text("import paddle\n\n\n@paddle.jit.to_static\ndef other(x):\n    with x:\n        return x\n")

    def findings(log: str, python: str | None = "3.11", *, sourced: bool = True, model: str = MODEL) -> list[Finding]:
        (source / "model.py").write_text(model)
        file = tmp_path / "train.log"
        file.write_text(log)
        request = LogRequest((str(file),), source=str(source) if sourced else None, python=python)
        return list(investigate(request).diagnosis.findings)

    return findings


def _suspected(findings: list[Finding]) -> set[tuple[str, str | None, str, int]]:
    return {
        (finding.slug, finding.cause, finding.site.function, finding.site.line)
        for finding in findings
        if finding.suspected and finding.severity == "info"
    }


NO_GRAD = ("no-grad-block", "no-grad", "forward", _line("with paddle.no_grad"))
WARM = ("not-captured", "try-block", "warm", _line("try:"))
BLOCK = ("not-captured", "try-block", "forward", _line("try:", BLOCKS))


def test_a_frame_that_never_came_and_what_it_calls_are_suspected(ask: Ask) -> None:
    found = ask(_captured("captured"))
    assert _suspected(found) == {NO_GRAD, WARM, BLOCK}
    no_grad = next(finding for finding in found if finding.slug == "no-grad-block")
    texts = "\n".join(evidence.text for evidence in no_grad.evidence)
    assert f"line {NO_GRAD[3]}: with paddle.no_grad():" in texts
    assert "the log never shows forward" in texts
    assert f"more of the kind at line {_line('with scope():')}" in texts
    assert "may" in no_grad.title


def test_a_frame_that_came_is_not(ask: Ask) -> None:
    assert _suspected(ask(_captured("captured") + _captured("forward"))) == set()


def test_what_captured_code_calls_was_inlined(ask: Ask) -> None:
    assert WARM not in _suspected(ask(_captured("captured") + _captured("forward")))
    assert WARM in _suspected(ask(_broken("broken") + _captured("forward")))


def test_a_break_at_a_returned_call_leaves_no_trace_below_level_3(ask: Ask) -> None:
    log = _captured("captured") + _captured("forward")
    unused = ("not-captured", "with-block", "unused", _line("def unused") + 1)
    assert unused not in _suspected(ask(log, model=MODEL.replace("return warm(x) * 2", "return unused(x) * 2")))
    assert unused in _suspected(ask(log, model=MODEL.replace("return warm(x) * 2", "return unused(x)")))
    # a try does not break when it is inlined
    assert WARM not in _suspected(ask(log, model=MODEL.replace("return warm(x) * 2", "return warm(x)")))


def test_generators_and_threads_of_shown_functions(ask: Ask) -> None:
    found = _suspected(ask(_broken("broken") + _captured("forward")))
    assert ("not-captured", "generator", "stream", _line("def stream")) in found
    assert ("not-captured", "thread", "worker", _line("def worker")) in found
    assert not any(function == "scope" for _, _, function, _ in found)  # a context manager is a side effect


def test_a_context_manager_that_was_entered_proves_its_user(ask: Ask) -> None:
    """Of two users it could be either; of one it is that."""
    two = ask(_captured("captured") + _entry("scope"))
    assert all(finding.suspected for finding in two if finding.cause in ("no-grad", "with-block"))
    only = MODEL.replace("    with scope():\n        return x\n", "    return x\n")
    found = ask(_captured("captured") + _entry("scope"), model=only)
    (proven,) = [finding for finding in found if finding.cause == "no-grad"]
    assert (proven.suspected, proven.severity, proven.site.line) == (False, "warning", NO_GRAD[3])
    assert any("scope was entered" in evidence.text for evidence in proven.evidence)


def test_the_generator_of_a_context_manager_is_a_side_effect(ask: Ask) -> None:
    reason = "paddle.jit.sot.utils.exceptions.FallbackError: opcode: RETURN_GENERATOR is not supported."
    log = (
        _captured("captured")
        + _entry("scope")
        + (
            f"Unsupported Frame is {_code('scope', _line('def scope('))}, error message is: \n"
            f"Traceback (most recent call last):\n{reason}\n\n{_entry('scope')}"
        )
    )
    (found,) = [finding for finding in ask(log) if finding.site.function == "scope"]
    assert (found.slug, found.severity) == ("fallback", "info")
    (found,) = [finding for finding in ask(log, sourced=False) if finding.site.function == "scope"]
    assert found.severity == "warning"
    assert any("skipped without a line" in evidence.text for evidence in found.evidence)


def test_older_pythons_say_so_themselves(ask: Ask) -> None:
    assert _suspected(ask(_captured("captured"), "3.10")) == set()


def test_an_unknown_python_is_taken_for_one_that_is_silent_and_said_to_be(ask: Ask) -> None:
    found = ask(_captured("captured"), None)
    assert NO_GRAD in _suspected(found)
    suspect = next(finding for finding in found if finding.suspected)
    assert any("--python" in evidence.text for evidence in suspect.evidence)


def test_without_the_source_nothing_is_suspected(ask: Ask) -> None:
    assert _suspected(ask(_captured("captured"), sourced=False)) == set()


def test_a_log_without_a_frame_leaves_what_to_static_was_given(ask: Ask) -> None:
    found = _suspected(ask("step 1 loss 2.0\n"))
    assert NO_GRAD in found
    assert ("not-captured", "with-block", "other", 6) in found
    assert not any(function == "unused" for _, _, function, _ in found)


def test_files_of_another_program_are_left_out(ask: Ask) -> None:
    assert not any(function == "other" for _, _, function, _ in _suspected(ask(_captured("captured"))))


# --- level 3: what broke while it was inlined, and was no frame afterwards


def _simulated(name: str, *inlined: tuple[str, int], line: int) -> str:
    text = f"[EXECUTOR RUN] Start execute opcode: {_code(name, _line(f'def {name}('))}\n"
    text += f"[Translate Executor 1] (line  {line}) CALL         1, stack is []\n"
    for depth, (callee, at) in enumerate(inlined, start=2):
        text += f"[EXECUTOR RUN] Start execute opcode: {_code(callee, _line(f'def {callee}('))}\n"
        text += f"[Translate InlineFn {depth}] (line  {at}) CALL         1, stack is []\n"
    return text


INLINED_BREAK = (
    f"{_entry('captured')}[Cache] Firstly call {_code('captured', _line('def captured('))}\n"
    + _simulated("captured", ("warm", _line("return x + 1")), line=_line("return warm(x) * 2"))
    + "[BreakGraph] call function Break graph:\n    Not support builtin function: print with args: Args(ConstantVariable)\n"
    + f"{_entry('$resume_0@captured_af1a0', 'captured')}"
    + f"{_entry('captured')}{_entry('$resume_0@captured_af1a0', 'captured')}" * 4
)


def test_a_function_that_broke_inlined_and_never_began_as_a_frame_is_lost(ask: Ask) -> None:
    (lost,) = [finding for finding in ask(INLINED_BREAK) if finding.slug == "not-captured" and not finding.suspected]
    assert (lost.cause, lost.site.function, lost.site.line, lost.severity) == (WARM[1], "warm", WARM[3], "warning")
    assert lost.count_per_step == 1.0


def test_one_that_began_as_a_frame_is_not(ask: Ask) -> None:
    found = ask(INLINED_BREAK + _entry("warm"))
    assert not [finding for finding in found if finding.slug == "not-captured" and finding.site.function == "warm"]


# --- below level 3: lines of breaks


def test_a_break_without_a_reason_may_be_on_the_lines_that_can_break(ask: Ask) -> None:
    (found,) = [finding for finding in ask(_broken("broken")) if finding.slug == "graph-break"]
    assert found.cause == "unknown"
    assert "does not tell" in found.title
    assert "SOT_LOG_LEVEL=3" in found.advice
    texts = "\n".join(evidence.text for evidence in found.evidence)
    for words in ("print(x)", "if mask is None"):
        assert f"may be line {_line(words)}: {words}" in texts
    assert found.count_per_step == pytest.approx(4 / 8)


def test_where_one_line_only_can_break_it_is_that(ask: Ask) -> None:
    log = f"{_entry('worker')}{_entry('$resume_0@worker_af1a0', 'worker')}" * 4
    assert [finding.cause for finding in ask(log) if finding.slug == "graph-break"] == ["unknown"]
    log = _broken("broken") + f"{_entry('$resume_1@$resume_0@broken_af1a0', 'broken')}" * 4
    found = {(finding.cause, finding.site.line, finding.site.precision): finding for finding in ask(log) if finding.suspected}
    assert found["print", _line("print(x)"), "near"].severity == "warning"
    assert found["is-none-on-tensor", _line("if mask is None"), "near"].slug == "graph-break"


def test_a_reason_names_its_only_line(ask: Ask) -> None:
    reason = "paddle.jit.sot.utils.exceptions.FallbackError: Not support builtin function: print with args: Args(TensorVariable)"
    log = _entry("broken") + (
        f"Unsupported Frame is {_code('broken', _line('def broken('))}, error message is: \n"
        f"Traceback (most recent call last):\n{reason}\n\n{_entry('broken')}"
    )
    (found,) = [finding for finding in ask(log) if finding.cause == "print"]
    assert (found.slug, found.site.line, found.site.precision) == ("fallback", _line("print(x)"), "near")
    assert not found.suspected
