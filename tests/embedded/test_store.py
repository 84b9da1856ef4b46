"""The database: private, one server at a time, persistent between runs, without secrets."""

from __future__ import annotations

import base64
import random
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

import pytest
from gateway_kit import GatewayHarness, HandClock, files, gateway_harness

from gwtui.contract.dialects import OPENROUTER
from gwtui.embedded.auth import issue_key
from gwtui.embedded.errors import (
    DatabaseBusyError,
    DatabaseInUseError,
    DatabaseMissingError,
    DatabaseUnusableError,
    NoWorkspaceError,
)
from gwtui.embedded.gateway import EmbeddedGateway
from gwtui.embedded.store import database as store
from gwtui.embedded.store.byok import SecretBox, UnreadableSecretError, key_file
from gwtui.embedded.store.database import Database, erase
from gwtui.embedded.store.documents import KEYS, SCHEMA_VERSION

OLD = "old-provider-key-Zq7Zq7Zq7-" + "o" * 5000
NEW = "new-provider-key-Xw8Xw8Xw8"
KEY = "A" * 43 + "="
PIECE = 16
"""Number of bytes that do not repeat by chance."""


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "data" / "gateway.sqlite3"


def sealed(database: Path) -> dict[str, bytes]:
    """The encrypted key of every credential, read by another connection."""
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as db:
        rows = db.execute("SELECT id, secret FROM byok WHERE secret IS NOT NULL")
        return dict(rows.fetchall())


def pieces(material: bytes) -> Iterator[bytes]:
    """Parts of the ciphertext, without the first bytes (version and time), which may recur."""
    step = max(1, (len(material) - PIECE) // 12)
    return (material[start : start + PIECE] for start in range(12, len(material) - PIECE, step))


def traces(database: Path, material: bytes) -> list[str]:
    return [
        name
        for name, content in files(database).items()
        if any(p in content for p in pieces(material))
    ]


def died(script: str, database: Path) -> subprocess.CompletedProcess[str]:
    """Run a script that kills itself, given the database and the path of the kits."""
    return subprocess.run(
        [sys.executable, "-c", script, str(database), *map(str, Path(__file__).parents[:2])],
        capture_output=True,
        text=True,
        check=False,
    )


async def create_credential(gate: GatewayHarness, secret: str, **fields: str) -> str:
    data = await gate.data("POST", "/byok", json={"provider": "northwind", "key": secret, **fields})
    return str(data["id"])


async def test_the_key_is_sealed_and_can_be_opened_with_the_key_file_alone(database: Path):
    async with gateway_harness(database, content="empty") as gate:
        credential = await create_credential(gate, OLD)
        for content in files(database).values():
            assert OLD[:20].encode() not in content
            assert b"oooooooo" not in content
        material = sealed(database)[credential]
        assert traces(database, material), "the search finds an existing secret"
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
    async with gateway_harness(database, content="empty") as gate:
        credential = await create_credential(gate, OLD)
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


def test_deleted_keys_leave_no_trace_after_a_kill(database: Path):
    """The process dies right after the response, without closing anything."""
    script = """
import asyncio, os, sqlite3, sys
from pathlib import Path
sys.path[:0] = sys.argv[2:]
from gateway_kit import gateway_harness

async def main():
    path = Path(sys.argv[1])
    async with gateway_harness(path, content="empty") as gate:
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
    process = died(script, database)
    assert process.returncode == -9, process.stderr
    old = [bytes.fromhex(line) for line in process.stdout.split()]
    assert len(old) == 2
    assert [traces(database, item) for item in old] == [[], []]
    EmbeddedGateway(database).close()
    assert [traces(database, item) for item in old] == [[], []]


async def test_replaced_keys_leave_no_trace_in_the_file(database: Path):
    """Rows of many sizes are written, replaced and deleted, so that pages split and merge."""
    chance = random.Random(4)
    removed: set[bytes] = set()
    async with gateway_harness(database, content="empty") as gate:
        living: list[str] = []
        before: dict[str, bytes] = {}
        for _ in range(180):
            secret = "k" * chance.choice([10, 40, 200, 3000, 9000])
            path = f"/byok/{chance.choice(living)}" if living else ""
            choice = chance.random()
            if choice < 0.5 or not path:
                living.append(
                    await create_credential(gate, secret, name="n" * chance.randrange(200))
                )
            elif choice < 0.75:
                await gate.call("PATCH", path, json={"key": secret}, expect=200)
            else:
                await gate.call("DELETE", path, expect=200)
                living.remove(path.rpartition("/")[2])
            after = sealed(database)
            removed |= set(before.values()) - set(after.values())
            before = after
        assert set(before) == set(living)
        on_disk = b"".join(files(database).values())
        assert len(removed) > 50
        assert not [item for item in removed if any(piece in on_disk for piece in pieces(item))]


async def test_the_key_file_is_private_and_made_when_it_is_needed(database: Path):
    async with gateway_harness(database) as gate:
        assert not key_file(database).exists()
        await create_credential(gate, OLD)
        first = key_file(database).read_bytes()
        assert stat.S_IMODE(key_file(database).stat().st_mode) == 0o600
        await create_credential(gate, NEW)
        assert key_file(database).read_bytes() == first
    for content in (
        path for name, path in files(database).items() if name != "gateway.sqlite3.key"
    ):
        assert first not in content
        assert base64.urlsafe_b64decode(first) not in content
    key_file(database).chmod(0o644)
    EmbeddedGateway(database).close()
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
def test_a_damaged_key_file_stops_the_start(database: Path, content: str):
    EmbeddedGateway(database, content="empty").close()
    key_file(database).write_text(content)
    with pytest.raises(DatabaseUnusableError, match="is damaged") as refused:
        EmbeddedGateway(database)
    assert KEY not in refused.value.message
    key_file(database).unlink()
    EmbeddedGateway(database).close()


def test_a_link_in_place_of_the_key_file_is_not_followed(database: Path, tmp_path: Path):
    EmbeddedGateway(database, content="empty").close()
    (tmp_path / "elsewhere").write_text(KEY)
    key_file(database).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(DatabaseUnusableError, match="Cannot read the key file"):
        EmbeddedGateway(database)


# Other connections --------------------------------------------------------------------------------


@contextmanager
def transaction(database: Path, begin: str) -> Iterator[None]:
    """Another connection, as of a backup or an inspection, is in a transaction meanwhile."""
    with closing(sqlite3.connect(database, isolation_level=None)) as db:
        db.execute(begin)
        db.execute("SELECT count(*) FROM settings").fetchone()
        yield
        db.execute("ROLLBACK")


@pytest.mark.parametrize("method", ["DELETE", "PATCH"])
async def test_an_open_reader_does_not_block_writes(database: Path, method: str):
    async with gateway_harness(database, content="empty") as gate:
        credential = await create_credential(gate, OLD)
        old = sealed(database)[credential]
        body = {"json": {"key": NEW}} if method == "PATCH" else {}
        with transaction(database, "BEGIN"):
            await gate.call(method, f"/byok/{credential}", **body, expect=200)
            await gate.create()
            await gate.call("GET", "/credits", expect=200)
            assert traces(database, old), "the reader needs the pages as they were"
        await gate.create()
        assert traces(database, old) == [], "erased by the next write"
        assert (database.parent / "gateway.sqlite3-wal").stat().st_size == 0


async def test_a_reader_that_outlives_the_gateway_leaves_the_rest_to_the_next_one(database: Path):
    async with gateway_harness(database, content="empty") as gate:
        credential = await create_credential(gate, OLD)
        old = sealed(database)[credential]
    with transaction(database, "BEGIN"):
        async with gateway_harness(database) as gate:
            await gate.call("DELETE", f"/byok/{credential}", expect=200)
        assert traces(database, old)
        gateway = EmbeddedGateway(database)
        assert traces(database, old), "opening did not wait for the reader"
    gateway.close()
    assert traces(database, old) == []


def test_a_key_cannot_be_issued_while_a_writer_does_not_end(
    database: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(store, "BUSY_SECONDS", 0.05)
    EmbeddedGateway(database, content="empty").close()
    with (
        transaction(database, "BEGIN IMMEDIATE"),
        pytest.raises(DatabaseBusyError, match="keeps writing"),
    ):
        issue_key(database, management=True)


# The database -------------------------------------------------------------------------------------


async def test_no_secret_is_ever_written(database: Path):
    secrets = []
    async with gateway_harness(database) as gate:
        secrets.append(gate.token)
        for number in range(5):
            data, key = await gate.create(name=f"key {number}")
            secrets.append(key)
            await gate.call("PATCH", f"/keys/{data['hash']}", json={"name": "x"}, token=gate.token)
        secrets.append(issue_key(database, management=True))
        await gate.call("GET", "/key", token=secrets[-1], expect=200)
        while_open = files(database)
    afterwards = files(database)
    assert {"gateway.sqlite3", "gateway.sqlite3-wal"} <= set(while_open)
    assert data["hash"].encode() in b"".join(while_open.values()), "the hash is stored"
    for content in (*while_open.values(), *afterwards.values()):
        for secret in secrets:
            random_part = secret.rpartition("-")[2]
            assert random_part.encode() not in content
            assert random_part[5:25].encode() not in content
            assert bytes.fromhex(random_part) not in content


async def test_database_files_are_private(database: Path):
    async with gateway_harness(database) as gate:
        await gate.create()
        files = list(database.parent.iterdir())
        assert len(files) >= 3
        for path in files:
            assert stat.S_IMODE(path.stat().st_mode) == 0o600, path
    assert stat.S_IMODE(database.parent.stat().st_mode) == 0o700


async def test_data_persists_between_runs(database: Path):
    clock = HandClock()
    async with gateway_harness(database, clock=clock) as gate:
        data, key = await gate.create(name="kept", limit=5)
        clock.forward(hours=1)
        credits = await gate.data("GET", "/credits")
        origin = gate.gateway.origin
    async with gateway_harness(database, clock=clock, content="empty") as gate:
        assert gate.gateway.origin == origin, "an existing database keeps its content"
        assert await gate.data("GET", f"/keys/{data['hash']}") == data
        assert await gate.data("GET", "/credits") == credits
        await gate.call("GET", "/key", token=key, expect=200)
        clock.forward(days=1)
        assert (await gate.data("GET", "/credits"))["total_usage"] > credits["total_usage"]


async def test_usage_between_runs_is_charged(database: Path):
    clock = HandClock()
    async with gateway_harness(database, clock=clock) as gate:
        before = await gate.data("GET", "/credits")
    clock.forward(hours=5)
    async with gateway_harness(database, clock=clock) as gate:
        reopened = await gate.data("GET", "/credits")
    async with gateway_harness(clock=HandClock()) as gate:
        gate.clock.forward(hours=5)
        assert await gate.data("GET", "/credits") == reopened != before


NEWER = f"PRAGMA user_version = {SCHEMA_VERSION + 1}"
OLDER = f"PRAGMA user_version = {SCHEMA_VERSION - 1}"
OTHER_PROGRAM = "PRAGMA application_id = 7"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (NEWER, "newer version"),
        (OLDER, "older version"),
        (OTHER_PROGRAM, "another program"),
        ("", "not a gateway database"),
    ],
)
@pytest.mark.parametrize("way_in", [EmbeddedGateway, partial(issue_key, management=True)])
def test_a_file_that_cannot_be_used_is_left_alone(
    served_database: Path, change: str, message: str, way_in: Callable[[Path], object]
):
    with closing(sqlite3.connect(served_database)) as connection:
        connection.execute(change)
    if not change:
        served_database.write_bytes(b"These are my holiday notes, not a database. " * 50)
    before = served_database.read_bytes()
    with pytest.raises(DatabaseUnusableError, match=message):
        way_in(served_database)
    assert served_database.read_bytes() == before


async def test_a_key_is_issued_beside_a_running_server(database: Path):
    async with gateway_harness(database, content="empty", dialect=OPENROUTER) as gate:
        ordinary = issue_key(database, management=False, name="from outside")
        management = issue_key(database, management=True)
        assert ordinary.startswith("sk-or-v1-"), "while the database is served"
        await gate.call("GET", "/keys", token=management, expect=200)
        await gate.refused(403, "GET", "/keys", token=ordinary)
        (listed,) = await gate.data("GET", "/keys")
        assert listed["name"] == "from outside"
    assert issue_key(database, management=True), "also without a gateway"


def test_no_key_is_issued_where_no_gateway_was(database: Path):
    with pytest.raises(DatabaseMissingError, match="gateway serve"):
        issue_key(database, management=True)
    assert not database.parent.exists(), "no file is left behind"
    database.parent.mkdir()
    Database.serve(database).close()
    with pytest.raises(DatabaseMissingError, match="is empty"):
        issue_key(database, management=True)


def test_an_ordinary_key_needs_a_workspace_that_exists():
    gateway = EmbeddedGateway(None, content="empty")
    with pytest.raises(NoWorkspaceError, match="There is no workspace 0000"):
        gateway.issue_key(management=False, workspace_id="00000000-0000-4000-8000-000000000000")
    gateway.close()


async def test_writers_take_turns(database: Path):
    """Keys are made by the server and by other processes; none is lost or doubled."""
    script = (
        "import sys; from pathlib import Path; from gwtui.embedded.auth import issue_key\n"
        "for _ in range(10): print(issue_key(Path(sys.argv[1]), management=False))"
    )
    async with gateway_harness(database, content="empty") as gate:
        others = [_start(script, database) for _ in range(2)]
        for _ in range(20):
            await gate.create()
        created = [key for other in others for key in other.communicate()[0].decode().split()]
        assert len(set(created)) == 20
        assert len(await gate.data("GET", "/keys")) == 20 + 20
        for key in created:
            await gate.call("GET", "/key", token=key, expect=200)


def _start(script: str, database: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", script, str(database)]
    return subprocess.Popen(command, stdout=subprocess.PIPE)


def test_a_failed_transaction_changes_nothing(database: Path):
    def clear_and_stumble() -> None:
        with opened.write() as db:
            db.execute("DELETE FROM settings")
            db.execute("INSERT INTO settings VALUES ('c', NULL)")

    opened = Database.serve(database)
    with opened.write() as db:
        db.execute("INSERT INTO settings VALUES ('a', 'b')")
    with pytest.raises(sqlite3.IntegrityError):
        clear_and_stumble()
    with opened.read() as db:
        assert [row[0] for row in db.execute("SELECT name FROM settings")] == ["a"]
    opened.close()


def test_a_kill_loses_no_acknowledged_write(database: Path):
    script = """
import asyncio, os, sys
from functools import partial
from pathlib import Path
sys.path[:0] = sys.argv[2:]
from gateway_kit import gateway_harness

async def main():
    async with gateway_harness(Path(sys.argv[1]), content="empty") as gate:
        async def write(number):
            data, _ = await gate.create(name=f"key {number}")
            print(data["hash"], flush=True)
        await asyncio.gather(*map(write, range(60)))
        os.kill(os.getpid(), 9)

asyncio.run(main())
"""
    process = died(script, database)
    acknowledged = process.stdout.split()
    assert (process.returncode, len(acknowledged)) == (-9, 60), process.stderr
    gateway = EmbeddedGateway(database)
    with gateway.database.read() as db:
        assert all(KEYS.get(db, key_hash) for key_hash in acknowledged)
    gateway.close()


# One file by several names ------------------------------------------------------------------------


@pytest.fixture
def served_database(tmp_path: Path) -> Path:
    """A database that was served."""
    path = tmp_path / "data" / "gateway.sqlite3"
    EmbeddedGateway(path, content="empty").close()
    return path


@pytest.fixture(params=["link to a link", "link to the directory", "relative"])
def alias(
    request: pytest.FixtureRequest, served_database: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """Another name of the database."""
    home = served_database.parent.parent
    if request.param == "relative":
        monkeypatch.chdir(served_database.parent)
        return Path("..") / served_database.parent.name / served_database.name
    if request.param == "link to the directory":
        (home / "elsewhere").symlink_to(served_database.parent, target_is_directory=True)
        return home / "elsewhere" / served_database.name
    (home / "first.sqlite3").symlink_to(served_database)
    (home / "second.sqlite3").symlink_to("first.sqlite3")
    return home / "second.sqlite3"


def test_a_second_server_is_refused_by_any_name(served_database: Path, alias: Path):
    for first, second in ((served_database, alias), (alias, served_database)):
        gateway = EmbeddedGateway(first)
        for way_in in (EmbeddedGateway, erase):
            with pytest.raises(DatabaseInUseError, match="already in use by another gateway"):
                way_in(second)
        gateway.close()
        gateway.close()


def test_a_link_to_itself_is_refused(tmp_path: Path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(DatabaseUnusableError, match="Cannot use"):
        EmbeddedGateway(tmp_path / "a")


async def test_credentials_stored_through_an_alias_can_be_decrypted(
    served_database: Path, alias: Path
):
    async with gateway_harness(alias) as gate:
        first = await create_credential(gate, OLD)
    async with gateway_harness(served_database) as gate:
        second = await create_credential(gate, NEW)
        token = issue_key(alias, management=True)
        await gate.call("GET", "/byok", token=token, expect=200)
    material, box = sealed(served_database), SecretBox(served_database)
    assert [box.decrypt(material[item]) for item in (first, second)] == [OLD, NEW]
    # Only the link itself has another name.
    assert all(path.is_symlink() for path in served_database.parent.parent.glob("*.sqlite3*"))
    assert key_file(served_database).is_file()


def test_a_database_that_was_moved_beneath_a_server_is_still_in_use(served_database: Path):
    moved = served_database.parent.parent / "moved.sqlite3"
    gateway = EmbeddedGateway(served_database)
    served_database.rename(moved)
    for way_in in (EmbeddedGateway, erase):
        with pytest.raises(DatabaseInUseError, match="already in use"):
            way_in(moved)
    gateway.close()
    EmbeddedGateway(moved).close()
