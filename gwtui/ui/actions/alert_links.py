"""Ways from alerts to what they are about, to their rules and to their history."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from gwtui.ui.actions.context import ActionContext, Handler
from gwtui.ui.actions.guardrail_links import widen

if TYPE_CHECKING:
    from gwtui.watch.alerts.model import Alert, AlertEvent


async def go_to_subject(context: ActionContext[Alert | AlertEvent]) -> None:
    """Show what an alert or an event is about."""
    from gwtui.watch.alerts.model import GATEWAY, GUARDED  # noqa: PLC0415 - loaded by then

    subject = context.target.key.subject
    app, identity = context.app, subject.identity
    widen(context)
    match subject.resource:
        case "credits":
            await app.open_route("credits")
        case "endpoint":
            model, _, row = identity.partition(" ")
            await app.open_route(f"models/{model}")
            _want(context, row)
        case "workspace":
            await app.navigation.show_tab("workspaces")
            _want(context, identity)
        case _ if subject.resource == GUARDED:
            await app.open_route(f"guardrails/{identity.partition(' ')[0]}")
        case _ if subject.resource == GATEWAY:
            app.say("This is about reading the gateway: the banner of each list says what is wrong")
        case _:
            await app.open_route(f"{subject.resource}s/{identity}")


def _want(context: ActionContext, identity: str) -> None:
    screen = context.app.navigation.screen
    if screen is not None:
        screen.want(identity)


async def show_rules(context: ActionContext) -> None:
    """What is watched."""
    await context.app.open_route("alert-rules")


async def show_history(context: ActionContext) -> None:
    """What happened."""
    await context.app.open_route("alert-history")


IMMEDIATE: Mapping[str, Handler] = {
    "alerts.go": go_to_subject,
    "alert-history.go": go_to_subject,
    "alerts.rules": show_rules,
    "alerts.history": show_history,
}
