"""What the action on budgets does: one editor, one request for each budget that changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gwtui.client.errors import GatewayError
from gwtui.client.gateway import GatewayClient
from gwtui.crud.fields import PlanContext
from gwtui.crud.plan import Applied, Plan
from gwtui.domain.keys import spent_by_interval
from gwtui.resources.budgets.form import Spent, budgets_form
from gwtui.resources.budgets.writes import FIELDS, WorkspaceBudgets, read_budgets, read_uses
from gwtui.resources.workspaces.writes import WRITES as WORKSPACES
from gwtui.ui.actions.context import ActionContext, Handler
from gwtui.ui.actions.crud import Editing
from gwtui.ui.actions.links import workspace_of
from gwtui.ui.actions.writing import (
    covered,
    execute_all,
    plain_facts,
    read_again,
    refresh,
    say_done,
)
from gwtui.ui.forms.form_screen import FormScreen

FEEDS = "workspaces"


async def edit(context: ActionContext) -> None:
    """All budgets of the workspace in one form; what changes is sent budget by budget."""
    app, space = context.app, workspace_of(context)
    if space is None:
        return
    identity, called = space.id or "", WORKSPACES.title(space)
    present = await read_again(context, read_budgets(app.gateway, identity), called, FEEDS)
    if present is None:
        return
    spent = await _spent(app.gateway, identity)
    if covered(context):
        return
    editing: Editing[WorkspaceBudgets] = Editing(
        context=context,
        original=present,
        noun="workspace",
        called=called,
        read=lambda: read_budgets(app.gateway, identity),
        known=lambda one: one.known,
        labels=FIELDS.labels,
        words=FIELDS.formatter(PlanContext(app.clock.now())),
        plan=lambda fresh, changes: fresh.plan(changes, app.clock.now()),
        uses=lambda _fresh: read_uses(app.gateway, identity, app.clock.now()),
        send=lambda context, confirmation: execute_all(context, confirmation, _done),
    )
    form: FormScreen[Any] = FormScreen(
        budgets_form(present.workspace, present.known, spent), plain_facts(context), editing.submit
    )
    match await app.push_screen_wait(form):
        case Applied():
            say_done(context, f"Budgets of workspace {WORKSPACES.name(space)} changed")
    # Even a form that was left may have changed some budgets before one was refused.
    await refresh(context, FEEDS)


def _done(plan: Plan[Any]) -> str:
    change = plan.changes[0]
    return f"{change.field.lower()} {change.after}"


async def _spent(client: GatewayClient, identity: str) -> Mapping[bool, Spent]:
    """What the present keys spent, without and with BYOK; nothing where it cannot be read."""
    try:
        keys = (await client.keys.list(workspace_id=identity)).items
    except GatewayError:
        return {}
    return {byok: spent_by_interval(keys, byok=byok) for byok in (False, True)}


HANDLERS: Mapping[str, Handler] = {"budgets.edit": edit}
