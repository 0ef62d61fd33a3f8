"""Python's tracebacks and warnings: the exception that ended the program, and what Paddle warns of."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sotprobe.model import Event, Evidence, ExitStatus, SourceSite
from sotprobe.model.site import EXACT, FUNCTION, NEAR
from sotprobe.paddle_compat import simulation, vocabulary
from sotprobe.paddle_compat.log_lines import enforce, machine
from sotprobe.paddle_compat.names import is_generated, is_resume, original_name
from sotprobe.readers.crash import NAME as CRASH
from sotprobe.readers.grammar import Block, Token
from sotprobe.readers.machine import NAME as MACHINE
from sotprobe.readers.machine import MachineEvents
from sotprobe.readers.parts import Origin, Parts
from sotprobe.readers.stacks import is_program
from sotprobe.readers.tokens import TEXT
from sotprobe.readers.tracebacks import GROUP_HEAD, HEAD, LONGEST_KEPT, Raised, Traceback

NAME = "pytrace"
_FRAME_HEAD = '  File "'
# What stands before a traceback that does not end the program.
_HARMLESS = ("Exception ignored in", "Exception in thread ", "Error in atexit._run_exitfuncs:")
# path/to/file.py:712: UserWarning: text
_WARNING = re.compile(r"(?P<path>(?:[A-Za-z]:)?\S[^:\n]*?):(?P<line>\d{1,9}): (?P<category>\w*Warning): ?(?P<text>.*)", re.DOTALL)
_WARNING_WORD = "Warning: "
_LONGEST_WARNING = 20_000
_PYTHON = re.compile(r"/python(?P<version>3\.\d+)/")
_SYNTAX_ERRORS = ("SyntaxError", "IndentationError", "TabError")
INTERRUPT = "KeyboardInterrupt"
_MOST_TEXT = 500
_MOST_WARNINGS = 100
# A SystemError that Paddle raises in a signal handler: the line is only where the program stood.
_HANDLER = "in __handler__"


class PyTraceGrammar:
    name = NAME
    aside = False
    inside = ((HEAD, re.compile(r"(?<!C\+\+ )" + re.escape(HEAD) + r"\s*$")),)  # behind a progress bar
    heads = (HEAD, f" {HEAD}", GROUP_HEAD, _FRAME_HEAD, *_HARMLESS)

    def token(self, head: str, text: str) -> Token:
        if head == _FRAME_HEAD:
            return Token(NAME, "frame", text)
        if head in _HARMLESS:
            return Token(NAME, "harmless", text)
        return Token(NAME, "head", text)

    def loose(self, text: str) -> Token | None:
        if _WARNING_WORD not in text or len(text) > _LONGEST_WARNING:
            return None
        found = _WARNING.match(text)
        return None if found is None else Token(NAME, "warning", text, found.groupdict())

    def state(self, origin: Origin) -> PyTraceState:
        return PyTraceState(origin)


@dataclass(frozen=True)
class _Seen:
    """A traceback from its first to its last line of the log."""

    first: int
    last: int
    chain: Sequence[Raised]
    lines: Sequence[str]


class PyTraceState:
    """Only the last traceback can be the end of the program; those before it were caught, or were another process's."""

    def __init__(self, origin: Origin):
        self._file = origin.file
        self._last: _Seen | None = None
        self._machine = MachineEvents(NAME, origin.file)
        self._warnings: dict[tuple[str, str], Event] = {}
        self._of_worker: _Seen | None = None  # what a loader's thread printed of its worker
        self._harmless = False
        self._python: str | None = None

    def feed(self, token: Token, line: int) -> Block | None:
        if token.kind == "warning":
            return self._warning(token, line)
        harmless, self._harmless = self._harmless, token.kind == "harmless"
        if token.kind == "harmless":
            return None
        traceback = Traceback()
        if token.kind == "frame":
            traceback.begin_without_head()
        return _TracebackBlock(traceback, token, line, lambda seen: self._seen(seen, harmless, token.kind == "frame"))

    def _seen(self, seen: _Seen, harmless: bool, headless: bool) -> None:
        raised = seen.chain[-1] if seen.chain else Raised()
        if not raised.type or (headless and raised.name not in _SYNTAX_ERRORS):
            return
        self._note_python(path for path, _, _ in raised.frames)
        if harmless:
            self._machine.add(raised.text, seen.first)
            if any(machine.from_worker(one.text) for one in seen.chain):
                self._of_worker = seen
        else:
            self._last = seen

    def _warning(self, token: Token, line: int) -> Block:
        values = token.values
        self._note_python([values["path"]])

        def done(text: str) -> None:
            cause = vocabulary.classify_warning(text)
            if cause is not None:
                self._warned(cause, text, values["path"], int(values["line"]), line)

        return _WarningBlock(values["text"], done)

    def _warned(self, cause: str, text: str, path: str, path_line: int, line: int) -> None:
        key = (cause, text)
        known = self._warnings.get(key)
        if known is not None:
            self._warnings[key] = replace(known, count=known.count + 1)
            return
        if len(self._warnings) >= _MOST_WARNINGS:
            return
        site = SourceSite(path, path_line, "<module>", EXACT) if is_program(path) else None
        evidence = Evidence(NAME, vocabulary.first_line(text)[:300], self._file, line)
        self._warnings[key] = Event("warning", line, None, site, cause=cause, message=text, evidence=(evidence,))

    def _note_python(self, paths) -> None:
        if self._python is None:
            found = next((match for path in paths if (match := _PYTHON.search(path))), None)
            self._python = found["version"] if found else None

    # --- the end

    def finish(self, parts: Parts) -> None:
        if self._python is not None:
            parts.environment.setdefault("python", self._python)
        went_on = max(parts.last_entry, parts.last_line.get("benchlog", 0))
        if self._last is not None:
            if went_on > self._last.last:  # it was caught; what it says of the machine holds all the same
                self._machine.add(self._last.chain[-1].text, self._last.first)
            else:
                parts.exit = self._exit(self._last)
                if self._of_worker is not None and machine.QUEUE_KILLED in self._last.chain[-1].text:
                    parts.exit = self._behind(parts.exit, self._of_worker)
        parts.events.extend(self._machine.events())
        parts.events.extend(self._warnings.values())

    def _behind(self, ended: ExitStatus, seen: _Seen) -> ExitStatus:
        """The worker's error is why the queue was killed."""
        cause = self._exit(seen)
        told = [replace(item, text=f"{item.text}, in a worker of a DataLoader") for item in cause.evidence]
        return replace(cause, evidence=(*told, *ended.evidence))

    def _exit(self, seen: _Seen) -> ExitStatus:
        raised = seen.chain[-1]
        simulated = raised.name == simulation.SIMULATION_ERROR
        message = simulation.root_message(raised.text) if simulated else ""
        if not message or message.endswith(":"):  # boxed, or no error of the simulation
            message = enforce.essence(raised.text)
        stack = _stack(seen.chain, raised)
        text = "\n".join(seen.lines)
        said = vocabulary.first_line(machine.shortened(message))
        evidence = Evidence(NAME, f"{raised.name}: {said}" if said else raised.name, self._file, seen.first)
        signal = "SIGINT" if raised.name == INTERRUPT else enforce.spawned_signal(raised.text)
        return ExitStatus(
            "signal" if signal else "error",
            signal=signal,
            error_type=raised.name,
            error_message=message,
            site=None if _HANDLER in text else _innermost(stack),
            stack=stack,
            traceback=text,
            simulated=simulated,
            evidence=(evidence,),
            sender="the keyboard (Ctrl-C), or whoever sent SIGINT" if raised.name == INTERRUPT else None,
        )


def _stack(chain: Sequence[Raised], raised: Raised) -> tuple[SourceSite, ...]:
    """The user's lines, outermost first: those that ran, then those that SOT simulated or that the AST mode rewrote."""
    own = [raised, *reversed(chain[:-1])]
    frames = next((users for one in own if (users := [frame for frame in one.frames if is_program(frame[0])])), [])
    ran = [_site(path, line, name, FUNCTION if is_generated(name) else EXACT) for path, line, name in frames]
    inner = [
        _site(path, line, name, NEAR if is_resume(name) else EXACT)
        for path, line, name in simulation.simulated_frames(raised.text) or enforce.stack_in(raised.text)
        if is_program(path)
    ]
    return (*ran, *inner)


def _site(path: str, line: int, name: str, precision: str) -> SourceSite:
    return SourceSite(path, line, original_name(name), precision)


def _innermost(stack: Sequence[SourceSite]) -> SourceSite | None:
    return stack[-1] if stack else None


class _TracebackBlock:
    """The lines of a traceback. Lines that other readers know inside a message (boxes, memory) belong to it as well."""

    reader = NAME

    def __init__(self, traceback: Traceback, head: Token, line: int, done: Callable[[_Seen], None]):
        self._traceback = traceback
        self._first = self._last = line
        self._lines = [head.text]
        self._done = done
        traceback.takes(head.text)

    def takes(self, token: Token, line: int) -> bool:
        if token.reader not in (NAME, TEXT, CRASH, MACHINE) or not self._traceback.takes(token.text):
            return False
        self._last = line
        if len(self._lines) < _MOST_TEXT:
            self._lines.append(token.text[:LONGEST_KEPT])
        return True

    def close(self) -> None:
        self._done(_Seen(self._first, self._last, self._traceback.chain, self._lines))


class _WarningBlock:
    """What comes below a warning: the rest of its text where it is known to have one, and the line of source that warned."""

    reader = NAME

    def __init__(self, first: str, done: Callable[[str], None]):
        self._said = [first]
        self._done = done
        self._more = 3 if vocabulary.warning_goes_on(first) else 0
        self._ended = False

    def takes(self, token: Token, line: int) -> bool:
        if self._ended or token.reader != TEXT:
            return False
        if token.text.startswith("  ") and token.text[2:3].strip():
            self._ended = True
            return True
        if self._more <= 0:
            return False
        self._more -= 1
        self._said.append(token.text[:LONGEST_KEPT])
        return True

    def close(self) -> None:
        self._done("\n".join(self._said).strip())
