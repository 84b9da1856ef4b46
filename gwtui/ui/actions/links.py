"""Actions of list screens, and links from the selected row to related rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from gwtui.client.errors import NotSentError
from gwtui.contract.workspaces import Workspace
from gwtui.crud.export import is_made_up
from gwtui.domain.alert_rules import GATEWAY
from gwtui.domain.safe_text import safe_line
from gwtui.resources.registry import RESOURCES
from gwtui.resources.workspaces import shown_name
from gwtui.ui.actions.context import ActionContext, Handler, on_screen
from gwtui.ui.commands import with_keys
from gwtui.ui.screens.resource import ResourceScreen
from gwtui.ui.widgets.table.model import TableModel

if TYPE_CHECKING:
    from gwtui.watch.alerts.model import Alert, AlertEvent
    from gwtui.watch.feeds.guardrails import GuardrailRow
    from gwtui.watch.feeds.keys import KeyRow
    from gwtui.watch.feeds.models import EndpointRow
    from gwtui.watch.feeds.workspaces import WorkspaceRow


async def show_route(context: ActionContext, route: str, item: object = None) -> None:
    """Go to a path; first show all workspaces if ``item``, its row, is in another workspace."""
    app, home = context.app, getattr(item, "workspace_id", None)
    spec = RESOURCES.get(route.partition("/")[0])
    if spec is not None and spec.scoped and app.scope.workspace not in (None, home):
        app.limit_to_workspace(None, None)
        app.say("Showing all workspaces")
    await app.open_route(route)


def place(route: str) -> Handler:
    """Return a handler that goes to a path."""

    async def handle(context: ActionContext) -> None:
        await context.app.open_route(route)

    return handle


def link(resource: str, identity: Callable[[ActionContext], str | None], missing: str) -> Handler:
    """Return a handler that goes to a resource that is related to the selected row.

    ``identity`` returns the id of that resource; without an id, the text ``missing`` is shown.
    """

    async def handle(context: ActionContext) -> None:
        if name := identity(context):
            await show_route(context, f"{resource}/{name}")
        else:
            context.app.say(missing)

    return handle


def child(resource: str) -> Handler:
    """Return a handler that opens the list of ``resource`` that belongs to the selected row."""

    async def handle(context: ActionContext) -> None:
        spec, identity = context.spec, context.identity
        if spec is None or identity is None:
            return
        if is_made_up(identity):
            context.app.say(f"This {spec.singular} has no id", severity="warning")
            return
        name = spec.name(context.target)
        await context.app.navigation.open_child(spec, identity, resource, name=name)

    return handle


async def open_row(context: ActionContext) -> None:
    """Open the list that belongs to the row; without such a list, open the detail pane."""
    spec = context.spec
    if spec is not None and spec.opens is not None and context.identity is not None:
        await context.app.navigation.open_child(spec, context.identity)
    elif isinstance(context.screen, ResourceScreen):
        context.screen.open_detail()


async def endpoints_of_model(context: ActionContext[EndpointRow]) -> None:
    """Open the endpoints of the selected endpoint's model."""
    row, spec = context.target, context.spec
    if row.model_id is not None and spec is not None:
        name = safe_line(row.model_name or row.model_id, 60)
        await context.app.navigation.open_child(spec, row.model_id, "endpoints", name=name)


async def show_assigned(context: ActionContext[GuardrailRow]) -> None:
    """Open the assignments of the selected guardrail."""
    if context.target.exists:
        await child("assignments")(context)
    else:
        report_missing_default(context)


async def guardrail_of_key(context: ActionContext[KeyRow]) -> None:
    """Go to the guardrail that applies to the key: its own, else the default of its workspace."""
    binding = context.target.binding
    if binding is None:
        context.app.say("The guardrails are still being read")
    elif not binding.known:
        context.app.say("The guardrails could not be read", severity="warning")
    elif binding.target is None:
        text = "No guardrail applies to this key: press {keys.assign} to assign one"
        context.app.say(with_keys(text, context.app.hold_reason_of))
    else:
        await show_route(context, f"guardrails/{binding.target}")


def report_missing_default(context: ActionContext) -> None:
    """Explain that a default guardrail does not exist before its first edit."""
    text = "This default guardrail is not set up: {guardrails.edit} sets it up"
    context.app.say(with_keys(text, context.app.hold_reason_of), severity="warning")


async def show_scoped(resource: str, context: ActionContext[WorkspaceRow]) -> None:
    """Limit the lists to the selected workspace and go to the list of ``resource``."""
    await go_to(context, resource, workspace_of(context))


async def go_to(context: ActionContext, resource: str, space: Workspace) -> None:
    """Limit the lists to the workspace ``space`` and go to the list of ``resource``."""
    context.app.limit_to_workspace(space.id, shown_name(space))
    await context.app.open_route(resource)


def workspace_of(context: ActionContext[WorkspaceRow]) -> Workspace:
    """Return the workspace selected at the key press. Raises NotSentError if it has no id."""
    space = context.target.workspace
    if not space.id:
        raise NotSentError("This workspace has no id")
    return space


async def go_to_subject(context: ActionContext[Alert | AlertEvent]) -> None:
    """Go to the resource of an alert or event."""
    subject = context.target.key.subject
    app, resource, identity = context.app, subject.resource, subject.identity
    selected = ""
    if resource == GATEWAY:
        app.say("This alert is about reading the gateway: see the banner above each list")
    elif resource == "credits":
        await app.open_route(resource)
    elif resource == "endpoint":
        model, _, selected = identity.partition(" ")
        await app.open_route(f"models/{model}")
    elif resource == "workspace":
        selected = identity
        await app.navigation.show_tab("workspaces")
    else:
        await show_route(context, f"{resource}s/{identity}")
    screen = app.navigation.screen
    if selected and screen is not None:
        screen.show_row(selected)


async def subject_of_finding(context: ActionContext) -> None:
    """Go to the resource of a finding, in the list of that resource."""
    subject = context.target.subject
    if subject.resource and subject.identity:
        await show_route(context, f"{subject.resource}/{subject.identity}")
    else:
        context.app.say("This finding has no resource of its own")


IMMEDIATE: Mapping[str, Handler] = {
    "list.open": open_row,
    "list.filter": on_screen(ResourceScreen, lambda screen: screen.filtering.start()),
    "list.reverse": on_screen(ResourceScreen, lambda screen: screen.reverse_order()),
    "list.detail": on_screen(ResourceScreen, lambda screen: screen.detail.toggle()),
    "list.mark": on_screen(ResourceScreen, lambda screen: screen.table.toggle_mark()),
    "list.mark_range": on_screen(
        ResourceScreen, lambda screen: screen.table.change_marks(TableModel.mark_range)
    ),
    "list.mark_all": on_screen(
        ResourceScreen, lambda screen: screen.table.change_marks(TableModel.mark_visible)
    ),
    "list.unmark": on_screen(
        ResourceScreen, lambda screen: screen.table.change_marks(TableModel.clear_marks)
    ),
    "alerts.go": go_to_subject,
    "all-endpoints.model": endpoints_of_model,
    "alert-history.go": go_to_subject,
    "alerts.rules": place("alert-rules"),
    "alerts.history": place("alert-history"),
    "assignments.guardrail": link(
        "guardrails",
        lambda context: context.target.assignment.guardrail_id,
        "This assignment names no guardrail",
    ),
    "assignments.key": link(
        "keys",
        lambda context: getattr(context.target.assignment, "key_hash", None),
        "This guardrail is assigned to a member, not to a key",
    ),
    "board.changes": place("changes"),
    "findings.go": subject_of_finding,
    "generation.model": link(
        "models",
        lambda context: context.target.model,
        "The gateway did not name the model",
    ),
    "guardrails.assigned": show_assigned,
    "key.models": place("user-models"),
    "keys.activity": child("activity"),
    "keys.guardrail": guardrail_of_key,
    "members.people": place("organization"),
    "model-guardrails.go": link(
        "guardrails", lambda context: context.identity, "No guardrail is selected"
    ),
    "models.all-endpoints": place("all-endpoints"),
    "models.guardrails": child("model-guardrails"),
    "organization.activity": child("activity"),
    "rotations.new": link(
        "keys",
        lambda context: context.target.rotation.new_hash,
        "Unknown key: the write that created it is unresolved",
    ),
    "rotations.old": link("keys", lambda context: context.target.rotation.old_hash, ""),
    "workspaces.byok": partial(show_scoped, "byok"),
    "workspaces.guardrails": partial(show_scoped, "guardrails"),
    "workspaces.keys": partial(show_scoped, "keys"),
    "workspaces.members": child("members"),
    "workspaces.people": place("organization"),
}
HANDLERS: Mapping[str, Handler] = {
    "list.sort": on_screen(ResourceScreen, lambda screen: screen.choose_sort()),
    "list.columns": on_screen(ResourceScreen, lambda screen: screen.choose_columns()),
}
