"""The board over a pre-filled history: one day of a small part of the demo."""

from __future__ import annotations

import asyncio
import fcntl
import math
import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from gwtui.client.gateway import GatewayClient
from gwtui.contract.usage import Credits
from gwtui.ui.app import GwtuiApp
from gwtui.ui.screens.board import BoardScreen
from gwtui.watch.feeds.models import EndpointRow, read_endpoints
from gwtui.watch.history.file import history_path, open_writable, transaction
from gwtui.watch.history.model import Observation, Subject
from gwtui.watch.history.sources import ObservedReading, observe_credits, observe_endpoints
from gwtui.watch.history.writer import observe, tidy, watch_model
from gwtui.watch.hub import Scope, single_use_reader
from harness import MOMENT, Harness, settled

MODELS = ("northwind/atlas-large", "northwind/atlas-mini")
EVERY = timedelta(minutes=5)
OFTEN = timedelta(minutes=1)
CLOSE = MOMENT - timedelta(minutes=75)
"""The time from which it was recorded every minute."""
BEGIN = MOMENT - timedelta(hours=26)
NIGHT = (MOMENT - timedelta(hours=9), MOMENT - timedelta(hours=7))
"""Time without recording."""
TROUBLE = (MOMENT - timedelta(hours=3), MOMENT - timedelta(hours=2))
"""Time in which the first endpoint of the first model failed."""


@dataclass(frozen=True)
class Filled:
    """A data directory with the recorded history of the demo."""

    folder: Path

    def copy_to(self, folder: Path) -> Path:
        """Copy the history for an application that continues to record."""
        shutil.copytree(self.folder, folder)
        return folder

    @property
    def file(self) -> Path:
        return history_path(self.folder, "demo", "http://demo/api/v1")


def filled_once(factory: pytest.TempPathFactory) -> Filled:
    """The history, filled by the first worker of the run that needs it."""
    base = factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder = shared / "filled-history"
    with (shared / "filled-history.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            fill(base / "history-being-filled").folder.rename(folder)
    return Filled(folder)


def fill(folder: Path) -> Filled:
    """Record a day at five-minute intervals, with a gap, a failure and a price change."""
    filled = Filled(folder)
    rows, credits = asyncio.run(_now())
    with (
        closing(open_writable(filled.file, BEGIN, locked=True).connection) as connection,
        transaction(connection),
    ):
        for model in MODELS:
            watch_model(connection, model, BEGIN)
        moment = BEGIN
        while moment < MOMENT:
            if not NIGHT[0] <= moment < NIGHT[1]:
                observe(connection, _credits(credits, moment))
                for model, endpoints in rows.items():
                    observe(connection, _endpoints(model, endpoints, moment))
            moment += OFTEN if moment >= CLOSE else EVERY
        tidy(connection, MOMENT)
    return filled


async def _now() -> tuple[dict[str, tuple[EndpointRow, ...]], Credits]:
    """What the demo returns now; the recorded past leads up to it."""
    demo = Harness()
    try:
        async with demo.connect() as connection, GatewayClient(connection) as client:
            reader = single_use_reader(client)
            rows = {
                model: tuple(await read_endpoints(reader, Scope(parent=model))) for model in MODELS
            }
            return rows, await client.credits.get()
    finally:
        demo.close()


def _credits(current: Credits, moment: datetime) -> Observation:
    assert current.total_usage is not None
    hours = Decimal((MOMENT - moment) / timedelta(hours=1))
    used = round(current.total_usage - hours * Decimal("2.5") + _wave(moment, 1), 2)
    past = Credits.model_validate({"total_credits": current.total_credits, "total_usage": used})
    return observe_credits(past, ObservedReading(moment, 60))


def _endpoints(model: str, rows: tuple[EndpointRow, ...], moment: datetime) -> Observation:
    """The current metrics, varied a little; before yesterday noon the price differed."""
    result = observe_endpoints(model, rows, ObservedReading(moment, 60))
    first = next(iter(result.facts))
    values: dict[Subject, dict[str, Decimal | None]] = {}
    for subject, figures in result.values.items():
        values[subject] = {}
        for figure, present in figures.items():
            value = present
            if figure.startswith("price"):
                continue  # recorded as a fact
            if value is not None and figure.startswith(("latency", "throughput")):
                value = round(value * (1 + _wave(moment, 1) / 5), 1)
            if subject == first and TROUBLE[0] <= moment < TROUBLE[1]:
                trouble = {"uptime_last_5m": Decimal(31), "uptime_last_30m": Decimal(62)}
                value = trouble.get(figure, value)
            values[subject][figure] = value
    facts = {subject: dict(item) for subject, item in result.facts.items()}
    if moment < MOMENT - timedelta(hours=5):
        facts[first]["price_prompt"] = "0.0000099"
    return Observation(result.source, moment, 60, values, facts, result.covers)


def _wave(moment: datetime, size: int) -> Decimal:
    return Decimal(str(round(size * math.sin(moment.timestamp() / 3600), 3)))


def board_of(app: GwtuiApp) -> BoardScreen:
    screen = app.navigation.screen
    assert isinstance(screen, BoardScreen)
    return screen


def has_answered(board: BoardScreen) -> bool:
    """Whether the history has answered for the selected endpoint, or there is no history."""
    if board.is_querying or board.recorder is None:
        return not board.is_querying
    line = board.endpoints.selected
    selected = None if line is None or line.row is None else line.identity
    return board.past is not None and board.past.endpoint == selected


@asynccontextmanager
async def board(
    demo: Harness, data: Path | None, size: tuple[int, int] = (80, 24)
) -> AsyncIterator[Harness]:
    demo.app = demo.make_app("board", data=data)
    async with demo.app.run_test(size=size, notifications=True) as demo.pilot:
        await at_rest(demo.pilot)
        yield demo


async def press(opened: Harness, *keys: str) -> None:
    for key in keys:
        text = key.removeprefix("type ")
        await opened.press(*([key] if text == key else text))
        screen = opened.app.navigation.screen
        on_board = screen is not None and screen.resource == "board"
        await (at_rest if on_board else settled)(opened.pilot)


async def at_rest(pilot: Pilot[Any]) -> None:
    """Wait until feeds and the history have answered."""
    await settled(pilot)
    recorded = pilot.app.connection_manager._files.data is not None  # type: ignore[attr-defined]
    for _ in range(400):
        board = board_of(pilot.app)  # type: ignore[arg-type]
        recorder = board.recorder
        history = pilot.app.session.history  # type: ignore[attr-defined]
        opened = recorder is not None or not recorded or (history and history.status.error)
        if opened and not has_answered(board):
            await pilot.pause(0.02)
            continue
        if opened:
            await settled(pilot)
            if has_answered(board):
                return
        await pilot.pause(0.02)
    raise AssertionError("the board never came to rest")
