"""Handlers of the actions on models, endpoints and credits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from gwtui.contract.models import Model
from gwtui.ui.resources.endpoint_row import EndpointRow

if TYPE_CHECKING:
    from gwtui.ui.context import ActionContext, Handler


async def price_of_model(context: ActionContext) -> None:
    """Compare what every endpoint of the selected model asks."""
    model = context.target
    if isinstance(model, Model) and model.id is not None:
        await _open_calculator(context, model.id, model.name, None)


async def price_of_endpoint(context: ActionContext) -> None:
    """What the selected endpoint asks, beside the others of its model."""
    row = context.target
    if isinstance(row, EndpointRow) and row.model_id is not None:
        await _open_calculator(context, row.model_id, row.model_name, row.identity)


async def next_window(context: ActionContext) -> None:
    """Rank by the next window."""
    from gwtui.ui.screens.credits import CreditsScreen  # noqa: PLC0415 - screens name their actions

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
    "credits.window": next_window,
}
