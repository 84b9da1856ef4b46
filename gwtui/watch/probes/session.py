"""The probes of a session: sent beside the recorder once that is there, and how they stand."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

from gwtui.domain.clock import SYSTEM_CLOCK, Clock
from gwtui.domain.money import usd
from gwtui.domain.probes import NOTHING_SPENT, ProbeSpending
from gwtui.domain.times import duration

if TYPE_CHECKING:
    from gwtui.client.connection import Connection
    from gwtui.domain.probes import ProbeTarget
    from gwtui.local.probe_key import ProbeAccess
    from gwtui.watch.history.model import Observation
    from gwtui.watch.history.recording import Recording
    from gwtui.watch.hub import FeedHub
    from gwtui.watch.probes.prober import Prober

_EARLY = 0.2
"""Seconds between two looks whether the history is open."""


@dataclass(frozen=True, slots=True)
class ProbeStatus:
    """How probing stands. Amounts are USD.

    ``endpoints`` are probed, ``mute`` of them in vain, ``left_out`` says of the others why not.
    ``most`` is what a day costs at the most by the prices, ``cap`` what it may. ``problem`` is why
    nothing is probed now, or what the last probes met; empty while all is well.
    """

    every: timedelta
    cap: Decimal
    endpoints: int = 0
    left_out: tuple[tuple[str, str], ...] = ()
    most: Decimal | None = None
    spent: ProbeSpending = NOTHING_SPENT
    mute: int = 0
    problem: str = ""
    full: bool = False
    """Whether the day's maximum left no room for a probe."""

    @property
    def announcement(self) -> str:
        """What is said before the first probe."""
        if not self.endpoints:
            return f"Nothing is probed: {self._why_none}"
        count = f"{self.endpoints} endpoint{'' if self.endpoints == 1 else 's'}"
        out = f"; {len(self.left_out)} cannot be probed" if self.left_out else ""
        cost = f"for {self.cost_a_day} a day at the most"
        return f"Probes {count} every {duration(self.every)}, {cost}{out}"

    @property
    def line(self) -> str:
        """For a status line."""
        if not self.endpoints:
            return f"no probes: {self._why_none}"
        parts = [
            f"probes every {duration(self.every)}",
            f"today {usd(self.spent.at_most)} of {self.cost_a_day} at most",
        ]
        if self.mute:
            parts.append(f"{self.mute} say nothing")
        if self.full and not self.spent.at_most:
            parts.append(f"the maximum of {usd(self.cap)} is less than what one probe may cost")
        elif self.full:
            parts.append("the day's maximum is reached, they go on at 00:00 UTC")
        if self.problem:
            parts.append(self.problem)
        return ", ".join(parts)

    @property
    def cost_a_day(self) -> str:
        """The most that a day costs: by the prices, or by the maximum where that is less."""
        least = self.cap if self.most is None else min(self.most, self.cap)
        return usd(least)

    @property
    def _why_none(self) -> str:
        if self.problem:
            return self.problem
        reasons = dict.fromkeys(why for _, why in self.left_out)
        return ", ".join(reasons) or "no endpoint is watched"


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

    def tell(self, text: str) -> None:
        """A sentence for a person."""
        if self._listener is None:
            self._sentences.append(text)
        else:
            self._listener(text)

    def told(self, target: ProbeTarget, seen: Observation) -> None:
        """A reading came."""
        for reader in tuple(self._readers):
            reader(target, seen)


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
            probes.tell(f"Probes: nothing is recorded, so nothing is probed: {history.problem}")
            return
        await clock.sleep(_EARLY)
    from gwtui.watch.probes.prober import Prober  # noqa: PLC0415 - only where it is wanted

    prober = Prober(hub, history.recorder, connection, probing, probes, clock)
    probes.prober = prober
    await prober.run()
