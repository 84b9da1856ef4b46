"""Ways from a workspace to what belongs to it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from gwtui.contract.workspaces import Workspace
from gwtui.ui.actions.context import ActionContext, Handler

if TYPE_CHECKING:
    from gwtui.watch.feeds.workspaces import WorkspaceRow


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
    from gwtui.resources.workspaces.view import shown_name  # noqa: PLC0415 - at the first use

    context.app.narrow(space.id, shown_name(space))
    await context.app.open_route(resource)


def workspace_of(context: ActionContext[WorkspaceRow]) -> Workspace | None:
    """The workspace that was selected at the key press; says so when it has no id."""
    space = context.target.workspace
    if space.id:
        return space
    context.app.say("The gateway gave this workspace no id", severity="warning")
    return None


IMMEDIATE: Mapping[str, Handler] = {
    "workspaces.members": show_members,
    "workspaces.keys": partial(show_scoped, "keys"),
    "workspaces.guardrails": partial(show_scoped, "guardrails"),
    "workspaces.byok": partial(show_scoped, "byok"),
    "workspaces.people": show_people,
    "members.people": show_people,
}
