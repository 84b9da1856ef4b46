"""Lists of many thousands of rows are worked on beside the loop that answers keys."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from gwtui.ui.widgets.table.model import TableModel
from large_account import fill, key_name
from screen_text import shown
from shell_kit import dashboard, line, listing, site, until

KEYS = 2_600


async def test_a_long_list_is_prepared_in_another_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare = TableModel.prepare
    threads: list[tuple[int, threading.Thread]] = []

    def noted(model: TableModel[Any], items: Any) -> Any:
        threads.append((len(items), threading.current_thread()))
        return prepare(model, items)

    monkeypatch.setattr(TableModel, "prepare", noted)
    async with site(content="empty") as place:
        with place.gateway._database.write() as db:
            fill(db, KEYS)
        async with dashboard(place, tmp_path, loaded=False) as (app, pilot):
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
            # The same rows again are nothing to prepare: an app at rest prepares nothing.
            prepared = len(threads)
            await keys.reread()
            await until(pilot, lambda: not keys.rows._working, "the rows read again")
    main = threading.main_thread()
    assert [thread for count, thread in threads if count > 2_000]
    assert not [thread for count, thread in threads if count > 2_000 and thread is main]
    assert prepared <= 6


def row_text(keys: Any) -> str:
    row = keys.table.selected
    return "" if row is None or row.binding is None or row.binding.own is None else "rail"
