"""What SOT's lines tell, as events: the same one in every step is one event with a count."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from sotprobe.model import Event, Evidence, Guard, SourceSite
from sotprobe.paddle_compat import vocabulary
from sotprobe.paddle_compat.log_lines import sot
from sotprobe.readers.sotcalls import Moment
from sotprobe.readers.sotframes import Frame
from sotprobe.readers.stacks import is_program
from sotprobe.readers.tracebacks import Raised

# Of one frame; a full cache ends them at 20, but resume functions are made anew each time.
MOST_RECOMPILES = 64
# Beyond these nothing new is kept.
MOST_EVENTS = 20_000
MOST_BREAKS = 1_000  # of one translation
MOST_GUARDS = 200  # of one lookup
_LONGEST = 2_000  # characters of a message
CAPTURED = "SotCapturedException"

SourceLine = Callable[[str, int], str | None]


class EventFolder:
    """``now`` says at which point the log is; what happens is taken in before the next frame is entered."""

    def __init__(self, source_line: SourceLine, now: Callable[[], Moment]) -> None:
        self._source_line = source_line
        self._now = now
        self._events: dict[tuple, Event] = {}
        self._first_seen: dict[tuple, Moment] = {}
        self._uncommitted: list[Event] = []
        self._spent: tuple[Evidence, ...] = ()
        self.frames_that_broke: set[SourceSite] = set()
        self.left_out = False

    def events(self, step_of: Callable[[Moment], int]) -> list[Event]:
        """All of them with the step in which they were seen first."""
        self.entered()
        found = [replace(event, step=step_of(self._first_seen[key])) for key, event in self._events.items()]
        return sorted(found, key=lambda event: event.order)

    def entered(self) -> None:
        """A new frame: the breaks of the one before are there to stay.

        Inlined and on its own, a function breaks twice at one place, and again in every translation: that is one event.
        """
        for event in self._uncommitted:
            self._fold(("break", event.site, event.message), event)
            if event.frame is not None and len(self.frames_that_broke) < MOST_EVENTS:
                self.frames_that_broke.add(event.frame)
        self._uncommitted.clear()

    def recompile(self, frame: Frame, missed: Sequence[str], evidence: Evidence) -> None:
        if frame.recompiles > MOST_RECOMPILES:
            return
        # SOT asks the oldest translation first; what is newest says most.
        guards = tuple(Guard(expression[:_LONGEST], None, None) for expression in reversed(missed[:MOST_GUARDS]))
        event = Event(
            kind="recompile",
            order=evidence.line or 0,
            step=None,
            site=None,
            frame=frame.site,
            cause=vocabulary.classify_guards(guards),
            guards=guards,
            break_lines=frame.break_lines,
            evidence=(replace(evidence, text=vocabulary.describe_guards(guards)),),
        )
        self._fold(("recompile", frame.key, frame.recompiles), event)

    def not_recompiled(self, frame: Frame) -> None:
        """The last recompile of a frame did not take place: a limit came first."""
        self._events.pop(("recompile", frame.key, frame.recompiles), None)

    def time_spent(self, evidence: Evidence) -> None:
        """How much compile time is spent, and of how much: said once, before the first frame that is given up for it."""
        self._spent = (evidence,)

    def given_up(self, kind: str, frame: Frame, evidence: Evidence) -> None:
        cause, said = "cache-full", (evidence,)
        if kind != "cache-full":
            cause, said, self._spent = "compile-time", (evidence, *self._spent), ()
        event = Event(kind, evidence.line or 0, None, frame.site, frame.site, cause, break_lines=frame.break_lines, evidence=said)
        self._fold((kind, frame.key), event)

    def fallback(self, frame: Frame, chain: Sequence[Raised], where: Sequence[SourceSite], evidence: Evidence) -> None:
        """``chain`` is the traceback SOT printed: its first exception is the cause, its last what the cause ended in."""
        self._uncommitted.clear()  # what was given up split nothing
        said = [raised for raised in chain if raised.type]
        first, last = (said[0], said[-1]) if said else (Raised(), Raised())
        message = sot.root_reason(first.message)[:_LONGEST]
        site = innermost(where) or frame.site
        api = sot.telling_api([line for raised in said for line in raised.message])
        text = vocabulary.describe(None, message)
        if last is not first and last.text != first.text:
            text = f"{text}; then: {vocabulary.first_line(last.text)}"
        event = Event(
            kind="fallback",
            order=evidence.line or 0,
            step=None,
            site=site,
            frame=frame.site,
            cause=vocabulary.classify_fallback(api, message, last.name, last.text, self._line(site)),
            message=message,
            stack=tuple(where),
            break_lines=frame.break_lines,
            evidence=(replace(evidence, text=text),),
        )
        self._fold(("fallback", frame.key, message), event)

    def captured_exception(self, frame: Frame | None, text: str, where: Sequence[SourceSite], evidence: Evidence) -> None:
        """The note that names neither a frame nor a reason: it is about the frame entered last, when frames are logged."""
        self._uncommitted.clear()  # what was given up split nothing
        site = innermost(where) or (frame.site if frame else None)
        event = Event(
            kind="fallback",
            order=evidence.line or 0,
            step=None,
            site=site,
            frame=frame.site if frame else None,
            cause=vocabulary.classify_fallback(None, text, CAPTURED, "", self._line(site)),
            message=text,
            stack=tuple(where),
            break_lines=frame.break_lines if frame else (),
            evidence=(evidence,),
        )
        self._fold(("captured", frame.key if frame else None), event)

    def skipped(self, frame: Frame, name: str, evidence: Evidence) -> None:
        """A frame that SOT left alone because of a code object that is made in it."""
        event = Event(
            kind="eager-frame",
            order=evidence.line or 0,
            step=None,
            site=None,
            frame=frame.site,
            cause="inner-code",
            message=name,
            break_lines=frame.break_lines,
            evidence=(evidence,),
        )
        self._fold(("skipped", frame.key), event)

    def broke(
        self,
        frame: Frame,
        how: str,
        said: Sequence[str],
        opcode: str | None,
        where: Sequence[SourceSite],
        evidence: Evidence,
    ) -> None:
        """A break of level 3, which counts when the frame is not given up after all."""
        site = innermost(where) or frame.site
        reason = sot.root_reason(said)
        if sot.INLINED_BRANCH in reason:
            if any(event.site == site for event in self._uncommitted):
                return
            how = "if"
        message = reason or evidence.text
        event = Event(
            kind="break",
            order=evidence.line or 0,
            step=None,
            site=site,
            frame=frame.site,
            cause=vocabulary.classify_break(sot.telling_api(said), message, opcode, how, self._line(site)),
            message=message,
            stack=tuple(where),
            break_lines=frame.break_lines,
            evidence=(replace(evidence, text=vocabulary.describe(None, message)),),
        )
        if len(self._uncommitted) < MOST_BREAKS:
            self._uncommitted.append(event)

    def _fold(self, key: tuple, event: Event) -> None:
        known = self._events.get(key)
        if known is not None:
            self._events[key] = replace(known, count=known.count + 1)
        elif len(self._events) < MOST_EVENTS:
            self._first_seen[key] = self._now()
            self._events[key] = event
        else:
            self.left_out = True

    def _line(self, site: SourceSite | None) -> str | None:
        return self._source_line(site.path, site.line) if site is not None and site.precision == "line" else None


def innermost(where: Sequence[SourceSite]) -> SourceSite | None:
    """The innermost line that is the user's, not a library's."""
    return next((site for site in reversed(where) if is_program(site.path)), None)
