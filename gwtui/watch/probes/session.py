"""The probes of a session: sent beside the recorder once that is there, and how they stand."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from gwtui.domain.clock import SYSTEM_CLOCK, Clock

if TYPE_CHECKING:
    from gwtui.client.connection import Connection
    from gwtui.domain.probes import ProbeTarget
    from gwtui.local.probe_key import ProbeAccess
    from gwtui.watch.history.model import Observation
    from gwtui.watch.history.recording import Recording
    from gwtui.watch.hub import FeedHub
    from gwtui.watch.probes.prober import Prober
    from gwtui.watch.probes.status import ProbeStatus

_EARLY = 0.2
"""Seconds between two looks whether the history is open."""


class Probes:
    """The probes of one connection. Sentences that nobody listened for yet are kept."""

    def __init__(self) -> None:
        self.prober: Prober | None = None
        self._sentences: list[str] = []
        self._listener: Callable[[str], object] | None = None
        self._readers: list[Callable[[ProbeTarget, Observation], object]] = []

    @property
    def status(self) -> ProbeStatus | None:
        """How it stands; None until the history is open."""
        return None if self.prober is None else self.prober.status

    def listen(self, listener: Callable[[str], object]) -> None:
        """Give ``listener`` every sentence for a person, those said before included."""
        self._listener = listener
        sentences, self._sentences = self._sentences, []
        for text in sentences:
            listener(text)

    def read(self, reader: Callable[[ProbeTarget, Observation], object]) -> None:
        """Give ``reader`` every reading from now on."""
        self._readers.append(reader)

    def report(self, text: str) -> None:
        """Give a sentence for a person to the listener, or keep it until there is one."""
        if self._listener is None:
            self._sentences.append(text)
        else:
            self._listener(text)

    def on_reading(self, target: ProbeTarget, observation: Observation) -> None:
        """Hand a reading to everyone who reads them."""
        for reader in tuple(self._readers):
            reader(target, observation)


@asynccontextmanager
async def open_probes(
    history: Recording,
    hub: FeedHub,
    connection: Connection,
    probing: ProbeAccess | None,
    clock: Clock = SYSTEM_CLOCK,
) -> AsyncIterator[Probes | None]:
    """Probe as the profile says; None where it says nothing of probes, and none are sent."""
    if probing is None:
        yield None
        return
    probes = Probes()
    task = asyncio.create_task(
        _probe(probes, history, hub, connection, probing, clock), name="probing"
    )
    try:
        yield probes
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def _probe(
    probes: Probes,
    history: Recording,
    hub: FeedHub,
    connection: Connection,
    probing: ProbeAccess,
    clock: Clock,
) -> None:
    """Until it is cancelled."""
    while history.recorder is None:
        if history.problem:
            probes.report(f"Probes: nothing is recorded, so nothing is probed: {history.problem}")
            return
        await clock.sleep(_EARLY)
    from gwtui.watch.probes.prober import Prober  # noqa: PLC0415 - only where it is wanted

    prober = Prober(hub, history.recorder, connection, probing, probes, clock)
    probes.prober = prober
    await prober.run()
