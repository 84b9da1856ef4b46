"""The alerts of a session: rules are evaluated, alerts shown, acknowledged and silenced."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from gwtui.domain.alert_rules import AlertRule
from gwtui.domain.clock import SYSTEM_CLOCK, Clock
from gwtui.local.alerts import AlertBook, AlertEffects, RuleFile, load_alerts
from gwtui.watch.alerts import store
from gwtui.watch.alerts.notifier import AlertNotifier
from gwtui.watch.history.file import transaction
from gwtui.watch.history.model import HistoryMissingError

if TYPE_CHECKING:
    import sqlite3

    from gwtui.contract.dialects import Dialect
    from gwtui.watch.alerts.engine import AlertEngine
    from gwtui.watch.alerts.model import Alert, AlertEvent, AlertKey
    from gwtui.watch.alerts.preview import Preview
    from gwtui.watch.history.archive import Archive
    from gwtui.watch.history.reader import HistoryReader
    from gwtui.watch.history.recording import Recording
    from gwtui.watch.hub import FeedHub


T = TypeVar("T")

_EARLY = 0.2
"""Seconds between two looks whether the history is open."""


@dataclass(frozen=True, slots=True)
class AlertScope:
    """Whose alerts these are: the profile's name, the gateway's address, the file of rules."""

    profile: str
    gateway: str
    rules: Path


class Alerts:
    """The alerts of one connection. Methods raise HistoryError when there is no history to use."""

    def __init__(self, history: Recording, scope: AlertScope, clock: Clock, who: str) -> None:
        self._history = history
        self._clock = clock
        self._who = who
        self._listeners: list[Callable[[], object]] = []
        self._failures: list[Callable[[str], object]] = []
        self.scope = scope
        self.engine: AlertEngine | None = None

    @property
    def profile(self) -> str:
        """The name of the profile whose rules hold."""
        return self.scope.profile

    # To look at -------------------------------------------------------------------------------

    @property
    def problem(self) -> str:
        """Why alerts cannot be relied on now, for a person; empty while they can."""
        recorder = self._history.recorder
        if recorder is None:
            return self._history.problem
        if self.engine is not None and (self.engine.problem or self.engine.rules_problem):
            return self.engine.problem or self.engine.rules_problem
        return recorder.status.error or ""

    async def read(self, question: Callable[[HistoryReader], T]) -> T:
        """Ask the history."""
        return await self._archive.read(question)

    async def present(self) -> tuple[Alert, ...]:
        """Every condition that is not quiet."""
        now = self._clock.now()
        return await self.read(lambda history: store.read_alerts(history.connection, now))

    async def events(self, limit: int, after: int = 0) -> tuple[AlertEvent, ...]:
        """What happened, newest first."""
        return await self.read(
            lambda history: store.read_events(history.connection, after=after, limit=limit)
        )

    async def last_event(self) -> int:
        """The id of the newest event."""
        return await self.read(lambda history: store.last_event(history.connection))

    async def preview(self, identity: str, rule: AlertRule) -> AsyncIterator[Preview]:
        """The alerts that a rule would have made in the last days, as far as was looked at so far.

        Yields again until it is whole; other queries are answered in between. Raises HistoryError.
        """
        from gwtui.watch.alerts.preview import preview  # noqa: PLC0415

        now, found = self._clock.now(), None
        while found is None or not found.is_whole:
            part = partial(preview, identity=identity, rule=rule, now=now, after=found)
            found = await self.read(part)
            yield found

    def listen(self, listener: Callable[[], object]) -> Callable[[], None]:
        """Call ``listener`` whenever something happened in this process; returns how to stop."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def on_failure(self, listener: Callable[[str], object]) -> None:
        """Call ``listener`` with a sentence when a person's alert command fails."""
        self._failures.append(listener)

    # What a person does -----------------------------------------------------------------------

    async def acknowledge(self, keys: Iterable[AlertKey]) -> int:
        """Mark these as known to a person; gives how many were not before."""
        chosen, now = tuple(keys), self._clock.now()
        return await self._change(
            lambda connection: store.acknowledge(connection, chosen, now, self._who)
        )

    async def silence(self, keys: Iterable[AlertKey], until: datetime) -> int:
        """Send no notices of these until then."""
        chosen, now = tuple(keys), self._clock.now()
        return await self._change(
            lambda connection: store.silence(connection, chosen, now, until, self._who)
        )

    async def lift(self, keys: Iterable[AlertKey]) -> int:
        """Take silences back."""
        chosen, now = tuple(keys), self._clock.now()
        return await self._change(lambda connection: store.lift(connection, chosen, now, self._who))

    async def _change(self, work: Callable[[sqlite3.Connection], Sequence[AlertEvent]]) -> int:
        def changed(connection: sqlite3.Connection) -> int:
            with transaction(connection):
                return len(work(connection))

        count = await self._archive.change(changed)
        self.changed()
        return count

    # The rules --------------------------------------------------------------------------------

    def book(self) -> AlertBook:
        """The rules and effects as the file says. Raises AlertFileError."""
        return load_alerts(self.scope.rules)

    @property
    def effects(self) -> AlertEffects:
        """What an alert does, as far as the file was read."""
        return AlertEffects() if self.engine is None else self.engine.effects

    def changed(self) -> None:
        """Something is different now: evaluate and show it at once."""
        if self.engine is not None:
            self.engine.nudge()
        self.notify()

    def failed(self, why: str) -> None:
        """The alert command failed."""
        for listener in tuple(self._failures):
            listener(why)

    def notify(self) -> None:
        """Call every listener."""
        for listener in tuple(self._listeners):
            listener()

    @property
    def _archive(self) -> Archive:
        recorder = self._history.recorder
        if recorder is None:
            raise HistoryMissingError(
                self._history.problem or "Nothing is recorded, so nothing can be watched."
            )
        return recorder.archive


@asynccontextmanager
async def open_alerts(
    history: Recording,
    hub: FeedHub,
    *,
    scope: AlertScope,
    dialect: Dialect,
    who: str,
    clock: Clock = SYSTEM_CLOCK,
) -> AsyncIterator[Alerts]:
    """Evaluate the rules beside the recorder, once it is there; its faults stay its own."""
    alerts = Alerts(history, scope, clock, who)
    task = asyncio.create_task(_evaluate(alerts, history, hub, dialect, clock), name="alerting")
    try:
        yield alerts
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def _evaluate(
    alerts: Alerts, history: Recording, hub: FeedHub, dialect: Dialect, clock: Clock
) -> None:
    """Until it is cancelled."""
    while history.recorder is None:
        if history.problem:
            return
        await clock.sleep(_EARLY)
    from gwtui.watch.alerts.engine import AlertEngine  # noqa: PLC0415 - later

    scope = alerts.scope
    rule_file = RuleFile(scope.rules, scope.profile)
    notifier = AlertNotifier({"profile": scope.profile, "gateway": scope.gateway}, alerts.failed)

    def happened(events: Sequence[AlertEvent]) -> None:
        notifier.notify(rule_file.book.effects.command, events)
        alerts.notify()

    engine = AlertEngine(
        hub=hub,
        recorder=history.recorder,
        rule_file=rule_file,
        dialect=dialect,
        happened=happened,
        clock=clock,
    )
    alerts.engine = engine
    engine.start()
    try:
        await asyncio.Event().wait()
    finally:
        alerts.engine = None
        await engine.stop()
        await notifier.close()
