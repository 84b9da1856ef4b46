"""The history file: private, intact after a kill, recorded by one process at a time."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
from contextlib import closing
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from gwtui.watch.history.archive import Archive
from gwtui.watch.history.file import OpenedHistory, history_path, open_readable
from gwtui.watch.history.file import open_writable as open_file
from gwtui.watch.history.model import (
    HistoryMissingError,
    HistoryUnusableError,
    Observation,
    Subject,
)
from gwtui.watch.history.reader import HistoryReader
from gwtui.watch.history.writer import observe
from history_kit import START, USED, minutes, open_history

WRITER = """
import sys
from pathlib import Path
from typing import cast
from history_kit import START, USED, minutes, open_history
with open_history(Path(sys.argv[1])) as history:
    for number in range(100_000):
        history.see(START + minutes(number), {USED: number})
        history.tidy(START + minutes(number))
        print(number, flush=True)
"""


def open_writable(path: Path) -> OpenedHistory:
    return open_file(path, START, locked=True)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "history" / "one.sqlite3"


def modes(path: Path) -> dict[str, int]:
    return {item.name: stat.S_IMODE(item.stat().st_mode) for item in path.parent.iterdir()}


def test_history_files_are_private(path: Path) -> None:
    old = os.umask(0)
    try:
        with open_history(path) as history:
            history.see(START, {USED: 1})
            assert list(modes(path).values()) == [0o600] * 3
            assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        path.chmod(0o644)
        with open_history(path):
            assert set(modes(path).values()) == {0o600}
    finally:
        os.umask(old)


def test_a_profile_at_a_gateway_has_a_file_of_its_own(tmp_path: Path) -> None:
    paths = {
        history_path(tmp_path, label, url)
        for label in ("work", "home", "../..", "")
        for url in ("https://a.example/api/v1", "https://b.example/api/v1")
    }
    assert len(paths) == 8
    assert {item.parent for item in paths} == {tmp_path / "history"}
    assert any(item.name.startswith("work-") for item in paths)


def test_every_committed_sample_survives_a_kill(path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    child = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, env=environment
    )
    committed = 0
    while committed < 200:
        committed = int(child.stdout.readline())
    child.send_signal(signal.SIGKILL)
    rest = child.stdout.read().split()
    child.stdout.close()
    child.wait()
    committed = int(rest[-1]) if rest and rest[-1].isdigit() else committed
    with open_history(path) as history:
        assert history.rows("runs") in {committed + 1, committed + 2}
        assert history.reader.value_at(USED, START + minutes(committed)).value == committed
        history.tidy(START + minutes(committed + 120))
        assert history.rows("hours") in {committed // 60 + 1, (committed + 1) // 60 + 1}
        assert history.connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_damaged_file_is_set_aside_and_recording_begins_anew(path: Path) -> None:
    path.parent.mkdir(parents=True, mode=0o700)
    path.write_bytes(b"this is no database, although it is long enough" * 100)
    opened = open_writable(path)
    opened.connection.close()
    (aside,) = path.parent.glob("*.aside-*")
    assert aside.read_bytes().startswith(b"this is no database")
    assert str(aside) in opened.notice
    assert "damaged" in opened.notice
    again = open_writable(path)
    again.connection.close()
    assert again.notice == ""


def test_damage_in_the_middle_is_found_when_it_is_opened(path: Path) -> None:
    with open_history(path) as history:
        for minute in range(3000):
            history.see(START + minutes(minute), {USED: minute})
    content = bytearray(path.read_bytes())
    content[4096 * 3 : 4096 * 12] = b"\xff" * 4096 * 9
    path.write_bytes(content)
    opened = open_writable(path)
    with closing(opened.connection):
        assert "damaged" in opened.notice
        assert HistoryReader(opened.connection).series() == ()


def test_foreign_and_newer_files_are_left_alone(path: Path) -> None:
    path.parent.mkdir(parents=True, mode=0o700)
    with closing(sqlite3.connect(path)) as foreign:
        foreign.execute("CREATE TABLE recipes (name TEXT)")
    before = path.read_bytes()
    with pytest.raises(HistoryUnusableError, match="another program"):
        open_writable(path)
    assert path.read_bytes() == before
    path.unlink()
    with open_history(path) as history:
        history.connection.execute("PRAGMA user_version = 99")
    with pytest.raises(HistoryUnusableError, match="newer version"):
        open_writable(path)
    with pytest.raises(HistoryUnusableError, match="newer version"):
        open_readable(path)


def test_a_file_of_an_older_version_is_set_aside_and_said_so(path: Path) -> None:
    with open_history(path) as history:
        history.see(START, {USED: 1})
        history.connection.execute("PRAGMA user_version = 3")
    with pytest.raises(HistoryUnusableError, match="older version"):
        open_readable(path)
    with pytest.raises(HistoryUnusableError, match="another gwtui"):
        open_file(path, START, locked=False)
    opened = open_writable(path)
    with closing(opened.connection):
        assert "older version" in opened.notice
        assert HistoryReader(opened.connection).series() == ()
    assert list(path.parent.glob("*.aside-*"))


def test_reading_makes_no_file_and_changes_none(path: Path) -> None:
    with pytest.raises(HistoryMissingError):
        open_readable(path)
    assert not path.parent.exists()
    with open_history(path) as history:
        history.see(START, {USED: 1})
        with closing(open_readable(path)) as connection:
            assert HistoryReader(connection).value_at(USED, START).value == 1
            with pytest.raises(sqlite3.OperationalError, match="readonly"):
                connection.execute("DELETE FROM series")


def test_a_directory_that_cannot_be_used_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "history").write_text("a file")
    with pytest.raises(HistoryUnusableError, match="File exists"):
        open_writable(tmp_path / "history" / "one.sqlite3")


def test_a_link_in_its_place_is_not_followed(path: Path, tmp_path: Path) -> None:
    path.parent.mkdir(parents=True, mode=0o700)
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(HistoryUnusableError):
        open_writable(path)
    assert not (tmp_path / "elsewhere").exists()


# From asyncio -----------------------------------------------------------------------------------


async def test_a_closed_archive_raises_and_ends_its_thread(path: Path) -> None:
    archive = await Archive.open(path)
    assert await archive.read(lambda history: history.series()) == ()
    await archive.close()
    await archive.close()
    with pytest.raises(HistoryUnusableError, match="closed"):
        await archive.read(lambda history: history.series())
    assert not [item for item in threading.enumerate() if item.name.startswith("history-")]


async def test_a_read_is_consistent_during_concurrent_writes(path: Path) -> None:
    with open_history(path) as history:
        history.see(START, {USED: 1})
        archive = await Archive.open(path)
        try:
            later = START + minutes(1)

            def twice(reader: HistoryReader) -> list[object]:
                first = reader.value_at(USED, later).value
                history_thread.start()
                history_thread.join()
                return [first, reader.value_at(USED, later).value]

            def write() -> None:
                history.see(later, {USED: 2})

            history_thread = threading.Thread(target=write)
            assert await archive.read(twice) == [1, 1]
            assert await archive.read(lambda reader: reader.value_at(USED, later).value) == 2
        finally:
            await archive.close()


# Processes ----------------------------------------------------------------------------------------


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


async def test_another_process_takes_over_after_a_kill(
    tmp_path: Path,
) -> None:
    path = tmp_path / "history" / "work.sqlite3"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    other = await asyncio.create_subprocess_exec(
        sys.executable, "-c", OTHER, str(path), stdout=asyncio.subprocess.PIPE, env=environment
    )
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


async def test_interrupting_rolls_back_a_long_write(tmp_path: Path) -> None:
    archive, started = await Archive.open(tmp_path / "h" / "one.sqlite3"), threading.Event()
    values = {Subject("credits", "account"): {"balance": Decimal(7)}}
    observation = Observation("credits", START, 60, values)
    await archive.write(lambda db: observe(db, observation))

    def endless(db: sqlite3.Connection) -> None:
        observe(db, replace(observation, at=START + minutes(1), source="keys"))
        started.set()
        db.execute(
            "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT 1 FROM n) SELECT max(x) FROM n"
        )

    writing = asyncio.create_task(archive.write(endless))
    await asyncio.to_thread(started.wait, 10)
    archive.interrupt()
    with pytest.raises(HistoryUnusableError):
        await writing
    with pytest.raises(HistoryUnusableError):  # waiting work does not start
        await archive.write(lambda db: observe(db, observation))
    assert await archive.read(lambda history: history.span()) == (START, START)
    await archive.close()
