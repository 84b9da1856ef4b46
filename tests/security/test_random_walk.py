"""Random walks over the whole dashboard: nothing crashes, nothing is written that was not agreed.

100 events by default, 5,000 in each mode with ``GWTUI_FULL=1``.
"""

from __future__ import annotations

import asyncio
import random
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

import pytest
from random_walk import Walk
from random_walk_audit import Witness
from random_walk_gateway import BASE_URL, WalkSite

from gwtui.cli.target import open_target
from gwtui.client.connection import Connection
from gwtui.client.gateway import GatewayClient
from gwtui.contract.keys import CreateKeyRequest, UpdateKeyRequest
from gwtui.local.paths import Paths
from gwtui.ui.app import GwtuiApp
from harness import has_data, quick_clock, until
from screen_text import shown
from thoroughness import FULL, SEED

EVENTS = 5_000 if FULL else 100
pytestmark = pytest.mark.timeout(120 + EVENTS)
MODES = ("flag", "profile", "plain key")


@pytest.fixture
def place(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[WalkSite]:
    monkeypatch.chdir(tmp_path)  # a walk exports lists, and keeps pictures of screens
    one = WalkSite(quick_clock(), management=getattr(request, "param", True))
    yield one
    one.close()


def held_back(mode: str, place: WalkSite, monkeypatch: pytest.MonkeyPatch) -> Connection:
    """A connection that may not write, as the command line makes it."""
    paths = Paths.of_user()
    read_only = "read_only = true\n" if mode == "profile" else ""
    paths.config.mkdir(parents=True, exist_ok=True)
    (paths.config / "profiles.toml").write_text(
        f'[profiles.walk]\nbase_url = "{BASE_URL}"\n{read_only}'
    )
    monkeypatch.setenv("GWTUI_TOKEN", place.token)
    arguments = Namespace(profile="walk", base_url=None, dialect=None, read_only=mode == "flag")
    return open_target(arguments, paths, may_ask=False)


@pytest.mark.parametrize(
    ("mode", "place"),
    [(mode, mode != "plain key") for mode in MODES],
    indirect=["place"],
    ids=MODES,
)
def test_read_only_sends_nothing_but_reads(
    mode: str, place: WalkSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = held_back(mode, place, monkeypatch)
    app = place.app(connection, monkeypatch)

    async def walk() -> None:
        async with app.run_test(size=(80, 24), notifications=True, tooltips=True) as pilot:
            await until(pilot, lambda: app.session is not None and app.read_only, "the gate")
            walk = Walk(pilot, SEED + MODES.index(mode))
            await walk.walk(EVENTS)
            assert app.read_only
            await walk.come_home()
            await app.open_route("providers")
            await until(pilot, lambda: "Provider" in shown(app), "an answer to a key")
            # What every key may read, and much of it: a plain one is refused nearly all the rest.
            await app.open_route("all-endpoints")
            await until(pilot, lambda: place.requests["GET"] > 10, "the endpoints of all models")
            walk.leave()

    asyncio.run(walk())
    assert set(place.requests) <= {"GET"}
    assert place.requests["GET"] > 10
    assert not place.ledger.path.exists()


@pytest.mark.parametrize("critical", [False, True], ids=["dialogs", "typed"])
def test_every_write_was_planned_and_agreed_to(
    critical: bool, place: WalkSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = place.app(place.connection(critical=critical), monkeypatch)
    witness = Witness(place, monkeypatch)

    async def walk() -> None:
        async with (
            place.colleague() as colleague,
            app.run_test(size=(80, 24), notifications=True, tooltips=True) as pilot,
        ):
            await until(pilot, lambda: has_data(app), "the first data")
            disturber = Disturber(app, colleague, SEED)
            walk = Walk(pilot, SEED, (2, disturber.disturb))
            walk.moves += ((25, walk.change),)
            await walk.walk(EVENTS)
            await walk.come_home()
            await app.executor.settle(5)
            await app.open_route("providers")
            await until(pilot, lambda: "Provider" in shown(app), "an answer to a key")
            # What every key may read, and much of it: a plain one is refused nearly all the rest.
            await app.open_route("all-endpoints")
            await until(pilot, lambda: place.requests["GET"] > 10, "the endpoints of all models")
            walk.leave()

    asyncio.run(walk())
    witness.check_end()


class Disturber:
    """Somebody else at the same gateway: rows move while a person decides."""

    def __init__(self, app: GwtuiApp, client: GatewayClient, seed: int) -> None:
        self._app = app
        self._client = client
        self._random = random.Random(seed)

    async def disturb(self) -> None:
        """Make, rename or delete a key, and let the dashboard see it at once."""
        keys = (await self._client.keys.list()).items
        one = self._random.choice(keys)
        match self._random.randrange(3):
            case 0:
                name = f"{self._random.choice('amz')} other {self._random.randrange(1000)}"
                await self._client.keys.create(CreateKeyRequest(name=name))
            case 1:
                name = f"{self._random.choice('amz')} renamed"
                await self._client.keys.update(one.hash or "", UpdateKeyRequest(name=name))
            case 2 if len(keys) > 5:
                await self._client.keys.delete(one.hash or "")
        if self._app.session is not None:
            await self._app.hub.refresh("keys")
