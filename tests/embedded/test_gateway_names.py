"""One file by several names: one server, one lock, one key file."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
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
from gwtui.embedded.store.generations import recent_generations

WAYS_IN: tuple[Callable[[Path], object], ...] = (
    EmbeddedGateway.open,
    erase,
    lambda path: issue_key(path, management=True),
    recent_generations,
)


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


def link(database: Path, _monkeypatch: pytest.MonkeyPatch) -> Path:
    alias = database.parent.parent / "alias.sqlite3"
    alias.symlink_to(database)
    return alias


def link_to_a_link(database: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    alias = database.parent.parent / "second.sqlite3"
    alias.symlink_to(link(database, monkeypatch))
    return alias


def link_to_the_directory(database: Path, _monkeypatch: pytest.MonkeyPatch) -> Path:
    (database.parent.parent / "elsewhere").symlink_to(database.parent, target_is_directory=True)
    return database.parent.parent / "elsewhere" / database.name


def relative_and_up(database: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(database.parent)
    return Path("..") / database.parent.name / database.name


ALIASES = (
    link,
    link_to_a_link,
    link_to_the_directory,
    relative_and_up,
)


@pytest.fixture(params=ALIASES, ids=lambda way: way.__name__)
def alias(request: pytest.FixtureRequest, database: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Another name of the database."""
    name: Path = request.param(database, monkeypatch)
    return name


@pytest.mark.parametrize("other", ["this process", "another process"])
def test_a_second_server_is_told_whatever_it_calls_the_file(
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


async def test_a_credential_stored_through_an_alias_is_no_stranger(database: Path, alias: Path):
    async with bench(database) as gate:
        first = await made(gate, OLD)
    async with bench(alias) as gate:
        second = await made(gate, NEW)
        token = issue_key(alias, management=True)
        await gate.call("GET", "/byok", token=token, expect=200)
    material = sealed(database)
    box = SecretBox(database)
    assert box.decrypt(material[first]) == OLD
    assert box.decrypt(material[second]) == NEW
    # Nothing but the link itself stands under the other name.
    extra = [path for path in database.parent.rglob("*") if path.name.startswith("alias.")]
    extra += database.parent.parent.glob("*.sqlite3*")
    assert all(path.is_symlink() for path in extra)
    assert key_file(database).is_file()


@pytest.mark.parametrize("way_in", WAYS_IN)
def test_a_file_with_two_names_is_refused_by_both(database: Path, way_in: Callable[[Path], object]):
    twin = database.with_name("twin.sqlite3")
    os.link(database, twin)
    before = database.read_bytes()
    for name in (database, twin):
        with pytest.raises(DatabaseUnusableError, match="has 2 names"):
            way_in(name)
    assert database.read_bytes() == before
    twin.unlink()
    EmbeddedGateway.open(database).close()


def test_a_database_that_was_moved_beneath_a_server_is_still_in_use(
    database: Path, server: ServerProcess
):
    moved = database.parent.parent / "moved.sqlite3"
    with server.serving(database):
        database.rename(moved)
        with pytest.raises(DatabaseInUseError, match="already in use"):
            EmbeddedGateway.open(moved)
        with pytest.raises(DatabaseInUseError, match="already in use"):
            erase(moved)
        # A new one under the old name is another database.
    EmbeddedGateway.open(moved).close()


@pytest.mark.parametrize("way_in", WAYS_IN)
def test_a_link_whose_database_was_moved_is_said(
    database: Path, monkeypatch: pytest.MonkeyPatch, way_in: Callable[[Path], object]
):
    alias = link(database, monkeypatch)
    database.rename(database.with_name("moved.sqlite3"))
    before = sorted(database.parent.iterdir())
    with pytest.raises(DatabaseUnusableError) as refused:
        way_in(alias)
    assert refused.value.message == (
        f"{alias} is a link to {database}, where nothing is: if that was moved, let the link lead "
        "to where it is now, else remove the link."
    )
    assert sorted(database.parent.iterdir()) == before, "nothing is founded in its place"


@pytest.mark.parametrize("way_in", WAYS_IN)
def test_a_link_to_itself_is_said(tmp_path: Path, way_in: Callable[[Path], object]):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    for given in (tmp_path / "a", tmp_path / "a" / "gateway.sqlite3"):
        with pytest.raises(DatabaseUnusableError, match="a is a link to b, where nothing is"):
            way_in(given)


def test_a_link_to_something_else_is_left_alone(tmp_path: Path):
    (tmp_path / "notes").write_text("These are my holiday notes. " * 50)
    (tmp_path / "alias").symlink_to("notes")
    with pytest.raises(DatabaseUnusableError, match="not a gateway database"):
        EmbeddedGateway.open(tmp_path / "alias")
    (tmp_path / "folder").symlink_to(tmp_path, target_is_directory=True)
    with pytest.raises(DatabaseUnusableError, match="it is not a file"):
        EmbeddedGateway.open(tmp_path / "folder")


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
