"""The frames that SOT names in a log, folded: every resume function belongs to the function that the user wrote."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

from sotprobe.model import Event, Evidence, SourceSite
from sotprobe.model.run import FrameKey
from sotprobe.model.site import FUNCTION
from sotprobe.paddle_compat.names import original_name, resume_depth

# A line of a chain of breaks that the log does not tell.
UNKNOWN_LINE = 0
# Beyond these nothing new is kept: lines about more frames are counted, and no more is said of them.
MOST_FRAMES = 20_000
MOST_TEXTS = 50_000  # code objects made anew in every step
MOST_NAMES = 50_000
MOST_NAMES_OF_A_FRAME = 100


@dataclass
class Frame:
    """A function or, at ``depth`` > 0, what is left of it behind that many breaks. ``site`` is the definition's line.

    ``break_lines`` are the lines of those breaks, ``broke_at`` that of the last break in this frame itself; ``UNKNOWN_LINE``
    where the log does not tell. Counts are of lines; ``last_entry`` is a number of entries of all frames.
    """

    site: SourceSite
    depth: int
    first_line: int
    break_lines: tuple[int, ...] = ()
    broke_at: int | None = None
    entries: int = 0
    hits: int = 0
    fallback_hits: int = 0
    translations: int = 0
    recompiles: int = 0
    last_entry: int = 0
    names: set[str] = field(default_factory=set)

    @property
    def key(self) -> FrameKey:
        return (self.site, self.break_lines)


class FrameTable:
    """Looks frames up by what a log line says of a code object."""

    def __init__(self) -> None:
        self._by_text: dict[str, Frame] = {}
        self._by_identity: dict[tuple[SourceSite, int, tuple[int, ...]], Frame] = {}
        self._broke_at: OrderedDict[str, tuple[int, ...]] = OrderedDict()  # a dict takes long to find its oldest
        self.left_out = False

    def __iter__(self):
        return iter(self._by_identity.values())

    def get(self, values, line: int) -> Frame:
        """The frame of a code object (``name``, ``address``, ``path``, ``line``), made when it is new at this log line."""
        text = values["name"] + values["address"] + values["path"]
        frame = self._by_text.get(text)
        if frame is None:
            if len(self._by_text) >= MOST_TEXTS:
                self._by_text.clear()
            frame = self._by_text[text] = self._new(values, line)
        return frame

    def _new(self, values, line: int) -> Frame:
        name = values["name"]
        site = SourceSite(values["path"], int(values["line"]), original_name(name), FUNCTION)
        depth = resume_depth(name)
        chain = self._chain(name, depth)
        frame = self._by_identity.get((site, depth, chain))
        if frame is None:
            frame = Frame(site, depth, line, chain)
            if len(self._by_identity) >= MOST_FRAMES:
                self.left_out = True
                return frame
            self._by_identity[site, depth, chain] = frame
        if len(frame.names) < MOST_NAMES_OF_A_FRAME:
            frame.names.add(name)
        return frame

    def _chain(self, name: str, depth: int) -> tuple[int, ...]:
        """The break lines that lead to a resume function: those of the code it was made for, and where that broke."""
        known = self._broke_at.get(name)
        return known if known is not None else (UNKNOWN_LINE,) * depth

    def made_for(self, resume_names: list[str], parent: Frame, line: int) -> None:
        """Remember that ``parent`` broke at ``line`` and goes on in these resume functions."""
        chain = (*parent.break_lines, line)
        for name in resume_names:
            known = self._broke_at.pop(name, None)
            self._broke_at[name] = chain
            if len(self._broke_at) > MOST_NAMES:
                self._broke_at.popitem(last=False)
            if known not in (None, chain):  # another process wrote into the file, and gave the name anew
                self._by_text = {text: frame for text, frame in self._by_text.items() if not text.startswith(name)}


def translations(frames: FrameTable) -> list[Event]:
    return [
        Event(
            "translate", frame.first_line, None, frame.site, frame.site, count=frame.translations, break_lines=frame.break_lines
        )
        for frame in frames
        if frame.translations
    ]


def unlogged_breaks(frames: FrameTable, told: set[SourceSite], file: str, reader: str) -> list[Event]:
    """Breaks that only the resume functions behind them show: below level 3 nothing else does.

    One for each depth: two branches of one ``if`` have a resume function each.
    """
    found: dict[tuple[SourceSite, int], Frame] = {}
    for frame in frames:
        if frame.depth and frame.site not in told:
            found.setdefault((frame.site, frame.depth), frame)
    return [
        Event(
            kind="break",
            order=frame.first_line,
            step=None,
            site=SourceSite(site.path, site.line, site.function, FUNCTION),
            frame=site,
            message=f"{site.function} goes on in a resume function",
            break_lines=(UNKNOWN_LINE,) * (depth - 1),
            evidence=(
                Evidence(reader, f"break {depth} of {site.function}: {min(frame.names)} was entered", file, frame.first_line),
            ),
        )
        for (site, depth), frame in sorted(found.items())
    ]
