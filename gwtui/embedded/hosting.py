"""Serve the gateway on a private unix socket in the dashboard's process, or over TCP."""

from __future__ import annotations

import asyncio
import errno
import logging
import signal
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from starlette.types import ASGIApp
from uvicorn import Config, Server
from uvicorn.protocols.http.h11_impl import H11Protocol

from gwtui.embedded.errors import AddressError
from gwtui.embedded.gateway import EmbeddedGateway
from gwtui.embedded.routes import PREFIX

GRACE_SECONDS = 1
"""Seconds that pending responses may still take after the gateway is asked to stop."""

_BACKLOG = 128
_STOPPING = (signal.SIGTERM, signal.SIGINT)

# Without its own handler, logging would write warnings to stderr, over the dashboard.
logging.getLogger("uvicorn").addHandler(logging.NullHandler())


@asynccontextmanager
async def host_on_socket(gateway: EmbeddedGateway, socket_path: Path) -> AsyncIterator[None]:
    """Serve a gateway on a unix socket, in the running event loop, while the context is open.

    A missing parent directory is created for this user only. The socket is removed at the end.
    Raises AddressError.
    """
    socket_path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _path_listener(socket_path) as listener:
        async with serving(gateway.asgi, listener, _protocol(gateway)):
            yield


async def serve_tcp(
    gateway: EmbeddedGateway, host: str, port: int, *, on_ready: Callable[[str], None]
) -> int:
    """Serve over TCP until SIGTERM or SIGINT; return 0, the exit code of a clean stop.

    ``on_ready`` gets the base URL once requests are accepted; port 0 picks a free port. Must run on
    the main thread. Raises AddressError.
    """
    listener = _listen_on_port(host, port)
    base_url = _base_url(listener)
    async with serving(gateway.asgi, listener, _protocol(gateway)):
        loop, stopping = asyncio.get_running_loop(), asyncio.Event()
        for number in _STOPPING:
            loop.add_signal_handler(number, stopping.set)
        try:
            on_ready(base_url)
            await stopping.wait()
        finally:
            for number in _STOPPING:
                loop.remove_signal_handler(number)
    return 0


@asynccontextmanager
async def serving(
    app: ASGIApp, listener: socket.socket, protocol: type[H11Protocol] = H11Protocol
) -> AsyncIterator[None]:
    """Serve an application in the running event loop while the context is open.

    Replaces ``Server.serve``, which would handle signals itself and poll ten times a second. At the
    end, pending responses get ``GRACE_SECONDS``; then all connections are closed.
    """
    config = Config(
        app,
        http=protocol,
        interface="asgi3",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    config.load()
    server = Server(config)
    server.lifespan = config.lifespan_class(config)
    await server.startup(sockets=[listener])
    try:
        yield
    finally:
        # Python 3.11 loses a connection that it accepts while the server closes: accept no more,
        # and let each that was accepted reach its protocol.
        asyncio.get_running_loop().remove_reader(listener)
        for _ in range(2):
            await asyncio.sleep(0)
        await server.shutdown(sockets=[listener])
        for connection in list(server.server_state.connections):
            connection.transport.abort()
        await asyncio.sleep(0)  # the next round of the loop closes their sockets


def _protocol(gateway: EmbeddedGateway) -> type[H11Protocol]:
    return H11Protocol if gateway.faults is None else gateway.faults.protocol


@contextmanager
def _path_listener(path: Path) -> Iterator[socket.socket]:
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(str(path))
    except OSError as error:
        listener.close()
        # Python raises a plain OSError without a number when the path is too long for the kernel.
        reason = error.strerror or str(error)
        raise AddressError(f"Cannot listen on {path}: {reason}.") from error
    try:
        path.chmod(0o600)
        yield listener
    finally:
        path.unlink(missing_ok=True)


def _listen_on_port(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise AddressError(f"Port {port} on {host} is already in use.") from error
        # ``create_server`` adds the address to the reason.
        reason = str(error.strerror).partition(" (")[0]
        raise AddressError(f"Cannot listen on {host}, port {port}: {reason}.") from error
    # Accepted connections inherit this. With Nagle's algorithm, every response would wait 40 ms for
    # an acknowledgement.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def _base_url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    shown = f"[{host}]" if listener.family == socket.AF_INET6 else host
    return f"http://{shown}:{port}{PREFIX}"
