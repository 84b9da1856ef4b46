"""The parts that the board is folded into where there is no room for all of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from textual.content import Content

from gwtui.ui.tones import toned


class Page(NamedTuple):
    """A part: the class that the screen has while it is shown, and its title."""

    style: str
    title: str


PAGES = (
    Page("-endpoints", "Endpoints"),
    Page("-account", "Credits, limits"),
    Page("-changes", "Changes"),
)


def pages_line(page: int, span: str, hidden: Sequence[str], *, folded: bool) -> Content:
    """Which part is shown, which are hidden, how far back plots reach, which plots are hidden."""
    reach = Content.assemble(toned("   + - ", "accent"), toned(f"last {span}", "plain"))
    if hidden and (not folded or page == 0):
        reach = Content.assemble(
            reach, toned("   m ", "accent"), toned(f"{', '.join(hidden)}", "muted")
        )
    if not folded:
        return Content.assemble(toned(" Everything", "muted"), reach)
    titles = Content("  ").join(
        toned(f"[{one.title}]", "accent", bold=True)
        if number == page
        else toned(one.title, "muted")
        for number, one in enumerate(PAGES)
    )
    return Content.assemble(" ", titles, toned("  p", "accent"), reach)
