"""A new key, shown once: masked, copied, not closed by accident, forgotten afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import SecretStr
from textual.widgets import Button

from form_kit import HostApp, until
from gwtui.ui.forms.secret import MASK, SecretScreen
from screen_text import screen_text, terminal_text

SECRET = "gw-v1-" + "0123456789abcdef" * 4


def host() -> tuple[HostApp, SecretScreen]:
    screen = SecretScreen("ci", SecretStr(SECRET))
    return HostApp(screen), screen


def words(app: HostApp) -> str:
    return " ".join(screen_text(app).replace("│", " ").split())


async def test_the_secret_is_masked_until_revealed() -> None:
    app, screen = host()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert "Key created: ci" in words(app)
        assert "replace the key" in words(app)
        for visible in (False, True, False):
            assert (SECRET in words(app).replace(" ", "")) is visible
            assert (MASK in screen_text(app)) is not visible
            assert visible or SECRET[:12] not in app.export_screenshot()
            await pilot.press("v")
            await pilot.pause()
        assert not screen.query_one("#secret-value").allow_select
        assert SECRET not in f"{screen!r}{screen.title}{screen.sub_title}{app.title}"


@pytest.mark.parametrize("key", ["escape", "q", "enter", "ctrl+s"])
async def test_the_secret_screen_is_not_closed_by_accident(key: str) -> None:
    app, screen = host()
    async with app.run_test() as pilot:
        await pilot.press(key)
        await pilot.pause(0.1)
        assert app.results == []
        assert app.screen is screen
        assert screen.unsaved
        assert "cannot be shown again" in screen.loss
        assert screen.query_one("#done", Button).disabled
        assert ("To close this, tick" in words(app)) is (key in ("escape", "q"))


@pytest.mark.parametrize("leave", [("tab", "space"), ("tab", "enter"), ("escape",), ("q",)])
async def test_the_screen_closes_once_the_box_is_ticked(leave: tuple[str, ...]) -> None:
    app, screen = host()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("tab", "tab", "tab", "space", *leave)
        await until(pilot, lambda: app.results, "the end of the screen")
        assert screen._value is None
        assert not screen.unsaved


async def test_the_route_of_a_copy_is_named() -> None:
    app, _ = host()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("y")
        await until(pilot, lambda: "Saved to" in screen_text(app), "the route")
        assert app._clipboard == ""
        assert MASK in screen_text(app)


@pytest.mark.parametrize("length", [0, 150, 400])
async def test_the_close_key_is_always_visible(
    length: int, private_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = private_home / "state"
    while len(str(state)) < length:
        state /= "a-directory-of-some-length"
    monkeypatch.setenv("XDG_STATE_HOME", str(state))
    app, screen = host()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("v", "s")
        await until(pilot, lambda: "Saved to" in screen_text(app), "the file")
        button = screen.query_one("#done", Button)
        assert button.region.bottom < 24
        assert "Done" in terminal_text(app).splitlines()[button.region.y]
