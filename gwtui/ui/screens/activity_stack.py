"""What the bars of the activity are stacked of: the selected line, and those that lead the ranking.

Each place of the ranking has a colour of its own; the selected line stands below all in the accent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from rich.cells import cell_len
from textual.content import Content

from gwtui.crud import cells
from gwtui.domain import activity
from gwtui.domain.activity import Measure
from gwtui.resources.activity import Ranked
from gwtui.ui.text import fit, shared
from gwtui.ui.tones import toned
from gwtui.ui.widgets.bars import PICKED, REST, SERIES, Bar, Look

_APART = "  "
_OTHERS = "the rest"
_LONGEST, _SHORTEST = 32, 6
"""Cells of a name, at most and where there is little room."""
_SIGN = cell_len(f"{_APART}█ ")
"""Cells before a name."""


@dataclass(frozen=True, slots=True)
class Stacked:
    """Lines of the ranking that are told apart, from below, each with its look."""

    lines: tuple[tuple[Ranked, Look], ...]

    @property
    def looks(self) -> tuple[Look, ...]:
        """How they look, from below."""
        return tuple(look for _, look in self.lines)

    def bars(
        self, wholes: Sequence[Decimal | None], days: Sequence[date], measure: Measure
    ) -> list[Bar]:
        """A bar for each day; ``wholes`` is what everything came to on it, None for unknown."""
        parts = [activity.by_day(one.rows, days, measure) for one, _ in self.lines]
        return [
            Bar(f"{day:%m-%d}", whole, tuple(part[at] or Decimal(0) for part in parts))
            for at, (day, whole) in enumerate(zip(days, wholes, strict=True))
        ]

    def legend(self, span: str, width: int, *, ascii: bool) -> Content:
        """The days, and whose parts are told apart, in ``width`` cells.

        Where the names are too long for it, what stands before a slash is left out, then the
        longest are cut, down to a few letters; what finds no room even so is left out at the end.
        """
        line = toned(span, "plain")
        if not self.lines:
            return line
        names, looks = [cells.text(one.name).text for one, _ in self.lines], self.looks
        rest = Content.assemble(_APART, _named(_OTHERS, REST, ascii=ascii))
        room = width - line.cell_length - rest.cell_length
        if sum(cell_len(name) + _SIGN for name in names) > room:
            names = [name.rpartition("/")[2] for name in names]
        while sum(min(cell_len(name), _SHORTEST) + _SIGN for name in names) > room:
            names = names[:-1]
        widths = shared([cell_len(name) for name in names], room - _SIGN * len(names), _LONGEST)
        for name, cut, look in zip(names, widths, looks, strict=False):
            line = Content.assemble(line, _APART, _named(fit(name, cut), look, ascii=ascii))
        return Content.assemble(line, rest)


def stacked(selected: Ranked | None, ranking: Sequence[Ranked]) -> Stacked:
    """The selected line first, then the leading ones in the order of the ranking."""
    one = selected if selected is not None and selected.rows else None
    leading = [
        (other, look)
        for other, look in zip(ranking, SERIES, strict=False)
        if other.rows and (one is None or other.identity != one.identity)
    ]
    return Stacked(tuple(leading if one is None else [(one, PICKED), *leading]))


def _named(name: str, look: Look, *, ascii: bool) -> Content:
    sign = look.sign if ascii else "█"
    return Content.assemble(Content.styled(sign, look.style), " ", toned(name, "muted"))
