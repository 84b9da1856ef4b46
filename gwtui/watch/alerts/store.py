"""Alerts, silences and alert events in the history file.

Every function runs in the caller's transaction or is a single statement. All raise sqlite3.Error.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, cast

from gwtui.domain.alert_rules import Severity
from gwtui.domain.alert_state import AlertState, State
from gwtui.watch.alerts.model import (
    Alert,
    AlertEvent,
    AlertKey,
    EvaluationResult,
    EventKind,
    StoredAlerts,
)
from gwtui.watch.history.model import Subject, moment_of, seconds_of, text_of
from gwtui.watch.history.reader import HistoryReader

MOST_EVENTS = 20_000
KEPT = timedelta(days=365)
"""How long events are kept, unless there are more than ``MOST_EVENTS``."""

_ALERT = (
    "a.rule, a.resource, a.identity, state, a.since, fired_at, severity, title, name, said, value, "
    "acknowledged_at, acknowledged_by, until"
)
_EVENT = (
    "id, at, event, rule, resource, identity, severity, title, name, said, value, who, until, quiet"
)
LAST_CHANGE = "alerts_last_change"
"""The name of the setting with the id of the last change that the rules were applied to."""


# Reading ----------------------------------------------------------------------------------------


def read_alerts(connection: sqlite3.Connection, now: datetime) -> tuple[Alert, ...]:
    """The pending and firing alerts, as stored by the last evaluation."""
    rows = connection.execute(
        f"SELECT {_ALERT} FROM alerts a LEFT JOIN alert_silences s ON s.rule = a.rule "  # noqa: S608 - a constant
        "AND s.resource = a.resource AND s.identity = a.identity AND s.until > ? "
        "ORDER BY a.rule, a.resource, a.identity",
        (seconds_of(now),),
    )
    return tuple(_alert(row) for row in rows)


def read_events(
    connection: sqlite3.Connection,
    *,
    since: datetime | None = None,
    until: datetime | None = None,
    limit: int = 100_000,
) -> tuple[AlertEvent, ...]:
    """The events from ``since`` to ``until``, newest first."""
    rows = connection.execute(
        f"SELECT {_EVENT} FROM alert_events WHERE at >= ? AND at < ? "  # noqa: S608 - a constant
        "ORDER BY id DESC LIMIT ?",
        (
            0 if since is None else seconds_of(since),
            2**62 if until is None else seconds_of(until),
            limit,
        ),
    )
    return tuple(_event(row) for row in rows)


# Results of an evaluation -----------------------------------------------------------------------


def write_result(
    connection: sqlite3.Connection, result: EvaluationResult, now: datetime
) -> tuple[AlertEvent, ...]:
    """Store the result of an evaluation and return its events, now with ids."""
    for key, alert in result.changed.items():
        if alert.status.state == "quiet":
            connection.execute(
                "DELETE FROM alerts WHERE rule = ? AND resource = ? AND identity = ?", _of(key)
            )
        else:
            _write(connection, alert)
    silenced = _silenced(connection, now) if result.events else frozenset()
    return tuple(
        _log(connection, replace(event, quiet=event.key in silenced)) for event in result.events
    )


def end_silences(connection: sqlite3.Connection, now: datetime) -> tuple[AlertEvent, ...]:
    """End the silences that are over; firing alerts get an event that notifies."""
    over = connection.execute(
        "SELECT rule, resource, identity FROM alert_silences WHERE until <= ?", (seconds_of(now),)
    ).fetchall()
    events: list[AlertEvent] = []
    for row in over:
        key = AlertKey(row[0], Subject(*row[1:]))
        events += _unsilence(connection, key, now, "", "the silence ended")
    return tuple(events)


def forget_old(connection: sqlite3.Connection, now: datetime) -> None:
    """Delete the events that are too old or too many."""
    connection.execute("DELETE FROM alert_events WHERE at < ?", (seconds_of(now - KEPT),))
    connection.execute(
        "DELETE FROM alert_events WHERE id <= (SELECT coalesce(max(id), 0) - ? FROM alert_events)",
        (MOST_EVENTS,),
    )


# Actions of a person ----------------------------------------------------------------------------


def acknowledge(
    connection: sqlite3.Connection, keys: Iterable[AlertKey], now: datetime, who: str
) -> tuple[AlertEvent, ...]:
    """Acknowledge firing alerts that are not acknowledged; returns an event for each."""
    events = []
    for key in keys:
        alert = _find(connection, key, now)
        if alert is None or not alert.status.is_alerting or alert.acknowledged_at is not None:
            continue
        connection.execute(
            "UPDATE alerts SET acknowledged_at = ?, acknowledged_by = ? "
            "WHERE rule = ? AND resource = ? AND identity = ?",
            (seconds_of(now), who, *_of(key)),
        )
        events.append(_log(connection, _event_of(alert, "acknowledged", now, who)))
    return tuple(events)


def silence(
    connection: sqlite3.Connection,
    keys: Iterable[AlertKey],
    now: datetime,
    *,
    until: datetime,
    who: str,
) -> tuple[AlertEvent, ...]:
    """Silence alerts until a moment, even if they clear and fire again meanwhile.

    Replaces earlier silences. Alerts that have ended are skipped. Returns an event for each other
    one.
    """
    events = []
    for key in keys:
        alert = _find(connection, key, now)
        if alert is None:
            continue
        connection.execute(
            "INSERT OR REPLACE INTO alert_silences VALUES (?, ?, ?, ?, ?, ?)",
            (*_of(key), seconds_of(now), seconds_of(until), who),
        )
        events.append(
            _log(connection, replace(_event_of(alert, "silenced", now, who), until=until))
        )
    return tuple(events)


def unsilence(
    connection: sqlite3.Connection, keys: Iterable[AlertKey], now: datetime, who: str
) -> tuple[AlertEvent, ...]:
    """End the silences of these alerts; returns an event for each one that is firing."""
    events: list[AlertEvent] = []
    for key in keys:
        events += _unsilence(connection, key, now, who, "the silence was lifted")
    return tuple(events)


# Inside -----------------------------------------------------------------------------------------


def _unsilence(
    connection: sqlite3.Connection, key: AlertKey, now: datetime, who: str, why: str
) -> Sequence[AlertEvent]:
    removed = connection.execute(
        "DELETE FROM alert_silences WHERE rule = ? AND resource = ? AND identity = ?", _of(key)
    ).rowcount
    alert = _find(connection, key, now)
    if not removed or alert is None or not alert.status.is_alerting:
        return ()
    message = f"{why}: {alert.message}"
    event = replace(_event_of(alert, "unsilenced", now, who), message=message)
    return (_log(connection, replace(event, quiet=not alert.loud)),)


def _event_of(alert: Alert, event: EventKind, now: datetime, who: str) -> AlertEvent:
    return AlertEvent(
        now,
        event,
        alert.key,
        alert.severity,
        alert.title,
        alert.name,
        alert.message,
        alert.value,
        who,
    )


def _find(connection: sqlite3.Connection, key: AlertKey, now: datetime) -> Alert | None:
    return next((alert for alert in read_alerts(connection, now) if alert.key == key), None)


def _write(connection: sqlite3.Connection, alert: Alert) -> None:
    # An acknowledgement lasts until the alert fires again.
    status = alert.status
    connection.execute(
        "INSERT INTO alerts (rule, resource, identity, state, since, fired_at, severity, title, "
        "name, said, value) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
        "ON CONFLICT (rule, resource, identity) DO UPDATE SET state = excluded.state, "
        "since = excluded.since, severity = excluded.severity, title = excluded.title, "
        "name = excluded.name, said = excluded.said, value = excluded.value, "
        "acknowledged_at = iif(fired_at IS excluded.fired_at, acknowledged_at, NULL), "
        "acknowledged_by = iif(fired_at IS excluded.fired_at, acknowledged_by, NULL), "
        "fired_at = excluded.fired_at",
        (
            *_of(alert.key),
            status.state,
            seconds_of(status.since) if status.since else 0,
            None if alert.fired_at is None else seconds_of(alert.fired_at),
            alert.severity,
            alert.title,
            alert.name,
            alert.message,
            None if alert.value is None else text_of(alert.value),
        ),
    )


def _silenced(connection: sqlite3.Connection, now: datetime) -> frozenset[AlertKey]:
    rows = connection.execute(
        "SELECT rule, resource, identity FROM alert_silences WHERE until > ?", (seconds_of(now),)
    )
    return frozenset(AlertKey(rule, Subject(*subject)) for rule, *subject in rows)


def _log(connection: sqlite3.Connection, event: AlertEvent) -> AlertEvent:
    cursor = connection.execute(
        "INSERT INTO alert_events (at, event, rule, resource, identity, severity, title, name, "
        "said, value, who, until, quiet) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            seconds_of(event.at),
            event.event,
            *_of(event.key),
            event.severity,
            event.title,
            event.name,
            event.message,
            None if event.value is None else text_of(event.value),
            event.who,
            None if event.until is None else seconds_of(event.until),
            event.quiet,
        ),
    )
    return replace(event, id=int(cursor.lastrowid or 0))


def _of(key: AlertKey) -> tuple[str, str, str]:
    return (key.rule, *key.subject)


def _alert(row: Sequence[Any]) -> Alert:
    rule, resource, identity, state, since, fired, severity, title, name, message, *rest = row
    value, acknowledged_at, acknowledged_by, until = rest
    return Alert(
        AlertKey(rule, Subject(resource, identity)),
        # The observed time starts over: nobody evaluated in between.
        AlertState(cast("State", state), moment_of(since)),
        cast("Severity", severity),
        title,
        name,
        message,
        None if value is None else Decimal(value),
        _moment(fired),
        _moment(acknowledged_at),
        acknowledged_by or "",
        _moment(until),
    )


def _event(row: Sequence[Any]) -> AlertEvent:
    number, at, event, rule, resource, identity, severity, title, name, message, *rest = row
    value, who, until, quiet = rest
    return AlertEvent(
        moment_of(at),
        event,
        AlertKey(rule, Subject(resource, identity)),
        severity,
        title,
        name,
        message,
        None if value is None else Decimal(value),
        who,
        _moment(until),
        bool(quiet),
        number,
    )


def _moment(seconds: int | None) -> datetime | None:
    return None if seconds is None else moment_of(seconds)


def alerts_at(reader: HistoryReader, now: datetime) -> StoredAlerts:
    """The stored alerts at ``now``, and whether a process evaluates the rules."""
    span = reader.span()
    return StoredAlerts(
        read_alerts(reader.connection, now),
        watching=reader.recorder() is not None,
        as_of=None if span is None else span[1],
    )
