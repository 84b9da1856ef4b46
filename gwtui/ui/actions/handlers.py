"""Which function does what an action promises."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial

from gwtui.crud.action import Action
from gwtui.resources.actions import place_actions
from gwtui.ui.actions.context import ActionContext, Handler
from gwtui.ui.commands import tab_of

BACKGROUND = frozenset({"app.refresh", "board.unwatch", "board.watch", "models.watch"})
"""Patient actions that ask nothing once they began: nobody's next key waits for their end."""


async def _go(tab: str, context: ActionContext) -> None:
    await context.app.navigation.show_tab(tab)


@cache
def immediate() -> Mapping[str, Handler]:
    """Handlers that never wait for a person: they run before the next key is read."""
    from gwtui.ui.actions import (  # noqa: PLC0415 - at the first use
        activity,
        app,
        board,
        links,
        lists,
        recovery,
    )

    tabs: dict[str, Handler] = {}
    for action in place_actions():
        tab = tab_of(action)
        if tab is not None:
            tabs[action.id] = partial(_go, tab)
    return {
        **app.IMMEDIATE,
        **lists.IMMEDIATE,
        **activity.IMMEDIATE,
        **board.IMMEDIATE,
        **recovery.IMMEDIATE,
        **links.IMMEDIATE,
        **tabs,
    }


@cache
def patient() -> Mapping[str, Handler]:
    """Handlers that may wait for a person or the gateway: each runs in a worker.

    Forms and what they need are loaded at the first use, not before the first paint.
    """
    return {**_of_frame(), **_of_resources()}


def _of_frame() -> Mapping[str, Handler]:
    """Those that belong to no resource."""
    from gwtui.ui.actions import (  # noqa: PLC0415 - at the first use
        alerts,
        app,
        board,
        copying,
        exporting,
        findings,
        first_steps,
        lists,
        recovery,
        rotations,
        screenshots,
        sealed_keys,
        undo,
        views,
    )

    return {
        **app.PATIENT,
        **lists.PATIENT,
        **copying.HANDLERS,
        **exporting.HANDLERS,
        **screenshots.HANDLERS,
        **board.PATIENT,
        **recovery.PATIENT,
        **alerts.HANDLERS,
        **findings.HANDLERS,
        **rotations.HANDLERS,
        **first_steps.HANDLERS,
        **sealed_keys.HANDLERS,
        **undo.HANDLERS,
        **views.HANDLERS,
    }


def _of_resources() -> Mapping[str, Handler]:
    """Those of the resources, and of requests to models."""
    from gwtui.resources.organization.settings import SETTINGS  # noqa: PLC0415
    from gwtui.ui.actions import (  # noqa: PLC0415 - at the first use
        assignments,
        budgets,
        comparing,
        crud,
        generations,
        guardrail_samples,
        guardrails,
        keys,
        members,
        models,
        side_by_side,
        tries,
        workspaces,
    )

    return {
        **keys.HANDLERS,
        **workspaces.HANDLERS,
        **budgets.HANDLERS,
        **members.HANDLERS,
        "organization.edit": partial(crud.edit_only, SETTINGS),
        **guardrails.HANDLERS,
        **assignments.HANDLERS,
        **models.HANDLERS,
        **side_by_side.HANDLERS,
        **crud.handlers("byok", "create", "edit", "rotate", "toggle", "delete"),
        **generations.HANDLERS,
        **tries.HANDLERS,
        **comparing.HANDLERS,
        **guardrail_samples.HANDLERS,
    }


def handler(action: Action) -> tuple[Handler, bool]:
    """The handler of an action, and whether it is immediate. KeyError when it has none."""
    if action.id in immediate():
        return immediate()[action.id], True
    return patient()[action.id], False
