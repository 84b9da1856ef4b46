"""The profiles to switch to: address, where the key comes from, and which need care."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.cells import cell_len
from textual.content import Content

from gwtui.domain.safe_text import safe_line
from gwtui.local.targets import TargetFacts
from gwtui.ui.screens.choose import Choice, ChooseScreen
from gwtui.ui.text import fit
from gwtui.ui.tones import toned
from gwtui.ui.widgets.badges import CRITICAL, READ_ONLY, badge

_NAME, _WHERE, _KEY = 24, 40, 32
"""Cells of a column at most."""
_FRAME = 16
"""Cells around the list: the frame, its padding, a scroll bar."""


class ProfileScreen(ChooseScreen):
    """Returns the name of a profile, None when left. ``problem`` is why the last choice failed."""

    def __init__(
        self, targets: Sequence[TargetFacts], *, current: str | None, problem: str = ""
    ) -> None:
        self._facts: Mapping[str, TargetFacts] = {facts.name: facts for facts in targets}
        now = f" · now {safe_line(current, 60)}" if current else ""
        super().__init__(
            f"Switch profile{now}",
            [Choice(one.name, safe_line(one.name, 60), _searched(one)) for one in targets],
            current=current,
        )
        self._problem = problem

    @property
    def hint(self) -> Content:
        """What went wrong, until the search begins."""
        if self._problem and not self._sought:
            return toned(safe_line(self._problem, 300), "bad")
        return super().hint

    def _line(self, choice: Choice) -> Content:
        """Badges stand beside the name; what finds no room beside them stands below."""
        facts, every = self._facts[choice.id], self._facts.values()
        badges = _badges(facts)
        widest = max(_badges(one).cell_length for one in every)
        first = Content.assemble(
            toned("● " if choice.id == self._current else "  ", "accent"),
            toned(_column(facts.name, [one.name for one in every], _NAME)),
            "  " if widest else "",
            badges,
            " " * (widest - badges.cell_length),
        )
        where = _column(facts.where, [one.where for one in every], _WHERE)
        key = _column(facts.key_from, [one.key_from for one in every], _KEY)
        rest = Content.assemble(toned(f"  {where}"), toned(f"  {key}", "muted"))
        if first.cell_length + rest.cell_length <= self.app.size.width - _FRAME:
            return Content.assemble(first, rest)
        below = f"\n    {safe_line(facts.where, 100)} · key: {safe_line(facts.key_from, 100)}"
        return Content.assemble(first, toned(below, "muted"))


def _searched(facts: TargetFacts) -> str:
    marks = (CRITICAL if facts.critical else "", READ_ONLY if facts.read_only else "")
    return " ".join((safe_line(facts.where, 100), *marks)).strip()


def _column(text: str, every: Sequence[str], widest: int) -> str:
    return fit(safe_line(text, 100), min(widest, max(map(cell_len, every))))


def _badges(facts: TargetFacts) -> Content:
    found = [badge(CRITICAL, "alarm")] if facts.critical else []
    found += [badge(READ_ONLY)] if facts.read_only else []
    return Content(" ").join(found)
