"""Handlers of the actions on models, endpoints, the key in use and credits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from gwtui.client.errors import GatewayError, NotFoundError
from gwtui.domain.safe_text import safe_line
from gwtui.resources.models.resource import MODELS
from gwtui.ui.actions.context import ActionContext, Handler
from gwtui.ui.screens.reading import ReadingScreen
from gwtui.ui.screens.resource import ResourceScreen
from gwtui.ui.widgets.detail import section_lines

if TYPE_CHECKING:
    from textual.content import Content

    from gwtui.contract.models import Model
    from gwtui.watch.feeds.endpoints import EndpointRow


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


async def next_window(context: ActionContext) -> None:
    """Rank by the next window."""
    from gwtui.ui.screens.credits import CreditsScreen  # noqa: PLC0415 - loaded when shown

    if isinstance(context.screen, CreditsScreen):
        context.screen.next_window()


async def _open_calculator(
    context: ActionContext, model_id: str, model_name: str | None, endpoint: str | None
) -> None:
    from gwtui.ui.screens.price import PriceScreen  # noqa: PLC0415 - only when asked for

    await context.app.push_screen_wait(
        PriceScreen(
            context.app.hub,
            context.app.clock,
            model_id=model_id,
            model_name=model_name,
            endpoint=endpoint,
        )
    )


HANDLERS: Mapping[str, Handler] = {
    "models.price": price_of_model,
    "endpoints.price": price_of_endpoint,
    "endpoints.model": about_model,
    "models.all-endpoints": all_endpoints,
    "all-endpoints.price": price_of_endpoint,
    "all-endpoints.model": endpoints_of_model,
    "key.models": models_of_key,
    "credits.window": next_window,
}
