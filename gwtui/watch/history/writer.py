"""Stores observations: runs of equal readings, hours, facts and their changes.

Every function runs within the caller's transaction and raises sqlite3.Error.
"""

from __future__ import annotations

import json
import logging
import sqlite3
from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from gwtui.contract.usage import ActivityRow
from gwtui.domain.diffs import ABSENT, changed_fields
from gwtui.watch.history import model as kinds
from gwtui.watch.history.file import remember_setting, setting
from gwtui.watch.history.model import (
    NAME,
    Fields,
    Observation,
    Subject,
    gap_after,
    json_of,
    rounded,
    seconds_of,
    shortened,
    text_of,
)

HOUR = 3600
DAY = 24 * HOUR
RUNS_KEPT = 2 * DAY
"""How long single readings are kept, in seconds."""
HOURS_KEPT = 365 * DAY
"""How long hours, facts and changes are kept, in seconds."""
MOST_SERIES = 20_000
"""The maximum number of series, so that invented identities cannot fill the disk."""
CLOCK_WENT_BACK = 600
"""The clock counts as wrong if a reading is this many seconds older than the newest."""
_LATE = 300
"""Seconds after the end of an hour until its last reading has arrived."""

_log = logging.getLogger(__name__)


def observe(db: sqlite3.Connection, observation: Observation) -> None:
    """Store an observation and the changes of its facts."""
    _observe(db, observation, _EXTEND_RUN, _NEW_RUN)


def observe_hour(db: sqlite3.Connection, observation: Observation) -> None:
    """Store an observation as the figures of the whole hour that ends with it."""
    _observe(db, observation, _NEW_HOUR)


def _observe(db: sqlite3.Connection, observation: Observation, *statements: str) -> None:
    at = seconds_of(observation.at)
    (newest,) = db.execute("SELECT max(last) FROM sources").fetchone()
    if newest is not None and newest - at > CLOCK_WENT_BACK:
        _log.warning(
            "history: the clock went back by %d s; later readings are dropped", newest - at
        )
        delete_after(db, at)
    _write_values(db, observation, at, statements)
    known = db.execute("SELECT last FROM sources WHERE name = ?", (observation.source,)).fetchone()
    _record_facts(db, observation, at, None if known is None else int(known[0]))
    db.execute(
        "INSERT INTO sources VALUES (?1, ?2, ?2) "
        "ON CONFLICT (name) DO UPDATE SET last = max(last, excluded.last)",
        (observation.source, at),
    )


# Figures ----------------------------------------------------------------------------------------

_EXTEND_RUN = """
UPDATE runs SET until = :at FROM series s
WHERE s.resource = :resource AND s.identity = :identity AND s.figure = :figure
AND series = s.id AND start = (SELECT max(start) FROM runs WHERE series = s.id)
AND value IS :value AND until < :at AND until >= :at - :patience AND start >= :hour
"""
_NEW_RUN = """
INSERT INTO runs SELECT id, :at, :at, :value FROM series
WHERE resource = :resource AND identity = :identity AND figure = :figure
AND :at > coalesce(
    (SELECT until FROM runs WHERE series = id ORDER BY start DESC LIMIT 1), 0
)
"""
_NEW_HOUR = """
INSERT OR REPLACE INTO hours
SELECT id, :hour, :at, :value, :value, CAST(:value AS REAL), :value FROM series
WHERE resource = :resource AND identity = :identity AND figure = :figure
"""


def _write_values(
    db: sqlite3.Connection, observation: Observation, at: int, statements: Iterable[str]
) -> None:
    rows = [
        {
            "resource": subject.resource,
            "identity": subject.identity,
            "figure": figure,
            "every": observation.every,
            "value": None if value is None else text_of(rounded(value)),
            "at": at,
            "hour": at - at % HOUR,
            "patience": gap_after(observation.every),
        }
        for subject, values in observation.values.items()
        for figure, value in values.items()
    ]
    series = rows
    (count,) = db.execute("SELECT count(*) FROM series").fetchone()
    if count + len(rows) > MOST_SERIES:
        known = set(db.execute("SELECT resource, identity, figure FROM series"))
        unknown = [row for row in rows if tuple(row.values())[:3] not in known]
        series = unknown[: MOST_SERIES - count]
    db.executemany(
        "INSERT INTO series (resource, identity, figure, every) "
        "VALUES (:resource, :identity, :figure, :every) "
        "ON CONFLICT DO UPDATE SET every = excluded.every WHERE every != excluded.every",
        series,
    )
    for statement in statements:
        db.executemany(statement, rows)


_ROLL_UP = """
INSERT OR REPLACE INTO hours
SELECT DISTINCT
    series,
    hour,
    max(until) OVER the_hour,
    first_value(value) OVER (the_hour ORDER BY value IS NULL, CAST(value AS REAL)),
    first_value(value) OVER (the_hour ORDER BY CAST(value AS REAL) DESC),
    sum(CAST(value AS REAL) * seconds) OVER the_hour
        / sum(iif(value IS NULL, NULL, seconds)) OVER the_hour,
    first_value(value) OVER (the_hour ORDER BY start DESC)
FROM (
    SELECT runs.*, start - start % 3600 AS hour, until - start + every AS seconds
    FROM series CROSS JOIN runs ON series = id
    WHERE start >= :hour AND start < :hour + 3600
)
WINDOW the_hour AS (PARTITION BY series, hour)
"""
# Naming the series lets SQLite find the rows of "hours" by the primary key.
_LENGTHEN = """
UPDATE hours SET until = new.until
FROM series JOIN hours new ON new.series = id AND new.hour = :hour
WHERE hours.series IN (SELECT id FROM series) AND hours.series = id
AND hours.hour >= :day AND hours.hour = (
    SELECT max(hour) FROM hours p WHERE p.series = id AND p.hour < :hour
)
AND hours.until >= :hour - (every * 5 / 2 + 30)
AND hours.low IS hours.high AND hours.low IS hours.last
AND new.low IS new.high AND new.low IS new.last AND hours.low IS new.low
"""
_DROP_LENGTHENED = """
DELETE FROM hours WHERE series IN (SELECT id FROM series) AND hour = :hour AND EXISTS (
    SELECT 1 FROM hours p
    WHERE p.series = hours.series AND p.hour >= :day AND p.hour < :hour AND p.until >= :hour
)
"""
# Naming the series lets SQLite find the rows by the primary key.
_DROP_OLD = (
    "DELETE FROM runs WHERE series IN (SELECT id FROM series) AND start < :runs",
    "DELETE FROM hours WHERE series IN (SELECT id FROM series) AND hour < :old",
    "DELETE FROM facts WHERE until < :old",
    "DELETE FROM changes WHERE at < :old",
    "DELETE FROM sources WHERE last < :old",
    "DELETE FROM series WHERE NOT EXISTS (SELECT 1 FROM hours WHERE series = id) "
    "AND NOT EXISTS (SELECT 1 FROM runs WHERE series = id)",
)
_DROP_LATER = (
    "DELETE FROM runs WHERE start > :moment",
    "UPDATE runs SET until = :moment WHERE until > :moment",
    "DELETE FROM hours WHERE hour >= :hour",
    "UPDATE hours SET until = :hour - 1 WHERE until >= :hour",
    "UPDATE settings SET value = min(CAST(value AS INTEGER), :hour) WHERE name = 'rolled'",
    "DELETE FROM sources WHERE first > :moment",
    "UPDATE sources SET last = min(last, :moment)",
    "DELETE FROM facts WHERE since > :moment",
    "UPDATE facts SET until = NULL WHERE until > :moment",
    "DELETE FROM changes WHERE at > :moment",
)
_ROLLED = "rolled"


def tidy(db: sqlite3.Connection, now: datetime) -> None:
    """Roll up each completed hour once, and delete old data.

    If a series had one constant value in an hour and in its previous stored hour of the same UTC
    day, with no gap between, the row of the previous hour is extended and the new one dropped. If
    nothing was rolled up for more than a day, old data is only deleted an hour later, because the
    clock may be wrong.
    """
    at = seconds_of(now)
    hour = (at - _LATE) // HOUR * HOUR
    rolled = setting(db, _ROLLED) or 0
    if hour <= rolled:
        return
    (first,) = db.execute("SELECT min(start) FROM runs").fetchone()
    begin = hour if first is None else max(rolled, first // HOUR * HOUR)
    for start in range(begin, hour, HOUR):
        for statement in (_ROLL_UP, _LENGTHEN, _DROP_LENGTHENED):
            db.execute(statement, {"hour": start, "day": start // DAY * DAY})
    remember_setting(db, _ROLLED, hour)
    if hour - rolled > DAY:
        return
    for statement in _DROP_OLD:
        db.execute(statement, {"runs": hour - RUNS_KEPT, "old": at - HOURS_KEPT})


def delete_after(db: sqlite3.Connection, moment: int) -> None:
    """Delete everything after a moment, because the clock was wrong."""
    for statement in _DROP_LATER:
        db.execute(statement, {"moment": moment, "hour": moment // HOUR * HOUR})


# Facts ------------------------------------------------------------------------------------------


def _record_facts(
    db: sqlite3.Connection, observation: Observation, at: int, last: int | None
) -> None:
    # ``last`` is the previous reading of the source. The first reading has no changes.
    if last is not None and at <= last:
        return
    present = _present_facts(db, observation)
    changes: list[tuple[Any, ...]] = []

    def add(kind: str, subject: Subject, facts: Fields, *changed_field: Any) -> None:
        """Add a change of a subject with these facts.

        ``changed_field`` is the name, old and new value of the field; empty if the subject appeared
        or disappeared.
        """
        field, before, after = changed_field or ("", None, None)
        name = str(facts.get(NAME) or subject.identity)
        changes.append((at, last, kind, *subject, name, field, json_of(before), json_of(after)))

    for subject, fields in observation.facts.items():
        number, old = present.pop(subject, (None, {}))
        merged = {**old, **{name: shortened(value) for name, value in fields.items()}}
        new = {name: value for name, value in merged.items() if value is not None}
        if number is None:
            add(kinds.appeared(subject.resource), subject, new)
        elif changed := changed_fields(old, new):
            db.execute("UPDATE facts SET until = ? WHERE id = ?", (at, number))
            for change in changed:
                was, now = (
                    None if value is ABSENT else value for value in (change.before, change.after)
                )
                kind = kinds.changed(subject.resource, change.field, now)
                add(kind, subject, new, change.field, was, now)
        else:
            continue
        db.execute(
            "INSERT INTO facts (resource, identity, since, fields) VALUES (?, ?, ?, ?)",
            (*subject, at, json_of(new)),
        )
    if observation.covers is not None:
        for subject, (number, old) in present.items():
            db.execute("UPDATE facts SET until = ? WHERE id = ?", (at, number))
            add(kinds.disappeared(subject.resource), subject, old)
    if last is not None:
        db.executemany(
            "INSERT INTO changes (at, not_before, kind, resource, identity, name, field, before, "
            "after) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            changes,
        )


def _present_facts(
    db: sqlite3.Connection, observation: Observation
) -> dict[Subject, tuple[int | None, Fields]]:
    areas = {Subject(subject.resource, "") for subject in observation.facts}
    if observation.covers is not None:
        areas = {observation.covers}
    present: dict[Subject, tuple[int | None, Fields]] = {}
    for resource, prefix in areas:
        rows = db.execute(
            "SELECT id, identity, fields FROM facts "
            "WHERE until IS NULL AND resource = ? AND substr(identity, 1, ?) = ?",
            (resource, len(prefix), prefix),
        )
        for number, identity, fields in rows:
            present[Subject(resource, identity)] = (number, json.loads(fields))
    return present


# Watched models ---------------------------------------------------------------------------------

DEFAULT_MODELS = 5
"""The number of most used models that are watched by default."""
MOST_MODELS = 50
"""The maximum number of watched models; each takes a request per minute."""
_OWN = "watched_models_are_own"


def has_own_models(db: sqlite3.Connection) -> bool:
    """Whether the user chose the watched models, possibly none."""
    return setting(db, _OWN) is not None


def watch_model(db: sqlite3.Connection, model: str, now: datetime) -> None:
    """Watch a model ("author/slug"). Raises ValueError for an invalid name or too many models."""
    if "/" not in model or any(char.isspace() for char in model) or not model.isprintable():
        raise ValueError("a model is named as author/slug")
    (count,) = db.execute("SELECT count(*) FROM watched_models").fetchone()
    if count >= MOST_MODELS:
        raise ValueError(f"at most {MOST_MODELS} models can be watched")
    db.execute("INSERT OR IGNORE INTO watched_models VALUES (?, ?)", (model, seconds_of(now)))
    remember_setting(db, _OWN, 1)


def unwatch_model(db: sqlite3.Connection, model: str) -> None:
    """Stop watching a model; its recorded data stays."""
    db.execute("DELETE FROM watched_models WHERE model = ?", (model,))
    remember_setting(db, _OWN, 1)


def set_default_models(db: sqlite3.Connection, models: Iterable[str], now: datetime) -> None:
    """Watch these models unless the user chose others."""
    if has_own_models(db):
        return
    db.execute("DELETE FROM watched_models")
    db.executemany(
        "INSERT OR IGNORE INTO watched_models VALUES (?, ?)",
        [(model, seconds_of(now) + place) for place, model in enumerate(models)],
    )


def most_used(rows: Iterable[ActivityRow]) -> tuple[str, ...]:
    """The models with the most requests, at most ``DEFAULT_MODELS``."""
    used: Counter[str] = Counter()
    for row in rows:
        if row.model and not any(char.isspace() for char in row.model):
            used[row.model] += row.requests or 0
    ranked = sorted(used, key=lambda model: (-used[model], model))
    return tuple(ranked[:DEFAULT_MODELS])
