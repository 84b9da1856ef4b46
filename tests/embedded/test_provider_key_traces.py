"""Nothing of a provider key can be read in any file, and nothing at all is left of an old one."""

from __future__ import annotations

import base64
import random
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from gateway_kit import Bench, bench, files
from other_process import reading, writing

from gwtui.embedded.auth import issue_key
from gwtui.embedded.errors import DatabaseBusyError, DatabaseUnusableError
from gwtui.embedded.gateway import EmbeddedGateway
from gwtui.embedded.store import database as store
from gwtui.embedded.store.byok import SecretBox, UnreadableSecretError, key_file
from gwtui.embedded.store.database import erase

OLD = "old-provider-key-Zq7Zq7Zq7-" + "o" * 5000
NEW = "new-provider-key-Xw8Xw8Xw8"
KEY = "A" * 43 + "="
PIECE = 16
"""So many bytes in a row do not occur by chance."""


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "data" / "gateway.sqlite3"


def sealed(database: Path) -> dict[str, bytes]:
    """The sealed key of every credential, read beside the gateway."""
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as db:
        rows = db.execute("SELECT id, secret FROM byok WHERE secret IS NOT NULL")
        return dict(rows.fetchall())


def pieces(material: bytes) -> Iterator[bytes]:
    """Of the ciphertext: the first bytes, version and time, may be the same elsewhere."""
    step = max(1, (len(material) - PIECE) // 12)
    return (material[at : at + PIECE] for at in range(12, len(material) - PIECE, step))


def traces(database: Path, material: bytes) -> list[str]:
    return [
        name
        for name, content in files(database).items()
        if any(p in content for p in pieces(material))
    ]


def died(script: str, database: Path) -> subprocess.CompletedProcess[str]:
    """Run a script, given the database and where the kits are, that kills itself."""
    return subprocess.run(
        [sys.executable, "-c", script, str(database), *map(str, Path(__file__).parents[:2])],
        capture_output=True,
        text=True,
        check=False,
    )


async def made(gate: Bench, secret: str, **fields: str) -> str:
    data = await gate.data("POST", "/byok", json={"provider": "northwind", "key": secret, **fields})
    return str(data["id"])


async def test_the_key_is_sealed_and_can_be_opened_with_the_key_file_alone(database: Path):
    async with bench(database, content="empty") as gate:
        credential = await made(gate, OLD)
        for content in files(database).values():
            assert OLD[:20].encode() not in content
            assert b"oooooooo" not in content
        material = sealed(database)[credential]
        assert traces(database, material), "the check would find it"
    assert SecretBox(database).decrypt(material) == OLD
    for box, damaged in (
        (SecretBox(None), material),
        (SecretBox(database), material[:-1] + bytes((material[-1] ^ 1,))),
        (SecretBox(database), b""),
    ):
        with pytest.raises(UnreadableSecretError):
            box.decrypt(damaged)


@pytest.mark.parametrize("method", ["PATCH", "DELETE"])
async def test_rotation_and_deletion_leave_nothing_of_the_old_key(database: Path, method: str):
    async with bench(database, content="empty") as gate:
        credential = await made(gate, OLD)
        old = sealed(database)[credential]
        body = {"json": {"key": NEW}} if method == "PATCH" else {}
        await gate.call(method, f"/byok/{credential}", **body, expect=200)
        assert traces(database, old) == []
        if method == "PATCH":
            assert SecretBox(database).decrypt(sealed(database)[credential]) == NEW
        else:
            assert sealed(database) == {}
            assert credential.encode() not in b"".join(files(database).values())
    assert traces(database, old) == []


def test_nothing_of_a_key_survives_a_kill(database: Path):
    """The process dies right behind the answer, without closing anything."""
    script = """
import asyncio, os, sqlite3, sys
from pathlib import Path
sys.path[:0] = sys.argv[2:]
from gateway_kit import bench

async def main():
    path = Path(sys.argv[1])
    async with bench(path, content="empty") as gate:
        made = [await gate.data("POST", "/byok", json={"provider": "northwind", "key": "k" * 500})
                for _ in range(2)]
        with sqlite3.connect(path) as other:
            for (old,) in other.execute("SELECT secret FROM byok"):
                print(old.hex(), flush=True)
        await gate.call("DELETE", f"/byok/{made[0]['id']}", expect=200)
        await gate.data("PATCH", f"/byok/{made[1]['id']}", json={"key": "other"})
        os.kill(os.getpid(), 9)

asyncio.run(main())
"""
    done = died(script, database)
    assert done.returncode == -9, done.stderr
    old = [bytes.fromhex(line) for line in done.stdout.split()]
    assert len(old) == 2
    assert [traces(database, each) for each in old] == [[], []]
    EmbeddedGateway.open(database).close()
    assert [traces(database, each) for each in old] == [[], []]


async def test_nothing_is_left_however_rows_move_about(database: Path):
    """Rows of many sizes are written, replaced and deleted, so that pages split and merge."""
    chance = random.Random(4)
    gone: set[bytes] = set()
    async with bench(database, content="empty") as gate:
        living: list[str] = []
        before: dict[str, bytes] = {}
        for _ in range(180):
            secret = "k" * chance.choice([10, 40, 200, 3000, 9000])
            path = f"/byok/{chance.choice(living)}" if living else ""
            choice = chance.random()
            if choice < 0.5 or not path:
                living.append(await made(gate, secret, name="n" * chance.randrange(200)))
            elif choice < 0.75:
                await gate.call("PATCH", path, json={"key": secret}, expect=200)
            else:
                await gate.call("DELETE", path, expect=200)
                living.remove(path.rpartition("/")[2])
            after = sealed(database)
            gone |= set(before.values()) - set(after.values())
            before = after
        assert set(before) == set(living)
        everything = b"".join(files(database).values())
        assert len(gone) > 50
        assert not [one for one in gone if any(piece in everything for piece in pieces(one))]


async def test_the_key_file_is_private_and_made_when_it_is_needed(database: Path):
    async with bench(database) as gate:
        assert not key_file(database).exists()
        await made(gate, OLD)
        first = key_file(database).read_bytes()
        assert stat.S_IMODE(key_file(database).stat().st_mode) == 0o600
        await made(gate, NEW)
        assert key_file(database).read_bytes() == first
    for content in (
        path for name, path in files(database).items() if name != "gateway.sqlite3.key"
    ):
        assert first not in content
        assert base64.urlsafe_b64decode(first) not in content
    key_file(database).chmod(0o644)
    EmbeddedGateway.open(database).close()
    assert stat.S_IMODE(key_file(database).stat().st_mode) == 0o600
    erase(database)
    assert not key_file(database).exists()


@pytest.mark.parametrize(
    "content",
    [
        "abc",
        "A" * 43,
        "A" * 43 + "=\n" + "A" * 43 + "=",
        "not a key file",
        KEY + "x" * 40_000,
    ],
)
def test_a_damaged_key_file_is_said_before_anything_is_served(database: Path, content: str):
    EmbeddedGateway.open(database, content="empty").close()
    key_file(database).write_text(content)
    with pytest.raises(DatabaseUnusableError, match="is damaged") as refused:
        EmbeddedGateway.open(database)
    assert KEY not in refused.value.message
    key_file(database).unlink()
    EmbeddedGateway.open(database).close()


def test_a_link_in_place_of_the_key_file_is_not_followed(database: Path, tmp_path: Path):
    EmbeddedGateway.open(database, content="empty").close()
    (tmp_path / "elsewhere").write_text(KEY)
    key_file(database).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(DatabaseUnusableError, match="Cannot read the key file"):
        EmbeddedGateway.open(database)


# Other processes ----------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["DELETE", "PATCH"])
async def test_an_open_reader_holds_nobody_up(database: Path, method: str):
    async with bench(database, content="empty") as gate:
        credential = await made(gate, OLD)
        old = sealed(database)[credential]
        body = {"json": {"key": NEW}} if method == "PATCH" else {}
        with reading(database):
            await gate.call(method, f"/byok/{credential}", **body, expect=200)
            await gate.create()
            await gate.call("GET", "/credits", expect=200)
            assert traces(database, old), "the reader needs the pages as they were"
        await gate.create()
        assert traces(database, old) == [], "gone with the next write"
        assert (database.parent / "gateway.sqlite3-wal").stat().st_size == 0


async def test_a_reader_that_outlives_the_gateway_leaves_the_rest_to_the_next_one(database: Path):
    async with bench(database, content="empty") as gate:
        credential = await made(gate, OLD)
        old = sealed(database)[credential]
    with reading(database):
        async with bench(database) as gate:
            await gate.call("DELETE", f"/byok/{credential}", expect=200)
        assert traces(database, old)
        gateway = EmbeddedGateway.open(database)
        assert traces(database, old), "opening did not wait"
    gateway.close()
    assert traces(database, old) == []


def test_a_key_cannot_be_issued_while_a_writer_does_not_end(
    database: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(store, "BUSY_SECONDS", 0.05)
    EmbeddedGateway.open(database, content="empty").close()
    with writing(database), pytest.raises(DatabaseBusyError, match="keeps writing"):
        issue_key(database, management=True)
