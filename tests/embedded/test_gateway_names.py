"""One file by several names: one server, one lock, one key file."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest
from gateway_kit import bench
from other_process import ServerProcess, server_process
from test_byok_traces import NEW, OLD, made, sealed

from gwtui.embedded.auth import issue_key
from gwtui.embedded.demo import demo_gateway
from gwtui.embedded.errors import DatabaseInUseError, DatabaseUnusableError
from gwtui.embedded.gateway import EmbeddedGateway
from gwtui.embedded.running_demo import DATABASE_NAME
from gwtui.embedded.store.byok import SecretBox, key_file
from gwtui.embedded.store.database import erase


@pytest.fixture(scope="module")
def server() -> Iterator[ServerProcess]:
    """Another process."""
    with server_process() as process:
        yield process


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A database that was served."""
    path = tmp_path / "data" / "gateway.sqlite3"
    EmbeddedGateway.open(path, content="empty").close()
    return path


@pytest.fixture(params=["link to a link", "link to the directory", "relative"])
def alias(request: pytest.FixtureRequest, database: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Another name of the database."""
    home = database.parent.parent
    if request.param == "relative":
        monkeypatch.chdir(database.parent)
        return Path("..") / database.parent.name / database.name
    if request.param == "link to the directory":
        (home / "elsewhere").symlink_to(database.parent, target_is_directory=True)
        return home / "elsewhere" / database.name
    (home / "first.sqlite3").symlink_to(database)
    (home / "second.sqlite3").symlink_to("first.sqlite3")
    return home / "second.sqlite3"


@pytest.mark.parametrize("other", ["this process", "another process"])
def test_a_second_server_is_refused_by_any_name(
    database: Path, alias: Path, server: ServerProcess, other: str
):
    for first, second in ((database, alias), (alias, database)):
        served: AbstractContextManager[object] = (
            server.serving(first) if other == "another process" else nullcontext()
        )
        with served as pid:
            gateway = EmbeddedGateway.open(first) if pid is None else None
            with pytest.raises(DatabaseInUseError) as refused:
                EmbeddedGateway.open(second)
            assert f"already in use by process {pid or os.getpid()}" in refused.value.message
            with pytest.raises(DatabaseInUseError):
                erase(second)
            if gateway is not None:
                gateway.close()
                gateway.close()


async def test_a_credential_stored_through_an_alias_is_no_stranger(database: Path, alias: Path):
    async with bench(alias) as gate:
        first = await made(gate, OLD)
    async with bench(database) as gate:
        second = await made(gate, NEW)
        token = issue_key(alias, management=True)
        await gate.call("GET", "/byok", token=token, expect=200)
    material, box = sealed(database), SecretBox(database)
    assert [box.decrypt(material[one]) for one in (first, second)] == [OLD, NEW]
    # Nothing but the link itself has another name.
    assert all(path.is_symlink() for path in database.parent.parent.glob("*.sqlite3*"))
    assert key_file(database).is_file()


def test_a_database_that_was_moved_beneath_a_server_is_still_in_use(
    database: Path, server: ServerProcess
):
    moved = database.parent.parent / "moved.sqlite3"
    with server.serving(database):
        database.rename(moved)
        for way_in in (EmbeddedGateway.open, erase):
            with pytest.raises(DatabaseInUseError, match="already in use"):
                way_in(moved)
    EmbeddedGateway.open(moved).close()


def test_a_link_to_itself_is_refused(tmp_path: Path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(DatabaseUnusableError, match="Cannot use"):
        EmbeddedGateway.open(tmp_path / "a")


@pytest.mark.parametrize("fresh", [False, True])
async def test_the_demo_runs_on_a_database_that_is_kept_elsewhere(tmp_path: Path, fresh: bool):
    (tmp_path / "data").mkdir()
    elsewhere = tmp_path / "elsewhere.sqlite3"
    gateway = await asyncio.to_thread(EmbeddedGateway.open, elsewhere, content="empty")
    gateway.close()
    alias = tmp_path / "data" / DATABASE_NAME
    alias.symlink_to(elsewhere)
    async with demo_gateway(data_dir=tmp_path / "data", fresh=fresh):
        with pytest.raises(DatabaseInUseError):
            EmbeddedGateway.open(elsewhere)
    assert alias.is_symlink()
    content = EmbeddedGateway.open(elsewhere)
    assert content.origin.content == ("simulated" if fresh else "empty")
    content.close()
