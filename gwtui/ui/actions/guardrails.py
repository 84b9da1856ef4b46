"""Actions on guardrails: making one, changing one, deleting one.

The default guardrail of a workspace is listed before it is made: its first change makes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

from textual.binding import Binding, BindingType

from gwtui.contract.guardrails import Guardrail
from gwtui.crud.fields import Facts
from gwtui.crud.form import FormSpec
from gwtui.domain.guardrail_effect import restrictions_of
from gwtui.resources.guardrails.effect import NamedRestrictions
from gwtui.ui.actions import bulk, crud
from gwtui.ui.actions.context import ActionContext, Handler
from gwtui.ui.actions.links import say_not_made
from gwtui.ui.forms.form_screen import FormScreen, Submit
from gwtui.ui.screens.catalog_dialogs import RemainingScreen
from gwtui.watch.feeds.guardrails import GuardrailRow


class GuardrailFormScreen(FormScreen[Guardrail]):
    """F2 applies what was typed so far to the catalog; nothing is sent for that."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("f2", "remaining", show=False)]

    def __init__(
        self,
        spec: FormSpec,
        facts: Facts,
        submit: Submit[Guardrail],
        context: ActionContext,
    ) -> None:
        super().__init__(spec, facts, submit)
        self._at_press = context

    def action_remaining(self) -> None:
        """Show which endpoints remain under the rules as they are typed."""
        app = self._at_press.app
        rules = restrictions_of(self.state.values())
        named = NamedRestrictions("the rules of this form", rules)
        self.app.push_screen(RemainingScreen(app.hub, app.clock, app.connection.dialect, named))


def _form(
    context: ActionContext, spec: FormSpec, facts: Facts, submit: Submit[Any]
) -> GuardrailFormScreen:
    return GuardrailFormScreen(spec, facts, submit, context)


async def delete(context: ActionContext[GuardrailRow]) -> None:
    """Delete a guardrail for good, after a confirmation that names what loses its protection."""
    if context.marked:
        await bulk.delete(context, lambda row: "" if row.made else "not made yet")
        return
    if context.target.made:
        await crud.delete(context)
    else:
        say_not_made(context)


HANDLERS: Mapping[str, Handler] = {
    "guardrails.create": partial(crud.create, make_form=_form),
    "guardrails.edit": partial(crud.edit, make_form=_form),
    "guardrails.delete": delete,
}
