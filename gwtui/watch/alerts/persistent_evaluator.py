"""Runs the alert rules over readings and keeps the alerts in the history file."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from gwtui.domain.alert_rules import AlertRule
from gwtui.domain.runway import WINDOWS, UsedCurve
from gwtui.watch.alerts import store
from gwtui.watch.alerts.evaluator import Evaluator
from gwtui.watch.alerts.model import AlertEvent, Findings
from gwtui.watch.history.model import Observation
from gwtui.watch.history.queries import used_totals
from gwtui.watch.history.reader import HistoryReader
from gwtui.watch.history.writer import HistoryWriter

_BEFORE = timedelta(hours=1)
_TIDY_EVERY = timedelta(hours=6)


class PersistentEvaluator:
    """Evaluates the rules on top of the alerts in the history file; for one thread at a time."""

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
            with writer.transaction() as connection:
                return self._run(connection, rules, seen, now)
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
