"""Following links from what is selected to what belongs to it; nothing is asked or sent."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from gwtui.contract.guardrails import KeyAssignment
from gwtui.contract.workspaces import Workspace
from gwtui.domain.alert_rules import GATEWAY, GUARDED
from gwtui.resources.workspaces.view import shown_name
from gwtui.ui.actions.context import ActionContext, Handler
from gwtui.ui.commands import key_of
from gwtui.ui.screens.resource import ResourceScreen

if TYPE_CHECKING:
    from gwtui.contract.usage import Generation
    from gwtui.crud.evidence import Candidate
    from gwtui.domain.findings import AccountFinding
    from gwtui.watch.alerts.model import Alert, AlertEvent
    from gwtui.watch.feeds.guardrails import AssignmentRow, GuardrailRow
    from gwtui.watch.feeds.keys import KeyRow
    from gwtui.watch.feeds.rotations import RotationRow
    from gwtui.watch.feeds.workspaces import WorkspaceRow


async def open_row(context: ActionContext) -> None:
    """Open the list behind the row, else its detail."""
    spec = context.spec
    if spec is not None and spec.opens is not None and context.identity is not None:
        await context.app.navigation.open_child(spec, context.identity)
    elif isinstance(context.screen, ResourceScreen):
        context.screen.open_detail()


async def show_assigned(context: ActionContext[GuardrailRow]) -> None:
    """Open the list of what the selected guardrail is assigned to."""
    row = context.target
    if not row.made:
        say_not_made(context)
    elif context.spec is not None and row.guardrail.id:
        name = context.spec.name(row)
        await context.app.navigation.open_child(
            context.spec, row.guardrail.id, "assignments", name=name
        )


async def show_all_assigned(context: ActionContext) -> None:
    """Every assignment there is."""
    await context.app.open_route("assignments")


async def guardrail_of_assignment(context: ActionContext[AssignmentRow]) -> None:
    """Go to the guardrail of the selected assignment."""
    identity = context.target.assignment.guardrail_id
    if identity:
        await go_to_guardrail(context, identity)


async def key_of_assignment(context: ActionContext[AssignmentRow]) -> None:
    """Go to the key of the selected assignment."""
    one = context.target.assignment
    if isinstance(one, KeyAssignment) and one.key_hash:
        widen(context)
        await context.app.open_route(f"keys/{one.key_hash}")
    else:
        context.app.say("This guardrail is assigned to a member, not to a key")


async def guardrail_of_key(context: ActionContext[KeyRow]) -> None:
    """Go to the guardrail on the selected key, else to the default one of its workspace."""
    binding = context.target.binding
    if binding is None:
        context.app.say("The guardrails are still being read")
    elif not binding.known:
        context.app.say("The guardrails could not be read", severity="warning")
    elif binding.target is None:
        context.app.say("No guardrail binds this key: A assigns one")
    else:
        await go_to_guardrail(context, binding.target)


async def guardrails_on_model(context: ActionContext) -> None:
    """What each guardrail leaves of the selected model."""
    if context.spec is not None and context.identity is not None:
        await context.app.navigation.open_child(
            context.spec, context.identity, "model-guardrails", name=context.identity
        )


async def guardrail_on_model(context: ActionContext) -> None:
    """Go to the selected guardrail."""
    if context.identity is not None:
        await go_to_guardrail(context, context.identity)


async def go_to_guardrail(context: ActionContext, identity: str) -> None:
    """Show a guardrail of whatever workspace."""
    widen(context)
    await context.app.open_route(f"guardrails/{identity}")


def widen(context: ActionContext) -> None:
    """What is linked to may belong to another workspace than the one that lists show."""
    if context.app.scope.workspace is not None:
        context.app.narrow(None, None)
        context.app.say("Showing all workspaces")


def say_not_made(context: ActionContext) -> None:
    """Why nothing can be done with a default guardrail before its first change."""
    context.app.say(
        f"This default guardrail is not made yet: {key_of('guardrails.edit')} sets it up, "
        "and it then binds its workspace",
        severity="warning",
    )


async def show_route(context: ActionContext, route: str, one: Candidate | None) -> None:
    """Go to a path; lists that are narrowed to another workspace show every one then."""
    app = context.app
    home = getattr(None if one is None else one.item, "workspace_id", None)
    if app.scope.workspace is not None and home != app.scope.workspace:
        app.narrow(None, None)
    await app.open_route(route)


async def show_members(context: ActionContext[WorkspaceRow]) -> None:
    """Open the list of members."""
    space = workspace_of(context)
    if space is not None and context.spec is not None:
        name = context.spec.name(context.target)
        await context.app.navigation.open_child(context.spec, space.id or "", "members", name=name)


async def show_scoped(resource: str, context: ActionContext[WorkspaceRow]) -> None:
    """Narrow the lists to the workspace and go to one of them."""
    space = workspace_of(context)
    if space is not None:
        await go_to(context, resource, space)


async def show_people(context: ActionContext) -> None:
    """Everybody in the organization."""
    await context.app.open_route("organization")


async def go_to(context: ActionContext, resource: str, space: Workspace) -> None:
    """Narrow the lists to a workspace and go to one of them."""
    context.app.narrow(space.id, shown_name(space))
    await context.app.open_route(resource)


def workspace_of(context: ActionContext[WorkspaceRow]) -> Workspace | None:
    """The workspace that was selected at the key press; says so when it has no id."""
    space = context.target.workspace
    if space.id:
        return space
    context.app.say("The gateway gave this workspace no id", severity="warning")
    return None


async def go_to_subject(context: ActionContext[Alert | AlertEvent]) -> None:
    """Show what an alert or an event is about."""
    subject = context.target.key.subject
    app, identity = context.app, subject.identity
    widen(context)
    match subject.resource:
        case "credits":
            await app.open_route("credits")
        case "endpoint":
            model, _, row = identity.partition(" ")
            await app.open_route(f"models/{model}")
            _select_later(context, row)
        case "workspace":
            await app.navigation.show_tab("workspaces")
            _select_later(context, identity)
        case _ if subject.resource == GUARDED:
            await app.open_route(f"guardrails/{identity.partition(' ')[0]}")
        case _ if subject.resource == GATEWAY:
            app.say("This is about reading the gateway: the banner of each list says what is wrong")
        case _:
            await app.open_route(f"{subject.resource}s/{identity}")


async def subject_of_finding(context: ActionContext[AccountFinding]) -> None:
    """Show what a finding is about in its own list."""
    one = context.target.subject
    if not one.resource or not one.identity:
        context.app.say("This is about the account as a whole, or about what could not be read")
        return
    widen(context)
    await context.app.open_route(f"{one.resource}/{one.identity}")


async def old_key(context: ActionContext[RotationRow]) -> None:
    """Go to the key that is retired."""
    widen(context)
    await context.app.open_route(f"keys/{context.target.rotation.old_hash}")


async def successor(context: ActionContext[RotationRow]) -> None:
    """Go to the key that takes over."""
    identity = context.target.rotation.new_hash
    if identity is None:
        context.app.say("Not known which key it is: the write that made it is in doubt")
        return
    widen(context)
    await context.app.open_route(f"keys/{identity}")


def _select_later(context: ActionContext, identity: str) -> None:
    screen = context.app.navigation.screen
    if screen is not None:
        screen.show_row(identity)


async def show_rules(context: ActionContext) -> None:
    """What is watched."""
    await context.app.open_route("alert-rules")


async def show_history(context: ActionContext) -> None:
    """What happened."""
    await context.app.open_route("alert-history")


async def go_to_model(context: ActionContext[Generation]) -> None:
    """Show the endpoints of the generation's model."""
    model = context.target.model
    if model:
        await context.app.open_route(f"models/{model}")
    else:
        context.app.say("The gateway did not say which model it was", severity="warning")


IMMEDIATE: Mapping[str, Handler] = {
    "list.open": open_row,
    "alerts.go": go_to_subject,
    "alert-history.go": go_to_subject,
    "alerts.rules": show_rules,
    "alerts.history": show_history,
    "findings.go": subject_of_finding,
    "rotations.old": old_key,
    "rotations.new": successor,
    "generation.model": go_to_model,
    "workspaces.members": show_members,
    "workspaces.keys": partial(show_scoped, "keys"),
    "workspaces.guardrails": partial(show_scoped, "guardrails"),
    "workspaces.byok": partial(show_scoped, "byok"),
    "workspaces.people": show_people,
    "members.people": show_people,
    "guardrails.assigned": show_assigned,
    "guardrails.all_assigned": show_all_assigned,
    "assignments.guardrail": guardrail_of_assignment,
    "assignments.key": key_of_assignment,
    "keys.guardrail": guardrail_of_key,
    "models.guardrails": guardrails_on_model,
    "model-guardrails.go": guardrail_on_model,
}
