"""First steps appear once, over the first rows, never during work; any key closes them."""

from __future__ import annotations

from pathlib import Path

import pytest
from journeys import Terminal, at_rest
from textual.pilot import Pilot
from textual.widgets import Static

from gwtui.local.first_steps import FIRST_STEPS_FILE
from gwtui.local.ledger import Ledger
from gwtui.ui.actions.app import FirstStepsScreen
from gwtui.ui.app import GwtuiApp
from harness import Harness, dashboard, harness, listing, until


async def offered(
    place: Harness, state: Path, *, typed: str = "", read_only: bool = False, columns: int = 80
) -> bool:
    """Whether a start opens the first steps; closes them with a key of the list beneath."""
    app = GwtuiApp(
        lambda: place.connect(read_only=read_only),
        clock=place.clock,
        ledger=Ledger(state / "audit.jsonl"),
        state=state,
    )
    async with app.run_test(size=(columns, 24)) as pilot:
        terminal = Terminal(app)
        if typed:
            terminal.write(typed)
        await until(pilot, lambda: app.session and app.session.completed.is_set(), "the session")
        await until(pilot, lambda: not _offering(app), "the offer")
        await at_rest(app)
        is_offered = isinstance(app.screen, FirstStepsScreen)
        if is_offered:
            screen = app.screen
            assert screen.query_one("#first-steps").region.bottom <= 24
            assert screen.query(".section").last().region.bottom < 24, "the whole dialog is visible"
            about = str(screen.query_one("#first-steps").query(Static)[1].content)
            assert f"You are connected to {app.connection.host_and_port}." in about
            terminal.write("j")
            await at_rest(app)
    return is_offered


def _offering(app: GwtuiApp) -> bool:
    working = any(not worker.is_finished and worker.group == "offers" for worker in app.workers)
    return working and not isinstance(app.screen, FirstStepsScreen)


async def test_first_steps_open_once_and_never_during_work(tmp_path: Path) -> None:
    async with harness() as place:
        assert not await offered(place, tmp_path, read_only=True)
        assert not await offered(place, tmp_path, typed="j")
        assert not await offered(place, tmp_path, columns=70)
        assert not (tmp_path / FIRST_STEPS_FILE).exists()
        assert await offered(place, tmp_path)
        assert (tmp_path / FIRST_STEPS_FILE).stat().st_mode & 0o777 == 0o600
        assert not await offered(place, tmp_path)


async def test_the_key_that_closes_first_steps_does_nothing_else() -> None:
    async with harness() as place, dashboard(place) as (app, pilot):
        identity = listing(app).identity()
        for key in ("j", "n", "D", "q", "e", "enter", "escape", "space", "f", "y"):
            await _offer(app, pilot)
            await pilot.press(key)
            await at_rest(app)
            assert app.screen is listing(app), key
            assert listing(app).identity() == identity, key
            assert not listing(app).table.model.marked, key


@pytest.mark.parametrize(("read_only", "keys"), [(False, "0 / x 7 Ctrl+P"), (True, "0 / 7 Ctrl+P")])
async def test_first_steps_name_only_keys_that_work(read_only: bool, keys: str) -> None:
    async with harness() as place, dashboard(place, read_only=read_only) as (app, pilot):
        await _offer(app, pilot)
        assert isinstance(app.screen, FirstStepsScreen)
        assert app.screen.hint.startswith(f"{keys} start")


async def _offer(app: GwtuiApp, pilot: Pilot[int]) -> None:
    await app.run_action("app.run('app.first_steps')")
    await until(pilot, lambda: isinstance(app.screen, FirstStepsScreen), "the first steps")
    await at_rest(app)
