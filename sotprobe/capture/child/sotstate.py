"""What SOT knows of itself: asked between steps, never while it runs."""

from __future__ import annotations

import platform
from types import CodeType

from sotprobe.paddle_compat.traits import Traits, traits


def translate_count() -> int:
    """Frames translated in this process."""
    from sotprobe.paddle_compat.hooks import translate_count

    return translate_count()


def sot_supported() -> bool:
    """Whether this Paddle's SOT runs on this Python at all."""
    return _traits().sot_supported


def always_compiled(code: CodeType) -> bool:
    """Whether every cache entry of the code is a translation, in a Paddle that stops using them (traits)."""
    if not _traits().late_entry_goes_eager:
        return False
    from sotprobe.paddle_compat.hooks.access import module

    cache = module("executor_cache").OpcodeExecutorCache()
    entries = cache.cache.get(code, ())
    return 0 < len(entries) < cache.MAX_CACHE_SIZE and all(custom.code is not None for custom, _ in entries)


def _traits() -> Traits:
    import paddle

    return traits(paddle.__version__, platform.python_version())
