"""Facts: what holds until it changes. A version per subject, and a line for every change."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue

from gwtui.domain.diffs import ABSENT, changed_fields
from gwtui.watch.history import model as kinds
from gwtui.watch.history.model import Fields, Observation, RecordedChange, Subject, moment_of

NAME = "name"
"""The field of a subject's facts that says what it is called."""
LONGEST_VALUE = 1000
"""Characters of a field's value that are kept; of a longer one only what tells it from others."""

_DIGEST = 16


def record(
    connection: sqlite3.Connection, seen: Observation, at: int, covered: int | None
) -> tuple[RecordedChange, ...]:
    """Inside a transaction: bring the versions up to date; gives what changed.

    ``covered`` is when the source was last read. None: this is the first reading, which shows how
    things are and not what changed. An observation older than the present versions is passed over.
    """
    if covered is not None and at <= covered:
        return ()
    present = _present(connection, seen)
    found: list[RecordedChange] = []
    for subject, fields in seen.facts.items():
        known = present.pop(subject, None)
        if known is None:
            new = _updated({}, fields)
            _begin(connection, subject, at, new)
            found.append(_whole(kinds.came(subject.resource), subject, new))
            continue
        number, old = known
        new = _updated(old, fields)
        changes = changed_fields(old, new)
        if changes:
            connection.execute("UPDATE versions SET until = ? WHERE id = ?", (at, number))
            _begin(connection, subject, at, new)
            found += [_field(subject, new, each.field, each.before, each.after) for each in changes]
    for subject, (number, fields) in present.items():
        if seen.covers is not None and subject not in seen.facts:
            connection.execute("UPDATE versions SET until = ? WHERE id = ?", (at, number))
            found.append(_whole(kinds.went(subject.resource), subject, fields))
    if covered is None:
        return ()
    return tuple(_tell(connection, change, at, covered) for change in found)


def short(value: JsonValue) -> JsonValue:
    """A value; a long one as its size and digest."""
    return value if len(json_of(value)) <= LONGEST_VALUE else digest_of(value)


def digest_of(value: JsonValue) -> JsonValue:
    """What tells a value from others without repeating it: "3 entries, digest 1f0c…"."""
    if value is None:
        return None
    text = json_of(value)
    size = f"{len(value)} entries" if isinstance(value, list | dict) else f"{len(text)} characters"
    return f"{size}, digest {hashlib.sha256(text.encode()).hexdigest()[:_DIGEST]}"


def json_of(value: Any) -> str:
    """Compact JSON in ASCII, which holds any text that a gateway may send."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=True)


def _updated(old: Fields, seen: Fields) -> dict[str, JsonValue]:
    """The facts after a reading: null takes one away, one that is not mentioned stays."""
    merged = {**old, **{name: short(value) for name, value in seen.items()}}
    return {name: value for name, value in merged.items() if value is not None}


def _present(
    connection: sqlite3.Connection, seen: Observation
) -> dict[Subject, tuple[int, Fields]]:
    """The versions that hold now of everything the observation may speak of."""
    areas = {Subject(subject.resource, "") for subject in seen.facts}
    if seen.covers is not None:
        areas = {seen.covers}
    found: dict[Subject, tuple[int, Fields]] = {}
    for resource, prefix in areas:
        rows = connection.execute(
            "SELECT id, identity, fields FROM versions "
            "WHERE until IS NULL AND resource = ? AND substr(identity, 1, ?) = ?",
            (resource, len(prefix), prefix),
        )
        for number, identity, fields in rows:
            found[Subject(resource, identity)] = (number, json.loads(fields))
    return found


def _begin(connection: sqlite3.Connection, subject: Subject, at: int, fields: Fields) -> None:
    connection.execute(
        "INSERT INTO versions (resource, identity, since, fields) VALUES (?, ?, ?, ?)",
        (*subject, at, json_of(fields)),
    )


def _whole(kind: str, subject: Subject, fields: Fields) -> RecordedChange:
    return RecordedChange(0, moment_of(0), None, kind, subject, _name(fields, subject))


def _field(
    subject: Subject, fields: Mapping[str, JsonValue], name: str, before: Any, after: Any
) -> RecordedChange:
    was, now = (None if value is ABSENT else value for value in (before, after))
    kind = kinds.changed(subject.resource, name, now)
    return RecordedChange(
        0, moment_of(0), None, kind, subject, _name(fields, subject), name, was, now
    )


def _name(fields: Fields, subject: Subject) -> str:
    return str(fields.get(NAME) or subject.identity)


def _tell(
    connection: sqlite3.Connection, change: RecordedChange, at: int, covered: int
) -> RecordedChange:
    made = connection.execute(
        "INSERT INTO changes (at, not_before, kind, resource, identity, name, field, before, after)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            at,
            covered,
            change.kind,
            *change.subject,
            change.name,
            change.field,
            json_of(change.before),
            json_of(change.after),
        ),
    )
    return RecordedChange(
        int(made.lastrowid or 0),
        moment_of(at),
        moment_of(covered),
        change.kind,
        change.subject,
        change.name,
        change.field,
        change.before,
        change.after,
    )
