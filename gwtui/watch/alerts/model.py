"""Alerts and their events. Times are aware, UTC, whole seconds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Literal, NamedTuple

from pydantic import JsonValue

from gwtui.contract.scalars import timestamp_text
from gwtui.domain.alert_rules import Severity
from gwtui.domain.alert_state import QUIET, AlertState
from gwtui.watch.history.model import Subject, text_of

EventKind = Literal["fired", "cleared", "acknowledged", "silenced", "unsilenced"]


class AlertKey(NamedTuple):
    """The identity of an alert: a rule and its subject."""

    rule: str
    subject: Subject


@dataclass(frozen=True, slots=True)
class Alert:
    """An alert that is pending or firing.

    ``title`` is the name of the rule, ``name`` that of the subject, ``message`` the problem.
    ``value`` is the figure that the rule measured, None for a rule about changes. ``fired_at`` is
    None while the alert is pending.
    """

    key: AlertKey
    status: AlertState = QUIET
    severity: Severity = "warning"
    title: str = ""
    name: str = ""
    message: str = ""
    value: Decimal | None = None
    fired_at: datetime | None = None
    acknowledged_at: datetime | None = None
    acknowledged_by: str = ""
    silenced_until: datetime | None = None

    @property
    def loud(self) -> bool:
        """Whether it needs attention: it fires, and is neither acknowledged nor silenced."""
        return (
            self.status.is_alerting and self.acknowledged_at is None and self.silenced_until is None
        )


@dataclass(frozen=True, slots=True)
class AlertEvent:
    """Something that happened to an alert.

    ``id`` is 0 until it is stored. ``quiet``: no notification, because the alert is silenced.
    ``until`` is the end of a silence, ``who`` the user who acted.
    """

    at: datetime
    event: EventKind
    key: AlertKey
    severity: Severity
    title: str
    name: str
    message: str
    value: Decimal | None = None
    who: str = ""
    until: datetime | None = None
    quiet: bool = False
    id: int = 0

    @property
    def notifies(self) -> bool:
        """Whether it notifies: the alert fired, cleared or is no longer silenced."""
        return not self.quiet and self.event in {"fired", "cleared", "unsilenced"}

    def as_json(self) -> dict[str, JsonValue]:
        """The event as JSON; amounts are decimal text, times ISO 8601."""
        subject = self.key.subject
        return {
            "id": self.id,
            "at": timestamp_text(self.at),
            "event": self.event,
            "severity": self.severity,
            "rule": self.key.rule,
            "title": self.title,
            "resource": subject.resource,
            "identity": subject.identity,
            "name": self.name,
            "message": self.message,
            "value": None if self.value is None else text_of(self.value),
            "who": self.who or None,
            "until": None if self.until is None else timestamp_text(self.until),
            "silenced": self.quiet,
        }

    def line(self, about: Mapping[str, JsonValue]) -> str:
        """The event as a line of JSON for the alert command.

        ``about`` has further fields for the line, such as the profile.
        """
        return json.dumps({**self.as_json(), **about}, ensure_ascii=True) + "\n"


@dataclass(frozen=True, slots=True)
class StoredAlerts:
    """The pending and firing alerts of a gateway, as stored by the last evaluation of the rules.

    ``watching`` is True if a process evaluates the rules now. ``as_of`` is the time of the newest
    recorded reading, None if nothing is recorded.
    """

    alerts: tuple[Alert, ...] = ()
    watching: bool = False
    as_of: datetime | None = None

    @property
    def firing(self) -> tuple[Alert, ...]:
        """The alerts that fire."""
        return tuple(alert for alert in self.alerts if alert.status.is_alerting)


@dataclass(slots=True)
class EvaluationResult:
    """The events and changed alerts of one evaluation."""

    events: list[AlertEvent] = field(default_factory=list)
    changed: dict[AlertKey, Alert] = field(default_factory=dict)
    """The new state of each changed alert, by key; an alert whose status is quiet has ended."""
