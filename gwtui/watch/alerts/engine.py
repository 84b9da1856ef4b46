"""The evaluation that goes on beside a recorder, for as long as this instance holds the lease."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta

from gwtui.contract.dialects import Dialect
from gwtui.domain.alert_rules import AlertRule, GuardrailRule
from gwtui.domain.clock import SYSTEM_CLOCK, Clock
from gwtui.domain.runway import WINDOWS, UsedCurve
from gwtui.local.alerts import AlertEffects
from gwtui.watch.alerts import store
from gwtui.watch.alerts.derived_figures import EVERY, guarded, readability
from gwtui.watch.alerts.evaluator import Evaluator
from gwtui.watch.alerts.model import AlertEvent, Findings
from gwtui.watch.alerts.session import RuleFile
from gwtui.watch.feeds.models import routing_feed
from gwtui.watch.history.file import transaction
from gwtui.watch.history.model import HistoryError, Observation
from gwtui.watch.history.queries import used_totals
from gwtui.watch.history.reader import HistoryReader
from gwtui.watch.history.recorder import Recorded, Recorder
from gwtui.watch.history.writer import HistoryWriter
from gwtui.watch.hub import FeedHub

_BEFORE = timedelta(hours=1)
_TIDY_EVERY = timedelta(hours=6)


class AlertThread:
    """One evaluation that goes on; use it from one thread only."""

    def __init__(self) -> None:
        self._evaluator: Evaluator | None = None
        self._rules: Mapping[str, AlertRule] = {}
        self._tidied: datetime | None = None

    def forget(self) -> None:
        """Another instance evaluates: what is known here is out of date."""
        self._evaluator = None

    def run(
        self,
        writer: HistoryWriter,
        rules: Mapping[str, AlertRule],
        seen: Sequence[Observation],
        now: datetime,
    ) -> tuple[AlertEvent, ...]:
        """Run the rules over readings that were recorded; gives what happened, oldest first.

        Raises LeaseLostError, sqlite3.Error; then nothing was written and nothing happened.
        """
        try:
            with transaction(writer.connection):
                writer.fenced()
                return self._run(writer.connection, rules, seen, now)
        except BaseException:
            self.forget()
            raise

    def _run(
        self,
        connection: sqlite3.Connection,
        rules: Mapping[str, AlertRule],
        seen: Sequence[Observation],
        now: datetime,
    ) -> tuple[AlertEvent, ...]:
        evaluator = self._evaluator
        if evaluator is None or rules is not self._rules:
            evaluator = self._evaluator = evaluator or _load(connection, rules, now)
            self._rules = rules
            evaluator.set_rules(rules, now)
        for observation in seen:
            evaluator.observe(observation)
        self._follow_changes(connection, evaluator)
        known = store.read_alerts(connection, now)
        evaluator.acknowledge(
            [alert.key for alert in known if alert.acknowledged_at is not None], now
        )
        evaluator.pass_time(now)
        events = store.end_silences(connection, now)
        events += _written(connection, evaluator.take(), now)
        if self._tidied is None or now - self._tidied >= _TIDY_EVERY:
            self._tidied = now
            store.forget_old(connection, now)
        return events

    def _follow_changes(self, connection: sqlite3.Connection, evaluator: Evaluator) -> None:
        """Every change of facts once, also those that were written before a restart."""
        last = store.last_change(connection)
        if last is None:  # what happened before there were rules is history
            (newest,) = connection.execute("SELECT coalesce(max(id), 0) FROM changes").fetchone()
            store.write_last_change(connection, newest)
            return
        changes = HistoryReader(connection).changes_after(last)
        if changes:
            evaluator.change(changes)
            store.write_last_change(connection, changes[-1].id)


def _written(
    connection: sqlite3.Connection, found: Findings, now: datetime
) -> tuple[AlertEvent, ...]:
    return store.write_findings(connection, found, now) if found.changed or found.events else ()


def _load(
    connection: sqlite3.Connection, rules: Mapping[str, AlertRule], now: datetime
) -> Evaluator:
    """Go on from what stands in the file."""
    reader = HistoryReader(connection)
    return Evaluator(
        rules,
        alerts=store.read_alerts(connection, now),
        facts=reader.facts_at(now),
        curve=UsedCurve(used_totals(reader, now - max(WINDOWS) - _BEFORE, now)),
    )


MOST_WAITING = 1000
"""Readings that wait to be evaluated; what comes then pushes the oldest one out."""

_log = logging.getLogger(__name__)

Happened = Callable[[Sequence[AlertEvent]], None]


class AlertEngine:
    """Runs the rules over what the recorder writes; ``happened`` is told of each event once.

    Needs a running event loop. ``start`` it and ``stop`` it at the end.
    """

    def __init__(
        self,
        *,
        hub: FeedHub,
        recorder: Recorder,
        rule_file: RuleFile,
        dialect: Dialect,
        happened: Happened,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._hub = hub
        self._recorder = recorder
        self._rule_file = rule_file
        self._dialect = dialect
        self._happened = happened
        self._clock = clock
        self._thread = AlertThread()
        self._seen: deque[Observation] = deque(maxlen=MOST_WAITING)
        self._wake = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._leave: Callable[[], None] = lambda: None
        self._leave_routing: Callable[[], None] | None = None
        self.problem = ""
        """Why nothing is evaluated, for a person; empty while all is well."""

    @property
    def effects(self) -> AlertEffects:
        """What an alert does, as the file says."""
        return self._rule_file.book.effects

    @property
    def rules_problem(self) -> str:
        """What is wrong with the file of rules; empty while nothing is."""
        return self._rule_file.problem

    def start(self) -> None:
        """Begin."""
        if not self._tasks:
            self._rule_file.refresh()
            loop = asyncio.get_running_loop()
            self._leave = self._recorder.listen(self._recorded)
            self._tasks = [
                loop.create_task(self._evaluate_on(), name="alerts"),
                loop.create_task(self._look_on(), name="alerts looking"),
            ]

    async def stop(self) -> None:
        """Evaluate no more."""
        self._leave()
        self._follow_routing(wanted=False)
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        self._tasks = []

    def nudge(self) -> None:
        """Something was acknowledged, or the rules are others: look at once."""
        self._rule_file.refresh()
        self._wake.set()

    # What comes in ----------------------------------------------------------------------------

    def _recorded(self, recorded: Recorded) -> None:
        self._seen.append(recorded.observation)
        self._wake.set()

    async def _look_on(self) -> None:
        """At a pace of its own: what no reading tells, and what ends by time alone."""
        while True:
            await self._clock.sleep(EVERY)
            self._rule_file.refresh()
            if not self._recorder.status.recording:
                continue
            self._follow_routing(wanted=self._wants_routing())
            for derived in self._derived():
                if await self._record(derived):
                    self._seen.append(derived)
            self._wake.set()

    def _derived(self) -> Sequence[Observation]:
        now, models = self._clock.now(), self._recorder.status.models
        found = [readability(self._hub, models, now)]
        if self._leave_routing is not None:
            routing = routing_feed(self._hub).state.value
            left = guarded(self._hub, models, routing, self._dialect, now)
            found += [] if left is None else [left]
        return found

    async def _record(self, derived: Observation) -> bool:
        try:
            await self._recorder.archive.write(lambda writer: writer.observe(derived))
        except HistoryError as error:
            self.problem = str(error)
            return False
        return True

    def _wants_routing(self) -> bool:
        return any(
            isinstance(rule, GuardrailRule) and rule.enabled
            for rule in self._rule_file.refresh().values()
        )

    def _follow_routing(self, *, wanted: bool) -> None:
        """What decides where requests go is read only while a rule asks for it."""
        if wanted and self._leave_routing is None:
            self._leave_routing = routing_feed(self._hub).watch(lambda _: None, background=True)
        elif not wanted and self._leave_routing is not None:
            self._leave_routing()
            self._leave_routing = None

    # Evaluating -------------------------------------------------------------------------------

    async def _evaluate_on(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            if self._recorder.status.recording:
                await self._evaluate()
            else:
                self._seen.clear()
                self._thread.forget()

    async def _evaluate(self) -> None:
        """No failure may end it; what was read meanwhile is lost, the next reading comes."""
        seen = tuple(self._seen)
        self._seen.clear()
        try:
            events = await self._recorder.archive.write(lambda writer: self._run(writer, seen))
        except HistoryError as error:
            self.problem = str(error)
            return
        except Exception as error:
            _log.exception("alerts: unexpected failure")
            self.problem = f"unexpected {type(error).__name__}"
            return
        self.problem = ""
        if events:
            self._happened(events)

    def _run(self, writer: HistoryWriter, seen: Sequence[Observation]) -> tuple[AlertEvent, ...]:
        """In the writing thread."""
        return self._thread.run(writer, self._rule_file.refresh(), seen, self._clock.now())
