"""``gwtui export metrics``: export the watched figures for Prometheus."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from prometheus_client import start_http_server

from gwtui.cli import exits
from gwtui.cli.command import DAY, DEMO, FILES, Argument, Command, whole_number
from gwtui.cli.output import data_on_stdout, narrate
from gwtui.cli.target import on_signals, open_hub, resolve_connection, run_async
from gwtui.local.paths import Paths
from gwtui.local.private_file import replace_file
from gwtui.local.targets import Connect
from gwtui.watch.history.sources import Readings
from gwtui.watch.metrics import registry_of, text_of

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
_FIRST = 30.0
"""Seconds to wait for the first readings; then the available ones are exported."""
_PORTS = range(65536)
_MODE = 0o644
"""File mode: readable for the node exporter, which runs as another user."""


def run(arguments: argparse.Namespace) -> int:
    """Print, write or serve the metrics; returns an exit code."""
    connect = resolve_connection(arguments, Paths.of_user(), may_ask=False)
    return run_async(lambda: _export(arguments, connect))


async def _export(arguments: argparse.Namespace, connect: Connect) -> int:
    async with _registry(arguments, connect) as registry:
        if arguments.listen:
            return await _serve(registry, *arguments.listen)
        if arguments.textfile:
            return await _write_files(registry, arguments)

        with data_on_stdout():
            sys.stdout.buffer.write(text_of(registry, openmetrics=arguments.openmetrics))
    return exits.OK


@asynccontextmanager
async def _registry(
    arguments: argparse.Namespace, connect: Connect
) -> AsyncIterator[CollectorRegistry]:
    async with connect() as connection, open_hub(connection) as hub:
        readings = Readings(hub)
        try:
            await readings.start(arguments.model)
            try:
                async with asyncio.timeout(_FIRST):
                    await readings.settled()
            except TimeoutError:
                narrate("some readings are slow: their metrics will follow")
            yield registry_of(readings.snapshot)
        finally:
            readings.close()


# Server and file --------------------------------------------------------------------------------


async def _serve(registry: CollectorRegistry, host: str, port: int) -> int:
    try:
        server, thread = start_http_server(port, addr=host, registry=registry)
    except OSError as error:
        narrate(f"cannot listen on {host}:{port}: {error.strerror or error}")
        return exits.IN_USE
    if host not in _LOOPBACK:
        narrate("anyone who can reach this address can read names, spending and limits")
    narrate(f"serving http://{host}:{server.server_address[1]}/metrics")
    try:
        await _ended()
    finally:
        await asyncio.to_thread(server.shutdown)
        server.server_close()
        thread.join(1.0)
    return exits.OK


async def _write_files(registry: CollectorRegistry, arguments: argparse.Namespace) -> int:
    ended = asyncio.create_task(_ended())
    path: Path = arguments.textfile
    while True:
        content = text_of(registry, openmetrics=False)
        try:
            await asyncio.to_thread(replace_file, path, content, mode=_MODE)
        except OSError as error:
            narrate(f"{path}: {error.strerror or 'cannot be written'}")
            return exits.FAILED
        if arguments.once:
            return exits.OK
        done, _ = await asyncio.wait({ended}, timeout=arguments.interval)
        if done:
            return exits.OK


async def _ended() -> None:
    over = asyncio.Event()
    with on_signals(lambda _code: over.set()):
        await over.wait()


# Arguments --------------------------------------------------------------------------------------


def _address(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not colon or not host or not port.isdecimal() or int(port) not in _PORTS:
        raise argparse.ArgumentTypeError("expected HOST:PORT, such as 127.0.0.1:9750")
    return host.strip("[]"), int(port)


def _prom_file(text: str) -> Path:
    path = Path(text)
    if path.suffix != ".prom":
        raise argparse.ArgumentTypeError(
            "the file name must end in .prom, or node_exporter ignores it"
        )
    return path


COMMAND = Command(
    run=run,
    arguments=(
        Argument("what", values=("metrics",), help="what to export"),
        Argument(
            "--listen",
            type=_address,
            metavar="HOST:PORT",
            either="where",
            help="serve the metrics at http://HOST:PORT/metrics, such as 127.0.0.1:9750",
        ),
        Argument(
            "--textfile",
            type=_prom_file,
            metavar="FILE.prom",
            kind=FILES,
            either="where",
            help="write the metrics to this file for node_exporter every --interval seconds",
        ),
        Argument(
            "--interval",
            type=whole_number(1, DAY),
            default=60,
            metavar="SECONDS",
            help="with --textfile: seconds between writes (default: 60)",
        ),
        Argument("--once", action="store_true", help="with --textfile: write once and exit"),
        Argument(
            "--model",
            action="append",
            metavar="AUTHOR/SLUG",
            kind="models",
            help="export this model's endpoints; may be repeated (default: the most used models)",
        ),
        Argument(
            "--openmetrics",
            action="store_true",
            help="use OpenMetrics instead of the Prometheus text format",
        ),
        DEMO,
    ),
)
