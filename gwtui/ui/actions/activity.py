"""Actions of the activity screen, and those that lead to it and from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from gwtui.resources.activity import OTHERS, RankedGroup
from gwtui.resources.keys.resource import KEYS
from gwtui.resources.organization.resource import ORGANIZATION
from gwtui.ui.actions.context import ActionContext, Handler
from gwtui.ui.screens.activity import ActivityScreen

if TYPE_CHECKING:
    from gwtui.watch.feeds.keys import KeyRow
    from gwtui.watch.feeds.organization import PersonRow


def _activity(context: ActionContext) -> ActivityScreen | None:
    """The activity screen, where it is what was shown at the key press."""
    return context.screen if isinstance(context.screen, ActivityScreen) else None


async def next_grouping(context: ActionContext) -> None:
    """Rank the next of model, provider, workspace, key and user."""
    if (screen := _activity(context)) is not None:
        screen.next_grouping()


async def by_key(context: ActionContext) -> None:
    """Rank by key."""
    if (screen := _activity(context)) is None:
        return
    if not screen.rank_by("key"):
        context.app.say("One key or person is shown: their keys are not told apart")


async def type_days(context: ActionContext) -> None:
    """Type the days that are summed up."""
    if (screen := _activity(context)) is not None:
        screen.open_days()


async def day_before(context: ActionContext) -> None:
    """Select the bar to the left."""
    if (screen := _activity(context)) is not None:
        screen.step_day(-1)


async def day_after(context: ActionContext) -> None:
    """Select the bar to the right."""
    if (screen := _activity(context)) is not None:
        screen.step_day(1)


async def next_measure(context: ActionContext) -> None:
    """Draw the next of spend, BYOK cost, requests and tokens."""
    if (screen := _activity(context)) is not None:
        screen.next_measure()


async def open_ranked(context: ActionContext) -> None:
    """Go to the selected model, provider, workspace or key."""
    screen, one = _activity(context), context.target
    if screen is None or not isinstance(one, RankedGroup):
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
    "activity.group": next_grouping,
    "activity.keys": by_key,
    "activity.days": type_days,
    "activity.before": day_before,
    "activity.after": day_after,
    "activity.measure": next_measure,
    "activity.open": open_ranked,
    "keys.activity": activity_of_key,
    "organization.activity": activity_of_person,
}
