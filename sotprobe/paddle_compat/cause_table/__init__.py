"""The table of ``causes``: data only.

Facts were measured on Paddle 3.0.0, 3.2.2 and 3.3.1 with Python 3.10-3.13.
"""

from __future__ import annotations

from sotprobe.paddle_compat.cause_table.breaks import BREAKS
from sotprobe.paddle_compat.cause_table.endings import ENDINGS
from sotprobe.paddle_compat.cause_table.frames import FRAMES
from sotprobe.paddle_compat.cause_table.guards import GUARDS
from sotprobe.paddle_compat.cause_table.machine import MACHINE, SETTINGS
from sotprobe.paddle_compat.cause_table.record import Cause, Note

__all__ = ["TABLE", "Cause", "Note"]

TABLE: tuple[Cause, ...] = (*BREAKS, *FRAMES, *GUARDS, *ENDINGS, *MACHINE, *SETTINGS)
