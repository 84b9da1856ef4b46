"""Which function does what an action promises."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial

from gwtui.crud.action import Action
from gwtui.ui.commands import place_actions, tab_of
from gwtui.ui.context import ActionContext, Handler

BACKGROUND = frozenset({"app.refresh", "board.unwatch", "board.watch", "list.copy", "models.watch"})
"""Patient actions that ask nothing once they began: nobody's next key waits for their end."""


async def _go(tab: str, context: ActionContext) -> None:
    await context.app.navigation.show_tab(tab)


@cache
def immediate() -> Mapping[str, Handler]:
    """Handlers that never wait for a person: they run before the next key is read."""
    from gwtui.ui import (  # noqa: PLC0415
        activity_actions,
        alert_links,
        board_actions,
        doubt_actions,
        figures_actions,
        general_actions,
        generation_actions,
        guardrail_links,
        list_actions,
        workspace_links,
    )

    tabs: dict[str, Handler] = {}
    for action in place_actions():
        tab = tab_of(action)
        if tab is not None:
            tabs[action.id] = partial(_go, tab)
    return {
        **general_actions.IMMEDIATE,
        **list_actions.IMMEDIATE,
        **figures_actions.IMMEDIATE,
        **activity_actions.IMMEDIATE,
        **alert_links.IMMEDIATE,
        **board_actions.IMMEDIATE,
        **doubt_actions.IMMEDIATE,
        **generation_actions.IMMEDIATE,
        **workspace_links.IMMEDIATE,
        **guardrail_links.IMMEDIATE,
        **tabs,
    }


@cache
def patient() -> Mapping[str, Handler]:
    """Handlers that may wait for a person or the gateway: each runs in a worker.

    Forms and what they need are loaded at the first use, not before the first paint.
    """
    from gwtui.ui import (  # noqa: PLC0415
        board_actions,
        doubt_actions,
        general_actions,
        generation_actions,
        list_actions,
        model_actions,
    )
    from gwtui.ui.forms import (  # noqa: PLC0415
        alert_actions,
        assign_rows,
        assignment_actions,
        budget_actions,
        byok_actions,
        feedback_actions,
        guardrail_actions,
        key_actions,
        member_actions,
        organization_actions,
        unacknowledged,
        undo_actions,
        workspace_actions,
    )

    return {
        **general_actions.PATIENT,
        **list_actions.PATIENT,
        **board_actions.PATIENT,
        **doubt_actions.PATIENT,
        **generation_actions.PATIENT,
        **alert_actions.HANDLERS,
        **key_actions.HANDLERS,
        **workspace_actions.HANDLERS,
        **budget_actions.HANDLERS,
        **member_actions.HANDLERS,
        **organization_actions.HANDLERS,
        **guardrail_actions.HANDLERS,
        **assignment_actions.HANDLERS,
        **assign_rows.HANDLERS,
        **model_actions.HANDLERS,
        **byok_actions.HANDLERS,
        **unacknowledged.HANDLERS,
        **feedback_actions.HANDLERS,
        **undo_actions.HANDLERS,
    }


def handler(action: Action) -> tuple[Handler, bool]:
    """The handler of an action, and whether it is immediate. KeyError when it has none."""
    if action.id in immediate():
        return immediate()[action.id], True
    return patient()[action.id], False
