"""Reports of SOT's own collectors and of its step profiler."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sotprobe.model import Event, Evidence, SourceSite
from sotprobe.model.site import FUNCTION
from sotprobe.paddle_compat.log_lines import collector
from sotprobe.paddle_compat.log_lines.phrase import by_head, parse
from sotprobe.paddle_compat.names import original_name, resume_depth
from sotprobe.paddle_compat.versions import Span
from sotprobe.readers.grammar import BLANK, MALFORMED, Block, Token
from sotprobe.readers.parts import Origin, Parts
from sotprobe.readers.sotreasons import Reason, Resumed, explain
from sotprobe.readers.sottexts import below, is_nobodys

NAME = "sotinfo"
# The tables at the end of a process: a line for each code object and for each break of each translation.
MOST_LINES = 100_000
MOST_MESSAGE_LINES = 200
_FOLLOWS = {phrase.kind: phrase.follows for phrase in collector.COLLECTOR if phrase.follows}


class InfoGrammar:
    name = NAME
    aside = False
    inside = collector.INSIDE

    def __init__(self) -> None:
        self._phrases = by_head(collector.COLLECTOR)
        self.heads = tuple(self._phrases)

    def token(self, head: str, text: str) -> Token:
        phrase = self._phrases[head]
        values = parse(phrase, head, text)
        if values is None or ("data" in values and collector.deserialize(values["data"]) is None):
            return Token(NAME, MALFORMED, text, keep=False)
        return Token(NAME, phrase.kind, text, values)

    def loose(self, text: str) -> Token | None:
        return None

    def state(self, origin: Origin) -> InfoState:
        return InfoState(origin)


class InfoState:
    """Counts of operators are of all reports, the tables those of the last: they are printed when the process ends."""

    def __init__(self, origin: Origin):
        self._file = origin.file
        self._operators: dict[str, int] = {}
        self._compiled: list[Resumed] = []
        self._reasons: list[Reason] = []
        self._kernels: tuple[Token, int, list[str]] | None = None
        self._spans: set[Span] = set()

    def feed(self, token: Token, line: int) -> Block | None:
        kind, values = token.kind, token.values
        if "colon" in values:
            self._spans.add(collector.versions_of(values["colon"]))
        if kind == "subgraph":
            self._count_operators({values["name"]: int(values["operators"])})
            return below(_FOLLOWS[kind], NAME, token.text)
        if kind == "serialized":
            self._read_serialized(values["data"], line)
        if kind == collector.COMPILE_COUNT:
            return TableBlock(lambda rows: self._read_compiled(rows, line))
        if kind == collector.REASONS:
            return ReasonsBlock(self._read_reasons)
        rows: list[str] = []
        if kind == "kernels":
            self._kernels = (token, line, rows)
        return TableBlock(rows.extend)

    def _count_operators(self, operators) -> None:
        if len(self._operators) < MOST_LINES:
            self._operators.update(operators)

    def _read_serialized(self, data: str, line: int) -> None:
        read = collector.deserialize(data)
        if read is None:
            return
        self._count_operators(read.operators or {})
        if read.reasons is not None:
            self._read_reasons([Reason(name, message, line) for name, message in read.reasons])

    def _read_reasons(self, reasons: list[Reason]) -> None:
        self._reasons = reasons

    def _read_compiled(self, rows: list[str], line: int) -> None:
        self._compiled = []
        for number, row in enumerate(rows, start=line + 1):
            found = collector.COMPILE_COUNT_LINE.match(row)
            if found:
                name = original_name(found["name"])
                site = SourceSite(found["path"], int(found["line"]), name, FUNCTION)
                self._compiled.append(Resumed(found["name"], site, resume_depth(found["name"]), int(found["count"]), number))

    def finish(self, parts: Parts) -> None:
        """What SOT logged itself comes first: its reader is before this one in the readers' tuple."""
        parts.operators.update(self._operators)
        parts.paddle_spans.update(self._spans)
        parts.subgraphs[:] = [replace(graph, ops=self._operators.get(graph.name, graph.ops)) for graph in parts.subgraphs]
        if not parts.counts["frames_entered"]:
            self._add_compiled(parts)
        if self._reasons:
            explain(parts, self._reasons, self._file)
        if self._kernels is not None:
            parts.notes.append(self._kernel_note(*self._kernels))

    def _add_compiled(self, parts: Parts) -> None:
        """Without SOT's lines the table is all there is about translations and breaks."""
        for code in self._compiled:
            evidence = Evidence(NAME, f"{code.name} was translated {code.translations} times", self._file, code.line)
            chain = (0,) * code.depth
            parts.events.append(
                Event(
                    "translate", code.line, None, code.site, code.site,
                    count=code.translations, break_lines=chain, evidence=(evidence,),
                )
            )  # fmt: skip
            parts.counts["translations"] += code.translations
        breaks = {(code.site, code.depth): code for code in self._compiled if code.depth}
        parts.counts["breaks"] += len(breaks)
        parts.events.extend(code.as_break(self._file, NAME) for code in breaks.values())

    def _kernel_note(self, title: Token, line: int, rows: list[str]) -> Evidence:
        counts = {found["mode"]: int(found["count"]) for row in rows if (found := collector.KERNEL_LINE.match(row))}
        static, dygraph = counts.get("static", 0), counts.get("dygraph", 0)
        text = f"step {title.values['step']} by SOT's own profiler: {static} kernels ran in subgraphs, {dygraph} eagerly"
        return Evidence(NAME, text, self._file, line)


class TableBlock:
    """The lines of a report, each of a known form, and the empty ones that end it."""

    reader = NAME

    def __init__(self, done: Callable[[list[str]], None]):
        self._done = done
        self._rows: list[str] = []
        self._ends = 0

    def takes(self, token: Token, line: int) -> bool:
        text = token.text
        if token.kind == BLANK:
            self._ends += 1
            return self._ends <= collector.MOST_EMPTY
        if self._ends or not is_nobodys(token):
            return False
        fits = collector.COMPILE_COUNT_LINE.match(text) or collector.REPORT_LINE.match(text)
        if fits and len(self._rows) < MOST_LINES:
            self._rows.append(text)
        return fits is not None

    def close(self) -> None:
        self._done(self._rows)

    def said(self) -> list[str]:
        return self._rows

    def hear(self, said: list[str]) -> None:
        self._rows = said


class ReasonsBlock:
    """The table of break reasons: classes, and below each its messages, which may have several lines."""

    reader = NAME

    def __init__(self, done: Callable[[list[Reason]], None]):
        self._done = done
        self._class = ""
        self._reasons: list[tuple[str, list[str], int]] = []
        self._ended = False

    def takes(self, token: Token, line: int) -> bool:
        text = token.text
        if self._ended or not is_nobodys(token):
            return False
        if token.kind == BLANK:
            self._ended = True
            return True
        if found := collector.REASON_CLASS.match(text):
            self._class = found["name"]
        elif not self._class:
            return False
        elif text.startswith(collector.REASON_MARK):
            if len(self._reasons) < MOST_LINES:
                self._reasons.append((self._class, [text.removeprefix(collector.REASON_MARK)], line))
        elif self._reasons and len(self._reasons[-1][1]) < MOST_MESSAGE_LINES:
            self._reasons[-1][1].append(text)
        return True

    def close(self) -> None:
        self._done([Reason(name, "\n".join(lines), number) for name, lines, number in self._reasons])
