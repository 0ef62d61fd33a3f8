"""Records of what SOT did to Events, in the order they happened."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sotprobe.model import Event, Evidence, Guard
from sotprobe.paddle_compat import vocabulary
from sotprobe.readers.frames import Frame, Frames
from sotprobe.readers.records import Display, Record, Records, to_site, to_sites

SourceLine = Callable[[str, int], str | None]

RECORDS_FILE = "records.jsonl"


class EventReader:
    """Builds the events of one run. ``source_line`` gives the text of a line of the user's code, when it was saved."""

    def __init__(self, records: Records, frames: Frames, display: Display, source_line: SourceLine):
        self._records = records
        self._frames = frames
        self._display = display
        self._source_line = source_line

    def events(self) -> tuple[Event, ...]:
        makers = {
            "translate": self._translate,
            "break": self._break,
            "fallback": self._fallback,
            "recompile": self._recompile,
            "eager-frame": self._eager_frame,
            "warning": self._warning,
        }
        events = [make(record) for kind, make in makers.items() for record in self._records.of(kind)]
        events.extend(self._given_up())
        return tuple(sorted(events, key=lambda event: event.order))

    def _translate(self, record: Record) -> Event:
        frame = self._frame(record)
        return Event(
            kind="translate",
            order=record.line,
            step=record.get("step"),
            site=frame.site if frame else None,
            frame=frame.site if frame else None,
            message=record.get("message", ""),
            outcome=record.get("outcome"),
            duration_ns=record.get("wall_ns"),
            stack=to_sites(record.get("outer", []), self._display),
            break_lines=frame.break_lines if frame else (),
            break_sides=frame.break_sides if frame else (),
        )

    def _break(self, record: Record) -> Event:
        frame = self._frame(record)
        site = to_site(record.get("site"), self._display)
        line = self._line(site)
        cause = vocabulary.classify_break(
            record.get("reason"), record.get("message", ""), record.get("opcode"), record.get("how"), line
        )
        return Event(
            kind="break",
            order=record.line,
            step=record.get("step"),
            site=site,
            frame=frame.site if frame else None,
            cause=cause,
            message=record.get("message", ""),
            stack=self._stack(record),
            break_lines=frame.break_lines if frame else (),
            break_sides=frame.break_sides if frame else (),
            evidence=(self._evidence(record, vocabulary.describe(record.get("reason"), record.get("message", ""))),),
        )

    def _fallback(self, record: Record) -> Event:
        frame = self._frame(record)
        site = to_site(record.get("site"), self._display)
        message, final = record.get("message", ""), record.get("final_message", "")
        cause = vocabulary.classify_fallback(record.get("reason"), message, record.get("error"), final, self._line(site))
        text = vocabulary.describe(record.get("reason"), message)
        if final and final != message:
            text = f"{text}; then: {vocabulary.first_line(final)}"
        return Event(
            kind="fallback",
            order=record.line,
            step=record.get("step"),
            site=site or (frame.site if frame else None),
            frame=frame.site if frame else None,
            cause=cause,
            message=message,
            stack=self._stack(record),
            break_lines=frame.break_lines if frame else (),
            break_sides=frame.break_sides if frame else (),
            evidence=(self._evidence(record, text),),
        )

    def _recompile(self, record: Record) -> Event:
        frame = self._frame(record)
        guards = tuple(
            Guard(str(guard.get("expression", "")), _text(guard.get("expected")), _text(guard.get("seen")))
            for guard in record.get("guards", ())
        )
        return Event(
            kind="recompile",
            order=record.line,
            step=record.get("step"),
            site=to_site(record.get("site"), self._display),
            frame=frame.site if frame else None,
            cause=vocabulary.classify_guards(guards),
            duration_ns=record.get("wall_ns"),
            guards=guards,
            break_lines=frame.break_lines if frame else (),
            break_sides=frame.break_sides if frame else (),
            evidence=(self._evidence(record, vocabulary.describe_guards(guards)),),
        )

    def _eager_frame(self, record: Record) -> Event:
        frame = to_site(record.fields, self._display)
        return Event(
            kind="eager-frame",
            order=record.line,
            step=record.get("step"),
            site=to_site(record.get("called_from"), self._display),
            frame=frame,
            cause=vocabulary.classify_eager(record.get("why")),
            count=record.get("count", 1),
            phase=record.get("phase"),
            # SOT's own records tell the rest of these: a translation's outcome, a subgraph that was dropped.
            outcome="seen" if record.get("why") in ("seen", "too-small") else None,
            evidence=(self._evidence(record, f"{frame.function} started as itself ({record.get('why')})"),),
        )

    def _warning(self, record: Record) -> Event:
        return Event(
            kind="warning",
            order=record.line,
            step=None,
            site=to_site(record.get("site"), self._display),
            cause=vocabulary.classify_warning(record.get("message")),
            message=record.get("message"),
            evidence=(self._evidence(record, vocabulary.first_line(record.get("message"))),),
        )

    def _given_up(self) -> Iterator[Event]:
        """One event a frame and limit, counting the calls that were skipped for it."""
        found: dict[tuple[str, object], list] = {}
        for record in self._records.of("frames"):
            for entry in record.get("frames"):
                for name, kind in (("cache_full", "cache-full"), ("compile_limit", "compile-limit")):
                    if entry.get(name):
                        seen = found.setdefault((kind, entry.get("code")), [record, 0])
                        seen[1] += int(entry[name])
        for (kind, code), (record, count) in found.items():
            frame = self._frames.get(code)
            if frame is None:
                continue
            yield Event(
                kind=kind,
                order=record.line,
                step=record.get("step"),
                site=frame.site,
                frame=frame.site,
                cause="cache-full" if kind == "cache-full" else "compile-time",
                count=count,
                break_lines=frame.break_lines,
                break_sides=frame.break_sides,
                evidence=(self._evidence(record, f"{count} calls of {frame.site.function} skipped"),),
            )

    def _frame(self, record: Record) -> Frame | None:
        return self._frames.get(record.get("code"))

    def _line(self, site) -> str | None:
        return self._source_line(site.path, site.line) if site else None

    def _stack(self, record: Record):
        return to_sites(record.get("outer", []), self._display) + to_sites(record.get("stack", []), self._display)

    def _evidence(self, record: Record, text: str) -> Evidence:
        return Evidence("hooks", text, RECORDS_FILE, record.line)


def _text(value: object) -> str | None:
    return None if value is None else str(value)
