"""A new key, shown once: masked, copied, never left by accident, forgotten afterwards."""

from __future__ import annotations

import pytest
from pydantic import SecretStr
from textual.widgets import Button

from form_kit import HostApp, until
from gwtui.ui.forms.secret import MASK, SecretScreen
from screen_text import shown

SIZES = [(80, 24), (120, 40)]
SECRET = "gw-v1-" + "0123456789abcdef" * 4


def secret() -> SecretScreen:
    return SecretScreen("ci", SecretStr(SECRET))


def on_screen(app: HostApp) -> bool:
    return SECRET in "".join(shown(app).replace("│", "").split())


@pytest.mark.parametrize("size", SIZES)
async def test_the_value_is_masked_until_asked(size: tuple[int, int]) -> None:
    app = HostApp(secret())
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        assert MASK in shown(app)
        assert not on_screen(app)
        assert SECRET[:12] not in app.export_screenshot()
        await pilot.press("v")
        await pilot.pause()
        assert on_screen(app)
        assert app.screen.query_one("#done").region.bottom <= size[1]
        await pilot.press("v")
        await pilot.pause()
        assert not on_screen(app)
        assert SECRET[:12] not in app.export_screenshot()


@pytest.mark.parametrize("key", ["escape", "q", "enter", "ctrl+s"])
async def test_the_value_is_not_left_by_accident(key: str) -> None:
    screen = secret()
    app = HostApp(screen)
    async with app.run_test() as pilot:
        await pilot.press(key)
        await pilot.pause(0.1)
        assert app.results == []
        assert app.screen is screen
        assert screen.unsaved
        assert screen.query_one("#done", Button).disabled


async def test_leaving_takes_saying_so_and_forgets_the_value() -> None:
    screen = secret()
    app = HostApp(screen)
    async with app.run_test() as pilot:
        await pilot.press("q")
        await pilot.pause()
        assert "Tick “I have stored this key” first" in shown(app)
        await pilot.press("space", "tab", "enter")
        await until(pilot, lambda: app.results, "the end of the screen")
        assert not screen.unsaved
        assert screen._value is None
        assert app._clipboard == ""


async def test_the_route_of_a_copy_is_named() -> None:
    app = HostApp(secret())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("y")
        await until(pilot, lambda: "Saved to" in shown(app), "the route")
        assert app._clipboard == ""
        assert not on_screen(app)


async def test_the_value_cannot_be_selected() -> None:
    screen = secret()
    app = HostApp(screen)
    async with app.run_test() as pilot:
        await pilot.press("v")
        await pilot.pause()
        assert not screen.query_one("#secret-value").allow_select


async def test_the_value_is_in_no_title_and_no_repr() -> None:
    screen = secret()
    app = HostApp(screen)
    async with app.run_test() as pilot:
        await pilot.press("v")
        await pilot.pause()
        assert SECRET not in repr(screen)
        assert SECRET not in f"{screen.title}{screen.sub_title}{app.title}"
