"""Alerts as they are kept and shown. Moments are aware, UTC, whole seconds."""

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
    """Which condition: a rule and what it is about."""

    rule: str
    subject: Subject


@dataclass(frozen=True, slots=True)
class Alert:
    """A condition that is not quiet.

    ``title`` is what the rule is called, ``name`` what its subject is called, ``said`` what is
    wrong. ``fired_at`` is None as long as it is only pending.
    """

    key: AlertKey
    status: AlertState = QUIET
    severity: Severity = "warning"
    title: str = ""
    name: str = ""
    said: str = ""
    value: Decimal | None = None
    fired_at: datetime | None = None
    acknowledged_at: datetime | None = None
    acknowledged_by: str = ""
    silenced_until: datetime | None = None

    @property
    def loud(self) -> bool:
        """Whether it asks for somebody: fired, and neither acknowledged nor silenced."""
        return self.status.alerting and self.acknowledged_at is None and self.silenced_until is None


@dataclass(frozen=True, slots=True)
class AlertEvent:
    """Something that happened with an alert.

    ``id`` 0 is one that is not written yet. ``quiet``: nobody is to be told, for it is silenced.
    ``until`` is when a silence ends, ``who`` who did it.
    """

    at: datetime
    event: EventKind
    key: AlertKey
    severity: Severity
    title: str
    name: str
    said: str
    value: Decimal | None = None
    who: str = ""
    until: datetime | None = None
    quiet: bool = False
    id: int = 0

    @property
    def notifies(self) -> bool:
        """Whether effects follow: an alert began or ended, or is heard again."""
        return not self.quiet and self.event in {"fired", "cleared", "unsilenced"}

    def as_json(self) -> dict[str, JsonValue]:
        """For programs; amounts are decimal text, moments ISO 8601."""
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
            "said": self.said,
            "value": None if self.value is None else text_of(self.value),
            "who": self.who or None,
            "until": None if self.until is None else timestamp_text(self.until),
            "silenced": self.quiet,
        }

    def line(self, about: Mapping[str, JsonValue]) -> str:
        """One line of JSON for a person's program, with what it is ``about``."""
        return json.dumps({**self.as_json(), **about}, ensure_ascii=True) + "\n"


@dataclass(frozen=True, slots=True)
class Present:
    """The alerts of a gateway now, and how far that can be believed.

    ``watching``: an instance records and evaluates at present. ``as_of`` is the newest reading
    that was recorded; None when nothing ever was.
    """

    alerts: tuple[Alert, ...] = ()
    watching: bool = False
    as_of: datetime | None = None

    @property
    def firing(self) -> tuple[Alert, ...]:
        """Those that are not only pending."""
        return tuple(alert for alert in self.alerts if alert.status.alerting)


@dataclass(slots=True)
class EvaluationResult:
    """What one pass found: events, and the alerts that are to be kept or forgotten."""

    events: list[AlertEvent] = field(default_factory=list)
    changed: dict[AlertKey, Alert] = field(default_factory=dict)
    """By key; a quiet one is to be forgotten."""
