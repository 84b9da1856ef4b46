"""The session of the dashboard: everything that depends on an open connection."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gwtui.client.connection import READ_ONLY_SESSION, Connection
from gwtui.domain.clock import Clock
from gwtui.domain.safe_text import safe_text
from gwtui.watch.hub import FeedHub

if TYPE_CHECKING:
    from pydantic import SecretStr

    from gwtui.client.gateway import GatewayClient
    from gwtui.crud.executor import WriteExecutor
    from gwtui.local.ledger import Ledger
    from gwtui.watch.alerts.session import Alerts
    from gwtui.watch.history.recorder import Recorder


_LAST_WRITE = 0.3
"""Seconds to wait on close for writes in flight; quitting has already waited longer before."""


class Session:
    """A connection and the objects that share its lifetime.

    Data can be read as soon as the session is open. ``complete`` opens the rest, which takes a
    noticeable time: it checks the ledger for writes of earlier runs, and starts recording and
    alerts.
    """

    def __init__(
        self,
        gateway: GatewayClient,
        hub: FeedHub,
        clock: Clock,
        files: SessionFiles,
    ) -> None:
        self.connection = gateway.connection
        self.gateway = gateway
        self.hub = hub
        self.completed = asyncio.Event()
        """Set once the session is complete."""
        self._clock = clock
        self.began = clock.now()
        """When the session was opened."""
        self._files = files
        self._rest = AsyncExitStack()
        self._completing: asyncio.Task[None] | None = None

    @cached_property
    def executor(self) -> WriteExecutor:
        """The executor of writes, created with its ledger on first use."""
        from gwtui.resources.session_rest import write_executor  # noqa: PLC0415 - as complete

        return write_executor(self.gateway, self.hub, self._clock, self._files.ledger)

    @property
    def history(self) -> Recorder | None:
        """The recorder, even while its file is closed; None before ``complete`` or if it is off."""
        return self.hub.recorder

    @property
    def alerts(self) -> Alerts | None:
        """The alerts; None before ``complete``, or if recording or alerts are off."""
        return self.hub.alerts

    @property
    def recorder(self) -> Recorder | None:
        """The recorder once its file can be read; None until then, or if recording is off."""
        return self.history if self.history is not None and self.history.open_archive else None

    @property
    def in_flight(self) -> int:
        """The number of writes in flight."""
        return self.executor.in_flight if "executor" in vars(self) else 0

    def abandon(self) -> None:
        """Record the known state of sent writes before the process is killed."""
        if "executor" in vars(self):
            self.executor.abandon()

    async def complete(self) -> None:
        """Open everything that reading does not need; further calls do nothing."""
        if self._completing is None:
            self._completing = asyncio.create_task(self._complete(), name="rest of the session")
        await asyncio.shield(self._completing)

    async def _complete(self) -> None:
        # Load the modules in a thread, because the first rows are being painted.
        await asyncio.to_thread(import_module, "gwtui.resources.session_rest")
        from gwtui.resources.session_rest import open_rest, tidy_ledger  # noqa: PLC0415 - as above

        await tidy_ledger(self.hub, self.executor)
        opening = open_rest(self.hub, self._files.data, self._files.config)
        await self._rest.enter_async_context(opening)
        self.completed.set()

    async def close(self) -> None:
        """Close everything in reverse order, after waiting briefly for writes in flight."""
        try:
            if self._completing is not None:
                self._completing.cancel()
                await asyncio.wait({self._completing})
            await self._rest.aclose()
            if self._files.data is not None:
                from gwtui.resources.known_names import store_read_names  # noqa: PLC0415 - at the end

                await asyncio.to_thread(store_read_names, self.hub)
        finally:
            await self.hub.close()
            if "executor" in vars(self):
                await self.executor.settle(_LAST_WRITE)
                await self.executor.give_up()


@dataclass(frozen=True, slots=True)
class SessionFiles:
    """The local files of a session.

    ``ledger`` None is the user's default ledger. ``data`` is the directory of the history, None for
    no recording. ``config`` is the directory of the alert rules, None for no alerts.
    """

    ledger: Ledger | None = None
    data: Path | None = None
    config: Path | None = None


@dataclass(slots=True)
class TryMemory:
    """The keys and drafts of test requests; kept in memory only.

    ``allowed`` permits sending while read-only. ``given`` is the key from the environment,
    ``typed`` the last typed key. ``draft`` has the values of the form when it was last closed, by
    field.
    """

    allowed: bool = False
    given: SecretStr | None = None
    typed: SecretStr | None = None
    draft: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def hold_reason(self, connection: Connection) -> str | None:
        """Return why no test request can be sent, as the end of a sentence; None if one can."""
        if not connection.read_only or self.allowed:
            return None
        return f"{READ_ONLY_SESSION}, and a try costs money; gwtui --allow-tries allows it"

    def forget(self) -> None:
        """Discard all keys and drafts at the end of the run."""
        self.given = self.typed = None
        self.draft = {}


@dataclass(frozen=True, slots=True)
class Link:
    """The state of opening a session.

    ``error`` is why the last attempt failed, safe to display, and ``retry_at`` is when the next one
    begins; None before an attempt failed and once the session is open.
    """

    error: str | None = None
    retry_at: datetime | None = None


@asynccontextmanager
async def open_session(
    connection: Connection,
    clock: Clock,
    files: SessionFiles = SessionFiles(),
) -> AsyncIterator[Session]:
    """Open a session that can read; closed at the end of the context.

    The client's libraries are loaded here, after the first paint.
    """
    from gwtui.client.gateway import GatewayClient  # noqa: PLC0415

    async with GatewayClient(connection, clock=clock) as gateway:
        hub = FeedHub(gateway, clock)
        session = Session(gateway, hub, clock, files)
        hub.wait_until_open = session.complete
        try:
            yield session
        finally:
            await session.close()


def connection_error_text(error: BaseException) -> str:
    """Return one line that explains a connection failure to the user.

    Only errors of gwtui and of the operating system are quoted: other messages may contain a token
    or a body.
    """
    ours = type(error).__module__.startswith("gwtui.")
    text = getattr(error, "strerror", None) or str(error)
    if (ours or isinstance(error, OSError)) and text:
        return safe_text(text, 300)
    return f"unexpected {type(error).__name__}"
