"""A new key survives the dashboard that made it, on the real embedded gateway."""

from __future__ import annotations

import errno
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from textual.pilot import Pilot
from textual.screen import Screen

from gwtui.client.gateway import GatewayClient
from gwtui.local.journal import Journal, JournalEntry
from gwtui.local.sealed_keys import DIRECTORY, LIFETIME, SealedKeys, SealError
from gwtui.resources.actions import by_id
from gwtui.resources.session import SessionFiles, open_session
from gwtui.ui.actions.sealed_keys import sweep
from gwtui.ui.app import GwtuiApp
from gwtui.ui.forms.confirm import ConfirmScreen
from gwtui.ui.forms.form_screen import FormScreen
from gwtui.ui.forms.secret import SecretScreen
from gwtui.ui.screens.dialogs import AskScreen
from screen_text import shown
from shell_kit import START, Site, dashboard, listing, notices, site, until

BASE_URL = "http://localhost/api/v1"


@pytest.fixture
async def place() -> AsyncIterator[Site]:
    async with site() as one:
        yield one


def sealed_files(folder: Path) -> list[Path]:
    return sorted((folder / DIRECTORY).glob("*"))


def every_byte(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def sealed(place: Site, folder: Path, token: str = "") -> SealedKeys:
    secret = SecretStr(token or place.token)
    return SealedKeys(folder / DIRECTORY, BASE_URL, secret, place.clock.now)


@pytest.fixture
def state(tmp_path: Path) -> Iterator[Path]:
    """The state directory: none of its files ever holds the value of a key."""
    folder = tmp_path / "state"
    folder.mkdir(mode=0o700)
    yield folder
    assert b"gw-v1-" not in every_byte(folder)


async def on_screen(app: GwtuiApp, pilot: Pilot[int], kind: type[Screen[Any]]) -> Any:
    await until(pilot, lambda: isinstance(app.screen, kind), kind.__name__)
    return app.screen


async def create(app: GwtuiApp, pilot: Pilot[int]) -> SecretScreen:
    await pilot.press("n")
    await on_screen(app, pilot, FormScreen)
    await pilot.press(*"zz new", "tab", "5", "ctrl+s")
    return await on_screen(app, pilot, SecretScreen)  # type: ignore[no-any-return]


async def acknowledge(app: GwtuiApp, pilot: Pilot[int]) -> None:
    app.screen.query_one("#stored").focus()
    await pilot.press("space", "tab", "enter")
    await until(pilot, lambda: app.screen is listing(app), "the list")


def value_of(screen: SecretScreen) -> str:
    assert screen._value is not None
    return screen._value.get_secret_value()


async def test_a_key_that_was_not_acknowledged_is_offered_until_it_is(
    place: Site, state: Path
) -> None:
    async with dashboard(place, state, size=(80, 24)) as (app, pilot):
        value = value_of(await create(app, pilot))
        assert value.startswith("gw-v1-")
        assert "offered again until 2026-11-22 07:0" in str(app.would_be_lost())
        (file,) = sealed_files(state)
        assert value.encode() not in file.read_bytes()
        # Dropped here: nothing was acknowledged.
    async with dashboard(place, state, size=(80, 24), loaded=False) as (app, pilot):
        await on_screen(app, pilot, AskScreen)
        assert "“zz new”, made " in " ".join(shown(app).split())
        await pilot.press("escape")
        await until(pilot, lambda: "Keys never acknowledged" in notices(app), "where it is")
        assert sealed_files(state) == [file]
        for end in ("escape", ""):
            await app.perform(by_id("app.unacknowledged"), listing(app).capture())
            screen = await on_screen(app, pilot, SecretScreen)
            assert value_of(screen) == value
            assert "gw-v1-" not in shown(app)
            if end:
                await pilot.press(end)
                await until(pilot, lambda: app.screen is listing(app), "the list")
                assert sealed_files(state) == [file]
        await acknowledge(app, pilot)
        await until(pilot, lambda: not sealed_files(state), "the end of the file")
        await app.perform(by_id("app.unacknowledged"), listing(app).capture())
        await until(pilot, lambda: "No key waits" in notices(app), "that there is none")
    async with place.connect(token=value) as connection, GatewayClient(connection) as client:
        assert (await client.keys.current()).label


async def test_where_nothing_can_be_sealed_it_is_said_before_anything_is_sent(
    place: Site, state: Path
) -> None:
    (state / DIRECTORY).write_text("in the way")
    async with dashboard(place, state, size=(80, 24)) as (app, pilot):
        before = listing(app).table.total_count
        await pilot.press("n")
        await on_screen(app, pilot, FormScreen)
        await pilot.press(*"zz new")
        assert app.session is not None
        for length in (0, 130, 140, 150, 160, 300):
            # However long the path of the state directory is: at least so many characters.
            folder = state / ("x" * min(200, length - len(str(state)) - 1))
            folder.mkdir(mode=0o700, exist_ok=True)
            (folder / DIRECTORY).write_text("in the way")
            app.session.sealed.directory = folder / DIRECTORY
            await pilot.press("ctrl+s")
            await on_screen(app, pilot, ConfirmScreen)
            said = " ".join(shown(app).replace("│", " ").split())
            assert "cannot be sealed on this machine" in said, length
            assert "nobody can see it again" in said, length
            await pilot.press("escape")
            await on_screen(app, pilot, FormScreen)
        await app.hub.refresh("keys")
        assert listing(app).table.total_count == before
        await pilot.press("ctrl+s")
        await on_screen(app, pilot, ConfirmScreen)
        await pilot.press("y")
        await on_screen(app, pilot, SecretScreen)
        assert "could not be sealed on this machine" in " ".join(shown(app).split())
        assert "cannot be shown again" in str(app.would_be_lost())
        await acknowledge(app, pilot)


async def test_after_a_key_that_was_sealed_a_full_disk_is_told_and_the_journal_is_right(
    place: Site, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: SealedKeys, *given: object, **named: object) -> None:
        raise SealError(OSError(errno.ENOSPC, "No space left on device").strerror)

    async with dashboard(place, state) as (app, pilot):
        await create(app, pilot)
        assert len(sealed_files(state)) == 1
        await acknowledge(app, pilot)
        await until(pilot, lambda: not sealed_files(state), "the end of the file")
        monkeypatch.setattr(SealedKeys, "seal", full)
        screen = await create(app, pilot)
        assert value_of(screen)
        assert "(No space left on device)" in shown(app)
        events = [entry.event for entry in app.executor.journal.entries()]
        assert events == ["intent", "applied"] * 2
        await acknowledge(app, pilot)


async def test_a_key_sealed_under_another_token_is_said_and_left_alone(
    place: Site, state: Path
) -> None:
    older = sealed(place, state, token="the-token-before")
    older.seal("p1", SecretStr("gw-v1-x"), name="ci", key_hash="h", made_at=START)
    older.close()
    (file,) = sealed_files(state)
    (state / DIRECTORY / "junk.sealed").write_bytes(b"\xff not a seal")
    async with dashboard(place, state) as (app, pilot):
        await until(pilot, lambda: "sealed under another token" in notices(app), "the notice")
        await app.perform(by_id("app.unacknowledged"), listing(app).capture())
        await until(pilot, lambda: "Damaged: 1" in notices(app), "the report")
        assert app.screen is listing(app)
        assert file in sealed_files(state)


async def test_what_waited_too_long_is_wiped_while_the_dashboard_runs(
    place: Site, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with dashboard(place, state) as (app, pilot):
        waiting = sealed(place, state)
        waiting.seal("p1", SecretStr("gw-v1-x"), name="ci", key_hash="h", made_at=START)
        later = place.clock.now() + LIFETIME
        assert app.session is not None
        monkeypatch.setattr(app.session.sealed, "_now", lambda: later)
        app.run_worker(sweep(app))
        await until(pilot, lambda: "wiped now, its time was over: ci" in notices(app), "the word")
        assert sealed_files(state) == []


async def test_a_sealed_key_settles_what_the_journal_does_not_know(
    place: Site, state: Path
) -> None:
    """Killed between the sealing and the journal's last line."""
    journal = Journal(state / "journal.jsonl")
    facts: dict[str, Any] = {"action": "keys.create", "resource": "keys", "gateway": BASE_URL}
    at = datetime(2026, 11, 21, 6, 59, tzinfo=UTC)
    for plan in ("made", "unknown"):
        journal.record(JournalEntry(plan, "intent", at, {**facts, "identity": None}))
    earlier = sealed(place, state)
    earlier.seal("made", SecretStr("gw-v1-x"), name="ci", key_hash="h", made_at=at)
    earlier.close()
    async with (
        place.connect() as connection,
        open_session(connection, place.clock, SessionFiles(journal)) as session,
    ):
        await session.complete()
        assert [intent.id for intent in journal.open_intents()] == ["unknown"]
        assert [key.id for key in session.sealed.find().keys] == ["made"]
