"""The screen of a new key says what becomes of the value when the screen is lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import SecretStr
from textual.widgets import Button

from form_kit import HostApp, until
from gwtui.ui.forms.secret import SecretScreen
from screen_text import shown, whole

SECRET = "gw-v1-" + "0123456789abcdef" * 4


def host() -> tuple[HostApp, SecretScreen]:
    screen = SecretScreen("ci", SecretStr(SECRET))
    return HostApp(screen), screen


def words(app: HostApp) -> str:
    return " ".join(shown(app).replace("│", " ").split())


async def test_a_new_value_is_said_to_be_lost_with_its_screen() -> None:
    app, screen = host()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert "Key created: ci" in words(app)
        assert "the value is lost" in words(app)
        assert "offers to delete the key and create it again" in words(app)
        assert "cannot be shown again" in screen.loss
        await pilot.press("escape")
        await pilot.pause()
        assert app.results == [], "it is not left without an acknowledgement"
        assert screen.unsaved


@pytest.mark.parametrize("leave", [("tab", "space"), ("escape",), ("q",)])
async def test_it_is_left_once_the_box_is_ticked(leave: tuple[str, ...]) -> None:
    app, screen = host()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await pilot.press("tab", "tab", "tab", "space", *leave)
        await until(pilot, lambda: app.results, "the end of the screen")
        assert screen._value is None


@pytest.mark.parametrize("length", [0, 150, 400])
async def test_the_way_out_is_in_sight_whatever_is_said(
    length: int,
    private_home: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    state = private_home / "state"
    while len(str(state)) < length:
        state /= "a-directory-of-some-length"
    monkeypatch.setenv("XDG_STATE_HOME", str(state))
    app, screen = host()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("v", "s")
        await until(pilot, lambda: "Saved to" in shown(app), "the file")
        button = screen.query_one("#done", Button)
        assert button.region.bottom < 24
        assert "Done" in whole(app).splitlines()[button.region.y]
