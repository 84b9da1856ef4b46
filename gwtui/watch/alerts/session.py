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
    AlertCommandError,
    AlertEffects,
    RuleFile,
    load_alerts,
    run_alert_command,
)
from gwtui.watch.alerts import store
from gwtui.watch.alerts.derived_figures import EVERY, guarded, readability
from gwtui.watch.alerts.evaluator import PersistentEvaluator
from gwtui.watch.alerts.preview import Preview, preview
from gwtui.watch.feeds.models import routing_feed
from gwtui.watch.history.model import HistoryError, HistoryMissingError, Observation

if TYPE_CHECKING:
    import sqlite3

    from gwtui.watch.alerts.model import Alert, AlertEvent, AlertKey
    from gwtui.watch.history.archive import Archive
    from gwtui.watch.history.reader import HistoryReader
    from gwtui.watch.history.recorder import Recorded, Recorder
    from gwtui.watch.history.recording import Recording
    from gwtui.watch.hub import FeedHub


T = TypeVar("T")

_MOST_READINGS = 1000
"""Readings that wait to be evaluated; what comes then pushes the oldest one out."""
_EARLY = 0.2
"""Seconds between two looks whether the history is open."""

AT_A_TIME = 2
"""Programs that run at the same time."""
MOST_WAITING = 100
"""Events that wait for one; what comes then pushes the oldest one out."""

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
        self, history: Recording, hub: FeedHub, scope: AlertScope, clock: Clock, who: str
    ) -> None:
        self._history = history
        self._hub = hub
        self._clock = clock
        self._who = who
        self._listeners: list[Callable[[], object]] = []
        self._failures: list[Callable[[str], object]] = []
        self._rule_file = RuleFile(scope.rules, scope.profile)
        self._notifier = AlertNotifier(
            {"profile": scope.profile, "gateway": scope.gateway}, self._failed
        )
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
        recorder = self._history.recorder
        if recorder is None:
            return self._history.problem
        return self._problem or self._rule_file.problem or recorder.status.error or ""

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

    async def preview(self, identity: str, rule: AlertRule) -> Preview:
        """The alerts that a rule would have made in the last days."""
        now = self._clock.now()
        return await self.read(lambda history: preview(history, identity, rule, now))

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

    def _failed(self, why: str) -> None:
        for listener in tuple(self._failures):
            listener(why)

    @property
    def _archive(self) -> Archive:
        recorder = self._history.recorder
        if recorder is None:
            raise HistoryMissingError(
                self._history.problem or "Nothing is recorded, so nothing can be watched."
            )
        return recorder.archive

    # Evaluating -------------------------------------------------------------------------------

    async def evaluate(self) -> None:
        """Run the rules beside the recorder, once it is there, until cancelled."""
        self._history.listen(self._recorded)
        while self._history.recorder is None:
            if self._history.problem:
                return
            await self._clock.sleep(_EARLY)
        recorder = self._history.recorder
        self._rule_file.refresh()
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._evaluate_on(recorder), name="alerts")
                tasks.create_task(self._look_on(recorder), name="alerts looking")
        finally:
            self._follow_routing(wanted=False)
            await self._notifier.close()

    def _recorded(self, recorded: Recorded) -> None:
        self._seen.append(recorded.observation)
        self._wake.set()

    async def _look_on(self, recorder: Recorder) -> None:
        """At a pace of its own: what no reading tells, and what ends by time alone."""
        while True:
            await self._clock.sleep(EVERY)
            rules, models = self._rule_file.refresh(), recorder.status.models
            if not recorder.status.recording:
                continue
            self._follow_routing(
                wanted=any(
                    isinstance(rule, GuardrailRule) and rule.enabled for rule in rules.values()
                )
            )
            now = self._clock.now()
            self._seen.append(readability(self._hub, models, now))
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

    async def _evaluate_on(self, recorder: Recorder) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            seen = tuple(self._seen)
            self._seen.clear()
            if recorder.status.recording:
                await self._evaluate(recorder, seen)
            else:
                self._evaluator.forget()

    async def _evaluate(self, recorder: Recorder, seen: Sequence[Observation]) -> None:
        """No failure may end it; what was read meanwhile is lost, the next reading comes."""

        def run(db: sqlite3.Connection) -> tuple[AlertEvent, ...]:  # in the writing thread
            return self._evaluator.run(db, self._rule_file.refresh(), seen, self._clock.now())

        try:
            events = await recorder.archive.write(run)
        except HistoryError as error:
            self._evaluator.forget()
            self._problem = str(error)
            return
        except Exception as error:
            self._evaluator.forget()
            _log.exception("alerts: unexpected failure")
            self._problem = f"unexpected {type(error).__name__}"
            return
        self._problem = ""
        if events:
            self._notifier.notify(self.effects.command, events)
            self._notify()


@asynccontextmanager
async def open_alerts(
    history: Recording, hub: FeedHub, *, scope: AlertScope, who: str, clock: Clock = SYSTEM_CLOCK
) -> AsyncIterator[Alerts]:
    """Evaluate the rules beside the recorder; its faults stay its own."""
    alerts = Alerts(history, hub, scope, clock, who)
    task = asyncio.create_task(alerts.evaluate(), name="alerting")
    try:
        yield alerts
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


# Telling a program ------------------------------------------------------------------------------


class AlertNotifier:
    """Runs the command for each event. ``failed`` is called with a sentence for a person.

    Needs a running event loop; ``close`` it at the end.
    """

    def __init__(
        self, about: dict[str, JsonValue], failed: Callable[[str], None] = lambda _: None
    ) -> None:
        self._about = about
        self._failed = failed
        self._waiting: deque[tuple[Sequence[str], AlertEvent]] = deque(maxlen=MOST_WAITING)
        self._running: set[asyncio.Task[None]] = set()
        self._said = ""

    def notify(self, command: Sequence[str] | None, events: Iterable[AlertEvent]) -> None:
        """Run the command for those events that notify; without a command for none."""
        for event in events:
            if command and event.notifies:
                self._waiting.append((command, event))
        self._start()

    @property
    def busy(self) -> bool:
        """Whether anything runs or waits."""
        return bool(self._running or self._waiting)

    async def close(self) -> None:
        """End what runs; what waits is not told."""
        self._waiting.clear()
        for task in self._running:
            task.cancel()
        if self._running:
            await asyncio.wait(self._running)

    def _start(self) -> None:
        while self._waiting and len(self._running) < AT_A_TIME:
            command, event = self._waiting.popleft()
            task = asyncio.get_running_loop().create_task(self._run(command, event))
            self._running.add(task)
            task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        if not task.cancelled():
            self._start()

    async def _run(self, command: Sequence[str], event: AlertEvent) -> None:
        try:
            await run_alert_command(command, event.line(self._about))
        except AlertCommandError as error:
            self._fail(str(error))
        except Exception as error:
            _log.exception("alerts: telling failed")
            self._fail(f"unexpected {type(error).__name__}")
        else:
            self._said = ""

    def _fail(self, why: str) -> None:
        """The same failure again and again is one."""
        if why != self._said:
            self._said = why
            self._failed(f"The alert command failed: {why}")
