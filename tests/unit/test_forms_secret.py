"""The screen of a new key says what becomes of the value when the screen is lost."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pydantic import SecretStr
from textual.widgets import Button

from form_kit import HostApp, until
from gwtui.ui.forms.secret import SealStatus, SecretScreen
from screen_text import shown, whole

SECRET = "gw-v1-" + "0123456789abcdef" * 4
UNTIL = datetime(2026, 11, 22, 7, 0, tzinfo=UTC)


def sealed() -> datetime | None:
    return UNTIL


def host(shelter: SealStatus) -> tuple[HostApp, SecretScreen]:
    screen = SecretScreen("ci", SecretStr(SECRET), shelter)
    return HostApp(screen), screen


def words(app: HostApp) -> str:
    return " ".join(shown(app).replace("│", " ").split())


async def test_a_sealed_value_is_said_to_be_offered_again() -> None:
    app, screen = host(SealStatus(sealed))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert "Key created: ci" in words(app)
        assert "is offered again until 2026-11-22 07:00 UTC" in words(app)
        assert "offered again until 2026-11-22 07:00 UTC" in screen.loss
        assert not screen.query("#later")
        await pilot.press("escape")
        await pilot.pause()
        assert app.results == [], "the first sight is not left without an acknowledgement"


async def test_an_unsealed_value_is_said_to_be_lost_with_the_screen() -> None:
    app, screen = host(SealStatus(trouble="No space left on device"))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert "could not be sealed on this machine (No space left on device)" in words(app)
        assert "the value is lost" in words(app)
        assert "cannot be shown again" in screen.loss


@pytest.mark.parametrize(
    ("press", "end"),
    [
        (("escape",), False),
        (("q",), False),
        (("tab", "tab", "tab", "space", "tab", "space"), True),
        (("tab", "tab", "tab", "enter", "enter"), True),
        (("tab", "tab", "tab", "space", "escape"), True),
    ],
)
async def test_a_key_that_is_offered_again_can_be_left_for_later(
    press: tuple[str, ...], end: bool
) -> None:
    app, screen = host(SealStatus(sealed, made="3 min ago"))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert "Never acknowledged: ci, made 3 min ago" in words(app)
        await pilot.press(*press)
        await until(pilot, lambda: app.results, "the end of the screen")
        assert app.results == [end]
        assert screen._value is None


async def test_what_is_no_longer_sealed_cannot_be_left_for_later() -> None:
    left: list[datetime | None] = [UNTIL]
    app, screen = host(SealStatus(lambda: left[0], made="23 h ago"))
    async with app.run_test(size=(80, 24)) as pilot:
        left[0] = None
        await pilot.press("escape")
        await pilot.click("#later")
        await pilot.pause(0.1)
        assert app.results == []
        assert screen.unsaved
        assert "cannot be shown again" in screen.loss


@pytest.mark.parametrize(
    "make",
    [
        lambda: SealStatus(sealed),
        lambda: SealStatus(trouble="/a/long/path/to/a/directory that belongs to another user" * 3),
        lambda: SealStatus(sealed, made="3 min ago"),
    ],
)
@pytest.mark.parametrize("length", [0, 150, 400])
async def test_the_way_out_is_in_sight_whatever_is_said(
    make: Callable[[], SealStatus],
    length: int,
    private_home: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    state = private_home / "state"
    while len(str(state)) < length:
        state /= "a-directory-of-some-length"
    monkeypatch.setenv("XDG_STATE_HOME", str(state))
    app, screen = host(make())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("v", "s")
        await until(pilot, lambda: "Saved to" in shown(app), "the file")
        button = screen.query_one("#done", Button)
        assert button.region.bottom < 24
        assert "Done" in whole(app).splitlines()[button.region.y]
