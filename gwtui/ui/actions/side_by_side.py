"""Figures of marked endpoints or models beside each other; nothing is sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from textual.content import Content

from gwtui.resources.models.side_by_side import (
    FEWEST,
    MOST,
    FigureLine,
    SideBySide,
    side_by_side,
)
from gwtui.ui.actions.context import ActionContext, Handler
from gwtui.ui.screens.reading import ReadingScreen
from gwtui.ui.text import fit
from gwtui.ui.tones import toned

_LABEL, _LEAST = 22, 13
"""Cells of a label, and the fewest of a figure."""
_DIFFERS, _BEST = "≠ ", " ✓"


async def compare_figures(context: ActionContext) -> None:
    """The figures of the marked rows."""
    rows, spec = tuple(context.chosen), context.spec
    if spec is None:
        return
    if not FEWEST <= len(rows) <= MOST:
        context.app.say(f"Mark {FEWEST} to {MOST} rows to compare their figures: Space marks one")
        return
    found = side_by_side(spec, rows, context.app.clock.now())
    title = f"Figures of {len(rows)} {spec.plural or spec.singular + 's'}, side by side"
    await context.app.push_screen_wait(
        ReadingScreen(title, lambda width: figure_lines(found, width))
    )


def figure_lines(found: SideBySide, width: int) -> list[Content]:
    """The comparison, laid out for a width in cells; wider where that many do not fit."""
    each = max((width - _LABEL) // len(found.names), _LEAST)
    lines = [
        _row("", [(name[part], part == 0) for name in found.names], each) for part in range(FEWEST)
    ]
    for title, figures in found.parts:
        if figures:
            lines += [Content(""), toned(title, "accent", bold=True)]
            lines += [_figure(line, each) for line in figures]
    lines += [Content(""), toned("All of them support", "accent", bold=True)]
    lines += _wrapped(found.shared or ("nothing in common that is known",), width)
    lines += [Content(""), toned(f"{_DIFFERS}differs  ·{_BEST} best of these", "muted")]
    return lines


def _row(label: str, names: Sequence[tuple[str, bool]], each: int) -> Content:
    parts = [toned(f"{label:<{_LABEL}}")]
    parts += [
        toned(fit(name, each - 1) + " ", "plain" if bold else "muted", bold=bold)
        for name, bold in names
    ]
    return Content("").join(parts)


def _figure(line: FigureLine, each: int) -> Content:
    """A figure of each: those that are the same are quiet."""
    mark = _DIFFERS if line.differs else "  "
    parts = [toned(mark, "warn"), toned(fit(line.label, _LABEL - 3) + " ", "muted")]
    for place, cell in enumerate(line.cells):
        best = place in line.best
        text = f"{cell.text}{_BEST}" if best else cell.text
        tone = "good" if best else cell.tone if line.differs else "muted"
        parts.append(toned(fit(text, each - 1) + " ", tone))
    return Content("").join(parts)


def _wrapped(words: Sequence[str], width: int) -> list[Content]:
    """Words with commas between them, in lines of a width."""
    lines = [""]
    for word in words:
        if len(lines[-1]) + len(word) + 4 > width and lines[-1]:
            lines.append("")
        lines[-1] += f"{word}, "
    lines[-1] = lines[-1].removesuffix(", ")
    return [toned(f"  {line}") for line in lines]


HANDLERS: Mapping[str, Handler] = {
    f"{resource}.figures": compare_figures for resource in ("models", "endpoints", "all-endpoints")
}
