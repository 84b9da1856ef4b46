"""What a session opens before the first rows, and what after them, on the real gateway."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from gwtui.client.services import GuardrailsService, KeysService
from gwtui.domain.clock import SYSTEM_CLOCK
from gwtui.local.ledger import Ledger, LedgerEntry
from gwtui.resources.session import Session, SessionFiles, open_session
from gwtui.ui.app import GwtuiApp
from gwtui.ui.navigation import Location, Navigation
from gwtui.ui.screens.base import GatewayScreen
from gwtui.watch.feeds.ledger import unresolved_feed
from harness import Harness, harness, has_data, listing, until
from headless_kit import site as served_site

OWN_MODULES = 150
"""How many modules of this program are loaded by the first rows of the keys, at most."""
LATER = (
    "gwtui.contract.usage",
    "gwtui.contract.completion",
    "gwtui.contract.content_filters",
    "gwtui.contract.current_key",
    "gwtui.contract.errors",
    "gwtui.contract.guardrails",
    "gwtui.contract.models",
    "gwtui.crud.executor",
    "gwtui.domain.alert_rules",
    "gwtui.local.ledger",
    "gwtui.watch.alerts",
    "gwtui.watch.history.recorder",
    "sqlite3",
)
"""What the first rows wait for no more."""


def test_the_first_rows_load_only_what_reading_needs() -> None:
    place = served_site().gateway
    program = (
        "import asyncio, json, sys\n"
        "import gwtui.cli.main, gwtui.cli.dashboard, gwtui.ui.app, gwtui.ui.screens.resource\n"
        "from gwtui.domain.clock import SYSTEM_CLOCK\n"
        "from gwtui.resources.registry import RESOURCES\n"
        "from gwtui.resources.session import open_session\n"
        "from gwtui.ui.commands import offered\n"
        "from gwtui.watch.hub import Scope\n"
        "from gwtui.client.connection import Connection\n"
        "from pydantic import SecretStr\n"
        "async def work():\n"
        "    offered(('keys', 'list', 'app'))\n"
        f"    connection = Connection({place.base_url!r}, SecretStr({place.management!r}))\n"
        "    async with open_session(connection, SYSTEM_CLOCK) as session:\n"
        "        state = await RESOURCES['keys'].feed(session.hub, Scope()).refresh()\n"
        "        own = [name for name in sys.modules if name.partition('.')[0] == 'gwtui']\n"
        f"        later = [name for name in {LATER!r} if name in sys.modules]\n"
        "        print(json.dumps([len(state.value), len(own), later]))\n"
        "asyncio.run(work())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    rows, own, later = json.loads(done.stdout)
    assert rows
    assert later == []
    assert own <= OWN_MODULES


async def test_the_rest_is_opened_once_the_first_rows_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A busy machine may take longer than the rest waits at most.
    monkeypatch.setattr("gwtui.ui.connection._FIRST_ROWS", 60.0)
    rows: dict[str, int] = {}
    ahead: list[bool] = []
    make = Navigation._make

    def note(owner: type[Any], name: str) -> None:
        before = vars(owner)[name]

        async def noted(self: Any, *given: Any, **named: Any) -> Any:
            rows.setdefault(name, listing(app).table.visible_count)
            return await before.__get__(self, owner)(*given, **named)

        monkeypatch.setattr(owner, name, noted)

    def making(self: Navigation, place: Location) -> GatewayScreen:
        ahead.append(any(feed.name == "keys" and feed.state.refreshing for feed in app.hub.feeds))
        return make(self, place)

    note(Session, "complete")
    note(KeysService, "current")
    note(GuardrailsService, "list")
    monkeypatch.setattr(Navigation, "_make", making)
    async with harness() as place:
        app = app_on(place, tmp_path)
        async with app.run_test(size=(120, 40)) as pilot:
            await until(pilot, lambda: has_data(app), "the keys")
            await until(pilot, lambda: app.session and app.session.completed.is_set(), "the rest")
            await until(pilot, lambda: app.session.recorder, "the recorder")
            await until(pilot, lambda: len(rows) == 3, "what completes the rows")
            assert ahead == [True]  # the rows were being read before their screen was made
            assert min(rows.values()) > 0


async def test_a_feed_that_needs_the_rest_has_it_opened(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "audit.jsonl")
    async with harness() as place, place.connect() as connection:
        at = datetime.now(UTC)
        ledger.record(
            LedgerEntry(
                id="lost",
                outcome="intent",
                at=at,
                action="keys.create",
                resource="keys",
                gateway=connection.base_url,
            )
        )
        async with open_session(connection, SYSTEM_CLOCK, SessionFiles(ledger)) as session:
            assert not session.completed.is_set()
            found = (await unresolved_feed(session.hub).refresh()).value
            assert session.completed.is_set()
            assert [one.id for one in found or ()] == ["lost"]


def app_on(place: Harness, folder: Path) -> GwtuiApp:
    return GwtuiApp(
        place.connect,
        clock=place.clock,
        ledger=Ledger(folder / "audit.jsonl"),
        data=folder / "data",
        config=folder,
    )
