"""What the action on budgets does: one editor, one request for each budget that changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from gwtui.client.errors import GatewayError
from gwtui.client.gateway import GatewayClient
from gwtui.contract.budgets import Budget
from gwtui.contract.workspaces import Workspace
from gwtui.crud.plan import Applied, Plan
from gwtui.domain.workspace_spend import spent_by_interval
from gwtui.resources.budgets.form import Spent, budgets_form
from gwtui.resources.budgets.plans import LABELS, in_words, known_limits, plan_series, together
from gwtui.resources.uses import Uses, budget_uses, items_soon
from gwtui.resources.workspaces.writes import WRITES as WORKSPACES
from gwtui.ui.actions.context import ActionContext, Handler
from gwtui.ui.actions.editing import Editing
from gwtui.ui.actions.workspace_links import workspace_of
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

Standing = tuple[Workspace, Sequence[Budget]]
"""A workspace, for whether BYOK counts, and its budgets."""


async def edit(context: ActionContext) -> None:
    """All budgets of the workspace in one form; what changes is sent budget by budget."""
    app, space = context.app, workspace_of(context)
    if space is None:
        return
    identity, called = space.id or "", f"Workspace {WORKSPACES.name(space)}"
    standing = await read_again(context, _read(app.gateway, identity), called, FEEDS)
    if standing is None:
        return
    spent = await _spent(app.gateway, identity)
    if covered(context):
        return
    editing = Editing(
        context=context,
        original=standing,
        noun="workspace",
        called=called,
        read=lambda: _read(app.gateway, identity),
        known=_known,
        labels=LABELS,
        words=in_words,
        plan=lambda fresh, wanted: _plan(fresh, wanted, app.clock.now()),
        uses=partial(_uses, context, identity),
        send=lambda context, consent: execute_all(context, consent, _done),
    )
    form: FormScreen[Any] = FormScreen(
        budgets_form(standing[0], _known(standing), spent),
        plain_facts(context),
        editing.submit,
    )
    match await app.push_screen_wait(form):
        case Applied():
            say_done(context, f"Budgets of workspace {WORKSPACES.name(space)} changed")
    # Even a form that was left may have changed some budgets before one was refused.
    await refresh(context, FEEDS)


def _plan(fresh: Standing, wanted: Mapping[str, Any], now: datetime) -> Plan[Any]:
    space, budgets = fresh
    plans = plan_series(space, budgets, wanted, now)
    return together(space, plans, known_limits(budgets, space), wanted)


async def _uses(context: ActionContext, identity: str, _fresh: Standing) -> Uses:
    keys = await items_soon(context.app.gateway.keys.list(workspace_id=identity))
    return budget_uses(keys, context.app.clock.now())


def _done(plan: Plan[Any]) -> str:
    change = plan.changes[0]
    return f"{change.field.lower()} {change.after}"


async def _read(client: GatewayClient, identity: str) -> Standing:
    space = await client.workspaces.get(identity)
    return space, (await client.workspaces.budgets(identity)).items


def _known(standing: Standing) -> Mapping[str, Any]:
    space, budgets = standing
    return known_limits(budgets, space)


async def _spent(client: GatewayClient, identity: str) -> Mapping[bool, Spent]:
    """What the present keys spent, without and with BYOK; nothing where it cannot be read."""
    try:
        keys = (await client.keys.list(workspace_id=identity)).items
    except GatewayError:
        return {}
    return {byok: spent_by_interval(keys, byok=byok) for byok in (False, True)}


HANDLERS: Mapping[str, Handler] = {"budgets.edit": edit}
