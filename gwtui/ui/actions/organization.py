"""What the action on the organization does: its settings, changed as one form."""

from __future__ import annotations

from collections.abc import Mapping

from gwtui.contract.organization import OrganizationSettings, UpdateOrganizationSettingsRequest
from gwtui.crud.form import FormField, FormSpec
from gwtui.crud.plan import Applied
from gwtui.resources.organization.plans import LABELS, in_words, known_values, plan_update
from gwtui.ui.actions.context import ActionContext, Handler
from gwtui.ui.actions.editing import Editing
from gwtui.ui.actions.writing import covered, plain_facts, read_again, refresh, say_done
from gwtui.ui.forms.form_screen import FormScreen

FEEDS = ("organization", "models")
"""The settings decide which models members see."""


def settings_form(settings: OrganizationSettings) -> FormSpec:
    """The form, filled from ``settings``."""
    return FormSpec(
        title="Settings of the organization",
        model=UpdateOrganizationSettingsRequest,
        fields=tuple(FormField(name, label, "switch") for name, label in LABELS.items()),
        submit="Review changes",
        initial=known_values(settings),
        partial=True,
    )


async def edit(context: ActionContext) -> None:
    """A form filled from a fresh reading; on submit it is read again before anything is sent."""
    app = context.app
    called = "The organization's settings"
    settings = await read_again(context, app.gateway.organization.settings(), called)
    if settings is None or covered(context):
        return
    editing = Editing(
        context=context,
        original=settings,
        noun="organization",
        called=called,
        read=app.gateway.organization.settings,
        known=known_values,
        labels=LABELS,
        words=in_words,
        plan=lambda fresh, wanted: plan_update(
            fresh, UpdateOrganizationSettingsRequest.model_validate(wanted)
        ),
    )
    form: FormScreen[OrganizationSettings] = FormScreen(
        settings_form(settings), plain_facts(context), editing.submit
    )
    match await app.push_screen_wait(form):
        case Applied():
            say_done(context, "Settings of the organization changed")
        case None:
            return
    await refresh(context, *FEEDS)


HANDLERS: Mapping[str, Handler] = {"organization.edit": edit}
