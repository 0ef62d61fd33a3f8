"""How a log says that a program was ended by a signal: Paddle's boxes, Python's fault handler, shells, launchers, profilers.

Paddle's box is written by ``SignalHandle`` in ``platform/init.cc`` (before 2.2 in other words), read in 2.6.2 to 3.3.1 and seen
in real logs of them. The other words are those of bash, coreutils' timeout, Open MPI, ``paddle.distributed.launch``
(``controllers/controller.py``, ``fleet/launch_utils.py``) and Nsight Systems.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from sotprobe.paddle_compat.log_lines import enforce
from sotprobe.paddle_compat.log_lines.phrase import Phrase

# What asks a program to end; the others say that it did something wrong, but for SIGKILL, which says nothing.
TERMINATION = frozenset({"SIGTERM", "SIGINT", "SIGHUP"})

SIGNALS: Mapping[int, str] = {
    1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 9: "SIGKILL", 11: "SIGSEGV",
    13: "SIGPIPE", 15: "SIGTERM", 24: "SIGXCPU",
}  # fmt: skip

# Paddle's own names, those of strsignal() that shells print, and those of Python's fault handler.
_NAMES: Mapping[str, str] = {
    "Segmentation fault": "SIGSEGV",
    "Process abort signal": "SIGABRT",
    "Erroneous arithmetic operation": "SIGFPE",
    "Access to an undefined portion of a memory object": "SIGBUS",
    "Termination signal": "SIGTERM",
    "Aborted": "SIGABRT",
    "Killed": "SIGKILL",
    "Terminated": "SIGTERM",
    "Bus error": "SIGBUS",
    "Floating point exception": "SIGFPE",
    "Floating-point exception": "SIGFPE",
    "Illegal instruction": "SIGILL",
    "Hangup": "SIGHUP",
    "TERM": "SIGTERM",
    "KILL": "SIGKILL",
    "INT": "SIGINT",
    "HUP": "SIGHUP",
}
_SHELL = (
    "Segmentation fault", "Aborted", "Killed", "Terminated", "Bus error", "Floating point exception", "Illegal instruction",
    "Hangup",
)  # fmt: skip
_ANY_SHELL = "|".join(_SHELL)
_BARE = {f"{name}{core}": _NAMES[name] for name in _SHELL for core in ("", " (core dumped)")}
_LONGEST_BARE = max(map(len, _BARE))
# run.sh: line 12: 24849 Segmentation fault      (core dumped) python train.py
_FROM_BASH = re.compile(rf"\S+: (?:line \d+: +)?\d+ (?P<what>{_ANY_SHELL})(?: *\(core dumped\))?")
_LONGEST_SHELL = 4000

_SIGNAL_INFO = re.compile(
    r"(?P<signal>SIG[A-Z0-9]+) \(@0x[0-9a-f]+\) received by PID (?P<pid>\d{1,9}) \(TID 0x[0-9a-f]+\) from PID (?P<sender>\d{1,9})"
)
_RECEIVED = re.compile(r"`?(?P<what>[A-Z][A-Za-z -]+?)`? is detected|A serious error \((?P<old>[^)]+)\)")

BOX: tuple[Phrase, ...] = (
    Phrase("stack", enforce.STACK_TITLES),
    Phrase("no-stack", (enforce.NO_STACK,)),
    Phrase("summary", (enforce.SUMMARY,)),
    Phrase("received", ("FatalError: ",), _RECEIVED),
    Phrase("time", ("  [TimeInfo: *** Aborted at ", "*** Aborted at "), re.compile(r"(?P<seconds>\d+) \(unix time\)")),
    Phrase("signal", ("  [SignalInfo: *** ",), _SIGNAL_INFO),
    Phrase("signal", ("*** SIG",), re.compile("(?P<rest>.*)")),
    # C++ and the C library, before they abort
    Phrase("terminate", ("terminate called ",), re.compile(r"(?P<how>.*)")),
    Phrase("terminate", ("  what():  ",), re.compile(r"(?P<what>.*)", re.DOTALL)),
    Phrase(
        "heap",
        ("free(): ", "malloc(): ", "realloc(): ", "munmap_chunk(): ", "double free or corruption", "corrupted size vs. prev_size",
         "corrupted double-linked list", "malloc_consolidate(): "),
    ),
    # Python's fault handler
    Phrase("fault", ("Fatal Python error: ",), re.compile(r"(?P<what>[^\n]*)")),
    Phrase("thread", ("Current thread 0x", "Thread 0x"), re.compile(r"[0-9a-f]{1,20}\b.*\(most recent call first\):")),
    Phrase("modules", ("Extension modules: ",)),
)  # fmt: skip

OUTSIDE: tuple[Phrase, ...] = (
    Phrase(
        "container",
        ("Container rank ",),
        re.compile(r"(?P<rank>\d{1,9}) status (?P<status>\w+) cmd .* code (?P<code>-?\d{1,9}) log (?P<log>.*)", re.DOTALL),
    ),
    Phrase(
        "launch", ("LAUNCH INFO ", "LAUNCH WARNING ", "LAUNCH ERROR ", "LAUNCH DEBUG "), re.compile(r"(?P<said>.*)", re.DOTALL)
    ),
    Phrase("mpi", ("mpirun noticed that process rank ",), re.compile(r"(?P<rank>\d+) .*exited on signal (?P<number>\d{1,9})")),
    Phrase("timeout", ("timeout: sending signal ",), re.compile(r"(?P<what>[A-Z0-9]+) to command")),
    Phrase("capture-begins", ("Capture range started in the application",)),
    Phrase("capture-ended", ("Capture range ended in the application",)),
    Phrase("profiler-saw", ("The target application terminated with signal ",), re.compile(r"(?P<number>\d{1,9})")),
)

# Where one begins behind a progress bar.
INSIDE = (
    ("FatalError: `", re.compile(r"FatalError: `[^`]{1,80}` is detected by the operating system")),
    ("(core dumped)", re.compile(r"(?:Segmentation fault|Aborted|Bus error|Floating point exception) +\(core dumped\)\s*$")),
    ("terminate called ", re.compile(r"terminate called (?:after throwing an instance of|without an active exception)")),
)
_LAUNCHER_SIGNAL = re.compile(r"(?:Terminating|Exit) with signal (?P<number>\d{1,9})")
_ABORTED_RANKS = re.compile(r"the trainer process with rank=(?P<ranks>\[[\d, ]*\]) was aborted")
ABORT_HEAD = "ABORT!!!"


def signal_named(name: str) -> str | None:
    """``SIGSEGV`` of any of the names that it has."""
    return _NAMES.get(name, name if name.startswith("SIG") else None)


def signal_of(values: Mapping[str, str]) -> str | None:
    """The signal that a FatalError line names."""
    return signal_named((values.get("what") or values.get("old") or "").strip())


def signal_info(text: str) -> Mapping[str, str] | None:
    """signal, pid and sender of Paddle's line about it; None when the line is cut off."""
    found = _SIGNAL_INFO.search(text)
    return found.groupdict() if found else None


def sender(pid: int, by: int) -> str | None:
    """Who sent a signal, by process ids: a smaller number was there before."""
    if by == 0:
        return None
    if by == pid:
        return f"process {by}, itself"
    if by < pid:
        return f"process {by}, which is older than its own {pid}, as timeout and launchers are"
    return f"process {by}, which is newer than its own {pid}"


def from_shell(text: str) -> str | None:
    """The signal that a shell's line says a command was ended by."""
    if len(text) <= _LONGEST_BARE + 2:
        bare = _BARE.get(text.strip())
        if bare is not None:
            return bare
    if ": " not in text or len(text) > _LONGEST_SHELL:
        return None
    found = _FROM_BASH.match(text)
    return _NAMES[found["what"]] if found else None


def launcher_signal(said: str) -> str | None:
    """The signal that made the launcher end its processes."""
    found = _LAUNCHER_SIGNAL.search(said)
    return SIGNALS.get(int(found["number"])) if found else None


def aborted_ranks(text: str) -> str | None:
    """The ranks that a launcher (before 2.3) says have failed."""
    found = _ABORTED_RANKS.search(text)
    return found["ranks"] if found else None


def of_code(code: int) -> str | None:
    """The signal behind an exit code: negative in Python, above 128 in shells."""
    return SIGNALS.get(-code if code < 0 else code - 128)
