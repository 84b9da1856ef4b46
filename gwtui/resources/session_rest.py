"""The parts of a session that open after the first rows: the recorder and the alerts.

``Session.complete`` loads this module.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from gwtui.client.gateway import GatewayClient
from gwtui.crud.executor import WriteExecutor
from gwtui.domain.clock import Clock
from gwtui.local.alerts import FILE_NAME
from gwtui.local.ledger import Ledger, Operator
from gwtui.watch.alerts.session import open_alerts
from gwtui.watch.feeds.alerts import attach_alerts
from gwtui.watch.feeds.keys import current_key_feed
from gwtui.watch.feeds.ledger import user_ledger
from gwtui.watch.history.file import history_path
from gwtui.watch.history.recorder import open_recording
from gwtui.watch.hub import FeedHub, Scope


def write_executor(
    gateway: GatewayClient, hub: FeedHub, clock: Clock, ledger: Ledger | None
) -> WriteExecutor:
    """Return the executor of writes, which records the label of the management key.

    ``ledger`` None is the user's default ledger.
    """
    current_key = current_key_feed(hub, Scope())

    def key_label() -> str | None:
        value = current_key.state.value
        return None if value is None else value.label

    executor = WriteExecutor(gateway, ledger or user_ledger(), clock)
    executor.write_log.key_label = key_label
    return executor


async def tidy_ledger(hub: FeedHub, executor: WriteExecutor) -> None:
    """Mark unfinished writes of earlier runs in the ledger, and let the hub's feeds read it."""
    hub.ledger = executor.ledger
    await asyncio.to_thread(executor.write_log.mark_dead_as_unknown)


@asynccontextmanager
async def open_rest(hub: FeedHub, data: Path | None, config: Path | None) -> AsyncIterator[None]:
    """Record the watched feeds below ``data`` and evaluate the alert rules in ``config``.

    ``data`` None disables recording and alerts; ``config`` None disables alerts.
    """
    async with AsyncExitStack() as stack:
        if data is not None:
            path = history_path(data, hub.connection.label, hub.connection.base_url)
            recording = open_recording(hub, path, hub.connection.past)
            hub.recorder = await stack.enter_async_context(recording)
            if config is not None:
                operator = Operator.present()
                who = f"{operator.user}@{operator.host}"
                opening = open_alerts(hub.recorder, config / FILE_NAME, who)
                attach_alerts(hub, await stack.enter_async_context(opening))
        yield
