"""The open connection of the dashboard: what exists only while a gateway is known."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gwtui.domain.clock import Clock
from gwtui.domain.safe_text import safe_text
from gwtui.watch.hub import Scope

if TYPE_CHECKING:
    from pydantic import SecretStr

    from gwtui.client.connection import Connection
    from gwtui.client.gateway import GatewayClient
    from gwtui.contract.keys import CurrentKey
    from gwtui.crud.executor import WriteExecutor
    from gwtui.local.journal import Journal
    from gwtui.local.probe_key import Probing
    from gwtui.local.sealed_keys import SealedKeys
    from gwtui.watch.alerts.watching import Alerts
    from gwtui.watch.feed import Feed
    from gwtui.watch.history.recorder import Recording
    from gwtui.watch.hub import FeedHub
    from gwtui.watch.probes.probes import Probes


_LAST_WRITE = 0.3
"""Seconds that a write under way still gets at the end. Whoever quits has waited longer before."""


@dataclass(frozen=True, slots=True)
class Session:
    """A connection and everything that lives as long as it does."""

    connection: Connection
    gateway: GatewayClient
    hub: FeedHub
    executor: WriteExecutor
    sealed: SealedKeys
    history: Recording
    alerts: Alerts | None = None
    """What is told of what is watched; None where nothing is recorded."""
    probes: Probes | None = None
    """Requests to watched endpoints that measure them; None unless the profile wants them."""


@dataclass(slots=True)
class TryMemory:
    """What requests to models are tried with in this run; in memory only, and forgotten with it.

    ``allowed`` lets them be sent while read-only. ``given`` is the key of the environment,
    ``typed`` the one that a person typed last. ``draft`` is what stood in the form when it was
    left, by field.
    """

    allowed: bool = False
    given: SecretStr | None = None
    typed: SecretStr | None = None
    draft: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def held(self, connection: Connection) -> str | None:
        """Why no request is sent to a model, to end a sentence with; None when it may be."""
        from gwtui.client.gate import READ_ONLY_PROFILE  # noqa: PLC0415 - once connected

        if not connection.read_only or self.allowed:
            return None
        return f"{READ_ONLY_PROFILE}, and a try costs money; gwtui --allow-tries allows it"

    def forget(self) -> None:
        """The run ends."""
        self.given = self.typed = None
        self.draft = {}


@dataclass(frozen=True, slots=True)
class Link:
    """How the attempt to open a session stands; ``error`` is fit to show to a person."""

    error: str | None = None
    retry_at: datetime | None = None


@asynccontextmanager
async def open_session(
    connection: Connection,
    journal: Journal | None,
    clock: Clock,
    data: Path | None = None,
    config: Path | None = None,
    probing: Probing | None = None,
) -> AsyncIterator[Session]:
    """Client, feeds and the executor of writes over one connection, closed in the reverse order.

    What is watched is recorded below the directory ``data``; None records nothing. The rules of
    alerts stand in the directory ``config``; None watches by none. ``probing`` says how endpoints
    are probed; None probes nothing. A write that is under way at the end gets a moment for its
    answer. The client's libraries are loaded here, after
    the first paint.
    """
    from gwtui.client.gateway import GatewayClient  # noqa: PLC0415
    from gwtui.crud.executor import WriteExecutor  # noqa: PLC0415
    from gwtui.local.journal import Journal  # noqa: PLC0415
    from gwtui.local.sealed_keys import sealed_keys  # noqa: PLC0415
    from gwtui.resources.keys.sealed import resolve_made  # noqa: PLC0415
    from gwtui.watch.feeds.audit import serve_audit  # noqa: PLC0415
    from gwtui.watch.feeds.current_key import current_key_feed  # noqa: PLC0415
    from gwtui.watch.feeds.doubts import serve_doubts  # noqa: PLC0415
    from gwtui.watch.history.file import history_path  # noqa: PLC0415
    from gwtui.watch.history.recorder import recording  # noqa: PLC0415
    from gwtui.watch.hub import FeedHub  # noqa: PLC0415
    from gwtui.watch.probes.probes import probing_beside  # noqa: PLC0415

    journal = journal or Journal(_default_journal())
    async with GatewayClient(connection, clock=clock) as gateway:
        hub = FeedHub(gateway, clock)
        executor = WriteExecutor(gateway, journal, clock)
        executor.write_log.key_label = partial(_label, current_key_feed(hub, Scope()))
        serve_audit(hub, executor.write_log.audit)
        serve_doubts(hub, journal)
        await asyncio.to_thread(executor.write_log.tidy)
        sealed = sealed_keys(journal.path.parent, connection, clock.now)
        await asyncio.to_thread(resolve_made, executor.write_log, sealed)
        path = None if data is None else history_path(data, connection.label, connection.base_url)
        try:
            async with (
                recording(hub, path, clock) as history,
                _alerts(history, hub, connection, clock, path and config) as alerts,
                probing_beside(
                    history, hub, connection, probing if path else None, clock
                ) as probes,
            ):
                hub.recording = history
                yield Session(connection, gateway, hub, executor, sealed, history, alerts, probes)
        finally:
            await hub.close()
            await executor.settle(_LAST_WRITE)
            sealed.close()


@asynccontextmanager
async def _alerts(
    history: Recording, hub: FeedHub, connection: Connection, clock: Clock, config: Path | None
) -> AsyncIterator[Alerts | None]:
    """The alerts of what is recorded; without a directory of rules there are none."""
    from gwtui.local.audit import Operator  # noqa: PLC0415
    from gwtui.watch.alerts.watching import FILE_NAME, AlertScope, alerting  # noqa: PLC0415
    from gwtui.watch.feeds.alerts import serve_alerts  # noqa: PLC0415

    if config is None:
        serve_alerts(hub, None)
        yield None
        return
    operator = Operator.present()
    async with alerting(
        history,
        hub,
        place=AlertScope(connection.label, connection.base_url, config / FILE_NAME),
        dialect=connection.dialect,
        who=f"{operator.user}@{operator.host}",
        clock=clock,
    ) as alerts:
        serve_alerts(hub, alerts)
        yield alerts


def _label(current: Feed[CurrentKey]) -> str | None:
    """How the gateway masks the key in use, as far as that was read."""
    value = current.state.value
    return None if value is None else value.label


def _default_journal() -> Path:
    from gwtui.local.paths import Paths  # noqa: PLC0415

    return Paths.of_user().state / "journal.jsonl"


def reason(error: BaseException) -> str:
    """One line on a failure to connect, for a person.

    Only errors of this program and of the system are quoted: the text of any other may repeat a
    token or a body.
    """
    ours = type(error).__module__.startswith("gwtui.")
    if (ours or isinstance(error, OSError)) and str(error):
        return safe_text(str(error), 300)
    return f"unexpected {type(error).__name__}"
