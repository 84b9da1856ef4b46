"""Actions on models, endpoints and the effect of guardrails on them; none writes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from textual.content import Content

from gwtui.crud.resource import Cell, DetailTable
from gwtui.domain.safe_text import safe_line
from gwtui.resources.models.resource import MODELS
from gwtui.resources.models.side_by_side import (
    FEWEST,
    MOST,
    FigureLine,
    SideBySide,
    side_by_side,
)
from gwtui.ui.actions.context import ActionContext, Handler
from gwtui.ui.actions.writing import read_again
from gwtui.ui.screens.pages import ReadingScreen
from gwtui.ui.screens.resource import ResourceScreen
from gwtui.ui.text import toned
from gwtui.ui.widgets.detail import section_lines, table_lines

if TYPE_CHECKING:
    from gwtui.watch.feeds.models import EndpointRow

_DIFFERS, _BEST = "≠ ", " ✓"


async def about_model(context: ActionContext) -> None:
    """Show every figure of the model whose endpoints are listed."""
    app, screen = context.app, context.screen
    model_id = screen.parent_row if isinstance(screen, ResourceScreen) else None
    if model_id is None:
        return
    called = f"Model {safe_line(model_id, 80)}"
    model = await read_again(context, app.gateway.catalog.model(model_id), called)
    if app.screen is screen:
        now, name = app.clock.now(), MODELS.name(model)

        def lines(width: int) -> list[Content]:
            return section_lines(name, MODELS.sections, model, now, width, hints=False)

        await app.push_screen(ReadingScreen(f"Model {name}", lines))


async def endpoints_of_model(context: ActionContext[EndpointRow]) -> None:
    """Show the endpoints of the selected endpoint's model."""
    row, spec = context.target, context.spec
    if row.model_id is not None and spec is not None:
        name = safe_line(row.model_name or row.model_id, 60)
        await context.app.navigation.open_child(spec, row.model_id, "endpoints", name=name)


async def compare_figures(context: ActionContext) -> None:
    """Compare the figures of the marked rows."""
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
    """Return the lines of the comparison for a width in cells."""
    (first, *others), blank = zip(*found.names, strict=True), [Cell("")] * len(found.names)
    rows = [[Cell(""), *(Cell(name, "muted") for name in names)] for names in others]
    for title, figures in found.parts:
        if figures:
            rows += [[Cell(""), *blank], [Cell(title, "accent"), *blank]]
            rows += [[Cell(_label(line), "muted"), *_figures(line)] for line in figures]
    lines = table_lines(DetailTable(("", *first), tuple(map(tuple, rows))), width)
    lines += [Content(""), toned("All of them support", "accent", bold=True)]
    lines += toned(", ".join(found.shared) or "nothing in common").wrap(width)
    return [*lines, Content(""), toned(f"{_DIFFERS}differs  ·{_BEST} best of these", "muted")]


def _label(line: FigureLine) -> str:
    return f"{_DIFFERS if line.differs else '  '}{line.label}"


def _figures(line: FigureLine) -> Iterator[Cell]:
    for number, cell in enumerate(line.cells):
        if number in line.best:
            yield Cell(f"{cell.text}{_BEST}", "good")
        else:
            yield Cell(cell.text, cell.tone if line.differs else "muted")


HANDLERS: Mapping[str, Handler] = {
    "endpoints.model": about_model,
    "all-endpoints.model": endpoints_of_model,
    **{
        f"{resource}.figures": compare_figures
        for resource in ("models", "endpoints", "all-endpoints")
    },
}
