"""Actions on workspaces, their members and their budgets.

Lists limited to a workspace follow its edits, and deleting a workspace has its own confirmation.
Members are added and removed in bulk. All budgets are edited in one form, with one request per
changed budget.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from gwtui.client.errors import GatewayError
from gwtui.client.gateway import GatewayClient
from gwtui.contract.organization import (
    MAX_MEMBERS,
    ChangeMembersRequest,
    MembersAdded,
    MembersRemoved,
    OrganizationMember,
)
from gwtui.contract.workspaces import Workspace
from gwtui.crud.fields import Field, PickOption, PlanContext
from gwtui.crud.plan import Applied, Plan
from gwtui.crud.plan_text import count
from gwtui.domain.keys import spent_by_interval
from gwtui.domain.safe_text import safe_line
from gwtui.resources.budgets import (
    FIELDS,
    Spent,
    WorkspaceBudgets,
    budgets_form,
    read_budgets,
    read_uses,
)
from gwtui.resources.members import plan_add, plan_remove, roles
from gwtui.resources.organization import role_cell
from gwtui.resources.uses import items_or_none
from gwtui.resources.workspaces import WRITES, shown_name
from gwtui.ui.actions import crud
from gwtui.ui.actions.context import ActionContext, Handler
from gwtui.ui.actions.crud import EditFlow, plan_context, read_selected
from gwtui.ui.actions.links import go_to, workspace_of
from gwtui.ui.actions.writing import (
    confirm_and_report,
    execute,
    offer_way_out,
    pick,
    preview_context,
    read_again,
    refresh,
    report_done,
)
from gwtui.ui.forms.form_screen import FormScreen
from gwtui.ui.screens.resource import ResourceScreen
from gwtui.watch.feeds.workspaces import MemberRow, shown_person

_MEMBER_FEEDS = ("members", "organization", "workspaces")
"""Prefixes of the feeds to refresh after a change of members."""
_BUDGET_FEEDS = "workspaces"


async def edit(context: ActionContext) -> None:
    """Show the edit form; lists limited to the workspace follow its new name."""
    app, changed = context.app, await crud.edit(context)
    if changed is not None:
        if app.scope.workspace == changed.id:
            app.limit_to_workspace(changed.id, shown_name(changed))
        await refresh(context, "keys")


async def delete(context: ActionContext) -> None:
    """Show the effects of the deletion, and delete the workspace once the user confirms.

    If something prevents the deletion, only that is shown. For the default workspace, the user
    confirms by typing its slug.
    """
    app, fresh = context.app, await read_selected(context)
    at = plan_context(context)
    related = await WRITES.read_related(app.gateway, fresh, at)
    plan = WRITES.plan_delete(fresh, at, related)
    if context.is_covered:
        return
    if plan.obstacles:
        if await offer_way_out(context, plan, "Show its keys"):
            await go_to(context, "keys", fresh)
        return
    button, typed = "Delete for good", ""
    if related.is_default:
        button, typed = "Delete the default workspace", fresh.slug or fresh.id or ""
    done = f"{WRITES.title(fresh)} deleted"
    if await confirm_and_report(context, plan, button, done, *WRITES.feeds, typed=typed):
        if app.scope.workspace == fresh.id:
            app.limit_to_workspace(None, None)
        await refresh(context, "keys", "guardrails", "byok")


async def add_members(context: ActionContext) -> None:
    """Pick people of the organization who are not members yet; one request adds them."""
    space = await _read_workspace(context)
    client = context.app.gateway
    people = (await client.organization.members()).items
    present = roles((await client.workspaces.members(space.id or "")).items)
    options = {
        user: (person, PickOption(user, shown_person(person, user), _note(person)))
        for person in people
        if (user := person.id) and user not in present
    }
    title = f"Add members to workspace {WRITES.name(space)}"
    field = Field("user_ids", title, empty="", chosen="add", noun="people")
    if context.is_covered:
        return
    chosen = await pick(context, field, ChangeMembersRequest, options)
    if chosen:

        def done(added: MembersAdded) -> str:
            number = added.added_count
            who = "Members" if number is None else count(number, "member")
            return f"{who} added to workspace {WRITES.name(space)}"

        plan = plan_add(space, [*chosen.values()], present)
        await confirm_and_report(context, plan, "Add them", done, *_MEMBER_FEEDS)


async def _read_workspace(context: ActionContext) -> Workspace:
    screen = context.screen
    identity = (screen.parent_row if isinstance(screen, ResourceScreen) else None) or ""
    reading = context.app.gateway.workspaces.get(identity)
    return await read_again(context, reading, "The workspace", *_MEMBER_FEEDS)


def _note(person: OrganizationMember) -> str:
    role = role_cell(person.role).text
    # A nameless person is called by the mail address already.
    mail = safe_line(person.email or "", 60) if person.full_name else ""
    return f"{mail} · {role}" if mail else role


async def remove_members(context: ActionContext[MemberRow]) -> None:
    """Remove the marked members, or the selected one; those with active keys are skipped."""
    app, rows = context.app, context.chosen
    space = await _read_workspace(context)
    keys = await items_or_none(app.gateway.keys.list(workspace_id=space.id))
    names = {row.member.user_id: row.called for row in rows if row.member.user_id}
    members = [row.member for row in rows]
    shown = plan_remove(space, members, keys, names, app.clock.now())
    if context.is_covered:
        return
    if shown.obstacles and len(members) <= MAX_MEMBERS:
        if await offer_way_out(context, shown, "Show the workspace's keys"):
            await go_to(context, "keys", space)
        return

    def done(removed: MembersRemoved) -> str:
        who = count(removed.removed_count or 0, "member")
        return f"{who} removed from workspace {WRITES.name(space)}"

    await confirm_and_report(context, shown, "Remove", done, *_MEMBER_FEEDS)


async def edit_budgets(context: ActionContext) -> None:
    """Edit all budgets of the workspace in one form; each changed budget is one request."""
    app, space = context.app, workspace_of(context)
    identity, called = space.id or "", WRITES.title(space)
    present = await read_again(context, read_budgets(app.gateway, identity), called, _BUDGET_FEEDS)
    spent = await _spent(app.gateway, identity)
    if context.is_covered:
        return
    editing: EditFlow[WorkspaceBudgets] = EditFlow(
        context=context,
        original=present,
        noun="workspace",
        called=called,
        read=lambda: read_again(context, read_budgets(app.gateway, identity), called),
        known=lambda row: row.known,
        labels=FIELDS.labels,
        format_value=FIELDS.formatter(PlanContext(app.clock.now())),
        plan=lambda fresh, changes: fresh.plan(changes, app.clock.now()),
        uses=lambda _fresh: read_uses(app.gateway, identity),
        send=partial(execute, done=_budget_done),
    )
    form: FormScreen[Any] = FormScreen(
        budgets_form(present.workspace, present.known, spent),
        preview_context(context),
        editing.submit,
    )
    match await app.push_screen_wait(form):
        case Applied():
            report_done(context, f"Budgets of workspace {WRITES.name(space)} changed")
    # Even a form that was left may have changed some budgets before one was refused.
    await refresh(context, _BUDGET_FEEDS)


def _budget_done(plan: Plan[Any]) -> str:
    change = plan.changes[0]
    return f"{change.field.lower()} {change.after}"


async def _spent(client: GatewayClient, identity: str) -> Mapping[bool, Spent]:
    try:
        keys = (await client.keys.list(workspace_id=identity)).items
    except GatewayError:
        return {}
    return {byok: spent_by_interval(keys, byok=byok) for byok in (False, True)}


HANDLERS: Mapping[str, Handler] = {
    **crud.handlers("workspaces", "create"),
    "workspaces.edit": edit,
    "workspaces.delete": delete,
    "members.add": add_members,
    "members.remove": remove_members,
    "budgets.edit": edit_budgets,
}
