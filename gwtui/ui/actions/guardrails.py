"""Actions on guardrails: making one, changing one, deleting one.

The default guardrail of a workspace is listed before it is made: its first change makes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

from textual import work
from textual.binding import Binding, BindingType

from gwtui.contract.guardrails import Guardrail
from gwtui.crud.form import Facts, FormSpec
from gwtui.domain.guardrail_effect import restrictions_of
from gwtui.resources.guardrails.effect import NamedRestrictions
from gwtui.ui.actions import bulk, crud
from gwtui.ui.actions.context import ActionContext, Handler
from gwtui.ui.actions.links import say_not_made
from gwtui.ui.forms.form_screen import FormScreen, Submit
from gwtui.ui.input_queue import OPENING
from gwtui.ui.screens.remaining import RemainingScreen
from gwtui.watch.feeds.guardrails import GuardrailRow


class GuardrailFormScreen(FormScreen[Guardrail]):
    """F2 applies what was typed so far to the catalog; nothing is sent for that.

    F3 opens the samples of a guardrail that exists: they meet the rules that the gateway has.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f2", "remaining", show=False),
        Binding("f3", "samples", show=False),
    ]

    def __init__(
        self,
        spec: FormSpec,
        facts: Facts,
        submit: Submit[Guardrail],
        context: ActionContext,
        *,
        stored: bool,
    ) -> None:
        """``stored`` says that the form changes the guardrail that ``context`` is about."""
        super().__init__(spec, facts, submit)
        self._at_press = context
        self._stored = stored

    def action_remaining(self) -> None:
        """Show which endpoints remain under the rules as they are typed."""
        app = self._at_press.app
        rules = restrictions_of(self.state.values())
        named = NamedRestrictions("the rules of this form", rules)
        self.app.push_screen(RemainingScreen(app.hub, app.clock, app.connection.dialect, named))

    @work(group=OPENING, exclusive=True)
    async def action_samples(self) -> None:
        """Test the guardrail as it is stored."""
        app, row = self._at_press.app, self._at_press.target
        if not self._stored or not isinstance(row, GuardrailRow) or not row.made:
            app.say("Create the guardrail first: samples meet the rules that the gateway has.")
            return
        from gwtui.ui.actions.guardrail_samples import (  # noqa: PLC0415 - with requests to models
            samples_screen,
        )

        screen = await samples_screen(self._at_press)
        if screen is None:
            return
        if self.state.changed:
            app.say("Samples meet the rules that are stored, not what is typed here.")
        await self.app.push_screen_wait(screen)


def _form(
    context: ActionContext, spec: FormSpec, facts: Facts, submit: Submit[Any], *, stored: bool
) -> GuardrailFormScreen:
    return GuardrailFormScreen(spec, facts, submit, context, stored=stored)


async def delete(context: ActionContext[GuardrailRow]) -> None:
    """Delete a guardrail for good, after a confirmation that names what loses its protection."""
    if context.marked:
        await bulk.delete(context, lambda row: "" if row.made else "not made yet")
        return
    if crud.selected(context) is None:
        return
    if context.target.made:
        await crud.delete(context)
    else:
        say_not_made(context)


HANDLERS: Mapping[str, Handler] = {
    "guardrails.create": partial(crud.create, make_form=partial(_form, stored=False)),
    "guardrails.edit": partial(crud.edit, make_form=partial(_form, stored=True)),
    "guardrails.delete": delete,
}
