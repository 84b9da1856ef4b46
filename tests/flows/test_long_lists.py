"""Lists of many thousands of rows."""

from __future__ import annotations

from typing import Any

from harness import dashboard, harness, line, listing, until
from large_account import fill, key_name
from screen_text import shown

KEYS = 2_600


async def test_a_long_list_is_shown_to_its_last_row() -> None:
    async with harness(content="empty") as place:
        with place.gateway._database.write() as db:
            fill(db, KEYS)
        async with dashboard(place, loaded=False) as (app, pilot):
            await until(pilot, lambda: app.session is not None, "the connection")
            keys = listing(app)
            seen: set[str] = set()

            def all_there() -> bool:
                seen.add(shown(app))
                return keys.table.total_count == KEYS

            await until(pilot, all_there, "the keys")
            assert not any("No keys in this scope" in one for one in seen)
            await until(pilot, lambda: "rail" in row_text(keys), "the guardrails of the keys")
            assert keys.table.identities[0] == f"{0:064x}"
            await pilot.press("end")
            await until(pilot, lambda: key_name(KEYS - 1) in shown(app), "the last key")
            assert f"{KEYS:,} keys" in shown(app)
            assert line(keys, "banner") == ""


def row_text(keys: Any) -> str:
    row = keys.table.selected
    return "" if row is None or row.binding is None or row.binding.own is None else "rail"
