"""What a long list costs: its client in memory and processor time, its gateway per page."""

from __future__ import annotations

import asyncio
import os
import random
import time
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from gwtui.client.connection import Connection
from gwtui.client.gateway import GatewayClient
from gwtui.contract.values import KEYS_PAGE
from gwtui.embedded.gateway import EmbeddedGateway
from gwtui.watch.feeds.keys import read_keys
from gwtui.watch.shared_reads import unshared

_PAGES = 200


def reading(base_url: str, token: str) -> tuple[float, float]:
    """KiB that each key holds once all are read, and what reading them again costs.

    The latter in % of the processor time of the first reading.
    """
    return asyncio.run(_reading(GatewayClient(Connection(base_url, token=SecretStr(token)))))


async def _reading(client: GatewayClient) -> tuple[float, float]:
    await client.workspaces.list()  # what every reading loads
    before, times = _resident_kib(), []
    rows: Any = ()
    for _ in range(2):
        begun = time.process_time()
        rows = await read_keys(unshared(client), None)
        times.append(time.process_time() - begun)
    held = _resident_kib() - before
    await client.close()
    return held / len(rows), times[1] / times[0] * 100


def page_rate(database: Path, keys: int) -> float:
    """Milliseconds of processor time of a page of keys anywhere in the list, the median."""
    gateway = EmbeddedGateway.open(database)
    try:
        return asyncio.run(_pages(gateway, gateway.issue_key(management=True), keys))
    finally:
        gateway.close()


async def _pages(gateway: EmbeddedGateway, key: str, keys: int) -> float:
    chance = random.Random(1)  # noqa: S311 - seeded, to be repeated
    taken = []
    for _ in range(_PAGES):
        offset = chance.randrange(max(1, keys - KEYS_PAGE))
        begun = time.process_time()
        await _get(gateway, f"offset={offset}&include_disabled=true&include_expired=true", key)
        taken.append(time.process_time() - begun)
    return sorted(taken)[_PAGES // 2] * 1000


async def _get(gateway: EmbeddedGateway, query: str, key: str) -> None:
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": "/api/v1/keys",
        "raw_path": b"/api/v1/keys",
        "root_path": "",
        "query_string": query.encode(),
        "headers": [(b"host", b"localhost"), (b"authorization", f"Bearer {key}".encode())],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
    }
    statuses: list[int] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    await gateway.asgi(scope, receive, send)  # type: ignore[arg-type]
    if statuses != [200]:
        raise SystemExit(f"a page of keys was answered with {statuses}")


def _resident_kib() -> float:
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1024
