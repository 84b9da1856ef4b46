"""A history file with an evaluation of alert rules beside it, for tests of alerts."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from gwtui.domain.alert_rules import AlertRule, CreditsRule
from gwtui.watch.alerts import store
from gwtui.watch.alerts.evaluator import PersistentEvaluator
from gwtui.watch.alerts.model import Alert, AlertEvent
from gwtui.watch.history.file import transaction
from gwtui.watch.history.model import Fields, Observation, Subject
from history_kit import START, Desk, minutes

ACCOUNT = Subject("credits", "account")
ENDPOINT = Subject("endpoint", "northwind/atlas tag||fp8")
KEY = Subject("key", "c0ffee")
SPACE = Subject("workspace", "space-1")
FIVE = timedelta(minutes=5)
LOW = CreditsRule(name="Low", fires_at=Decimal(10), clears_at=Decimal(12))


@dataclass
class Room:
    """One history file with an evaluation beside it; readings are ``every`` seconds apart."""

    desk: Desk
    rules: dict[str, AlertRule]
    core: PersistentEvaluator = field(default_factory=PersistentEvaluator)
    now: datetime = START
    every: int = 60
    events: list[AlertEvent] = field(default_factory=list)

    def see(
        self,
        subject: Subject,
        figures: Mapping[str, Any],
        facts: Fields | None = None,
        *,
        covers: bool = False,
        at: float | None = None,
    ) -> list[str]:
        """Record a reading and run the rules; gives what happened."""
        self.now = self.now + minutes(1) if at is None else START + minutes(at)
        values = {
            name: None if value is None else Decimal(str(value)) for name, value in figures.items()
        }
        gone = covers and facts is None
        seen = Observation(
            subject.resource,
            self.now,
            self.every,
            {} if gone else {subject: values},
            {} if gone else {subject: {"name": "It", **(facts or {})}},
            Subject(subject.resource, "") if covers else None,
        )
        self.desk.observe(seen)
        return self.run((seen,))

    def run(self, seen: Sequence[Observation] = ()) -> list[str]:
        with transaction(self.connection):
            events = self.core.run(self.connection, self.rules, seen, self.now)
        self.events += events
        return [event.event for event in events]

    def later(self, by: timedelta) -> list[str]:
        self.now += by
        return self.run()

    def restart(self) -> None:
        self.core = PersistentEvaluator()

    @property
    def alerts(self) -> tuple[Alert, ...]:
        return store.read_alerts(self.connection, self.now)

    @property
    def connection(self) -> sqlite3.Connection:
        return self.desk.connection

    @property
    def states(self) -> dict[str, str]:
        return {alert.key.rule: alert.status.state for alert in self.alerts}


def balance(room: Room, *amounts: Any, at: float | None = None) -> list[str]:
    happened = []
    for amount in amounts:
        happened += room.see(ACCOUNT, {"balance": amount, "total_usage": None}, at=at)
    return happened
