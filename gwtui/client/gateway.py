"""All services of a gateway in one object. The HTTP library is loaded with the first call."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any, Self

from gwtui.client.call import Answer, Call, Caller, RetryingCaller
from gwtui.client.connection import Connection, WriteGate
from gwtui.client.errors import ConnectFailedError
from gwtui.client.request_log import ClockSkew, Traffic
from gwtui.client.services import Services
from gwtui.domain.clock import SYSTEM_CLOCK, Clock

if TYPE_CHECKING:
    from gwtui.client.transport import Transport


class SharedTransport:
    """Base of clients with one transport; leaving the async context closes the transport."""

    _transport: LazyTransport

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close every connection; calls after this raise ConnectFailedError."""
        await self._transport.close()


class GatewayClient(SharedTransport, Services):
    """All services of one gateway.

    ``async with GatewayClient(connection) as gateway: keys = await gateway.keys.list()``
    """

    def __init__(
        self,
        connection: Connection,
        *,
        clock: Clock = SYSTEM_CLOCK,
        transport: Transport | None = None,
        on_retry: Callable[[str], None] = lambda _reason: None,
    ) -> None:
        self.connection = connection
        self.gate = transport.gate if transport is not None else WriteGate(connection)
        """Blocks writes of all services while read-only."""
        self.skew = transport.skew if transport is not None else ClockSkew()
        """Difference between the gateway's clock and this machine's."""
        self.traffic = transport.traffic if transport is not None else Traffic(clock)
        """Whether the gateway answers; see ``Traffic``."""
        self._transport = LazyTransport(
            lambda: new_transport(
                connection, clock, gate=self.gate, skew=self.skew, traffic=self.traffic
            ),
            transport,
        )
        self.caller: Caller = RetryingCaller(self._transport, clock, on_retry)
        """Sends the calls of all services, and retries reads."""
        super().__init__(self.caller, connection.dialect)


class LazyTransport:
    """Creates the transport in a thread when it is first needed.

    Loading the HTTP library and the TLS roots takes at least 100 ms; a thread keeps a user
    interface responsive.
    """

    def __init__(self, build: Callable[[], Transport], built: Transport | None = None) -> None:
        self._build = build
        self._built = built
        self._building = asyncio.Lock()
        self._closed = False

    async def ready(self) -> Transport:
        """Return the transport, created if needed. Raises ConnectFailedError after ``close``."""
        async with self._building:
            if self._built is None and not self._closed:
                self._built = await asyncio.to_thread(self._build)
            if self._closed and self._built is not None:
                await self._built.close()  # it may have been closed while it was built
            if self._closed or self._built is None:
                raise ConnectFailedError("the gateway client is closed", temporary=False)
            return self._built

    async def call(self, call: Call) -> Answer:
        """Send one call. Raises GatewayError."""
        return await (self._built or await self.ready()).call(call)

    async def close(self) -> None:
        """Close every connection and cancel pending requests."""
        self._closed = True
        if self._built is not None:
            await self._built.close()


def spare_http_command() -> None:
    """Keep httpx from loading its command line, which needs 40 modules and 3 MB.

    Puts an empty module in its place. Must be called before httpx is imported.
    """
    sys.modules.setdefault("httpx._main", ModuleType("httpx._main"))


def new_transport(connection: Connection, clock: Clock, **options: Any) -> Transport:
    """Load the HTTP library and create a transport."""
    spare_http_command()
    from gwtui.client.transport import Transport  # noqa: PLC0415 - see LazyTransport

    return Transport(connection, clock=clock, **options)
