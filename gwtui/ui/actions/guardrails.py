"""Actions on guardrails: create, edit, delete.

The default guardrail of a workspace is listed before it is made: created on the first edit.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, ClassVar, cast

from textual.binding import Binding, BindingType

from gwtui.contract.guardrails import Guardrail
from gwtui.domain.guardrail_effect import restrictions_of
from gwtui.resources.guardrails.effect import NamedRestrictions
from gwtui.ui.actions import bulk, crud
from gwtui.ui.actions.context import ActionContext, Handler
from gwtui.ui.actions.links import report_missing_default
from gwtui.ui.forms.form_screen import FormScreen
from gwtui.ui.screens.catalog_dialogs import RemainingScreen
from gwtui.watch.feeds.guardrails import GuardrailRow

if TYPE_CHECKING:
    from gwtui.ui.app import GwtuiApp


class GuardrailFormScreen(FormScreen[Guardrail]):
    """A form in which F2 shows the effect of the rules so far; nothing is sent for that."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("f2", "remaining", show=False)]

    def action_remaining(self) -> None:
        """Show which endpoints remain under the rules as they are typed."""
        app = cast("GwtuiApp", self.app)
        rules = restrictions_of(self.state.values())
        named = NamedRestrictions("the rules of this form", rules)
        app.push_screen(RemainingScreen(app.hub, app.clock, app.connection.dialect, named))


async def delete(context: ActionContext[GuardrailRow]) -> None:
    """Delete a guardrail for good, after a confirmation that names what loses its protection."""
    if context.marked:
        await bulk.delete(context, lambda row: "" if row.exists else "not created yet")
        return
    if context.target.exists:
        await crud.delete(context)
    else:
        report_missing_default(context)


HANDLERS: Mapping[str, Handler] = {
    "guardrails.create": partial(crud.create, screen=GuardrailFormScreen),
    "guardrails.edit": partial(crud.edit, screen=GuardrailFormScreen),
    "guardrails.delete": delete,
}
