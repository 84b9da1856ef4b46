"""Actions on models, endpoints and the effect of guardrails on them; none writes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from textual.content import Content

from gwtui.domain.safe_text import safe_line
from gwtui.resources.models.resource import MODELS
from gwtui.ui.actions.context import ActionContext, Handler
from gwtui.ui.actions.writing import read_again
from gwtui.ui.screens.pages import ReadingScreen
from gwtui.ui.screens.resource import ResourceScreen
from gwtui.ui.widgets.detail import section_lines

if TYPE_CHECKING:
    from gwtui.watch.feeds.models import EndpointRow


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


HANDLERS: Mapping[str, Handler] = {
    "endpoints.model": about_model,
    "all-endpoints.model": endpoints_of_model,
}
