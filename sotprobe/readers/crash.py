"""Signals that ended a program, as Paddle, Python, shells, launchers and profilers report them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from sotprobe.model import Evidence, ExitStatus, SourceSite
from sotprobe.paddle_compat import vocabulary
from sotprobe.paddle_compat.log_lines import crash, enforce
from sotprobe.paddle_compat.log_lines.phrase import Phrase, by_head, parse
from sotprobe.readers.grammar import MALFORMED, Block, Token
from sotprobe.readers.machine import NAME as MACHINE
from sotprobe.readers.machine import MachineEvents
from sotprobe.readers.parts import Origin, Parts
from sotprobe.readers.stacks import is_program, threads
from sotprobe.readers.tokens import TEXT

NAME = "crash"
ABORT = "SIGABRT"
_RULE_HEAD = "-" * 22
_RULES = (22, 38)  # drawn around the titles of Paddle's boxes
# Heads that the user's own lines may have too: what does not go on as known is no line cut short.
_COMMON = frozenset({"received", "thread", "container", "mpi", "timeout", "profiler-saw"})
_QUOTED = "`"
_MOST_DEATHS = 100
_MOST_SUMMARY = 40
_MOST_STACK_LINES = 2000
_MOST_OUTSIDE = 10
_LONGEST_KEPT = 2000
# An uncaught exception ends the program at once. So many lines between a traceback and a signal, and it was caught.
TEARDOWN_LINES = 100


class CrashGrammar:
    name = NAME
    aside = False
    inside = crash.INSIDE

    def __init__(self) -> None:
        self._phrases: Mapping[str, Phrase] = by_head((*crash.BOX, *crash.OUTSIDE))
        self.heads = (*self._phrases, _RULE_HEAD)

    def token(self, head: str, text: str) -> Token | None:
        if head == _RULE_HEAD:
            known = len(text.rstrip()) in _RULES and not text.strip("- ")
            return Token(NAME, "rule", text) if known else None
        phrase = self._phrases[head]
        values = parse(phrase, head, text)
        if values is None:
            common = phrase.kind in _COMMON and not text.startswith(_QUOTED, len(head))
            return None if common else Token(NAME, MALFORMED, text)
        return Token(NAME, phrase.kind, text, values)

    def loose(self, text: str) -> Token | None:
        signal = crash.from_shell(text)
        if signal is not None:
            return Token(NAME, "shell", text, {"signal": signal})
        if crash.ABORT_HEAD in text and (ranks := crash.aborted_ranks(text)) is not None:
            return Token(NAME, "aborted", text, {"ranks": ranks})
        return None

    def state(self, origin: Origin) -> CrashState:
        return CrashState(origin)


def signal_token(text: str) -> Token:
    """The line about a signal that came through GLOG."""
    return Token(NAME, "signal", text, {"rest": text})


@dataclass(frozen=True)
class _Death:
    """One report of a signal. ``sure`` is false of a shell's single word, which a program may print as well."""

    signal: str
    line: int
    evidence: Evidence
    sender: str | None = None
    sure: bool = True

    @property
    def benign(self) -> bool:
        return self.signal in crash.TERMINATION


class CrashState:
    def __init__(self, origin: Origin):
        self._file = origin.file
        self._machine = MachineEvents(NAME, origin.file)
        self._deaths: list[_Death] = []
        self._outside: list[Evidence] = []
        self._hints: list[Evidence] = []
        self._error: tuple[str, str, Evidence] | None = None
        self._failed: tuple[int, Evidence] | None = None
        self._stacks: list[str] = []
        self._handlers: Mapping[str, Callable[[Token, int], Block | None]] = {
            "stack": self._stack,
            "summary": self._summary,
            "received": self._received,
            "signal": self._signal,
            "shell": self._shell,
            "terminate": self._hint,
            "heap": self._hint,
            "fault": self._fault,
            "thread": self._thread,
            "container": self._container,
            "aborted": self._aborted,
            "launch": self._launch,
            "mpi": self._number,
            "profiler-saw": self._number,
            "timeout": self._timeout,
            "capture-ended": self._outside_line,
        }

    def feed(self, token: Token, line: int) -> Block | None:
        handler = self._handlers.get(token.kind)
        return handler(token, line) if handler is not None else None

    def _evidence(self, token: Token, line: int) -> Evidence:
        return Evidence(NAME, token.text.strip()[:300], self._file, line)

    def _died(self, signal: str | None, token: Token, line: int, by: str | None = None, *, sure: bool = True) -> None:
        if signal is not None and len(self._deaths) < _MOST_DEATHS:
            self._deaths.append(_Death(signal, line, self._evidence(token, line), by, sure))

    # --- Paddle's boxes

    def _stack(self, token: Token, line: int) -> Block:
        return _StackBlock()

    def _summary(self, token: Token, line: int) -> Block:
        def done(said: list[str]) -> None:
            text = "\n".join(said).strip()
            if text and not text.startswith("FatalError"):
                kind, _, message = text.partition(":")
                told = f"{kind}: {vocabulary.first_line(message)}"[:300]
                self._error = (kind, message.strip(), Evidence(NAME, told, self._file, line))
                self._machine.add(text, line)

        return _SummaryBlock(done)

    def _received(self, token: Token, line: int) -> None:
        self._died(crash.signal_of(token.values), token, line)

    def _signal(self, token: Token, line: int) -> None:
        """The more exact report of the signal that the line above named."""
        info = crash.signal_info(token.text)
        if info is None:
            return
        by = crash.sender(int(info["pid"]), int(info["sender"]))
        last = self._deaths[-1] if self._deaths else None
        if last is not None and last.signal == info["signal"] and last.sender is None and line - last.line <= 5:
            self._deaths.pop()
        self._died(info["signal"], token, line, by)

    def _hint(self, token: Token, line: int) -> None:
        self._hints = [*self._hints[-4:], self._evidence(token, line)]

    # --- Python's fault handler

    def _fault(self, token: Token, line: int) -> None:
        self._died(crash.signal_named(token.values["what"].strip()), token, line)
        self._hint(token, line)

    def _thread(self, token: Token, line: int) -> Block | None:
        if len(self._stacks) >= _MOST_STACK_LINES:
            return None
        self._stacks.append(token.text[:_LONGEST_KEPT])
        return _ThreadBlock(self._stacks)

    # --- from outside

    def _shell(self, token: Token, line: int) -> None:
        self._died(token.values["signal"], token, line, sure=False)

    def _container(self, token: Token, line: int) -> None:
        code = int(token.values["code"])
        evidence = replace(self._evidence(token, line), text=_container_text(token.values))
        signal = crash.of_code(code)
        if signal is not None and len(self._deaths) < _MOST_DEATHS:
            self._deaths.append(_Death(signal, line, evidence))
        elif code:
            self._failed = (code, evidence)

    def _aborted(self, token: Token, line: int) -> None:
        self._failed = (
            1,
            replace(self._evidence(token, line), text=f"the launcher says that ranks {token.values['ranks']} failed"),
        )

    def _launch(self, token: Token, line: int) -> None:
        signal = crash.launcher_signal(token.values["said"])
        if signal is not None:
            self._outside_line(token, line)
            self._died(signal, token, line, "the launcher, which was asked to end itself")

    def _number(self, token: Token, line: int) -> None:
        self._died(crash.SIGNALS.get(int(token.values["number"])), token, line)

    def _timeout(self, token: Token, line: int) -> None:
        self._outside_line(token, line)
        self._died(crash.signal_named(token.values["what"]), token, line, "timeout, whose time was over")

    def _outside_line(self, token: Token, line: int) -> None:
        if len(self._outside) < _MOST_OUTSIDE:
            self._outside.append(self._evidence(token, line))

    # --- the end

    def finish(self, parts: Parts) -> None:
        parts.events.extend(self._machine.events())
        went_on = max(parts.last_entry, parts.last_line.get("benchlog", 0))
        deaths = [death for death in self._deaths if death.sure or death.line > went_on]
        chosen = _chosen(deaths)
        if chosen is not None and not self._is_teardown(parts.exit, chosen):
            parts.exit = self._killed(chosen, deaths, parts)
        elif chosen is not None and parts.exit is not None:
            parts.exit = replace(parts.exit, evidence=(*parts.exit.evidence, chosen.evidence))
        elif parts.exit is None:
            parts.exit = self._failure(went_on)

    def _is_teardown(self, ended: ExitStatus | None, death: _Death) -> bool:
        """Whether a signal only came while the program was ending by an exception, or is that exception itself."""
        if ended is None:
            return False
        line = ended.evidence[0].line if ended.evidence else None
        return death.benign or line is None or death.line - line <= TEARDOWN_LINES

    def _killed(self, death: _Death, deaths: list[_Death], parts: Parts) -> ExitStatus:
        said = [other for other in deaths if other.signal == death.signal]
        stacks = "\n".join(self._stacks) or None
        stack = _user_stack(stacks)
        sender = next((other.sender for other in said if other.sender), None)
        return ExitStatus(
            "signal",
            signal=death.signal,
            error_message=self._error[1] if self._error and not death.benign else None,
            site=stack[-1] if stack else parts.reached,
            stack=stack,
            stacks=stacks,
            evidence=tuple(
                dict.fromkeys((death.evidence, *self._hints, *self._outside, *(other.evidence for other in said[:3])))
            ),
            sender=sender,
        )

    def _failure(self, went_on: int) -> ExitStatus | None:
        """A box about an error that no Python traceback tells, or a launcher's word that a process failed."""
        if self._error is not None:
            kind, message, evidence = self._error
            if (evidence.line or 0) > went_on:
                return ExitStatus("error", error_type=kind, error_message=message, evidence=(evidence,))
        if self._failed is not None:
            code, evidence = self._failed
            return ExitStatus("error", code=code, evidence=(evidence,))
        return None


def _chosen(deaths: list[_Death]) -> _Death | None:
    """The first that says something went wrong; else the last that asked the program to end."""
    return next((death for death in deaths if not death.benign), deaths[-1] if deaths else None)


def _container_text(values: Mapping[str, str]) -> str:
    log = values["log"].split()
    where = f"; its log is {log[0]}" if log else ""
    return f"the launcher says that rank {values['rank']} ended with code {values['code']}{where}"


def _user_stack(stacks: str | None) -> tuple[SourceSite, ...]:
    """The user's frames of the thread that was running, outermost first."""
    for frames in threads(stacks or ""):
        user = [SourceSite(path, line, name) for path, line, name in reversed(frames) if is_program(path)]
        if user:
            return tuple(user)
    return ()


class _StackBlock:
    """The frames below the title of a C++ stack."""

    reader = NAME

    def takes(self, token: Token, line: int) -> bool:
        if token.reader == NAME:
            return token.kind in ("rule", "no-stack")
        return token.reader == TEXT and (not token.text.strip() or enforce.is_cpp_frame(token.text))

    def close(self) -> None:
        return None


class _SummaryBlock:
    """What is said below ``Error Message Summary:``, up to the place in Paddle's source."""

    reader = NAME

    def __init__(self, done: Callable[[list[str]], None]):
        self._done = done
        self._said: list[str] = []
        self._complete = False

    def takes(self, token: Token, line: int) -> bool:
        if token.reader == NAME:
            return token.kind == "rule" and not self._said
        if token.reader not in (TEXT, MACHINE) or len(self._said) >= _MOST_SUMMARY:
            return False
        if self._complete and token.text.strip():
            return False
        if not self._said and token.text.strip() and not enforce.is_summary(token.text):
            return False
        self._said.append(token.text[:_LONGEST_KEPT])
        self._complete = self._complete or enforce.is_complete(token.text)
        return True

    def close(self) -> None:
        self._done(self._said)


class _ThreadBlock:
    """The frames of one thread in a dump of Python's fault handler."""

    reader = NAME

    def __init__(self, lines: list[str]):
        self._lines = lines

    def takes(self, token: Token, line: int) -> bool:
        if token.text.startswith(("  File ", "  <no Python frame>", "  ...")):
            if len(self._lines) < _MOST_STACK_LINES:
                self._lines.append(token.text[:_LONGEST_KEPT])
            return True
        return not token.text.strip()

    def close(self) -> None:
        return None
