"""Where one is in a long form: its parts, which of them were changed, which lack something."""

from __future__ import annotations

from textual.content import Content

from gwtui.crud.form import FieldGroup
from gwtui.ui.forms.state import FormState, FormSummary
from gwtui.ui.tones import toned
from gwtui.ui.widgets.one_line import Part, PartsLine

_GAP = "  "


class ProgressLine(PartsLine):
    """The titles of the parts on one line; a click goes there.

    ✗ counts fields whose problem is said, … those that must still be filled in, • changed ones.
    """

    def show_progress(self, state: FormState, current: int) -> None:
        """Show every part; where the line is too narrow, marks stand for the titles of others."""
        groups = state.spec.groups
        tallies = [state.tally(group) for group in groups]
        long = [_part(group, tallies[at], at == current) for at, group in enumerate(groups)]
        width = sum(part.cell_length + len(_GAP) for part in long)
        if width > self.size.width > 0:
            long = [
                part if at == current else _short(at, tallies[at]) for at, part in enumerate(long)
            ]
        parts = [Part(toned(f"{current + 1}/{len(groups)}{_GAP}", "muted"))]
        for at, content in enumerate(long):
            parts.append(Part(content, f"part.{at}"))
            parts.append(Part(Content(_GAP)))
        self.show_parts(parts)


def _part(group: FieldGroup, tally: FormSummary, current: bool) -> Content:
    title = toned(group.title, "accent" if current else "plain", bold=current)
    return Content.assemble(toned("▸", "accent") if current else "", title, _marks(tally))


def _short(place: int, tally: FormSummary) -> Content:
    return Content.assemble(toned(str(place + 1), "plain"), _marks(tally))


def _marks(tally: FormSummary) -> Content:
    marks = []
    if tally.wrong:
        marks.append(toned(f" ✗{tally.wrong}", "bad", bold=True))
    if tally.lacking:
        marks.append(toned(f" …{tally.lacking}", "warn"))
    if tally.changed and not tally.wrong and not tally.lacking:
        marks.append(toned(f" •{tally.changed}", "muted"))
    return Content("").join(marks)
