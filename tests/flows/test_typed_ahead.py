"""A burst of keys, as over a stalled line or from a macro, acts like single key presses.

``GWTUI_FULL=1`` types every journey, and 200 random bursts of them.
"""

from __future__ import annotations

import asyncio
import random
import time
from pathlib import Path
from typing import Any

import pytest
from journeys import JOURNEYS, Journey, Terminal, at_rest, journey_harness, tokens
from textual import events
from textual.geometry import Size
from textual.pilot import Pilot
from textual.widgets import Input

from gwtui.ui import input_queue
from gwtui.ui.app import GwtuiApp
from gwtui.ui.forms.confirm import ConfirmScreen
from gwtui.ui.forms.form_screen import FormScreen
from gwtui.ui.screens.dialogs import TooSmallScreen
from gwtui.ui.screens.picker import Picker
from harness import Harness, dashboard, harness, listing, notices, settled, until
from resizing_kit import resize
from thoroughness import FULL, SEED

ROUNDS = 200 if FULL else 2
SAMPLE = (
    *("new key", "edit a key", "disable two keys and undo both", "filter, clear, filter"),
    *("a name in an unread list", "another profile by its chooser"),
    *("palette to a form", "marks", "rotate a key and fix a finding", "time cursor"),
    *("guardrail with providers", "delete on a critical profile"),
)
pytestmark = pytest.mark.timeout(120 + 8 * ROUNDS)

Outcome = dict[str, Any]
_outcomes: dict[str, Outcome] = {}


async def typed(journey: Journey, folder: Path, way: Any) -> Outcome:
    """The outcome of a journey, typed in some way, on a separate gateway."""
    async with harness() as place, journey_harness(place, folder, journey) as desk:
        await way(desk, journey.tokens)
        return await desk.outcome()


async def slowly(name: str, folder: Path) -> Outcome:
    """The expected outcome."""
    if name not in _outcomes:
        _outcomes[name] = await typed(JOURNEYS[name], folder, lambda item, keys: item.slowly(keys))
    return _outcomes[name]


@pytest.mark.parametrize("name", JOURNEYS if FULL else SAMPLE)
async def test_a_journey_in_one_burst_ends_as_typed_slowly(name: str, tmp_path: Path) -> None:
    expected = await slowly(name, tmp_path / "slowly")
    at_once = await typed(JOURNEYS[name], tmp_path / "once", lambda item, keys: item.at_once(keys))
    assert at_once == expected


async def test_journeys_in_random_pieces_end_as_typed_slowly(tmp_path: Path) -> None:
    chance = random.Random(SEED)
    for number in range(ROUNDS):
        name = chance.choice([*JOURNEYS] if FULL else SAMPLE)
        expected = await slowly(name, tmp_path / name)
        seed = chance.randrange(1 << 30)
        outcome = await typed(
            JOURNEYS[name],
            tmp_path / str(number),
            lambda desk, keys, seed=seed: desk.cut_up(keys, random.Random(seed)),
        )
        assert outcome == expected, (name, seed)


# A gateway that does not respond ------------------------------------------------------------------


class Silent:
    """A dashboard with rows whose gateway no longer responds."""

    def __init__(self, demo: Harness, app: GwtuiApp, pilot: Pilot[int]) -> None:
        self.demo = demo
        self.app = app
        self.pilot = pilot
        self.terminal = Terminal(app)

    def type(self, keys: str) -> None:
        self.terminal.write("".join(tokens(keys)))

    async def until(self, holds: Any) -> None:
        await until(self.pilot, holds, f"it; {notices(self.app)}")


@pytest.fixture
async def silent(demo: Harness) -> Any:
    app = demo.make_app()
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        await settled(pilot)
        demo.fault = "silent"
        yield Silent(demo, app, pilot)
        demo.fault = ""


@pytest.fixture
def endless_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hold typed input for ten minutes, so that a slow machine does not drop it."""
    monkeypatch.setattr(input_queue, "PATIENCE", 600.0)


async def test_keys_typed_for_an_unopened_screen_are_dropped_and_counted(silent: Silent) -> None:
    identity = listing(silent.app).table.selected_identity
    started = time.monotonic()
    silent.type("Dsk-secret-123<enter>jj<paste:sk-secret-456>")
    await silent.until(lambda: "dropped" in notices(silent.app))
    assert time.monotonic() - started > input_queue.PATIENCE
    notice = notices(silent.app)
    assert "17 keys typed ahead were dropped" in notice
    assert "secret" not in notice
    assert silent.app.screen is listing(silent.app)
    assert listing(silent.app).table.selected_identity == identity
    # The dialog is closed, so new input is meant for the list.
    silent.type("j")
    await silent.until(lambda: listing(silent.app).table.selected_identity != identity)


async def test_input_is_dropped_until_typing_pauses(silent: Silent) -> None:
    identity = listing(silent.app).table.selected_identity
    silent.type("Dj")
    await silent.until(lambda: silent.app._typed._reporting is not None)
    silent.type("jjjjjj")
    await silent.until(lambda: "7 keys typed ahead" in notices(silent.app))
    assert listing(silent.app).table.selected_identity == identity


@pytest.mark.usefixtures("endless_patience")
async def test_a_form_that_reads_nothing_gets_the_typed_text(silent: Silent) -> None:
    silent.type("nci<tab>25")
    await silent.until(lambda: isinstance(silent.app.screen, FormScreen))
    await at_rest(silent.app)
    form = silent.app.screen
    assert isinstance(form, FormScreen)
    assert (form.state.typed("name"), form.state.typed("limit")) == ("ci", "25")


@pytest.mark.usefixtures("endless_patience")
async def test_keys_that_open_nothing_do_not_block_input(silent: Silent) -> None:
    table = listing(silent.app).table
    silent.type("rj")
    await silent.until(lambda: table.selected_identity == table.model.order[1])
    # A confirmed change: input continues once the list is visible again.
    silent.demo.fault = ""
    silent.type("x")
    await silent.until(lambda: isinstance(silent.app.screen, ConfirmScreen))
    silent.demo.fault = "silent"
    silent.type("y")
    await silent.until(lambda: silent.app.screen is listing(silent.app))
    await silent.until(lambda: not silent.app._typed.pending)
    silent.type("j")
    await silent.until(lambda: table.selected_identity == table.model.order[2])


@pytest.mark.usefixtures("endless_patience")
@pytest.mark.parametrize(
    "typed", [":credits<enter>", ":activity<enter>", ":key<enter>", ":keys<enter>/airflow<enter>"]
)
async def test_keys_for_rows_wait_until_the_rows_are_read(typed: str, demo: Harness) -> None:
    app = demo.make_app(start="models")
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        await settled(pilot)
        demo.released = asyncio.Event()
        item = Silent(demo, app, pilot)
        item.type(f"{typed}y")
        await asyncio.sleep(0.6)
        demo.released.set()
        await item.until(lambda: isinstance(app.screen, Picker))


@pytest.mark.usefixtures("endless_patience")
async def test_resizing_and_quitting_are_never_queued(silent: Silent) -> None:
    silent.type("D")
    await silent.until(lambda: silent.app._typed.pending)
    resize(silent.app, Size(40, 10))
    await silent.until(lambda: isinstance(silent.app.screen, TooSmallScreen))
    silent.type("jjj<ctrl+c>")
    await silent.until(lambda: silent.app._exit)
    assert "3 keys typed ahead were dropped" in notices(silent.app)


async def test_clicks_and_pastes_keep_their_order_among_keys() -> None:
    async with harness() as place, dashboard(place, size=(100, 30)) as (app, pilot):
        terminal = Terminal(app)
        terminal.write("".join(tokens("n")))
        await until(pilot, lambda: isinstance(app.screen, FormScreen), "the form")
        await at_rest(app)
        limit = app.screen.query(Input)[1]
        x, y = limit.region.offset
        await pilot.press("escape")
        await at_rest(app)
        terminal.write("".join(tokens(f"nab<paste:cd>e<click:{x},{y}>2<paste:5>0")))
        await at_rest(app)
        assert isinstance(app.screen, FormScreen)
        form = app.screen.state
        assert (form.typed("name"), form.typed("limit")) == ("abcde", "250")


async def test_a_briefly_hidden_list_keeps_the_focus() -> None:
    """The message that hides it arrives after it is shown again."""
    async with harness() as place, dashboard(place) as (app, pilot):
        table = listing(app).table
        assert app.focused is table
        table.post_message(events.Hide())
        await pilot.pause()
        await pilot.press("j")
        assert table.selected_identity == table.model.order[1]
