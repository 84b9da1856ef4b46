"""Ways from keys, models and assignments to guardrails, and from guardrails to what they bind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from gwtui.ui.actions.context import ActionContext, Handler

if TYPE_CHECKING:
    from gwtui.watch.feeds.assignments import AssignmentRow
    from gwtui.watch.feeds.guardrails import GuardrailRow
    from gwtui.watch.feeds.keys import KeyRow


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
    from gwtui.contract.guardrails import KeyAssignment  # noqa: PLC0415

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
        "This default guardrail is not made yet: e sets it up, and it then binds its workspace",
        severity="warning",
    )


IMMEDIATE: Mapping[str, Handler] = {
    "guardrails.assigned": show_assigned,
    "guardrails.all_assigned": show_all_assigned,
    "assignments.guardrail": guardrail_of_assignment,
    "assignments.key": key_of_assignment,
    "keys.guardrail": guardrail_of_key,
    "models.guardrails": guardrails_on_model,
    "model-guardrails.go": guardrail_on_model,
}
