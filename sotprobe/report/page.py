"""Lines of styled text on a page of a given width. Imported only when a page is drawn, because rich is."""

from __future__ import annotations

import io
from collections.abc import Callable, Collection, Iterable, Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

STYLES = {"error": "bold red", "warning": "bold yellow", "info": "bold cyan", "bold": "bold", "dim": "dim"}

# A piece of a line: text, or text and the name of its style.
Part = str | tuple[str, str]


def aligned(rows: Iterable[Sequence[str]], texts: Collection[int]) -> Callable[[Sequence[str]], str]:
    """What makes a line of each of the rows: columns as wide as their widest cell, those in ``texts`` left, the others right."""
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]

    def line(cells: Sequence[str]) -> str:
        blanks = [" " * (width - cell_len(cell)) for width, cell in zip(widths, cells, strict=True)]
        pairs = enumerate(zip(cells, blanks, strict=True))
        return "  ".join(f"{cell}{blank}" if at in texts else f"{blank}{cell}" for at, (cell, blank) in pairs)

    return line


class Page:
    """Text must be printable already (see ``report.text``); nothing in it is parsed as markup."""

    def __init__(self, width: int, color: bool):
        self.width = width
        self._color = color
        self._out = io.StringIO()
        # Every choice is explicit: rich must not look at the terminal or its environment (TERM=dumb changes the width).
        self._console = Console(
            file=self._out,
            width=width,
            height=25,
            force_terminal=color,
            force_jupyter=False,
            color_system="standard" if color else None,
            no_color=not color,
            legacy_windows=False,
            markup=False,
            emoji=False,
            highlight=False,
            _environ={},
        )

    def text(self) -> str:
        """The page so far, without blanks at the end of lines, ending in one newline."""
        lines = (line.rstrip() for line in self._out.getvalue().split("\n"))
        return "\n".join(lines).strip("\n") + "\n"

    def blank(self) -> None:
        self._print(Text())

    def section(self, title: str) -> None:
        self.blank()
        self.paragraph((title, "bold"))

    def paragraph(self, *parts: Part, label: str = "", indent: int = 0, style: str = "dim") -> None:
        """Wrapped text; all of its lines start right of ``label``, which stands on the first."""
        lines = self._styled(parts).wrap(self._console, self.width - indent - cell_len(label), overflow="fold")
        head = self._styled([" " * indent, (label, style)])
        for line in lines or [Text()]:
            line.rstrip()
            self._print(head + line)
            head = Text(" " * (indent + cell_len(label)))

    def unbroken(self, *parts: Part, indent: int = 0) -> None:
        """One line, never wrapped, so that a path in it can be clicked or copied."""
        self._print(self._styled([" " * indent, *parts]))

    def clipped(self, *parts: Part, indent: int = 0) -> None:
        """One line, cut at the page's edge with an ellipsis."""
        line = self._styled([" " * indent, *parts])
        line.truncate(self.width, overflow="ellipsis")
        self._print(line)

    def table(self, rows: Sequence[Sequence[str]], indent: int = 2) -> None:
        """Rows of equal length: the first column left, the others right aligned."""
        widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
        for row in rows:
            blanks = [" " * (width - cell_len(cell)) for width, cell in zip(widths, row, strict=True)]
            others = (f"  {blank}{cell}" for blank, cell in zip(blanks[1:], row[1:], strict=True))
            self.clipped(row[0] + blanks[0], *others, indent=indent)

    def _styled(self, parts: Sequence[Part]) -> Text:
        line = Text()
        for part in parts:
            text, style = (part, "") if isinstance(part, str) else part
            line.append(text, STYLES.get(style, "") if self._color else "")
        return line

    def _print(self, line: Text) -> None:
        self._console.print(line, soft_wrap=True)
