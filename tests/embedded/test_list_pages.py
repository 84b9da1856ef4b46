"""Long lists: a page anywhere holds the entries that a walk from the beginning comes to."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from gateway_kit import Bench, HandClock, bench

import large_account
from gwtui.contract.values import KEYS_PAGE
from gwtui.embedded.store import keys

COUNT = 1_250
NOW = datetime(2026, 11, 21, 7, 0, tzinfo=UTC)
OFFSETS = (1_200, 0, 100, 1_000, 350, 1_190, 1_249, 1_250, 9_000, 100)
EVERYTHING = {"include_disabled": True, "include_expired": True}


@pytest.fixture
async def gate(tmp_path: Path) -> AsyncIterator[Bench]:
    large_account.make(tmp_path / "large.sqlite3", COUNT, people=40)
    async with bench(tmp_path / "large.sqlite3", clock=HandClock(NOW)) as opened:
        yield opened


async def walked(gate: Bench, path: str, **query: Any) -> list[str]:
    """All entries of a list, by identity, page after page."""
    found: list[str] = []
    while page := await gate.data("GET", path, params={**query, "offset": len(found)}):
        found += [one.get("id") or one["hash"] for one in page]
    return found


async def compare(gate: Bench, path: str, **query: Any) -> list[str]:
    everything = await walked(gate, path, **query)
    for offset in OFFSETS:
        page = await gate.data("GET", path, params={**query, "offset": offset})
        found = [one.get("id") or one["hash"] for one in page]
        assert found == everything[offset : offset + query.get("limit", KEYS_PAGE)], offset
    return everything


def newest_first(*left_out: int) -> list[str]:
    return [f"{number:064x}" for number in range(COUNT) if number not in left_out]


async def test_pages_of_keys_follow_every_change(gate: Bench):
    assert await compare(gate, "/keys", **EVERYTHING) == newest_first()
    working = newest_first(*range(0, COUNT, 50))
    assert await compare(gate, "/keys") == working
    first = newest_first()[7]
    await gate.call("PATCH", f"/keys/{first}", json={"disabled": True}, expect=200)
    await gate.call("DELETE", f"/keys/{newest_first()[600]}", expect=200)
    made, _ = await gate.create(expires_at="2026-11-21T08:00:00Z")
    assert await compare(gate, "/keys", **EVERYTHING) == [made["hash"], *newest_first(600)]
    working = [one for one in working if one not in {first, newest_first()[600]}]
    assert await compare(gate, "/keys") == [made["hash"], *working]
    gate.clock.forward(hours=1)
    assert await compare(gate, "/keys") == working, "the new key has expired"
    gate.clock.moment -= timedelta(minutes=30)
    assert await compare(gate, "/keys") == [made["hash"], *working], "the clock went back"


async def test_pages_of_assignments_follow_every_change(gate: Bench):
    path = "/guardrails/assignments/keys"
    assert len(await compare(gate, path, limit=100)) == COUNT
    rail = "00000000-0000-4000-8000-000000000003"
    one = f"/guardrails/{rail}/assignments/keys"
    bound = await compare(gate, one, limit=7)
    assert len(bound) == COUNT // large_account._GUARDRAILS + 1
    body = {"key_hashes": newest_first()[40:42]}
    await gate.call("POST", one, json=body, expect=200)
    assert len(await compare(gate, path, limit=100)) == COUNT
    assert (await compare(gate, one, limit=7))[: len(bound)] == bound
    response = await gate.call("GET", one, expect=200)
    assert response.json()["total_count"] == len(bound) + 2


async def test_a_change_that_fails_leaves_the_pages_alone(
    gate: Bench, monkeypatch: pytest.MonkeyPatch
):
    before = await compare(gate, "/keys", **EVERYTHING)
    monkeypatch.setattr(keys, "texts", _broken)
    await gate.refused(500, "POST", "/keys", json={"name": "never"})
    monkeypatch.undo()
    assert await compare(gate, "/keys", **EVERYTHING) == before


def _broken(*_: object) -> None:
    raise RuntimeError("after the insert")
