"""Hooks into SOT, in the user's process. Nothing here imports Paddle before it is asked to record."""

from sotprobe.paddle_compat.hooks.access import enable_to_static, static_function_class, translate_count
from sotprobe.paddle_compat.hooks.breaks import simulated_stack_of
from sotprobe.paddle_compat.hooks.recorder import SotRecorder

__all__ = ["SotRecorder", "enable_to_static", "simulated_stack_of", "static_function_class", "translate_count"]
