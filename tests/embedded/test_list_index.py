"""Pages far down a list of keys: found from a known place, and never from an outdated one."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from gateway_kit import START, Bench, HandClock, bench

from gwtui.contract.dialects import DIALECTS, Dialect
from gwtui.contract.keys import ApiKey
from gwtui.contract.scalars import timestamp_text
from gwtui.contract.values import KEYS_PAGE
from gwtui.embedded import wire
from gwtui.embedded.gateway import EmbeddedGateway
from gwtui.embedded.store import guardrails, keys, list_index, workspaces
from gwtui.embedded.store.database import Database
from gwtui.embedded.store.table import from_micros, from_pico, to_micros
from large_account import fill

KEYS = 3_300
NOW = datetime(2026, 11, 21, 7, 0, tzinfo=UTC)
EVERYTHING = {"include_disabled": True, "include_expired": True}
WORKING = {"include_disabled": False, "include_expired": False}
_NAIVE = """
    SELECT name FROM api_keys WHERE workspace_id = :workspace
        AND (:include_disabled OR NOT disabled)
        AND (:include_expired OR expires_at IS NULL OR expires_at > :now)
    ORDER BY created_at DESC, id DESC
"""
_ASSIGNED = """
    SELECT id FROM guardrail_keys WHERE :guardrail IS NULL OR guardrail_id = :guardrail
    ORDER BY number
"""
GUARDRAIL = "00000000-0000-4000-8000-000000000001"


@pytest.fixture(scope="module")
def founded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    database = tmp_path_factory.mktemp("offsets") / "keys.sqlite3"
    EmbeddedGateway.open(database, content="empty", clock=HandClock().clock).close()
    with closing(sqlite3.connect(database)) as db, db:
        fill(db, KEYS)
        # Some are made within one moment, and some expire one after the other.
        db.execute("UPDATE api_keys SET created_at = created_at - created_at % 3600000000")
        soon = to_micros(NOW)
        db.execute("UPDATE api_keys SET expires_at = ? + id * 1000000 WHERE id % 5 = 0", (soon,))
    return database


@pytest.fixture
def database(founded: Path) -> Iterator[Database]:
    # In memory, so that each test begins with the same keys.
    opened = Database.serve(None)
    with closing(sqlite3.connect(founded)) as source:
        source.backup(opened._connection)
    yield opened
    opened.close()


def listed(db: Any, now: datetime, offset: int, which: dict[str, bool]) -> list[str]:
    default = workspaces.default(db)
    assert default is not None
    found = keys.listed(db, default.id, now, offset=offset, **which)
    return [row.name for row, _ in found]


def compare(db: Any, now: datetime) -> None:
    """Every list is what a walk from its beginning gives, wherever one looks into it."""
    default = workspaces.default(db)
    assert default is not None
    for which in (EVERYTHING, WORKING, {**EVERYTHING, "include_disabled": False}):
        values = {**which, "workspace": default.id, "now": to_micros(now)}
        names = [row["name"] for row in db.execute(_NAIVE, values)]
        for offset in (
            2_950,
            0,
            999,
            1_000,
            1_001,
            2_000,
            1_990,
            len(names) - 1,
            len(names),
            9_000,
        ):
            expected = names[offset : offset + KEYS_PAGE]
            assert listed(db, now, offset, which) == expected, (offset, which)
    compare_assignments(db)


def compare_assignments(db: Any) -> None:
    """The same of a list that other lists are read like, and of how long it says it is."""
    for guardrail_id in (None, GUARDRAIL):
        values = {"guardrail": guardrail_id}
        ids = [row["id"] for row in db.execute(_ASSIGNED, values)]
        assert guardrails.count_bound(db, guardrail_id, bound="keys") == len(ids)
        for offset in (2_950, 0, 1_000, 100, len(ids) - 1, len(ids), 9_000):
            found = guardrails.bound_keys(db, guardrail_id, offset=offset, limit=7)
            assert [one.id for one in found] == ids[offset : offset + 7], (offset, guardrail_id)


def read(database: Database, now: datetime = NOW) -> None:
    with database.read() as db:
        compare(db, now)


WRITES = {
    "a new key": "INSERT INTO api_keys (hash, label, name, is_management, workspace_id, disabled, "
    "include_byok_in_limit, created_at) SELECT 'new', 'new', 'new', 0, workspace_id, 0, 0, "
    "created_at FROM api_keys WHERE id = 700",
    "a key that is deleted": "DELETE FROM api_keys WHERE id = 500",
    "a key that is disabled": "UPDATE api_keys SET disabled = 1 WHERE id = 601",
    "a key that expires at once": "UPDATE api_keys SET expires_at = 1 WHERE id = 602",
    "a key that is bound by another guardrail": "UPDATE guardrail_keys "
    "SET guardrail_id = '00000000-0000-4000-8000-000000000001' WHERE number = 1000",
    "a key that is renamed": "UPDATE api_keys SET name = 'other' WHERE id = 1003",
}


@pytest.mark.parametrize("statement", WRITES.values(), ids=WRITES)
def test_what_is_written_moves_the_pages(database: Database, statement: str) -> None:
    read(database)
    with database.write() as db:
        db.execute(statement)
        compare(db, NOW)
    read(database)


def delete_and_fail(database: Database) -> None:
    with database.write() as db:
        db.execute("DELETE FROM api_keys WHERE id % 7 = 0")
        compare(db, NOW)
        raise ZeroDivisionError


def test_what_is_undone_moves_nothing(database: Database) -> None:
    read(database)
    with pytest.raises(ZeroDivisionError):
        delete_and_fail(database)
    read(database)


def test_what_another_process_writes_is_seen(founded: Path, tmp_path: Path) -> None:
    path = tmp_path / "shared.sqlite3"
    with closing(sqlite3.connect(founded)) as source, closing(sqlite3.connect(path)) as copy:
        source.backup(copy)
    served = Database.serve(path)
    try:
        read(served)
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            for statement in WRITES.values():
                with served.read() as db:
                    compare(db, NOW)
                    other.execute(statement)
                    compare(db, NOW)  # its transaction still sees the older state
                read(served)
    finally:
        served.close()


def test_keys_that_expire_leave_as_time_goes_and_come_back_with_the_clock(
    database: Database,
) -> None:
    for seconds in (0, 4, 5, 6, 2_000, 1_000, 100_000, 0, -1):
        read(database, NOW + timedelta(seconds=seconds))


def test_a_page_is_found_from_the_nearest_place(database: Database) -> None:
    """Which rows are skipped is what makes pages far down dear; so it is counted."""
    with database.read() as db:
        default = workspaces.default(db)
        assert default is not None
        expected = listed(db, NOW, 3_210, EVERYTHING)
        said: list[str] = []
        db.set_trace_callback(said.append)
        assert listed(db, NOW, 3_210, EVERYTHING) == expected
        db.set_trace_callback(None)
    skipped = [
        int(text.rpartition("OFFSET ")[2].split(")")[0]) for text in said if "OFFSET" in text
    ]
    assert skipped == [3_210 % list_index.STEP]


# What is written of each row ---------------------------------------------------------------------


HOSTILE = 'quote " back \\ tab \t bell \x07 line\nescape \x1b[31m \u2028 \u202e é 漢 🔑 \x7f'


@pytest.fixture
async def gate() -> AsyncIterator[Bench]:
    async with bench() as opened:
        yield opened


async def test_a_key_in_a_list_is_the_key_by_itself_and_what_is_stored(gate: Bench) -> None:
    await gate.create(name=HOSTILE, limit=0.1, limit_reset="weekly", include_byok_in_limit=True)
    await gate.create(
        name="x", limit=123456789.123456, expires_at=timestamp_text(START.replace(year=2030))
    )
    gate.clock.forward(days=3, microseconds=1_234)
    await gate.create(name="made within a second")
    everything = {"include_disabled": "true", "include_expired": "true"}
    answer = await gate.call("GET", "/keys", params=everything, expect=200)
    shown = answer.json()
    compact = json.dumps(shown, ensure_ascii=False, separators=(",", ":"))
    assert answer.text == compact
    assert HOSTILE in {one["name"] for one in shown["data"]}
    assert len(shown["data"]) > 10
    for one in shown["data"]:
        alone = await gate.call("GET", f"/keys/{one['hash']}", expect=200)
        assert alone.json() == {"data": one}
        with gate.gateway._database.read() as db:
            record = keys.find(db, one["hash"], gate.clock.now())
        assert record is not None
        stored = {
            **wire.data(record, *(one.keys() - set(wire.USAGE_FIELDS))),
            **wire.usage_figures(record.usage),
        }
        assert one == stored


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)
def test_no_dialect_has_another_name_for_what_is_written_as_text(dialect: Dialect) -> None:
    assert not dialect.renames.keys() & ApiKey.model_fields.keys()


@pytest.mark.parametrize("pico", [0, 1, 999_999_999_999, 10**12, 123_456_789_012_345, 2**63 - 1])
def test_an_amount_is_the_double_nearest_to_it(pico: int) -> None:
    assert wire.json_amount(pico) == json.dumps(float(from_pico(pico)))
    assert from_pico(pico) == Decimal(pico) / 10**12


@pytest.mark.parametrize(
    "micros",
    [
        0,
        1,
        999,
        1_000,
        1_234_567,
        1_790_490_840_000_000,
        1_790_490_840_000_001,
        -1,
        -86_400_000_001,
    ],
)
def test_a_moment_is_written_as_everywhere(micros: int) -> None:
    assert wire.json_moment(micros) == json.dumps(timestamp_text(from_micros(micros)))
