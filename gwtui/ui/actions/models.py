"""Actions on models, endpoints and the key in use; none of them writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from textual.content import Content

from gwtui.client.errors import GatewayError, NotFoundError
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
from gwtui.ui.screens.pages import ReadingScreen
from gwtui.ui.screens.resource import ResourceScreen
from gwtui.ui.text import fit, toned
from gwtui.ui.widgets.detail import section_lines

if TYPE_CHECKING:
    from gwtui.contract.models import Model
    from gwtui.watch.feeds.models import EndpointRow

_LABEL, _LEAST = 22, 13
"""Cells of a label, and the fewest of a figure."""
_DIFFERS, _BEST = "≠ ", " ✓"


async def price_of_model(context: ActionContext[Model]) -> None:
    """Compare what every endpoint of the selected model asks."""
    model = context.target
    if model.id is not None:
        await _open_calculator(context, model.id, model.name, None)


async def price_of_endpoint(context: ActionContext[EndpointRow]) -> None:
    """What the selected endpoint asks, beside the others of its model."""
    row = context.target
    if row.model_id is not None:
        await _open_calculator(context, row.model_id, row.model_name, row.identity)


async def about_model(context: ActionContext) -> None:
    """Every figure of the model whose endpoints are shown, read by itself."""
    app, screen = context.app, context.screen
    model_id = screen.parent_row if isinstance(screen, ResourceScreen) else None
    if model_id is None or app.session is None:
        return
    try:
        model = await app.gateway.catalog.model(model_id)
    except NotFoundError:
        app.say(f"The gateway has no model {safe_line(model_id, 80)}", severity="warning")
    except GatewayError as error:
        app.say(f"The model could not be read: {error.message}", severity="error")
    else:
        if app.screen is screen:
            now = app.clock.now()
            title = f"Model {MODELS.name(model)}"

            def lines(width: int) -> list[Content]:
                name, sections = MODELS.name(model), MODELS.sections
                return section_lines(name, sections, model, now, width, hints=False)

            await app.push_screen(ReadingScreen(title, lines))


async def all_endpoints(context: ActionContext) -> None:
    """The endpoints of all models in one list."""
    await context.app.open_route("all-endpoints")


async def endpoints_of_model(context: ActionContext[EndpointRow]) -> None:
    """The endpoints of the model that the selected one serves."""
    row, spec = context.target, context.spec
    if row.model_id is not None and spec is not None:
        name = safe_line(row.model_name or row.model_id, 60)
        await context.app.navigation.open_child(spec, row.model_id, "endpoints", name=name)


async def models_of_key(context: ActionContext) -> None:
    """What the key in use may call."""
    await context.app.open_route("user-models")


async def _open_calculator(
    context: ActionContext, model_id: str, model_name: str | None, endpoint: str | None
) -> None:
    from gwtui.ui.screens.catalog_dialogs import PriceScreen  # noqa: PLC0415 - only when asked for

    await context.app.push_screen_wait(
        PriceScreen(
            context.app.hub,
            context.app.clock,
            model_id=model_id,
            model_name=model_name,
            endpoint=endpoint,
        )
    )


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
    "models.price": price_of_model,
    "endpoints.price": price_of_endpoint,
    "endpoints.model": about_model,
    "models.all-endpoints": all_endpoints,
    "all-endpoints.price": price_of_endpoint,
    "all-endpoints.model": endpoints_of_model,
    "key.models": models_of_key,
    **{
        f"{resource}.figures": compare_figures
        for resource in ("models", "endpoints", "all-endpoints")
    },
}
