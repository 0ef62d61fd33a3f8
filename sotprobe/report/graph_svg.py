"""A picture in the DOT language to SVG, by graphviz: what has a tooltip says it in a ``<title>``, which every viewer shows."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree import ElementTree

from sotprobe.errors import ToolMissing
from sotprobe.report.dot_text import BACKSLASH

SVG = "http://www.w3.org/2000/svg"
XLINK = "http://www.w3.org/1999/xlink"
_TITLE, _TOOLTIP = f"{{{SVG}}}title", f"{{{XLINK}}}title"

HINT = (
    "install graphviz (Debian, Ubuntu: apt-get install graphviz; conda: conda install graphviz; macOS: brew install graphviz; "
    "Windows: winget install graphviz) and see that `dot -V` works, or draw the .dot file on another machine: dot -Tsvg -O FILE"
)


def render(dot: str) -> str:
    """The SVG text of a DOT text. Raises ToolMissing when graphviz's ``dot`` is not there or cannot draw."""
    import graphviz

    try:
        drawn = graphviz.Source(dot).pipe(format="svg", engine="dot", encoding="utf-8", quiet=True)
    except graphviz.ExecutableNotFound as error:
        raise ToolMissing("graphviz is not installed: there is no `dot` on PATH", HINT) from error
    except graphviz.CalledProcessError as error:
        lines = str(error.stderr or "").strip().splitlines() or [f"exit code {error.returncode}"]
        raise ToolMissing(f"graphviz cannot draw this: {lines[0]}", HINT) from error
    root = ElementTree.fromstring(drawn)
    _speak(root)
    ElementTree.register_namespace("", SVG)
    ElementTree.register_namespace("xlink", XLINK)
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def _speak(root: ElementTree.Element) -> None:
    """Titles instead of the names of nodes; backslashes instead of the sign that stood for them."""
    for group, anchor, tooltip in list(_tooltips(root, None)):
        del anchor.attrib[_TOOLTIP]
        owner = anchor if group is None else group
        title = owner.find(_TITLE)
        if title is None:
            title = ElementTree.Element(_TITLE)
            owner.insert(0, title)
        title.text = tooltip
    for element in root.iter():
        if element.text and BACKSLASH in element.text:
            element.text = element.text.replace(BACKSLASH, "\\")


def _tooltips(
    element: ElementTree.Element, group: ElementTree.Element | None
) -> Iterator[tuple[ElementTree.Element | None, ElementTree.Element, str]]:
    """(the node, edge or frame around it, the anchor, its tooltip); None around an anchor inside a node's own."""
    inside = group
    if element.get("class") and element.find(_TITLE) is not None:
        inside = element
    if _TOOLTIP in element.attrib:
        yield inside, element, element.attrib[_TOOLTIP]
        inside = None
    for child in element:
        yield from _tooltips(child, inside)
