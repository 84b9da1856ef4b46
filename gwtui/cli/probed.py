"""Recording and probing for a command that watches, as a dashboard does."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from gwtui.cli.output import narrate
from gwtui.client.connection import Connection
from gwtui.local.paths import Paths
from gwtui.local.probe_key import ProbeAccess
from gwtui.watch.history.file import history_path
from gwtui.watch.history.recording import open_recording
from gwtui.watch.hub import FeedHub
from gwtui.watch.probes.session import Probes, open_probes


@asynccontextmanager
async def recorded_probes(
    hub: FeedHub, connection: Connection, paths: Paths, probing: ProbeAccess | None
) -> AsyncIterator[Probes | None]:
    """Record, and probe beside it; without ``probing`` neither happens."""
    if probing is None:
        yield None
        return
    path = history_path(paths.data, connection.label, connection.base_url)
    async with (
        open_recording(hub, path) as history,
        open_probes(history, hub, connection, probing) as probes,
    ):
        if probes is not None:
            probes.listen(narrate)
        yield probes
