"""Writes observations as samples, versions of facts, and changes: one transaction each.

A fact is what holds until it changes, such as a key's limit. Of each subject there is a version for
every set of facts it had, and a line for every change. Figures are appended to runs of equal ones.
"""

from __future__ import annotations

import json
import logging
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue

from gwtui.domain.diffs import ABSENT, changed_fields
from gwtui.watch.history import model as kinds
from gwtui.watch.history.deadline import in_time
from gwtui.watch.history.file import transaction
from gwtui.watch.history.model import (
    NAME,
    Fields,
    LeaseLostError,
    Observation,
    RecordedChange,
    Retention,
    Sample,
    Series,
    SeriesKey,
    Subject,
    json_of,
    kept,
    moment_of,
    seconds_of,
    short,
    text_of,
)
from gwtui.watch.history.tiers import FIVE_MINUTES, PARENT, RAW, WIDTHS, floor


def forget_after(connection: sqlite3.Connection, moment: int) -> None:
    """Inside a transaction: forget samples, versions and changes dated after ``moment``.

    The coarser tiers give up the whole parent bucket that holds the moment: no row crosses its
    beginning, and what was measured before the moment is gathered again from the finer tier.
    """
    _cut_runs(connection, moment)
    for width in WIDTHS:
        begin = moment + 1 if width == RAW else floor(moment, PARENT[width])
        connection.execute(
            "DELETE FROM stretches WHERE width = ? AND (start >= ? OR until > ?)",
            (width, begin, moment),
        )
        connection.execute(
            "UPDATE tiers SET rolled_until = min(rolled_until, ?), "
            "kept_from = min(kept_from, ?) WHERE width = ?",
            (begin, begin, width),
        )
    connection.execute("DELETE FROM coverage WHERE start > ?", (moment,))
    connection.execute("UPDATE coverage SET until = ? WHERE until > ?", (moment, moment))
    connection.execute("DELETE FROM versions WHERE since > ?", (moment,))
    connection.execute("UPDATE versions SET until = NULL WHERE until > ?", (moment,))
    connection.execute("DELETE FROM changes WHERE at > ?", (moment,))


def _cut_runs(connection: sqlite3.Connection, moment: int) -> None:
    """A run of equal readings that goes on after ``moment`` ends with the last one before it.

    Its readings count as evenly spaced: nothing finer is known of them.
    """
    runs = connection.execute(
        "SELECT series, start, until, count, nulls FROM stretches "
        "WHERE width = ? AND start <= ? AND until > ?",
        (RAW, moment, moment),
    ).fetchall()
    for series, start, until, count, nulls in runs:
        gaps = count + nulls - 1
        passed = gaps * (moment - start) // (until - start)
        connection.execute(
            "UPDATE stretches SET until = ?, count = ?, nulls = ? "
            "WHERE width = ? AND series = ? AND start = ?",
            (
                start + passed * (until - start) // gaps,
                passed + 1 if count else 0,
                passed + 1 if nulls else 0,
                *(RAW, series, start),
            ),
        )


MOST_SERIES = 20_000
"""A gateway that invents identities must not fill the disk; what comes later is not recorded."""
CLOCK_WENT_BACK = 600
"""Seconds by which a reading may be older than the newest one before the clock is blamed."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Written:
    """What became of an observation: ``late`` samples came too late, ``refused`` were too many."""

    samples: int = 0
    late: int = 0
    refused: int = 0
    changes: tuple[RecordedChange, ...] = ()


def gap_after(every: int) -> int:
    """Seconds without a reading, for a pace of ``every``, from which on it is a gap."""
    return every * 5 // 2 + 30


class HistoryWriter:
    """The one who writes, by the lease ``holder``; see ``lease``. Not safe between threads.

    Every method is one transaction and raises LeaseLostError, with nothing written, when another
    instance has taken the lease, HistoryEndedError when the program ends before it is done. Raises
    sqlite3.Error when the file cannot be written.
    """

    def __init__(
        self, connection: sqlite3.Connection, holder: str, retention: Retention | None = None
    ) -> None:
        self._connection = connection
        self._holder = holder
        self.retention = retention or Retention()
        self._ids: dict[SeriesKey, tuple[int, int]] = {}
        self._series: int | None = None
        """How many series there are; None before they were counted."""
        self._knows_all = False
        """Whether ``_ids`` holds every series that there is."""

    @property
    def connection(self) -> sqlite3.Connection:
        """For the other parts of this package."""
        return self._connection

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing, and only while the lease is ours. Raises LeaseLostError.

        It begins with the lock of the file, so that nobody takes the lease before it ends.
        """
        try:
            with transaction(self._connection):
                self._check_lease()
                yield self._connection
        except BaseException:
            self.forget_numbers()  # those given in a transaction that failed were never given
            raise

    def _check_lease(self) -> None:
        found = self._connection.execute("SELECT holder FROM lease").fetchone()
        if found is None or found[0] != self._holder:
            raise LeaseLostError("another instance records this gateway now")

    def observe(self, seen: Observation) -> Written:
        """Write what one reading said; it is safe from kill -9 once this returns."""
        at = seconds_of(seen.at)
        with self.transaction():
            self._set_clock(at)
            before = self._covered_until(seen.source)
            taken, late, refused = self._samples(seen.samples, at)
            changes = record_facts(self._connection, seen, at, before)
            self._cover(seen, at)
        return Written(taken, late, refused, changes)

    def _set_clock(self, at: int) -> None:
        """Samples from after ``at`` were taken by a clock that was wrong: they would hide these."""
        newest = self._connection.execute(
            "SELECT value FROM settings WHERE name = 'newest'"
        ).fetchone()
        latest = int(newest[0]) if newest is not None else at
        if latest - at > CLOCK_WENT_BACK:
            _log.warning("history: the clock went back by %d s; later samples go", latest - at)
            forget_after(self._connection, at)
        elif latest >= at and newest is not None:
            return
        self._connection.execute("INSERT OR REPLACE INTO settings VALUES ('newest', ?)", (str(at),))

    # Samples ----------------------------------------------------------------------------------

    def _samples(self, samples: tuple[Sample, ...], at: int) -> tuple[int, int, int]:
        taken = late = refused = 0
        (rolled,) = self._connection.execute(
            "SELECT coalesce(max(rolled_until), 0) FROM tiers WHERE width = ?", (FIVE_MINUTES,)
        ).fetchone()
        for sample in samples:
            in_time()
            identity = self.number_of(sample.series)
            if identity is None:
                refused += 1
            elif at < rolled or not self._append(identity, sample, at):
                late += 1
            else:
                taken += 1
        return taken, late, refused

    def _append(self, series: int, sample: Sample, at: int) -> bool:
        """Lengthen the present run or begin another. False for a sample that is not newer."""
        value = None if sample.value is None else text_of(kept(sample.value))
        found = self._connection.execute(
            "SELECT start, until, low FROM stretches WHERE width = ? AND series = ? "
            "ORDER BY start DESC LIMIT 1",
            (RAW, series),
        ).fetchone()
        if found is not None:
            start, until, low = found
            if at <= until:
                return False
            if (
                low == value
                and floor(start, FIVE_MINUTES) == floor(at, FIVE_MINUTES)
                and at - until <= gap_after(sample.series.every)
            ):
                self._connection.execute(
                    "UPDATE stretches SET until = ?, count = count + ?, nulls = nulls + ? "
                    "WHERE width = ? AND series = ? AND start = ?",
                    (at, value is not None, value is None, RAW, series, start),
                )
                return True
        self._connection.execute(
            "INSERT INTO stretches (width, series, start, until, count, nulls, low) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            (RAW, series, at, at, value is not None, value is None, value),
        )
        return True

    def number_of(self, series: Series) -> int | None:
        """The number of a series, given on first sight; None when there are too many."""
        known = self._ids.get(series.key)
        if known is None:
            known = self._look_up(series)
        if known is None:
            return None
        number, every = known
        if every != series.every:
            self._connection.execute(
                "UPDATE series SET every = ?, unit = ? WHERE id = ?",
                (series.every, series.unit, number),
            )
        self._ids[series.key] = (number, series.every)
        return number

    def _look_up(self, series: Series) -> tuple[int, int] | None:
        if self._knows_all:
            return None
        found = self._connection.execute(
            "SELECT id, every FROM series WHERE resource = ? AND identity = ? AND figure = ?",
            series.key,
        ).fetchone()
        if found is not None:
            return int(found[0]), int(found[1])
        if self._series is None:
            (self._series,) = self._connection.execute("SELECT count(*) FROM series").fetchone()
        if self._series >= MOST_SERIES:
            self._learn_numbers()
            return None
        self._series += 1
        made = self._connection.execute(
            "INSERT INTO series (resource, identity, figure, unit, every) VALUES (?, ?, ?, ?, ?)",
            (*series.key, series.unit, series.every),
        )
        return int(made.lastrowid or 0), series.every

    def _learn_numbers(self) -> None:
        """There will be no other series: a large account has many that are not recorded."""
        rows = self._connection.execute(
            "SELECT resource, identity, figure, id, every FROM series"
        ).fetchall()
        self._ids = {SeriesKey(*row[:3]): (int(row[3]), int(row[4])) for row in rows}
        self._knows_all = True

    def forget_numbers(self) -> None:
        """Series were removed: look their numbers up again, and count them."""
        self._ids.clear()
        self._knows_all = False
        self._series = None

    # Coverage ---------------------------------------------------------------------------------

    def _covered_until(self, source: str) -> int | None:
        """When the source was last read, None when never."""
        (until,) = self._connection.execute(
            "SELECT max(until) FROM coverage WHERE source = ?", (source,)
        ).fetchone()
        return None if until is None else int(until)

    def _cover(self, seen: Observation, at: int) -> None:
        found = self._connection.execute(
            "SELECT start, until FROM coverage WHERE source = ? ORDER BY start DESC LIMIT 1",
            (seen.source,),
        ).fetchone()
        if found is not None and at <= found[1]:
            return
        if found is not None and at - found[1] <= gap_after(seen.every):
            self._connection.execute(
                "UPDATE coverage SET until = ? WHERE source = ? AND start = ?",
                (at, seen.source, found[0]),
            )
            return
        self._connection.execute("INSERT INTO coverage VALUES (?, ?, ?)", (seen.source, at, at))


def record_facts(
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
        in_time()
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
            in_time()
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
