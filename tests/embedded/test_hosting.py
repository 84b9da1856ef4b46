"""Real sockets: TCP for any client, and a private unix socket for the demo."""

# ruff: noqa: ASYNC240 - looking at a file blocks nothing here
from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Awaitable, Callable
from contextlib import closing, suppress
from pathlib import Path

import httpx
import pytest

from gwtui.cli import exits
from gwtui.embedded.demo import DATABASE_NAME, DemoSite, demo_gateway, running_demo
from gwtui.embedded.errors import AddressError, DatabaseInUseError, DatabaseVersionError
from gwtui.embedded.gateway import EmbeddedGateway
from gwtui.embedded.hosting import host_on_socket, serve_tcp
from gwtui.embedded.store.documents import SCHEMA_VERSION
from login_kit import Commands


@pytest.fixture
def gateway():
    opened = EmbeddedGateway(None, content="empty")
    yield opened
    opened.close()


async def over_tcp(
    gateway: EmbeddedGateway,
    use: Callable[[str], Awaitable[None]],
    *,
    stop: signal.Signals = signal.SIGTERM,
) -> int:
    """Serve on a free port, use it, and stop it with a signal."""
    using: list[asyncio.Task[None]] = []

    async def then_stop(url: str) -> None:
        try:
            await use(url)
        finally:
            os.kill(os.getpid(), stop)

    code = await serve_tcp(
        gateway,
        "127.0.0.1",
        0,
        on_ready=lambda url: using.append(asyncio.ensure_future(then_stop(url))),
    )
    await using[0]
    return code


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
async def test_tcp_serves_any_client_until_a_signal(gateway: EmbeddedGateway, stop):
    token = gateway.issue_key(management=True)

    async def use(url: str) -> None:
        assert url.startswith("http://127.0.0.1:")
        assert url.endswith("/api/v1")
        async with httpx.AsyncClient(
            base_url=url, headers={"Authorization": f"Bearer {token}"}
        ) as client:
            created = await client.post("/keys", json={"name": "over tcp"})
            assert created.status_code == 201
            listed = await client.get("/keys")
            assert [row["name"] for row in listed.json()["data"]] == ["over tcp"]
            assert listed.headers["x-request-id"]
            assert "server" not in listed.headers
            assert (await client.get("/nope")).json()["error"]["code"] == 404
            missing = await client.get("/keys", headers={"Authorization": ""})
            assert missing.status_code == 401

    assert await over_tcp(gateway, use, stop=stop) == 0


async def test_an_oversized_body_gets_its_answer(gateway: EmbeddedGateway):
    token = gateway.issue_key(management=True)

    async def use(url: str) -> None:
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        async with httpx.AsyncClient(base_url=url, headers=headers) as client:
            answer = await client.post("/keys", content=b" " * (5 * 1024 * 1024))
            assert answer.status_code == 400
            assert "larger than" in answer.json()["error"]["message"]

    await over_tcp(gateway, use)


async def test_an_unusable_address_is_reported(gateway: EmbeddedGateway):
    with socket.socket() as occupied:
        occupied.bind(("127.0.0.1", 0))
        occupied.listen()
        port = occupied.getsockname()[1]
        with pytest.raises(AddressError, match=f"Port {port} on 127.0.0.1 is already in use"):
            await serve_tcp(gateway, "127.0.0.1", port, on_ready=print)
    for host, port in (("256.0.0.1", 0), ("192.0.2.1", 0)):
        with pytest.raises(AddressError):
            await serve_tcp(gateway, host, port, on_ready=print)


def over_socket(path: Path) -> httpx.AsyncClient:
    transport = httpx.AsyncHTTPTransport(uds=str(path))
    return httpx.AsyncClient(transport=transport, base_url="http://localhost/api/v1")


@pytest.fixture
def short_path(tmp_path: Path) -> Path:
    return tmp_path / "run" / "gw.sock"


async def test_a_unix_socket_serves_and_is_removed(gateway: EmbeddedGateway, short_path: Path):
    handlers = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    async with host_on_socket(gateway, short_path):
        assert stat.S_IMODE(short_path.stat().st_mode) == 0o600
        assert stat.S_IMODE(short_path.parent.stat().st_mode) == 0o700
        assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)) == handlers
        async with over_socket(short_path) as client:
            assert (await client.get("/models")).status_code == 200
        with pytest.raises(AddressError, match="already in use"):
            async with host_on_socket(gateway, short_path):
                pass
    assert not short_path.exists()


@pytest.mark.parametrize("rounds", [0, 1, 2, 50])
async def test_the_gateway_stops_while_a_client_is_silent(
    gateway: EmbeddedGateway, short_path: Path, rounds: int
):
    """``rounds`` of the event loop pass after the client connected, possibly before the accept."""
    async with host_on_socket(gateway, short_path):
        reader, writer = await asyncio.open_unix_connection(short_path)
        writer.write(b"POST /api/v1/keys HTTP/1.1\r\nHost: x\r\nContent-Length: 20\r\n\r\n")
        for _ in range(rounds):
            await asyncio.sleep(0)
        began = asyncio.get_running_loop().time()
    assert asyncio.get_running_loop().time() - began < 5
    with suppress(ConnectionResetError):
        await asyncio.wait_for(reader.read(), 5)
    writer.close()


async def test_the_gateway_stops_while_a_client_reads_nothing(
    gateway: EmbeddedGateway, short_path: Path
):
    """The responses fill the kernel's buffers, and the rest waits."""
    async with host_on_socket(gateway, short_path):
        client = socket.socket(socket.AF_UNIX)
        client.connect(str(short_path))
        client.settimeout(5)
        client.sendall(b"GET /api/v1/models HTTP/1.1\r\nHost: x\r\n\r\n" * 50)
        await asyncio.sleep(0.5)
    with closing(client), suppress(ConnectionResetError):
        while client.recv(1 << 20):
            pass


async def test_a_socket_path_that_is_too_long_is_reported(
    gateway: EmbeddedGateway, short_path: Path
):
    deep = short_path.parent.with_name("x" * 120) / "gw.sock"
    with pytest.raises(AddressError, match="too long"):
        async with host_on_socket(gateway, deep):
            pass


async def status(site: DemoSite, path: str, key: DemoSite) -> int:
    """The status of a read from one demo with the key of another."""
    headers = {"Authorization": f"Bearer {key.token.get_secret_value()}"}
    async with over_socket(site.socket_path) as client:
        return (await client.get(path, headers=headers)).status_code


async def test_the_demo_keeps_its_data_and_renews_its_key(tmp_path: Path):
    data = tmp_path / "data"
    async with demo_gateway(data_dir=data) as first:
        assert stat.S_IMODE(first.socket_path.parent.stat().st_mode) == 0o700
        assert first.token.get_secret_value() not in repr(first)
        headers = {"Authorization": f"Bearer {first.token.get_secret_value()}"}
        async with over_socket(first.socket_path) as client:
            created = await client.post("/keys", json={"name": "kept"}, headers=headers)
        path = f"/keys/{created.json()['data']['hash']}"
    assert not first.socket_path.parent.exists()
    async with demo_gateway(data_dir=data) as second:
        assert [await status(second, path, key) for key in (second, first)] == [200, 401]
    async with demo_gateway(data_dir=data, fresh=True) as third:
        assert await status(third, path, third) == 404


async def test_a_demo_of_another_version_names_the_remedy(tmp_path: Path):
    async with demo_gateway(data_dir=tmp_path):
        pass
    with closing(sqlite3.connect(tmp_path / DATABASE_NAME)) as connection:
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION - 1}")
    with pytest.raises(DatabaseVersionError, match="'gwtui --demo --fresh' replaces it"):
        async with demo_gateway(data_dir=tmp_path):
            pass
    async with demo_gateway(data_dir=tmp_path, fresh=True):
        pass


@pytest.mark.parametrize("fresh", [True, False])
async def test_a_second_demo_is_reported(tmp_path: Path, fresh: bool):
    async with demo_gateway(data_dir=tmp_path / "data"):
        with pytest.raises(DatabaseInUseError, match="Another demo is already running"):
            async with demo_gateway(data_dir=tmp_path / "data", fresh=fresh):
                pass


@pytest.mark.parametrize("name", ["absent", "d" * 100])
async def test_the_demo_does_without_a_usable_runtime_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
):
    if name != "absent":
        (tmp_path / name).mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / name))
    async with demo_gateway(data_dir=tmp_path / "data") as site:
        assert site.socket_path.is_socket()


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_a_server_process_does_not_wait_for_a_request_that_never_ends(tmp_path: Path, stop):
    script = (
        "import asyncio, sys; from pathlib import Path\n"
        "from gwtui.embedded.gateway import EmbeddedGateway\n"
        "from gwtui.embedded.hosting import serve_tcp\n"
        "gateway = EmbeddedGateway(Path(sys.argv[1]), content='empty')\n"
        "ready = lambda url: print(url, gateway.issue_key(management=True), flush=True)\n"
        "code = asyncio.run(serve_tcp(gateway, '127.0.0.1', 0, on_ready=ready))\n"
        "gateway.close(); sys.exit(code)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path / "gateway.sqlite3")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        text, token = process.stdout.readline().split()
        url = httpx.URL(text)
        with socket.create_connection((url.host, url.port)) as half_open:
            half_open.sendall(
                b"POST /api/v1/keys HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n"
                b"Authorization: Bearer " + token.encode() + b"\r\n\r\n{"
            )
            assert httpx.get(f"{text}/credits").status_code == 401, (
                "the partial request has arrived"
            )
            process.send_signal(stop)
            assert process.wait(timeout=20) == 0
        assert process.stderr.read() == ""
    assert not (tmp_path / "gateway.sqlite3-wal").exists(), "the database is closed"


# A running demo -----------------------------------------------------------------------------------


async def test_a_running_demo_is_found_until_it_ends(tmp_path: Path) -> None:
    data = tmp_path / "data"
    assert running_demo(data) is None
    async with demo_gateway(data_dir=data) as site:
        joined = await asyncio.to_thread(running_demo, data)
        assert joined is not None
        assert await status(joined, "/keys", joined) == 200
        tokens = [demo.token.get_secret_value().encode() for demo in (site, joined)]
        files = [path.read_bytes() for path in data.rglob("*") if path.is_file()]
        assert not any(token in content for token in tokens for content in files)
    assert running_demo(data) is None
    async with demo_gateway(data_dir=data) as again:
        assert await status(again, "/keys", joined) == 401


@pytest.mark.parametrize("danger", ["entered by all", "crashed"])
async def test_a_socket_that_another_user_could_hold_is_not_used(
    danger: str, tmp_path: Path
) -> None:
    async with demo_gateway(data_dir=tmp_path) as site:
        if danger == "crashed":
            site.socket_path.unlink()
        else:
            site.socket_path.parent.chmod(0o755)
        assert await asyncio.to_thread(running_demo, tmp_path) is None


async def test_commands_of_the_demo_talk_to_the_one_that_runs(
    private_home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = Commands(monkeypatch, capsys)
    data = private_home / "data" / "gwtui" / "demo"
    data.parent.mkdir(mode=0o700)
    async with demo_gateway(data_dir=data):

        async def gwtui(code: int, *words: str) -> tuple[str, str]:
            return await asyncio.to_thread(run.expect, code, *words, "--demo")

        await gwtui(exits.OK, "keys", "create", "--set", "name=joined", "--yes")
        out, _ = await gwtui(exits.OK, "keys", "list", "--output", "json")
        assert "joined" in [key["name"] for key in json.loads(out)]
        _, err = await gwtui(exits.IN_USE, "keys", "list", "--dialect", "openrouter")
        assert "uses the dialect generic" in err
