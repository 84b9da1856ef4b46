"""Long lists: a page anywhere holds the entries that a walk from the beginning comes to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gateway_kit import Bench, HandClock, bench

import large_account

COUNT = 450
EVERYTHING = {"include_disabled": True, "include_expired": True}


async def walked(gate: Bench, path: str, **query: Any) -> list[str]:
    """All entries of a list by identity, page after page; each page is also found by itself."""
    found: list[str] = []
    while page := await gate.data("GET", path, params={**query, "offset": len(found)}):
        found += [one.get("id") or one["hash"] for one in page]
    for offset in (COUNT - 50, 0, 100, 350, 100):
        page = await gate.data("GET", path, params={**query, "offset": offset})
        shown = [one.get("id") or one["hash"] for one in page]
        assert shown == found[offset : offset + len(shown)]
    return found


async def test_pages_follow_every_change(tmp_path: Path):
    large_account.make(tmp_path / "large.sqlite3", COUNT, people=40)
    newest = [f"{number:064x}" for number in range(COUNT)]
    async with bench(tmp_path / "large.sqlite3", clock=HandClock()) as gate:
        assert await walked(gate, "/keys", **EVERYTHING) == newest
        working = [each for number, each in enumerate(newest) if number % 50]
        assert await walked(gate, "/keys") == working
        await gate.call("PATCH", f"/keys/{newest[7]}", json={"disabled": True}, expect=200)
        await gate.call("DELETE", f"/keys/{newest[60]}", expect=200)
        made, _ = await gate.create(expires_at="2026-11-21T08:00:00Z")
        working = [each for each in working if each not in {newest[7], newest[60]}]
        assert await walked(gate, "/keys") == [made["hash"], *working]
        gate.clock.forward(hours=1)
        assert await walked(gate, "/keys") == working, "the new key has expired"
        gate.clock.forward(minutes=-30)
        assert await walked(gate, "/keys") == [made["hash"], *working], "the clock went back"
        path = "/guardrails/assignments/keys"
        assert len(await walked(gate, path, limit=100)) == COUNT - 1
        one = "/guardrails/00000000-0000-4000-8000-000000000003/assignments/keys"
        bound = await walked(gate, one, limit=7)
        body = {"key_hashes": newest[40:42]}
        await gate.call("POST", one, json=body, expect=200)
        assert (await walked(gate, one, limit=7))[: len(bound)] == bound
        assert (await gate.call("GET", one)).json()["total_count"] == len(bound) + 2
