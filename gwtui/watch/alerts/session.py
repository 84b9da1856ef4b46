"""The alerts of a session: rules are evaluated, alerts shown, acknowledged and silenced."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pydantic import JsonValue

from gwtui.domain.alert_rules import AlertRule, GuardrailRule
from gwtui.domain.clock import SYSTEM_CLOCK, Clock
from gwtui.local.alerts import (
    AlertBook,
    AlertEffects,
    RuleFile,
    load_alerts,
    run_alert_command,
)
from gwtui.local.programs import ProgramError
from gwtui.watch.alerts import store
from gwtui.watch.alerts.derived_figures import EVERY, guarded, readability
from gwtui.watch.alerts.evaluator import PersistentEvaluator, Preview, preview
from gwtui.watch.feeds.models import routing_feed
from gwtui.watch.history.model import HistoryError, HistoryMissingError, Observation

if TYPE_CHECKING:
    import sqlite3

    from gwtui.watch.alerts.model import Alert, AlertEvent, AlertKey
    from gwtui.watch.history.archive import Archive
    from gwtui.watch.history.reader import HistoryReader
    from gwtui.watch.history.recorder import Recorded, Recorder
    from gwtui.watch.hub import FeedHub


T = TypeVar("T")

_MOST_READINGS = 1000
"""Readings that wait to be evaluated; what comes then pushes the oldest one out."""
MOST_EVENTS = 2000
"""Events that are shown, the newest; `gwtui alerts history` lists all."""
MOST_WAITING = 100
"""Events that wait for a person's program; of what comes then it is not told."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class AlertScope:
    """Whose alerts these are: the profile's name, the gateway's address, the file of rules."""

    profile: str
    gateway: str
    rules: Path


class Alerts:
    """The alerts of one connection. Methods raise HistoryError when there is no history to use.

    ``evaluate`` runs the rules over what the recorder writes, while this instance records.
    """

    def __init__(
        self, recorder: Recorder, hub: FeedHub, scope: AlertScope, clock: Clock, who: str
    ) -> None:
        self._recorder = recorder
        self._events: tuple[AlertEvent, ...] = ()
        self._hub = hub
        self._clock = clock
        self._who = who
        self._listeners: list[Callable[[], object]] = []
        self._rule_file = RuleFile(scope.rules, scope.profile)
        self.notifier = AlertNotifier({"profile": scope.profile, "gateway": scope.gateway})
        self._evaluator = PersistentEvaluator()
        self._seen: deque[Observation] = deque(maxlen=_MOST_READINGS)
        self._wake = asyncio.Event()
        self._leave_routing: Callable[[], None] | None = None
        self._problem = ""
        self.scope = scope

    # To look at -------------------------------------------------------------------------------

    @property
    def problem(self) -> str:
        """Why alerts cannot be relied on now, for a person; empty while they can."""
        return self._problem or self._rule_file.problem or self._recorder.status.error or ""

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

    async def recent_events(self) -> tuple[AlertEvent, ...]:
        """The newest events, newest first; only those that are not known yet are read."""
        new = await self.events(MOST_EVENTS, after=self._events[0].id if self._events else 0)
        self._events = (*new, *self._events)[:MOST_EVENTS] if new else self._events
        return self._events

    async def preview(self, identity: str, rule: AlertRule) -> Preview:
        """The alerts that a rule would have made in the last days."""
        now = self._clock.now()
        return await self.read(lambda history: preview(history, identity, rule, now))

    def listen(self, listener: Callable[[], object]) -> Callable[[], None]:
        """Call ``listener`` whenever something happened in this process; returns how to stop."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

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
        count = len(await self._archive.write(work))
        self.changed()
        return count

    # The rules --------------------------------------------------------------------------------

    def book(self) -> AlertBook:
        """The rules and effects as the file says. Raises AlertFileError."""
        return load_alerts(self.scope.rules)

    @property
    def effects(self) -> AlertEffects:
        """What an alert does, as far as the file was read."""
        return self._rule_file.book.effects

    def changed(self) -> None:
        """Something is different now: evaluate and show it at once."""
        self._rule_file.refresh()
        self._wake.set()
        self._notify()

    def _notify(self) -> None:
        for listener in tuple(self._listeners):
            listener()

    @property
    def _archive(self) -> Archive:
        archive = self._recorder.open_archive
        if archive is None:
            raise HistoryMissingError(
                self._recorder.status.error or "Nothing is recorded, so nothing can be watched."
            )
        return archive

    # Evaluating -------------------------------------------------------------------------------

    async def evaluate(self) -> None:
        """Run the rules beside the recorder, until cancelled."""
        self._recorder.listen(self._recorded)
        self._rule_file.refresh()
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._evaluate_on(), name="alerts")
                tasks.create_task(self._look_on(), name="alerts looking")
                tasks.create_task(self.notifier.run(), name="alerts telling")
        finally:
            self._follow_routing(wanted=False)

    def _recorded(self, recorded: Recorded) -> None:
        self._seen.append(recorded.observation)
        self._wake.set()

    async def _look_on(self) -> None:
        """At a pace of its own: what no reading tells, and what ends by time alone."""
        while True:
            await self._clock.sleep(EVERY)
            rules, status = self._rule_file.refresh(), self._recorder.status
            models = status.models
            if not status.recording:
                continue
            self._follow_routing(
                wanted=any(
                    isinstance(rule, GuardrailRule) and rule.enabled for rule in rules.values()
                )
            )
            now = self._clock.now()
            self._seen.append(readability(self._recorder.sources.states(), now))
            if self._leave_routing is not None:
                left = guarded(self._hub, models, routing_feed(self._hub).state.value, now)
                self._seen.extend(() if left is None else (left,))
            self._wake.set()

    def _follow_routing(self, *, wanted: bool) -> None:
        """What decides where requests go is read only while a rule asks for it."""
        if wanted and self._leave_routing is None:
            self._leave_routing = routing_feed(self._hub).watch(lambda _: None, background=True)
        elif not wanted and self._leave_routing is not None:
            self._leave_routing()
            self._leave_routing = None

    async def _evaluate_on(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            seen = tuple(self._seen)
            self._seen.clear()
            if self._recorder.status.recording:
                await self._evaluate(seen)
            else:
                self._evaluator.forget()

    async def _evaluate(self, seen: Sequence[Observation]) -> None:
        """No failure may end it; what was read meanwhile is lost, the next reading comes."""

        def run(db: sqlite3.Connection) -> tuple[AlertEvent, ...]:  # in the writing thread
            return self._evaluator.run(db, self._rule_file.refresh(), seen, self._clock.now())

        try:
            events = await self._recorder.archive.write(run)
        except Exception as error:
            self._evaluator.forget()
            self._problem = str(error)
            if not isinstance(error, HistoryError):
                _log.exception("alerts: unexpected failure")
                self._problem = f"unexpected {type(error).__name__}"
            return
        self._problem = ""
        if events:
            self.notifier.notify(self.effects.command, events)
            self._notify()


@asynccontextmanager
async def open_alerts(
    recorder: Recorder, hub: FeedHub, *, scope: AlertScope, who: str, clock: Clock = SYSTEM_CLOCK
) -> AsyncIterator[Alerts]:
    """Evaluate the rules beside the recorder; its faults stay its own."""
    alerts = Alerts(recorder, hub, scope, clock, who)
    task = asyncio.create_task(alerts.evaluate(), name="alerting")
    try:
        yield alerts
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


class AlertNotifier:
    """Runs a person's program for each event, one after the other.

    ``failed`` is called with a sentence for a person, once for the same failure in a row.
    """

    def __init__(self, about: dict[str, JsonValue]) -> None:
        self.failed: Callable[[str], object] = lambda _why: None
        self.waiting: asyncio.Queue[tuple[Sequence[str], AlertEvent]] = asyncio.Queue(MOST_WAITING)
        self._about = about
        self._said = ""

    def notify(self, command: Sequence[str] | None, events: Iterable[AlertEvent]) -> None:
        """Run the command for those events that notify; without a command for none."""
        for event in events:
            if command and event.notifies and not self.waiting.full():
                self.waiting.put_nowait((command, event))

    async def run(self) -> None:
        """Run what waits, until cancelled."""
        while True:
            command, event = await self.waiting.get()
            why = ""
            try:
                await run_alert_command(command, event.line(self._about))
            except ProgramError as error:
                why = str(error)
            except Exception as error:
                _log.exception("alerts: telling failed")
                why = f"unexpected {type(error).__name__}"
            if why and why != self._said:
                self.failed(f"The alert command failed: {why}")
            self._said = why
            self.waiting.task_done()
