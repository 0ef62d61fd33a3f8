"""Runs to a Diagnosis: no input, no output, no Paddle."""

from sotprobe.analyze.diagnose import diagnose

__all__ = ["diagnose"]
