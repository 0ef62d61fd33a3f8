"""How many frames were translated so far, read without a hook."""

from __future__ import annotations

from typing import Any


class TranslationCount:
    """Calling it gives the number of translations since the start; None where there is no such count (dynamic mode).

    SOT counts in ``OpcodeExecutorCache.translate_count`` (Paddle 2.6-3.3). With full_graph the count is that of programs in
    every ``StaticFunction``'s cache, kept by ``ProgramCache`` as one entry a build.
    """

    def __init__(self, *, static: bool, full_graph: bool):
        self._cache: Any = None
        self._builds = 0
        self._read = self._nothing
        if static and full_graph:
            self._count_builds()
            self._read = self._programs
        elif static:
            from paddle.jit.sot.opcode_translator.executor.executor_cache import OpcodeExecutorCache

            self._cache = OpcodeExecutorCache()
            self._read = self._translations

    def __call__(self) -> int | None:
        return self._read()

    def _nothing(self) -> None:
        return None

    def _translations(self) -> int:
        return self._cache.translate_count

    def _programs(self) -> int:
        return self._builds

    def _count_builds(self) -> None:
        """Program building happens on a cache miss only, so this wrapper is off the steady path."""
        from paddle.jit.dy2static.program_translator import ProgramCache

        original = ProgramCache._build_once

        def _build_once(cache, *args, **kwargs):
            self._builds += 1
            return original(cache, *args, **kwargs)

        ProgramCache._build_once = _build_once
