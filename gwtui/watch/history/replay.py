"""Figures as of a moment, and what is different between two moments."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from pydantic import JsonValue

from gwtui.domain.diffs import ABSENT, changed_fields
from gwtui.watch.history.model import (
    GAP,
    NAME,
    Fields,
    Reading,
    Series,
    Subject,
)
from gwtui.watch.history.reader import HistoryReader

_NOTHING: Fields = {}


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

    @property
    def difference(self) -> Decimal | None:
        """Later less earlier; None where one of them has no figure."""
        if self.before.value is None or self.after.value is None:
            return None
        return self.after.value - self.before.value

    @property
    def share(self) -> Decimal | None:
        """The difference as a share of the earlier figure; None where there is no such share."""
        more = self.difference
        return None if more is None or not self.before.value else more / abs(self.before.value)


@dataclass(frozen=True, slots=True)
class Differences:
    """What is different between two moments."""

    facts: tuple[FactDifference, ...]
    figures: tuple[FigureDifference, ...]


def figures_at(
    reader: HistoryReader, moment: datetime, resources: Collection[str]
) -> Mapping[Subject, Mapping[str, Reading]]:
    """Every figure of these resources as of a moment, by its name. Raises sqlite3.Error."""
    found: dict[Subject, dict[str, Reading]] = {}
    for resource in resources:
        for series, reading in reader.at(moment, resource).items():
            subject = Subject(resource, series.key.identity)
            found.setdefault(subject, {})[series.key.figure] = reading
    return found


def differences(reader: HistoryReader, since: datetime, until: datetime) -> Differences:
    """What is different between two moments: facts by field, and figures. Raises sqlite3.Error."""
    earlier = reader.at(since)
    figures = []
    for series, after in reader.at(until).items():
        before = earlier.get(series, GAP)
        if (before.state, before.value) != (after.state, after.value):
            figures.append(FigureDifference(series, before, after))
    figures.sort(key=lambda each: each.series.key)
    facts = _facts(reader.facts_at(since), reader.facts_at(until))
    return Differences(facts, tuple(figures))


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
