"""The cost of a long list: memory and processor time of its client, and its gateway per page."""

from __future__ import annotations

import asyncio
import itertools
import os
import random
import re
import time
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

from pydantic import SecretStr

from gwtui.client.connection import Connection
from gwtui.client.gateway import GatewayClient
from gwtui.contract.values import KEYS_PAGE
from gwtui.watch.feeds.keys import fetch_keys

_PAGES = 2_000


def reading(base_url: str, token: str) -> tuple[float, float]:
    """Return KiB per key once all are read, and the cost of reading them again.

    The latter is in percent of the processor time of the first reading.
    """
    return asyncio.run(_reading(GatewayClient(Connection(base_url, token=SecretStr(token)))))


async def _reading(client: GatewayClient) -> tuple[float, float]:
    await client.workspaces.list()  # what every reading loads
    before, times = _resident_kib(), []
    rows: Any = ()
    for _ in range(2):
        begun = time.process_time()
        rows = await fetch_keys(client, None)
        times.append(time.process_time() - begun)
    held = _resident_kib() - before
    await client.close()
    return held / len(rows), times[1] / times[0] * 100


def pages(base_url: str, token: str, keys: int, gateway: int) -> tuple[float, float]:
    """Return the cost of a page of keys over HTTP; ``gateway`` is the process.

    In milliseconds: its processor time per page, and the 99th percentile of the response time with
    as many concurrent clients as there are processors.
    """
    return asyncio.run(_pages(urlsplit(base_url), token, keys, gateway))


async def _pages(url: SplitResult, token: str, keys: int, gateway: int) -> tuple[float, float]:
    async def ask(count: int, chance: random.Random) -> list[float]:
        reader, writer = await asyncio.open_connection(url.hostname, url.port)
        taken = []
        for _ in range(count):
            offset = chance.randrange(max(1, keys - KEYS_PAGE))
            begun = time.perf_counter()
            writer.write(
                f"GET {url.path}/keys?offset={offset}&include_disabled=true&include_expired=true"
                f" HTTP/1.1\r\nHost: {url.netloc}\r\nAuthorization: Bearer {token}\r\n\r\n".encode()
            )
            await _answer(reader)
            taken.append(time.perf_counter() - begun)
        writer.close()
        return taken

    async def together(count: int) -> list[float]:
        clients = os.cpu_count() or 1
        chances = [random.Random(seed) for seed in range(clients)]  # noqa: S311 - to be repeated
        clients_asking = [ask(count // clients, chance) for chance in chances]
        return sorted(itertools.chain(*await asyncio.gather(*clients_asking)))

    await together(_PAGES // 10)  # what is used for the first time is loaded
    before = _computed(gateway)
    taken = await together(_PAGES)
    computed = _computed(gateway) - before
    return computed / len(taken) * 1000, taken[len(taken) * 99 // 100] * 1000


async def _answer(reader: asyncio.StreamReader) -> None:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
    status, _, fields = head.partition("\r\n")
    if " 200 " not in status:
        raise SystemExit(f"a page of keys was answered with {status}")
    length = re.search(r"^content-length: *(\d+)", fields, re.MULTILINE)
    if length is None:
        raise SystemExit("a page of keys does not say how long it is")
    await reader.readexactly(int(length[1]))


def _computed(process: int) -> float:
    """Return the processor seconds of a process."""
    fields = Path(f"/proc/{process}/stat").read_text("utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _resident_kib() -> float:
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1024
