"""What a session opens behind its first rows: the recording, alerts and probes.

It is loaded by ``Session.complete``: the first rows wait for none of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from gwtui.domain.clock import Clock
from gwtui.local.audit import Operator
from gwtui.resources.keys.sealed import settle_sealed_creations
from gwtui.watch.alerts.session import FILE_NAME, Alerts, AlertScope, open_alerts
from gwtui.watch.feeds.alerts import serve_alerts
from gwtui.watch.history.file import history_path
from gwtui.watch.history.recording import open_recording

if TYPE_CHECKING:
    from gwtui.local.probe_key import ProbeAccess
    from gwtui.resources.session import Session, SessionFiles


async def open_rest(
    session: Session,
    stack: AsyncExitStack,
    files: SessionFiles,
    probing: ProbeAccess | None,
    clock: Clock,
) -> None:
    """Open all of it until ``stack`` is closed, and tell the session.

    First the journal is gone through for what an earlier run left. What is watched is recorded
    where ``files`` names a directory for that; alerts and probes go with the recording.
    """
    hub, to, write_log = session.hub, session.connection, session.executor.write_log
    hub.journal, hub.audit_log = write_log.journal, write_log.audit
    await asyncio.to_thread(write_log.tidy)
    await asyncio.to_thread(settle_sealed_creations, write_log, session.sealed)
    if files.data is None:
        return
    path = history_path(files.data, to.label, to.base_url)
    history = await stack.enter_async_context(open_recording(hub, path, clock, to.past))
    session.history = hub.recording = history
    if files.config is not None:
        session.alerts = await stack.enter_async_context(_alerts(session, files.config, clock))
    if probing is not None:
        from gwtui.watch.probes.session import open_probes  # noqa: PLC0415 - few profiles probe

        opened = open_probes(history, hub, to, probing, clock)
        session.probes = await stack.enter_async_context(opened)


@asynccontextmanager
async def _alerts(session: Session, config: Path, clock: Clock) -> AsyncIterator[Alerts]:
    """The alerts of what is recorded, by the rules in the directory ``config``."""
    operator, to = Operator.present(), session.connection
    async with open_alerts(
        session.history,
        session.hub,
        place=AlertScope(to.label, to.base_url, config / FILE_NAME),
        dialect=to.dialect,
        who=f"{operator.user}@{operator.host}",
        clock=clock,
    ) as alerts:
        serve_alerts(session.hub, alerts)
        yield alerts
