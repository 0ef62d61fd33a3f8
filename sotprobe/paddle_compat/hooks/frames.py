"""Every frame that reaches SOT and what became of it: cache hits, translations, recompiles, frames given up.

What happens on every call (``eval_frame_callback``, ``lookup``) only counts; records are made when something is
translated and when a step ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from time import perf_counter_ns
from types import CodeType
from typing import Any

from sotprobe.paddle_compat.hooks.access import module
from sotprobe.paddle_compat.hooks.breaks import Breaks, error_text
from sotprobe.paddle_compat.hooks.guards import GuardSites, failed_guards
from sotprobe.paddle_compat.hooks.session import Session
from sotprobe.paddle_compat.hooks.watch import Watch


class FrameCounts:
    """What happened to the frames of one code object in the current step, and how often it was ever seen."""

    __slots__ = (
        "cache_full",
        "callback_ns",
        "code",
        "compile_limit",
        "entered",
        "fallback_hits",
        "hits",
        "seen",
        "translated",
        "translations",
    )

    def __init__(self, code: CodeType):
        self.code = code
        self.seen = 0
        self.translations = 0
        self.reset()

    def reset(self) -> None:
        self.entered = self.hits = self.fallback_hits = 0
        self.translated = self.cache_full = self.compile_limit = self.callback_ns = 0

    def fields(self, number: int) -> dict[str, int]:
        return {
            "code": number,
            "entered": self.entered,
            "hits": self.hits,
            "fallback_hits": self.fallback_hits,
            "translated": self.translated,
            "cache_full": self.cache_full,
            "compile_limit": self.compile_limit,
            "callback_ns": self.callback_ns,
        }


class SeenCodes(Mapping[CodeType, int]):
    """Code objects that reached SOT and how many times, always as it is now; told apart by identity."""

    def __init__(self, counts: dict[int, FrameCounts]):
        self._counts = counts

    def __getitem__(self, code: CodeType) -> int:
        counts = self._counts.get(id(code))
        if counts is None:
            raise KeyError(code)
        return counts.seen

    def __iter__(self) -> Iterator[CodeType]:
        return iter([counts.code for counts in self._counts.values()])

    def __len__(self) -> int:
        return len(self._counts)


class Frames:
    """Emits ``translate``, ``recompile`` and, at the end of a step, ``frames`` records."""

    def __init__(self, session: Session, watch: Watch, breaks: Breaks, guard_sites: GuardSites):
        self._session = session
        self._watch = watch
        self._breaks = breaks
        self._guard_sites = guard_sites
        self._counts: dict[int, FrameCounts] = {}
        self.seen_codes = SeenCodes(self._counts)
        self._missed: tuple[Any, list[Any]] | None = None  # (frame, cache entries) while a lookup is under way
        self._guards: list[dict[str, str | None]] = []
        self._not_guarding_ns = 0  # translation and analysis inside the current callback
        self._translation_ns = 0  # of the last translation
        self._given_up: list[Callable[[], None]] = []
        self.translating: CodeType | None = None
        self.translations = 0

    def install(self) -> None:
        cache = module("executor_cache")
        self._watch.replace(module("translate"), "eval_frame_callback", self._callback)
        self._watch.replace(cache.OpcodeExecutorCache, "lookup", self._lookup)
        self._watch.replace(cache, "start_translate", self._translate)

    def when_given_up(self, listener: Callable[[], None]) -> None:
        """Call ``listener`` when a translation ends without code of its own."""
        self._given_up.append(listener)

    def end_step(self, index: int) -> None:
        """Emit the counts since the last step and start again."""
        entered = [counts for counts in self._counts.values() if counts.entered]
        if entered:
            numbers = [(self._session.code_id(counts.code), counts) for counts in entered]
            self._session.emit("frames", step=index, frames=[counts.fields(number) for number, counts in numbers])
        for counts in entered:
            counts.reset()

    def _counts_of(self, code: CodeType) -> FrameCounts:
        counts = self._counts.get(id(code))
        if counts is None:
            counts = self._counts[id(code)] = FrameCounts(code)
        return counts

    def _callback(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def eval_frame_callback(frame: Any, **kwargs: Any) -> Any:
            started = perf_counter_ns()
            counts = self._counts_of(frame.f_code)
            counts.entered += 1
            counts.seen += 1
            self._not_guarding_ns = 0
            try:
                return original(frame, **kwargs)
            finally:
                counts.callback_ns += perf_counter_ns() - started - self._not_guarding_ns

        return eval_frame_callback

    def _lookup(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def lookup(cache: Any, frame: Any, entries: list[Any], *args: Any, **kwargs: Any) -> Any:
            before = cache.translate_count
            known = len(entries)
            self._missed = (frame, entries)
            try:
                result = original(cache, frame, entries, *args, **kwargs)
            finally:
                self._missed = None
                if cache.translate_count != before:
                    started = perf_counter_ns()
                    self._watch.observe(self._emit_recompile, frame.f_code, known)
                    self._not_guarding_ns += perf_counter_ns() - started
            if cache.translate_count == before:
                self._count_lookup(cache, frame.f_code, entries, result)
            return result

        return lookup

    def _count_lookup(self, cache: Any, code: CodeType, entries: list[Any], result: Any) -> None:
        counts = self._counts_of(code)
        if result.code is not None:
            counts.hits += 1
        elif any(result is entry[0] for entry in entries):
            counts.fallback_hits += 1
        elif len(entries) >= cache.MAX_CACHE_SIZE:
            counts.cache_full += 1
        else:
            counts.compile_limit += 1

    def _emit_recompile(self, code: CodeType, known: int) -> None:
        guards, self._guards = self._guards, []
        self._session.event(
            "recompile",
            code=self._session.code_id(code),
            entries=known,
            guards=guards,
            wall_ns=self._translation_ns,
            site=self._guard_sites.site(code, [guard["expression"] or "" for guard in guards]),
        )

    def _translate(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def start_translate(frame: Any, **kwargs: Any) -> Any:
            started = perf_counter_ns()
            code = frame.f_code
            self._watch.observe(self._before_translation, code)
            outcome, message, nested = "error", "", False
            translation = perf_counter_ns()
            try:
                result = original(frame, **kwargs)
                self._translation_ns = perf_counter_ns() - translation
                told = self._watch.observe(self._outcome, code, result)
                if told is not None:
                    outcome, message, nested = told
                return result
            except BaseException as error:
                self._translation_ns = perf_counter_ns() - translation
                message = error_text(error)
                raise
            finally:
                self.translating = None
                self._watch.observe(self._emit_translation, code, outcome, message, nested)
                self._not_guarding_ns += perf_counter_ns() - started

        return start_translate

    def _before_translation(self, code: CodeType) -> None:
        self.translating = code
        self.translations += 1
        self._breaks.final_error = None
        self._guards = []
        if self._missed is not None:
            frame, entries = self._missed
            self._guards = failed_guards([entry[1] for entry in entries], frame)
        self._guard_sites.begin(code)

    def _outcome(self, code: CodeType, result: tuple[Any, ...]) -> tuple[str, str, bool]:
        custom, error = result[0], self._breaks.final_error
        nested = bool(custom.disable_eval_frame)
        if error is not None:
            message = self._breaks.emit_fallback(code, error)
            return self._breaks.outcome_of_error(error), message, nested
        return ("compiled" if custom.code is not None else "too-small"), "", nested

    def _emit_translation(self, code: CodeType, outcome: str, message: str, nested: bool) -> None:
        counts = self._counts_of(code)
        counts.translated += 1
        counts.translations += 1
        if outcome != "compiled":
            for listener in self._given_up:
                listener()
        self._session.event(
            "translate",
            code=self._session.code_id(code),
            nth=counts.translations,
            outcome=outcome,
            wall_ns=self._translation_ns,
            message=message,
            nested_disabled=nested,
            outer=self._session.outer(),
        )
