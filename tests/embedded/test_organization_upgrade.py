"""A database of the first schema version gains what the world has had since, once."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from gateway_kit import Bench, HandClock, bench

from gwtui.embedded.errors import DatabaseUnusableError
from gwtui.embedded.gateway import EmbeddedGateway
from gwtui.embedded.store.database import Database
from gwtui.embedded.store.schema import APPLICATION_ID, MIGRATIONS, SCHEMA_VERSION

FIRST_TABLES = ("settings", "account", "workspaces", "api_keys", "usage_days")


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A simulated database as the first schema version would have founded it."""
    return first_version(tmp_path)


def first_version(folder: Path, content: Any = "simulated") -> Path:
    current, old = folder / "current.sqlite3", folder / "old.sqlite3"
    EmbeddedGateway.open(current, content=content, clock=HandClock().clock).close()
    with closing(sqlite3.connect(old)) as db:
        for statement in MIGRATIONS[0]:
            db.execute(statement)
        db.execute("ATTACH ? AS current", (str(current),))
        for table in FIRST_TABLES:
            names = ", ".join(row[1] for row in db.execute(f"PRAGMA main.table_info({table})"))
            copy = f"INSERT INTO main.{table} ({names}) SELECT {names} FROM current.{table}"  # noqa: S608 - names of our own tables
            db.execute(copy)
        db.execute("DELETE FROM main.settings WHERE name LIKE 'furnished%'")
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        db.execute("PRAGMA user_version = 1")
        db.commit()
    return old


async def everything(gate: Bench) -> dict[str, Any]:
    found = {"people": await gate.data("GET", "/organization/members")}
    for workspace in await gate.data("GET", "/workspaces"):
        # Which tools are disabled is for people to decide, a version does not do it for them.
        found[workspace["slug"]] = {**workspace, "disabled_server_tools": None}
        for inside in ("members", "budgets"):
            path = f"/workspaces/{workspace['id']}/{inside}"
            found[f"{workspace['slug']} {inside}"] = await gate.data("GET", path)
    found["credits"] = await gate.data("GET", "/credits")
    return found


@pytest.mark.parametrize("content", ["simulated", "empty"])
async def test_an_upgraded_database_is_as_if_founded_now(tmp_path: Path, content: Any):
    old = first_version(tmp_path, content)
    async with bench(old, clock=HandClock()) as gate:
        upgraded = await everything(gate)
    async with bench(clock=HandClock(), content=content) as gate:
        assert upgraded == await everything(gate)
    with closing(sqlite3.connect(old)) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)
        assert db.execute("PRAGMA foreign_key_check").fetchall() == []


def test_what_workspaces_spent_is_counted_from_their_keys(old: Path, tmp_path: Path):
    EmbeddedGateway.open(old, clock=HandClock().clock).close()
    spent = "SELECT * FROM workspace_usage_days WHERE usage_pico OR byok_usage_pico ORDER BY 1, 2"
    with (
        closing(sqlite3.connect(old)) as upgraded,
        closing(sqlite3.connect(tmp_path / "current.sqlite3")) as founded,
    ):
        rows = upgraded.execute(spent).fetchall()
        assert rows == founded.execute(spent).fetchall()
        assert len(rows) > 50


async def test_what_was_taken_away_does_not_come_back(old: Path):
    async with bench(old, clock=HandClock()) as gate:
        await gate.call("DELETE", "/workspaces/production/budgets/daily", expect=200)
        await gate.call("DELETE", "/workspaces/partner-portal", expect=200)
        before = await everything(gate)
    async with bench(old, clock=HandClock()) as gate:
        assert await everything(gate) == before


async def test_keys_of_an_older_database_work_and_are_used(old: Path):
    clock = HandClock()
    async with bench(old, clock=clock) as gate:
        before = await gate.data("GET", "/credits")
        clock.forward(hours=3)
        assert (await gate.data("GET", "/credits"))["total_usage"] > before["total_usage"]
        _, key = await gate.create()
        await gate.call("GET", "/key", token=key, expect=200)


def test_a_visitor_does_not_upgrade(old: Path):
    with pytest.raises(DatabaseUnusableError, match="serve it once with this version"):
        Database.visit(old)
