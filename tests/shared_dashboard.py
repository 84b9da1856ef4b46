"""Several proofs on one dashboard, one after the other: to start one takes longer than most."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from textual.pilot import Pilot

from gwtui.ui.app import GwtuiApp


async def walk(desk: Any, *steps: Callable[[Any], Awaitable[None]]) -> None:
    """Take steps at a desk; each begins on the list, with nothing open and nothing said.

    What a step wrote to the gateway stays. A failure names its step.
    """
    for step in steps:
        try:
            await step(desk)
            await start_over(desk.app, desk.pilot)
        except BaseException as error:
            error.add_note(f"in the step {step.__name__}")
            raise
        if hasattr(desk, "ledger"):
            desk.entries_before = sum(1 for _ in desk.ledger.entries())


async def start_over(app: GwtuiApp, pilot: Pilot[Any]) -> None:
    """Close every dialog as if nothing had been chosen in it; forget what was said."""
    while app.screen is not app.navigation.screen:
        await app.screen.dismiss(None)
        await pilot.pause()
    app.clear_notifications()
    await pilot.pause()
