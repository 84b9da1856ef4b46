"""The board open in a dashboard, keys pressed on it, and what it says."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

from textual.pilot import Pilot

from board_kit import at_rest, board_of
from dashboard_kit import Demo, settled
from gwtui.ui.app import GwtuiApp
from gwtui.ui.widgets.lines import OneLine


class Opened(NamedTuple):
    """An app with the board open."""

    pilot: Pilot[Any]
    app: GwtuiApp


@asynccontextmanager
async def board(
    demo: Demo, data: Path | None, size: tuple[int, int] = (80, 24)
) -> AsyncIterator[Opened]:
    app = demo.app("board", data=data)
    async with app.run_test(size=size, notifications=True) as pilot:
        await at_rest(pilot)
        yield Opened(pilot, app)


async def press(opened: Opened, *keys: str) -> None:
    pilot, app = opened
    for key in keys:
        text = key.removeprefix("type ")
        await pilot.press(*([key] if text == key else text))
        screen = app.navigation.screen
        await (
            at_rest(pilot) if screen is not None and screen.resource == "board" else settled(pilot)
        )


def line(app: GwtuiApp, name: str) -> str:
    return board_of(app).query_one(f"#{name}", OneLine).text


def notices(app: GwtuiApp) -> str:
    return " ".join(notice.message for notice in app._notifications)


def _rows(screen: Any) -> list[Any]:
    return list(screen.endpoints.rows)
