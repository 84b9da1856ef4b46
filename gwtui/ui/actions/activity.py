"""Actions of the activity screen, and those that lead to it and from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from gwtui.resources.activity import OTHERS, RankedGroup
from gwtui.resources.keys.resource import KEYS
from gwtui.resources.organization.resource import ORGANIZATION
from gwtui.ui.actions.context import ActionContext, Handler, on_screen
from gwtui.ui.screens.activity import ActivityScreen
from gwtui.ui.screens.credits import CreditsScreen

if TYPE_CHECKING:
    from gwtui.watch.feeds.keys import KeyRow
    from gwtui.watch.feeds.organization import PersonRow


async def open_ranked(context: ActionContext) -> None:
    """Go to the selected model, provider, workspace or key."""
    screen, one = context.screen, context.target
    if not isinstance(screen, ActivityScreen) or not isinstance(one, RankedGroup):
        return
    if one.parts[0] in {"", OTHERS}:
        context.app.say("There is nothing to open behind this line")
        return
    match screen.grouping:
        case "model":
            await context.app.open_route(f"models/{one.parts[0]}")
        case "provider":
            await context.app.open_route("providers")
        case "workspace":
            await context.app.open_route(f"workspaces/{one.parts[0]}")
        case "key":
            await _open_activity(context, one.parts[0], one.name)
        case "user":
            await _open_person(context, one.parts[0], one.name)


async def activity_of_key(context: ActionContext[KeyRow]) -> None:
    """What the selected key did."""
    row = context.target
    if row.key.hash:
        await _open_activity(context, row.key.hash, KEYS.name(row))
    else:
        context.app.say("The gateway gave this key no hash", severity="warning")


async def _open_activity(context: ActionContext, key_hash: str, name: str) -> None:
    await context.app.navigation.open_child(KEYS, key_hash, "activity", name=name)


async def activity_of_person(context: ActionContext[PersonRow]) -> None:
    """What the keys did that the selected person made."""
    row = context.target
    if row.person.id:
        await _open_person(context, row.person.id, ORGANIZATION.name(row))
    else:
        context.app.say("The gateway gave this person no id", severity="warning")


async def _open_person(context: ActionContext, user: str, name: str) -> None:
    await context.app.navigation.open_child(ORGANIZATION, user, "activity", name=name)


IMMEDIATE: Mapping[str, Handler] = {
    "activity.group": on_screen(ActivityScreen, lambda screen: screen.next_grouping()),
    "activity.keys": on_screen(ActivityScreen, lambda screen: screen.rank_by_key()),
    "activity.days": on_screen(ActivityScreen, lambda screen: screen.open_days()),
    "activity.before": on_screen(ActivityScreen, lambda screen: screen.step_day(-1)),
    "activity.after": on_screen(ActivityScreen, lambda screen: screen.step_day(1)),
    "credits.window": on_screen(CreditsScreen, lambda screen: screen.next_window()),
    "activity.measure": on_screen(ActivityScreen, lambda screen: screen.next_measure()),
    "activity.open": open_ranked,
    "keys.activity": activity_of_key,
    "organization.activity": activity_of_person,
}
