"""A gateway that does not answer: what is waited for is said, and Escape ends a read."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

import pytest

from gwtui.ui.app import GwtuiApp
from gwtui.ui.forms.confirm import ConfirmScreen
from gwtui.ui.forms.form_screen import FormScreen
from gwtui.ui.screens.dialogs import AskScreen
from gwtui.ui.widgets.frame import HeaderBar
from gwtui.watch.feeds.findings import findings_feed
from gwtui.watch.hub import Scope
from harness import Harness, line, listing, notices, settled, until
from screen_text import shown

SIZE = (100, 30)


@pytest.fixture
async def demo() -> AsyncIterator[Harness]:
    made = Harness()
    yield made
    made.close()


def said(pattern: str, text: str) -> bool:
    return re.search(pattern, text) is not None


def status(app: GwtuiApp) -> str:
    return line(listing(app), "status")


def header(app: GwtuiApp) -> str:
    return listing(app).query_one(HeaderBar).text


async def test_what_an_action_reads_is_said_and_escape_ends_it(demo: Harness) -> None:
    app = demo.make_app()
    async with app.run_test(size=SIZE, notifications=True) as pilot:
        await settled(pilot)
        demo.fault = "silent"
        await pilot.press("x")
        await until(pilot, lambda: said(r"Reading the key… \d+ s · Esc cancels", status(app)), "it")
        await pilot.press("escape")
        await until(pilot, lambda: "Cancelled: nothing was sent" in notices(app), "the end")
        await until(pilot, lambda: "Reading" not in status(app), "the status line")
        assert app.screen is listing(app)


async def test_a_lost_answer_is_said_before_anything_is_read(demo: Harness) -> None:
    app = demo.make_app()
    async with app.run_test(size=SIZE, notifications=True) as pilot:
        await settled(pilot)
        leave = findings_feed(app.hub, Scope()).watch(lambda _: None)  # read after each write
        await pilot.press("x")
        await until(pilot, lambda: isinstance(app.screen, ConfirmScreen), "the plan")
        demo.write_faults, demo.fault = ["503"], "silent"
        await pilot.press("y")
        await until(pilot, lambda: isinstance(app.screen, AskScreen), "the notice", seconds=10)
        assert "the answer was lost" in shown(app)
        leave()


async def test_a_change_without_an_answer_says_for_how_long(demo: Harness) -> None:
    app = demo.make_app()
    async with app.run_test(size=SIZE) as pilot:
        await settled(pilot)
        await pilot.press("x")
        await until(pilot, lambda: isinstance(app.screen, ConfirmScreen), "the plan")
        demo.write_faults = ["silent"]
        await pilot.press("y")
        await until(pilot, lambda: said(r"Sending the change… \d+ s", status(app)), "it")
        assert "Esc cancels" not in status(app)
        await pilot.press("escape")
        assert app.executor.in_flight == 1, "what was sent is waited for"


async def test_a_form_says_what_it_waits_for_and_keeps_what_was_typed(demo: Harness) -> None:
    app = demo.make_app()
    async with app.run_test(size=SIZE, notifications=True) as pilot:
        await settled(pilot)
        await pilot.press("e")
        await until(pilot, lambda: isinstance(app.screen, FormScreen), "the form")
        await settled(pilot)
        await pilot.press("end", "z", "z")
        demo.fault = "silent"
        await pilot.press("ctrl+s")
        await until(pilot, lambda: said(r"Reading .*… \d+ s · Esc cancels", shown(app)), "it")
        await pilot.press("escape")
        await until(pilot, lambda: "Cancelled: nothing was sent" in notices(app), "the end")
        form = app.screen
        assert isinstance(form, FormScreen)
        assert str(form.state.typed("name")).endswith("zz")
        assert not said(r"Reading .*… \d+ s", shown(app))


async def test_polls_without_an_answer_are_said_in_the_header(demo: Harness) -> None:
    app = demo.make_app()
    async with app.run_test(size=SIZE) as pilot:
        await settled(pilot)
        assert "updated" in status(app)
        assert "NO ANSWER" not in header(app)
        demo.fault = "silent"
        await pilot.press("r")
        await until(pilot, lambda: "NO ANSWER" in header(app), "the header")
        await until(pilot, lambda: "last good data" in status(app), "the status line")
