"""Write docs/causes.md from the table of causes.

python tools/causes_page.py            print the page
python tools/causes_page.py --write    replace docs/causes.md
"""

from __future__ import annotations

import sys
from pathlib import Path

from sotprobe.paddle_compat.cause_table import TABLE, Cause

PAGE = Path(__file__).parents[1] / "docs" / "causes.md"

INTRODUCTION = """\
# Causes

Every finding of `not-captured`, `fallback`, `graph-break`, `host-sync`, `recompile`, `cache-limit`, `compile-limit`,
`small-graph`, `no-grad-block` and of failed programs names one of these causes. An id never changes its meaning.

- A graph break at a *read on the host* is reported as `host-sync`, any other one as `graph-break`.
- A value that is read in a break and then guarded is one `recompile` finding (`value-guard`) at the line of the read, once it
  is recompiled again and again: the break is part of its evidence and no finding of its own.
- A frame that falls back is `fallback` at the line of its first error, however long the chain behind it; `f-string` and
  `logging`, which always take the frame down, are `host-sync`.
- A frame lost to a `with paddle.no_grad()` block is `no-grad-block`, whether SOT said so (Python 3.10) or not (3.11+), and
  neither `fallback` nor `not-captured` as well.
- A recompile that then stays is info. It is a warning when it goes on to the end of the run, fills the cache, or comes in four
  steps or more from a guard that never becomes dynamic (floats, strings, attributes, globals, lengths, objects).

This page is made from `sotprobe/paddle_compat/cause_table/` by `tools/causes_page.py`.
"""


def render() -> str:
    """The whole page."""
    return "\n".join([INTRODUCTION, *(_section(cause) for cause in TABLE)])


def _section(cause: Cause) -> str:
    lines = [f"## {cause.id}", "", f"**{_sentence(cause.title)}** {cause.meaning}", ""]
    lines.append(f"- What to change: {cause.hint}")
    lines.append(f"- How it is detected: {cause.detected}.")
    lines.append(f"- Holds for: {cause.versions}.")
    if cause.host_read:
        lines.append("- A read on the host.")
    lines.extend(f"- {note.versions}: {note.text}" for note in cause.notes)
    return "\n".join([*lines, ""])


def _sentence(title: str) -> str:
    return f"{title[0].upper()}{title[1:]}."


if __name__ == "__main__":
    if "--write" in sys.argv[1:]:
        PAGE.write_text(render(), encoding="utf-8")
    else:
        sys.stdout.write(render())
