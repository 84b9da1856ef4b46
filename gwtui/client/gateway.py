"""The gateway as one object. Importing it costs no HTTP library: that comes with the first call."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from types import ModuleType, TracebackType
from typing import TYPE_CHECKING, Generic, Protocol, Self, TypeVar

from gwtui.client import services
from gwtui.client.call import Answer, Call, Caller, RetryingCaller, RetryNotice
from gwtui.client.connection import Connection, WriteGate
from gwtui.client.errors import ConnectFailedError
from gwtui.client.request_log import ClockSkew, Traffic
from gwtui.domain.clock import SYSTEM_CLOCK, Clock

if TYPE_CHECKING:
    from gwtui.client.transport import Transport


class GatewayClient:
    """Every service of one gateway.

    ``async with GatewayClient(connection) as gateway: keys = await gateway.keys.list()``
    """

    def __init__(
        self,
        connection: Connection,
        *,
        clock: Clock = SYSTEM_CLOCK,
        transport: Transport | None = None,
        on_retry: Callable[[RetryNotice], None] | None = None,
    ) -> None:
        self.connection = connection
        self.gate = transport.gate if transport is not None else WriteGate(connection)
        """What holds writes back, for every service at once."""
        self._transport = transport or _ManagementTransport(connection, clock, self.gate)
        self.caller: Caller = RetryingCaller(self._transport, clock, on_retry)
        """What the services call."""
        caller, dialect = self.caller, connection.dialect
        self.keys = services.KeysService(caller, dialect)
        self.workspaces = services.WorkspacesService(caller, dialect)
        self.credits = services.CreditsService(caller, dialect)
        self.catalog = services.CatalogService(caller, dialect)
        self.providers = services.ProvidersService(caller, dialect)
        self.organization = services.OrganizationService(caller, dialect)
        self.guardrails = services.GuardrailsService(caller, dialect)
        self.byok = services.ByokService(caller, dialect)
        self.activity = services.ActivityService(caller, dialect)
        self.generations = services.GenerationsService(caller, dialect)

    @property
    def skew(self) -> ClockSkew:
        """How far the gateway's clock is from this machine's, as far as answers have come."""
        return self._transport.skew

    @property
    def traffic(self) -> Traffic:
        """The requests of the last minute."""
        return self._transport.traffic

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close every connection; calls after this raise ConnectFailedError."""
        await self._transport.close()


class Closable(Protocol):
    """What has to be closed in the end."""

    async def close(self) -> None:
        """Close every connection."""


T = TypeVar("T", bound=Closable)


class LazyTransport(Generic[T]):
    """Builds a transport in a thread when it is first used.

    Loading the HTTP library and the TLS roots takes 100 ms and more: a user interface keeps
    painting meanwhile.
    """

    def __init__(self, build: Callable[[], T], built: T | None = None) -> None:
        self._build = build
        self.built = built
        """The transport; None before it was used."""
        self._building = asyncio.Lock()
        self._closed = False

    async def ready(self) -> T:
        """The transport; ConnectFailedError once this was closed."""
        async with self._building:
            if self.built is None and not self._closed:
                self.built = await asyncio.to_thread(self._build)
            if self._closed and self.built is not None:
                await self.built.close()  # it may have been closed while it was built
            if self._closed or self.built is None:
                raise ConnectFailedError("the gateway client is closed", temporary=False)
            return self.built

    async def close(self) -> None:
        """Close every connection; what is under way is cancelled."""
        self._closed = True
        if self.built is not None:
            await self.built.close()


class _ManagementTransport(LazyTransport["Transport"]):
    """The transport of management requests, and what it has learned so far."""

    def __init__(self, connection: Connection, clock: Clock, gate: WriteGate) -> None:
        super().__init__(lambda: _new_transport(connection, clock, gate))
        self._clock = clock

    @property
    def skew(self) -> ClockSkew:
        return ClockSkew() if self.built is None else self.built.skew

    @property
    def traffic(self) -> Traffic:
        return Traffic(self._clock) if self.built is None else self.built.traffic

    async def call(self, call: Call) -> Answer:
        return await (self.built or await self.ready()).call(call)


def spare_http_command() -> None:
    """Keep the HTTP library from loading its command line; call it before that is imported.

    It offers a command of its own where it can load what that is made of: 40 modules and 3 MB that
    nobody here uses. Where the command is empty it does without.
    """
    sys.modules.setdefault("httpx._main", ModuleType("httpx._main"))


def _new_transport(connection: Connection, clock: Clock, gate: WriteGate) -> Transport:
    spare_http_command()
    from gwtui.client.transport import Transport  # noqa: PLC0415 - see LazyTransport

    return Transport(connection, clock=clock, gate=gate)
