"""Processes that share a history take turns at recording; an interrupted write leaves nothing."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import sys
import threading
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from gwtui.watch.history.archive import Archive
from gwtui.watch.history.model import (
    HistoryUnusableError,
    Observation,
    Subject,
)
from gwtui.watch.history.writer import observe
from history_kit import START, minutes

OTHER = """
import asyncio, sys
from pathlib import Path
from gwtui.watch.history.archive import Archive

async def main():
    archive = await Archive.open(Path(sys.argv[1]))
    print(await archive.claim(), flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


async def test_one_process_records_and_the_next_does_once_that_one_is_killed(
    tmp_path: Path,
) -> None:
    path = tmp_path / "history" / "work.sqlite3"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    other = await asyncio.create_subprocess_exec(
        sys.executable, "-c", OTHER, str(path), stdout=asyncio.subprocess.PIPE, env=environment
    )
    assert other.stdout is not None
    assert await other.stdout.readline() == b"True\n"
    archive = await Archive.open(path)
    try:
        assert not await archive.claim()
        assert await archive.read(lambda history: history.recorder()) == other.pid
        other.kill()
        await other.wait()
        assert await archive.read(lambda history: history.recorder()) is None
        assert await archive.claim()
        assert await archive.read(lambda history: history.recorder()) == os.getpid()
    finally:
        await archive.close()


async def test_the_end_waits_for_no_long_write_and_nothing_of_it_is_there(tmp_path: Path) -> None:
    archive, begun = await Archive.open(tmp_path / "h" / "one.sqlite3"), threading.Event()
    values = {Subject("credits", "account"): {"balance": Decimal(7)}}
    seen = Observation("credits", START, 60, values)
    await archive.write(lambda db: observe(db, seen))

    def endless(db: sqlite3.Connection) -> None:
        observe(db, replace(seen, at=START + minutes(1), source="keys"))
        begun.set()
        db.execute(
            "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT 1 FROM n) SELECT max(x) FROM n"
        )

    writing = asyncio.create_task(archive.write(endless))
    await asyncio.to_thread(begun.wait, 10)
    archive.interrupt()
    with pytest.raises(HistoryUnusableError):
        await writing
    with pytest.raises(HistoryUnusableError):  # what waited is not begun
        await archive.write(lambda db: observe(db, seen))
    assert await archive.read(lambda history: history.span()) == (START, START)
    await archive.close()
