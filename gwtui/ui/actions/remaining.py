"""What remains of the catalog under a guardrail; it reads only, and loads no form."""

from __future__ import annotations

from collections.abc import Mapping

from gwtui.domain.guardrail_effect import restrictions_of
from gwtui.resources.choices import value_soon
from gwtui.resources.guardrails.effect import NamedRestrictions
from gwtui.resources.guardrails.view import display_name
from gwtui.ui.actions.context import ActionContext, Handler
from gwtui.ui.screens.catalog_dialogs import RemainingScreen
from gwtui.watch.feeds.guardrails import Bindings, GuardrailRow, bindings_feed


async def show_remaining(context: ActionContext[GuardrailRow]) -> None:
    """What the selected guardrail leaves, together with the default one of its workspace."""
    app = context.app
    row = context.target
    bindings = await value_soon(bindings_feed(app.hub)) or Bindings()
    if context.covered:
        return
    default = None
    for other in (bindings.guardrails or {}).values():
        same_place = other.guardrail.workspace_id == row.guardrail.workspace_id
        if other.is_default and other.made and same_place and other.identity != row.identity:
            default = _named(other)
    await app.push_screen_wait(
        RemainingScreen(app.hub, app.clock, app.connection.dialect, _named(row), default=default)
    )


def _named(row: GuardrailRow) -> NamedRestrictions:
    return NamedRestrictions(display_name(row), restrictions_of(row.guardrail))


HANDLERS: Mapping[str, Handler] = {"guardrails.remaining": show_remaining}
