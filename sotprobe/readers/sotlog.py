"""SOT's own lines (SOT_LOG_LEVEL 0 to 3): what every line is, and one process's story told by them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice

from sotprobe.model import Evidence, SourceSite
from sotprobe.model.site import EXACT, NEAR
from sotprobe.paddle_compat import vocabulary
from sotprobe.paddle_compat.log_lines import listings, sot
from sotprobe.paddle_compat.log_lines.phrase import Phrase, by_head, parse
from sotprobe.paddle_compat.names import is_resume, original_name, resume_functions
from sotprobe.readers.grammar import MALFORMED, Block, Feed, Token
from sotprobe.readers.parts import Origin, Parts
from sotprobe.readers.sotblocks import FallbackBlock, ReasonBlock
from sotprobe.readers.sotcalls import Calls
from sotprobe.readers.sotevents import MOST_GUARDS, EventFolder, innermost
from sotprobe.readers.sotframes import Frame, FrameTable, translations, unlogged_breaks
from sotprobe.readers.sotlisting import ExactLines, ListingBlock
from sotprobe.readers.sotsimulation import Simulation
from sotprobe.readers.sotsubgraphs import SubgraphTable
from sotprobe.readers.sottexts import StackBlock, below
from sotprobe.readers.stacks import is_program
from sotprobe.readers.tracebacks import Raised
from sotprobe.readers.versions_seen import Spellings

NAME = "sotlog"
MOST_FUNCTIONS = 20_000
_PHRASES = (*sot.SOT, *listings.LISTINGS)
_MOST_BEHIND = 1_000
_FOLLOWS = {phrase.kind: phrase.follows for phrase in _PHRASES if phrase.follows}


class SotGrammar:
    name = NAME
    aside = False
    inside = sot.EMBEDDED_NOTES

    def __init__(self) -> None:
        self._phrases: Mapping[str, Phrase] = by_head(_PHRASES)
        self.heads = (*self._phrases, sot.OPCODE_HEAD)
        self._spellings = Spellings(self._phrases)

    def token(self, head: str, text: str) -> Token | None:
        if head == sot.OPCODE_HEAD:  # most lines of level 3, each different: read only when something happens there
            self._spellings.instruction(text)
            return Token(NAME, "opcode", text, keep=False)
        phrase = self._phrases[head]
        values = parse(phrase, head, text)
        if values is None:
            return None if phrase.shared else Token(NAME, MALFORMED, text, keep=False)
        self._spellings.head(head)
        behind = self._behind(head, text) if phrase.unended else None
        if behind is not None:
            return behind
        return Token(NAME, phrase.kind, text, values, quick=phrase.body, keep=not phrase.varies)

    def _behind(self, head: str, text: str) -> Token | None:
        """The line that was printed behind one without a newline: of several the last, which ended it."""
        for found in islice(sot.EMBEDDED.finditer(text, len(head)), _MOST_BEHIND):
            head = next((head for head in self.heads if text.startswith(head, found.start())), "")
            if head and not (head in self._phrases and self._phrases[head].unended):
                return self.token(head, text[found.start() :])
        return None

    def loose(self, text: str) -> Token | None:
        return None

    def state(self, origin: Origin) -> SotState:
        return SotState(origin, self._spellings)


class SotState:
    """Follows one process. ``_current`` is the frame that was entered last: lines that name no frame are about it."""

    def __init__(self, origin: Origin, spellings: Spellings):
        self._file = origin.file
        self._spellings = spellings
        self._frames = FrameTable()
        self._subgraphs = SubgraphTable(NAME)
        self._simulation = Simulation()
        self._exact = ExactLines()
        self._calls = Calls()
        self._events = EventFolder(origin.source_line, lambda: self._calls.now)
        self._counts: dict[str, int] = {}
        self._simulated_functions: set[SourceSite] = set()
        self._level: int | None = None
        self._current: Frame | None = None
        self._last_entry = 0  # its line
        self._pending: str | None = None  # what the next guard line is about: hit or miss
        self._missed: list[str] = []
        self._translating = False  # the current frame, since it was entered
        self._recompiling = False
        self._handlers = {
            "frame-entry": self._entry,
            "first-call": self._first_call,
            "cache-hit": self._hit,
            "cache-miss": self._miss,
            "guard": self._guard,
            "missed-at": self._missed_at,
            "guard-error-at": self._missed_at,
            "all-missed": self._all_missed,
            "cache-full": self._cache_full,
            "compile-limit": self._compile_limit,
            "total-limit": self._compile_limit,
            "time-spent": lambda token, line: self._events.time_spent(self._evidence(token.text, line)),
            "built": self._built,
            "run": self._run,
            "sir-head": self._sir_head,
            "statement": self._statement,
            "fallback": self._fallback,
            "fallback-note": self._fallback_note,
            "skip-notice": self._skipped,
            "break-call": self._break_call,
            "break-if": self._break_if,
            "break-for": self._break_for,
            "simulate": self._simulate,
            "simulate-unended": self._simulate_unended,
            "simulated": self._simulated,
            "opcode": self._opcode,
            "origin-code": self._origin_code,
            "loop-code": self._loop_code,
            "new-code": self._new_code,
        }
        self._levels = {phrase.kind: phrase.level for phrase in _PHRASES}

    def feed(self, token: Token, line: int) -> Block | None:
        kind = token.kind
        handler = self._handlers.get(kind)
        block = handler(token, line) if handler is not None else below(_FOLLOWS.get(kind, ""), NAME, token.text)
        level = self._levels.get(kind, 3)
        if self._level is None or level > self._level:
            self._level = level
        return block

    def handler(self, kind: str) -> Feed | None:
        """``feed`` without the look at the level, which such a line has told already."""
        handler = self._handlers.get(kind)
        return self.feed if handler is None and kind in _FOLLOWS else handler

    def _count(self, name: str) -> None:
        self._counts[name] = self._counts.get(name, 0) + 1

    # --- frames and the cache

    def _entry(self, token: Token, line: int) -> None:
        self._events.entered()
        self._subgraphs.entered()
        frame = self._current = self._frames.get(token.values, line)
        frame.entries += 1
        self._last_entry = line
        self._count("frames_entered")
        self._calls.entered(frame)
        self._pending = None
        self._missed = []
        self._translating = self._recompiling = False
        self._simulation.clear()

    def _first_call(self, token: Token, line: int) -> None:
        frame = self._current = self._frames.get(token.values, line)
        self._translated(frame)

    def _translated(self, frame: Frame) -> None:
        frame.translations += 1
        self._translating = True
        self._count("translations")
        self._subgraphs.translating(frame)

    def _hit(self, token: Token, line: int) -> None:
        self._pending = "hit"

    def _miss(self, token: Token, line: int) -> None:
        """One entry's guard failed; the lookup may still hit the next."""
        self._pending = "miss"

    def _guard(self, token: Token, line: int) -> None:
        if self._pending == "hit":
            given_up = sot.is_true_guard(token.values.get("guard", ""))
            self._count("cached_fallback_hits" if given_up else "cache_hits")
            if self._current is not None:
                if given_up:
                    self._current.fallback_hits += 1
                else:
                    self._current.hits += 1
        self._pending = None

    def _missed_at(self, token: Token, line: int) -> None:
        if len(self._missed) < MOST_GUARDS:
            self._missed.append(token.values["guard"])

    def _all_missed(self, token: Token, line: int) -> None:
        self._count("cache_misses")
        self._count("recompiles")
        if self._current is not None:
            self._current.recompiles += 1
            self._events.recompile(self._current, self._missed, self._evidence(token.text, line))
            self._translated(self._current)
            self._recompiling = True
        self._missed = []

    def _cache_full(self, token: Token, line: int) -> None:
        self._count("cache_exceeded")
        self._given_up("cache-full", token, line)

    def _compile_limit(self, token: Token, line: int) -> None:
        """Said after a lookup that missed: nothing is translated then."""
        frame = self._current
        if frame is not None and self._translating:
            self._translating = False
            frame.translations -= 1
            self._counts["translations"] -= 1
            if self._recompiling:
                self._events.not_recompiled(frame)
                frame.recompiles -= 1
                self._counts["recompiles"] -= 1
        self._given_up("compile-limit", token, line)

    def _given_up(self, kind: str, token: Token, line: int) -> None:
        if self._current is not None:
            self._events.given_up(kind, self._current, self._evidence(token.text, line))

    # --- subgraphs

    def _built(self, token: Token, line: int) -> None:
        self._count("subgraphs_built")
        self._subgraphs.built(self._current, self._calls.now)

    def _run(self, token: Token, line: int) -> None:
        self._count("subgraph_runs")
        self._calls.ran()
        self._subgraphs.run()

    def _statement(self, token: Token, line: int) -> None:
        self._subgraphs.statement(lambda: innermost(self._simulation.where(self._line_of)))

    def _sir_head(self, token: Token, line: int) -> Block | None:
        return self._subgraphs.named(token.values["name"])

    # --- fallbacks and breaks

    def _fallback(self, token: Token, line: int) -> Block:
        frame = self._frames.get(token.values, line)
        self._count("fallbacks")
        where = self._simulation.where(self._line_of)
        evidence = self._evidence(token.text, line)

        def done(chain: list[Raised]) -> None:
            self._events.fallback(frame, chain, where, evidence)
            self._subgraphs.given_up(frame)

        self._simulation.clear()
        return FallbackBlock(NAME, done)

    def _fallback_note(self, token: Token, line: int) -> None:
        where = self._simulation.where(self._line_of)
        frame = self._current
        self._events.captured_exception(frame, token.text, where, self._evidence(token.text, line))
        if frame is not None:
            self._subgraphs.given_up(frame)

    def _skipped(self, token: Token, line: int) -> None:
        """2.6 leaves a function alone that has a lambda or comprehension in it."""
        if self._current is not None:
            self._events.skipped(self._current, token.values["name"], self._evidence(token.text, line))

    def _break_call(self, token: Token, line: int) -> Block:
        return self._break("call", token, line)

    def _break_if(self, token: Token, line: int) -> Block | None:
        return self._break("if", token, line)

    def _break_for(self, token: Token, line: int) -> Block:
        return self._break("for", token, line)

    def _break(self, how: str, token: Token, line: int) -> Block:
        frame = self._current
        where = self._simulation.where(self._line_of)
        opcode = self._simulation.opcode
        evidence = self._evidence(token.text, line)

        def done(said: list[str]) -> None:
            if frame is not None:
                frame.broke_at = where[0].line if where else None
                self._events.broke(frame, how, said, opcode, where, evidence)

        return ReasonBlock(NAME, token.values.get("reason", ""), done)

    # --- what is being simulated (level 3)

    def _simulate(self, token: Token, line: int) -> None:
        self._simulation.begin(token.values)
        self._note_simulated(token.values)

    def _note_simulated(self, code: Mapping[str, str]) -> None:
        if is_program(code["path"]) and len(self._simulated_functions) < MOST_FUNCTIONS:
            self._simulated_functions.add(SourceSite(code["path"], int(code["line"]), original_name(code["name"])))

    def _simulate_unended(self, token: Token, line: int) -> None:
        self._simulation.begin(token.values, ends=False)
        self._note_simulated(token.values)

    def _simulated(self, token: Token, line: int) -> None:
        self._simulation.end(token.values)

    def _opcode(self, token: Token, line: int) -> Block | None:
        self._simulation.at(token.text)
        return None if token.text.endswith(listings.STACK_END) else StackBlock(NAME)

    def _origin_code(self, token: Token, line: int) -> Block:
        """The code of the frame that was entered last."""
        name = token.values["name"].strip()
        frame = self._current
        key = name if is_resume(name) or frame is None else (frame.site.path, str(frame.site.line))
        return ListingBlock(NAME, lambda instructions, texts: self._exact.add(key, instructions))

    def _loop_code(self, token: Token, line: int) -> Block:
        """The body of a loop that is simulated as a function of its own."""
        name = token.values["name"].strip()
        return ListingBlock(NAME, lambda instructions, texts: self._exact.add(name, instructions))

    def _new_code(self, token: Token, line: int) -> Block:
        frame = self._current

        def done(instructions: list, texts: list[str]) -> None:
            if frame is not None and frame.broke_at is not None:
                names = [name for text in texts for name in resume_functions(text)]
                self._frames.made_for(names, frame, frame.broke_at)

        return ListingBlock(NAME, done)

    def _line_of(self, code: Mapping[str, str], line: int, simulated: Sequence[str]) -> SourceSite:
        """Where the last simulated instruction of a function stands; in a resume function the line it really stands on."""
        name = original_name(code["name"])
        if not is_resume(code["name"]):
            return SourceSite(code["path"], line, name, EXACT)
        exact = self._exact.exact(code["name"], (code["path"], code["line"]), simulated)
        return SourceSite(code["path"], exact or line, name, NEAR if exact is None else EXACT)

    def _evidence(self, text: str, line: int) -> Evidence:
        return Evidence(NAME, vocabulary.first_line(text)[:300], self._file, line)

    # --- the end

    def finish(self, parts: Parts) -> None:
        parts.level = self._level
        self._spellings.add_to(parts)
        parts.last_entry = self._last_entry
        parts.reached = self._reached()
        for name, number in self._counts.items():
            parts.counts[name] += number
        parts.simulated |= self._simulated_functions
        parts.calls = self._calls.number
        parts.static_calls = self._calls.static
        parts.entries.update({frame.key: frame.entries / max(1, parts.calls) for frame in self._frames if frame.entries})
        told = self._events.events(self._calls.step)
        untold = unlogged_breaks(self._frames, self._events.frames_that_broke, self._file, NAME)
        parts.events.extend([*told, *translations(self._frames), *untold])
        parts.counts["breaks"] += len({event.site for event in told if event.kind == "break"}) + len(untold)
        parts.subgraphs.extend(self._subgraphs.subgraphs(parts.operators, self._calls.step))
        if self._frames.left_out or self._events.left_out or self._subgraphs.left_out:
            text = "so many different frames, events or subgraphs that the later ones are only counted"
            parts.notes.append(Evidence(NAME, text, self._file))

    def _reached(self) -> SourceSite | None:
        """The user's line that was being simulated at the end, else the function that was entered last."""
        simulated = innermost(self._simulation.where(self._line_of))
        if simulated is not None or self._current is None:
            return simulated
        return self._current.site if is_program(self._current.site.path) else None
