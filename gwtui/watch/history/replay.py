"""Replay: everything as of a moment, what is different between two, and rows made of a snapshot.

``restore_...`` make what the gateway would have answered at the moment, so that the past is shown
by what shows the present. A figure that nobody read around then is missing, as in an answer that
lacks the field; one that the gateway did not give is null.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from pydantic import JsonValue

from gwtui.contract.budgets import BUDGET_INTERVALS, Budget
from gwtui.contract.keys import ApiKey
from gwtui.contract.models import PRICE_KEYS, Endpoint
from gwtui.contract.usage import Credits
from gwtui.contract.workspaces import Workspace
from gwtui.domain.diffs import ABSENT, changed_fields
from gwtui.watch.feeds.endpoints import EndpointRow
from gwtui.watch.feeds.keys import KeyRow
from gwtui.watch.feeds.workspaces import Figures
from gwtui.watch.history import model as figures
from gwtui.watch.history.model import (
    ACCOUNT,
    NAME,
    RESOURCES,
    Fields,
    Reading,
    Resource,
    Series,
    Subject,
    model_of,
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


def restore_credits(snapshot: Snapshot) -> Credits | None:
    """The account's credits; None when nobody read them around then."""
    subject = Subject("credits", ACCOUNT)
    found = _read(snapshot, subject, (figures.TOTAL_CREDITS, figures.TOTAL_USAGE))
    return Credits.model_validate(found) if found else None


def restore_models(snapshot: Snapshot) -> tuple[str, ...]:
    """The models of which an endpoint was read around then, by name."""
    return tuple(
        sorted(
            {
                model_of(subject.identity)
                for subject in snapshot.subjects("endpoint")
                if _is_read(snapshot, subject)
            }
        )
    )


def restore_endpoints(snapshot: Snapshot, model: str) -> tuple[EndpointRow, ...]:
    """The endpoints of a model."""
    return tuple(
        EndpointRow(
            _endpoint(snapshot, subject), subject.identity.removeprefix(f"{model} "), model, model
        )
        for subject in snapshot.subjects("endpoint")
        if model_of(subject.identity) == model and _is_read(snapshot, subject)
    )


def restore_keys(snapshot: Snapshot) -> tuple[KeyRow, ...]:
    """Every key."""
    names = (figures.USAGE, figures.USAGE_DAILY, figures.LIMIT, figures.LIMIT_REMAINING)
    spaces = {subject.identity: subject for subject in snapshot.subjects("workspace")}
    rows = []
    for subject in snapshot.subjects("key"):
        facts = {**snapshot.facts[subject], "hash": subject.identity}
        key = ApiKey.model_validate({**facts, **_read(snapshot, subject, names)})
        space = spaces.get(key.workspace_id or "")
        rows.append(KeyRow(key, None if space is None else _workspace(snapshot, space)))
    return tuple(rows)


def restore_workspaces(snapshot: Snapshot) -> Mapping[str, Figures]:
    """Every workspace with its budgets and what was spent of them, by its id."""
    return {
        subject.identity: _figures(snapshot, subject) for subject in snapshot.subjects("workspace")
    }


def read_at(snapshot: Snapshot, resource: Resource, model: str = "") -> datetime | None:
    """When the figures of a resource (or of a model's endpoints) were last read before then."""
    return max(_moments(snapshot, resource, model), default=None)


def _moments(snapshot: Snapshot, resource: Resource, model: str) -> Iterable[datetime]:
    for subject, found in snapshot.figures.items():
        if subject.resource != resource or (model and model_of(subject.identity) != model):
            continue
        for reading in found.values():
            if reading.measured_at is not None and reading.state != "gap":
                yield reading.measured_at


def _is_read(snapshot: Snapshot, subject: Subject) -> bool:
    """Whether the gateway told of it."""
    return any(reading.state != "gap" for reading in snapshot.figures.get(subject, {}).values())


def _read(snapshot: Snapshot, subject: Subject, names: Iterable[str]) -> dict[str, Any]:
    """The figures by name; those that nobody read are left out."""
    found = {name: snapshot.reading(subject, name) for name in names}
    return {name: reading.value for name, reading in found.items() if reading.state != "gap"}


def _endpoint(snapshot: Snapshot, subject: Subject) -> Endpoint:
    facts = snapshot.facts[subject]
    data: dict[str, Any] = {"provider_name": facts.get(NAME), "tag": None}
    for name in ("status", "context_length", "max_completion_tokens", "quantization"):
        if name in facts:
            data[name] = facts[name]
    data |= _read(snapshot, subject, figures.UPTIMES)
    for what in ("latency", "throughput"):
        names = {which: f"{what}_{which}" for which in figures.PERCENTILES}
        found = _read(snapshot, subject, names.values())
        if found:
            values = {which: found.get(name) for which, name in names.items()}
            known = any(value is not None for value in values.values())
            data[f"{what}_last_30m"] = values if known else None
    prices = {key: facts.get(figures.price_figure(key)) for key in PRICE_KEYS}
    data["pricing"] = {
        **{key: price for key, price in prices.items() if price is not None},
        **{name: facts[name] for name in ("discount", "overrides") if name in facts},
    }
    return Endpoint.model_validate(data)


def _workspace(snapshot: Snapshot, subject: Subject) -> Workspace:
    return Workspace.model_validate({**snapshot.facts[subject], "id": subject.identity})


def _figures(snapshot: Snapshot, subject: Subject) -> Figures:
    facts = snapshot.facts[subject]
    budgets: dict[str, Budget] = {}
    for interval in BUDGET_INTERVALS:
        limit = facts.get(figures.budget_figure(interval))
        if limit is not None:
            reset = None if interval == "lifetime" else interval
            budgets[interval] = Budget.model_validate({"limit_usd": limit, "reset_interval": reset})
    spent: dict[str, Decimal | None] = {
        interval: snapshot.reading(subject, figures.usage_figure(interval)).value
        for interval in BUDGET_INTERVALS
    }
    return Figures(spent=spent, budgets=budgets, workspace=_workspace(snapshot, subject))
