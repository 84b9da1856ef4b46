"""Replay: everything as of a moment, and what is different between two."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import JsonValue

from gwtui.domain.diffs import ABSENT, changed_fields
from gwtui.watch.history.facts import NAME
from gwtui.watch.history.model import (
    RESOURCES,
    Fields,
    Reading,
    Resource,
    Series,
    Subject,
    seconds_of,
)
from gwtui.watch.history.reader import HistoryReader

_NOTHING: Fields = {}


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All that was known as of ``moment``. Figures nobody read around then are "gap"."""

    moment: datetime
    figures: Mapping[Subject, Mapping[str, Reading]]
    facts: Mapping[Subject, Fields]
    units: Mapping[str, str]
    """Of each figure, by its name."""

    def subjects(self, resource: Resource) -> tuple[Subject, ...]:
        """What was there of a resource; what only left figures is not."""
        return tuple(subject for subject in self.facts if subject.resource == resource)

    def reading(self, subject: Subject, figure: str) -> Reading:
        """One figure."""
        return self.figures.get(subject, {}).get(figure, Reading("gap"))

    def name(self, subject: Subject) -> str:
        """What it was called."""
        return str(self.facts.get(subject, _NOTHING).get(NAME) or subject.identity)


@dataclass(frozen=True, slots=True)
class FactDifference:
    """A fact that is not the same at both moments.

    ``field`` is empty for what is only there at one of them; ``came`` says at which.
    """

    subject: Subject
    name: str
    field: str = ""
    before: JsonValue = None
    after: JsonValue = None
    came: bool | None = None
    """True: only there afterwards. False: only before. None: at both."""


@dataclass(frozen=True, slots=True)
class FigureDifference:
    """A figure that is not the same at both moments; a gap counts as nothing known."""

    series: Series
    before: Reading
    after: Reading


@dataclass(frozen=True, slots=True)
class Differences:
    """What is different between two moments."""

    since: datetime
    until: datetime
    facts: tuple[FactDifference, ...]
    figures: tuple[FigureDifference, ...]

    def of(self, resource: Resource) -> Differences:
        """Those of one resource."""
        return Differences(
            self.since,
            self.until,
            tuple(each for each in self.facts if each.subject.resource == resource),
            tuple(each for each in self.figures if each.series.key.resource == resource),
        )


def snapshot_at(
    reader: HistoryReader, moment: datetime, resources: Collection[Resource] = RESOURCES
) -> Snapshot:
    """Everything as of a moment, or only what belongs to these resources. Raises sqlite3.Error."""
    at = seconds_of(moment)
    figures: dict[Subject, dict[str, Reading]] = {}
    units: dict[str, str] = {}
    for number, series in reader.numbered():
        if series.key.resource not in resources:
            continue
        subject = Subject(series.key.resource, series.key.identity)
        found = reader.reading(number, series.every, at)
        figures.setdefault(subject, {})[series.key.figure] = found
        units[series.key.figure] = series.unit
    facts: dict[Subject, Fields] = {}
    for resource in resources:
        facts |= reader.facts_at(moment, resource)
    return Snapshot(moment, figures, facts, units)


def differences(reader: HistoryReader, since: datetime, until: datetime) -> Differences:
    """What is different between two moments: facts by field, and figures. Raises sqlite3.Error."""
    start, end = seconds_of(since), seconds_of(until)
    figures = []
    for number, series in reader.numbered():
        before = reader.reading(number, series.every, start)
        after = reader.reading(number, series.every, end)
        if (before.state, before.value) != (after.state, after.value):
            figures.append(FigureDifference(series, before, after))
    figures.sort(key=lambda each: each.series.key)
    facts = _facts(reader.facts_at(since), reader.facts_at(until))
    return Differences(since, until, facts, tuple(figures))


def _facts(
    before: Mapping[Subject, Fields], after: Mapping[Subject, Fields]
) -> tuple[FactDifference, ...]:
    found: list[FactDifference] = []
    for subject in sorted({*before, *after}):
        was, now = before.get(subject), after.get(subject)
        if was is None or now is None:
            name = _name(now or was or _NOTHING, subject)
            found.append(FactDifference(subject, name, came=was is None))
            continue
        found += [
            FactDifference(
                subject,
                _name(now, subject),
                change.field,
                _value(change.before),
                _value(change.after),
            )
            for change in changed_fields(was, now)
        ]
    return tuple(found)


def _name(fields: Fields, subject: Subject) -> str:
    return str(fields.get(NAME) or subject.identity)


def _value(value: Any) -> JsonValue:
    return None if value is ABSENT else value
