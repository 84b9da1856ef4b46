"""The alerts of a connection: evaluates the rules; lists, acknowledges and silences alerts."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import JsonValue

from gwtui.client.errors import ForbiddenError, NotFoundError
from gwtui.domain.alert_rules import GATEWAY, UNREADABLE, AlertRule
from gwtui.local.alerts import (
    AlertBook,
    AlertEffects,
    RuleFile,
    load_alerts,
    run_alert_command,
)
from gwtui.local.programs import ProgramError
from gwtui.watch.alerts import store
from gwtui.watch.alerts.evaluator import PersistentEvaluator, Preview, preview
from gwtui.watch.feed import FeedState
from gwtui.watch.history.model import (
    ACCOUNT,
    HistoryError,
    HistoryMissingError,
    Observation,
    Subject,
)

if TYPE_CHECKING:
    import sqlite3

    from gwtui.watch.alerts.model import Alert, AlertEvent, AlertKey
    from gwtui.watch.history.archive import Archive
    from gwtui.watch.history.reader import HistoryReader
    from gwtui.watch.history.recorder import Recorder


T = TypeVar("T")

MOST_EVENTS = 2000
"""The maximum number of events that screens show; `gwtui alerts history` lists all."""
MOST_WAITING = 100
"""The maximum number of events that wait for the alert command; later ones are dropped."""

EVERY = 30
"""Seconds between two readings of ``readability``."""
RECENT = timedelta(seconds=180)
"""While reads fail, the gateway counts as readable for this long after the last success."""

_log = logging.getLogger(__name__)


class Alerts:
    """The alerts of one connection. Methods raise HistoryError without a usable history.

    ``rules`` is the path of ``alerts.toml``. ``who`` is the user who acknowledges and silences.
    """

    def __init__(self, recorder: Recorder, rules: Path, who: str) -> None:
        connection = recorder.hub.connection
        self.rules = rules
        self.profile = connection.label
        self._recorder = recorder
        self._clock = recorder.hub.clock
        self._who = who
        self._listeners: list[Callable[[], object]] = []
        self._rule_file = RuleFile(rules, self.profile)
        self.notifier = AlertNotifier({"profile": self.profile, "gateway": connection.base_url})
        self._evaluator = PersistentEvaluator()
        self._evaluating = asyncio.Lock()
        self._problem = ""

    # Read -------------------------------------------------------------------------------------

    @property
    def problem(self) -> str:
        """Why the alerts may be incomplete now; empty if they are not."""
        return self._problem or self._rule_file.problem or self._recorder.status.error or ""

    async def read(self, question: Callable[[HistoryReader], T]) -> T:
        """Run a query on the recorded history."""
        return await self._archive.read(question)

    async def active(self) -> tuple[Alert, ...]:
        """The pending and firing alerts."""
        now = self._clock.now()
        return await self.read(lambda history: store.read_alerts(history.connection, now))

    async def events(self, limit: int = MOST_EVENTS) -> tuple[AlertEvent, ...]:
        """The newest events, newest first."""
        return await self.read(lambda history: store.read_events(history.connection, limit=limit))

    async def preview(self, identity: str, rule: AlertRule) -> Preview:
        """How often a rule would have fired in the last days."""
        now = self._clock.now()
        return await self.read(lambda history: preview(history, identity, rule, now))

    def listen(self, listener: Callable[[], object]) -> None:
        """Call ``listener`` whenever this process changes the alerts."""
        self._listeners.append(listener)

    # Actions of a person ----------------------------------------------------------------------

    async def acknowledge(self, keys: Iterable[AlertKey]) -> int:
        """Acknowledge alerts; returns the number that were not acknowledged before."""
        return await self._change(store.acknowledge, keys)

    async def silence(self, keys: Iterable[AlertKey], until: datetime) -> int:
        """Silence alerts until a moment, instead of earlier silences; returns their number."""
        return await self._change(partial(store.silence, until=until), keys)

    async def unsilence(self, keys: Iterable[AlertKey]) -> int:
        """End the silences of alerts; returns the number of alerts that were silenced and fire."""
        return await self._change(store.unsilence, keys)

    async def _change(
        self, change: Callable[..., Sequence[AlertEvent]], keys: Iterable[AlertKey]
    ) -> int:
        chosen, now = tuple(keys), self._clock.now()
        events = await self._archive.write(lambda db: change(db, chosen, now, who=self._who))
        await self.reevaluate()
        return len(events)

    # The rules --------------------------------------------------------------------------------

    def load_book(self) -> AlertBook:
        """Read the rules and effects from the file. Raises AlertFileError."""
        return load_alerts(self.rules)

    @property
    def effects(self) -> AlertEffects:
        """The effects of alerts when the file was last valid."""
        return self._rule_file.book.effects

    async def reevaluate(self) -> None:
        """Evaluate the rules and call the listeners now, after the user changed alerts or rules."""
        await self.evaluate()
        self._notify()

    def _notify(self) -> None:
        for listener in tuple(self._listeners):
            listener()

    @property
    def _archive(self) -> Archive:
        archive = self._recorder.open_archive
        if archive is None:
            raise HistoryMissingError(
                self._recorder.status.error or "Nothing is recorded, so there are no alerts."
            )
        return archive

    # Evaluating -------------------------------------------------------------------------------

    async def run(self) -> None:
        """Run the alert command, and check whether the gateway can be read, until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._check_readability(), name="alerts readability")
            tasks.create_task(self.notifier.run(), name="alerts notifier")

    async def _check_readability(self) -> None:
        while True:
            await self._clock.sleep(EVERY)
            states = self._recorder.sources.states()
            await self.evaluate(readability(states, self._clock.now()))

    async def evaluate(self, *readings: Observation) -> None:
        """Evaluate the rules on new readings if this process records; never fails."""
        if not self._recorder.status.recording:
            self._rule_file.refresh()
            return

        def run(db: sqlite3.Connection) -> tuple[AlertEvent, ...]:  # in the writing thread
            return self._evaluator.run(db, self._rule_file.refresh(), readings, self._clock.now())

        async with self._evaluating:
            try:
                events = await self._recorder.archive.write(run)
            except Exception as error:
                self._evaluator = PersistentEvaluator()
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
async def open_alerts(recorder: Recorder, rules: Path, who: str) -> AsyncIterator[Alerts]:
    """Evaluate the rules in the background; failures do not affect the recording."""
    alerts = Alerts(recorder, rules, who)
    task = asyncio.create_task(alerts.run(), name="alerting")
    recorder.on_recorded = alerts.evaluate
    try:
        yield alerts
    finally:
        recorder.on_recorded = None
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


def readability(states: Mapping[str, FeedState[Any]], at: datetime) -> Observation:
    """An observation for alert rules: whether the gateway and each recorded list are unreadable.

    ``states`` are the feeds of the lists by name. The figure is 1 for unreadable, 0 for readable,
    and None for unknown: a list that this key may not read, and every list while the gateway is
    unreadable.
    """
    faulty = {name: _faulty(state) for name, state in states.items()}
    newest = max((state.fetched_at for state in states.values() if state.fetched_at), default=None)
    failing = any(state.error is not None for state in states.values())
    # Lists that are read rarely may not have failed yet.
    well = newest is not None and at - newest <= RECENT
    unreadable = failing and not well if failing or newest is not None else None
    values = {ACCOUNT: unreadable}
    values.update({name: None if unreadable else values for name, values in faulty.items()})
    figures = {
        Subject(GATEWAY, name): {UNREADABLE: None if bad is None else Decimal(bad)}
        for name, bad in values.items()
    }
    return Observation(GATEWAY, at, EVERY, figures, covers=Subject(GATEWAY, ""))


def _faulty(state: FeedState[Any]) -> bool | None:
    # None: not read yet, or this key may not read it.
    if state.error is None:
        return None if state.fetched_at is None else False
    return None if isinstance(state.error, ForbiddenError | NotFoundError) else True


class AlertNotifier:
    """Runs the alert command for each event, one at a time.

    ``about`` are further JSON fields for the command. ``on_failure`` is called with a message if
    the command fails, once for equal failures in a row.
    """

    def __init__(self, about: dict[str, JsonValue]) -> None:
        self.on_failure: Callable[[str], object] = lambda _why: None
        self.waiting: asyncio.Queue[tuple[Sequence[str], AlertEvent]] = asyncio.Queue(MOST_WAITING)
        self._about = about
        self._last_failure = ""

    def notify(self, command: Sequence[str] | None, events: Iterable[AlertEvent]) -> None:
        """Queue the command for the events that notify, if there is a command."""
        for event in events:
            if command and event.notifies and not self.waiting.full():
                self.waiting.put_nowait((command, event))

    async def run(self) -> None:
        """Run the queued commands, until cancelled."""
        while True:
            command, event = await self.waiting.get()
            why = ""
            try:
                await run_alert_command(command, event.line(self._about))
            except ProgramError as error:
                why = str(error)
            except Exception as error:
                _log.exception("alerts: the command failed")
                why = f"unexpected {type(error).__name__}"
            if why and why != self._last_failure:
                self.on_failure(f"The alert command failed: {why}")
            self._last_failure = why
            self.waiting.task_done()
