"""What a session loads before the first rows and afterwards, on the real gateway."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from gwtui.domain.clock import SYSTEM_CLOCK
from gwtui.local.ledger import Ledger, LedgerEntry
from gwtui.resources.session import SessionFiles, open_session
from gwtui.watch.feeds.ledger import unresolved_feed
from harness import harness
from headless_kit import faulty_gateway

OWN_MODULES = 150
"""Maximum number of gwtui modules loaded before the first rows of the keys."""
LATER = (
    "gwtui.contract.usage",
    "gwtui.contract.completion",
    "gwtui.contract.content_filters",
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
"""Modules that are loaded after the first rows."""


def test_the_first_rows_load_no_write_modules() -> None:
    place = faulty_gateway().gateway
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
    process = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert process.returncode == 0, process.stderr[-2000:]
    rows, module_count, later = json.loads(process.stdout)
    assert rows
    assert later == []
    assert module_count <= OWN_MODULES


async def test_a_feed_opens_the_rest_of_the_session_when_needed(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "audit.jsonl")
    async with harness() as place, place.connect() as connection:
        moment = datetime.now(UTC)
        ledger.record(
            LedgerEntry(
                id="lost",
                outcome="intent",
                at=moment,
                action="keys.create",
                resource="keys",
                gateway=connection.base_url,
            )
        )
        async with open_session(connection, SYSTEM_CLOCK, SessionFiles(ledger)) as session:
            assert not session.completed.is_set()
            result = (await unresolved_feed(session.hub).refresh()).value
            assert session.completed.is_set()
            assert [item.id for item in result or ()] == ["lost"]
