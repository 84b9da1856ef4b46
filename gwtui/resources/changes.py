"""What changed between two recorded moments: prices, uptime, credits, keys, budgets, guardrails."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from pydantic import JsonValue

from gwtui.contract.models import PER_TOKEN_KEYS
from gwtui.crud import cells
from gwtui.crud.columns import moment_column, text_column
from gwtui.crud.resource import Cell, Column, DetailRow, ResourceSpec, Section, SortValue, Tone
from gwtui.domain import money
from gwtui.domain.safe_text import safe_line
from gwtui.watch.feeds.changes import ChangeRow, changes_feed, last_day
from gwtui.watch.history import model as figures
from gwtui.watch.history.model import Reading, RecordedChange, Series, model_of
from gwtui.watch.history.queries import amount

_PRICE = figures.price_figure("")
_AMOUNTS = frozenset({"limit", "limit_usd", figures.TOTAL_CREDITS})
_LONG = 80
_EVENT_TONES: dict[str, Tone] = {
    "gone": "bad",
    "deleted": "bad",
    "disabled": "warn",
    "appeared": "good",
    "created": "good",
    "enabled": "good",
    "status": "warn",
    "price": "warn",
}


def subject_text(resource: str, identity: str, name: str) -> str:
    """What it is called; an endpoint with its model (without its author)."""
    called = safe_line(name or identity, _LONG)
    if resource == "endpoint":
        model = model_of(identity)
        return f"{safe_line(model.partition('/')[2] or model, _LONG)} · {called}"
    return called if resource == called else f"{resource} {called}"


def event_cell(kind: str) -> Cell:
    """The event of a kind of change: "price", "gone", "changed"."""
    event = kind.rpartition(".")[2]
    return Cell(event, _EVENT_TONES.get(event, "plain"))


def field_text(field: str) -> str:
    """A field as people say it: "prompt price", "budget daily"; empty for the thing itself."""
    words = safe_line(field.removeprefix(_PRICE).replace("_", " "), _LONG)
    return f"{words} price" if field.startswith(_PRICE) else words


def value_text(field: str, value: JsonValue) -> str:
    """A value with its unit; null is "none"."""
    match value:
        case None:
            return "none"
        case bool():
            return "yes" if value else "no"
        case str() if _is_amount(field):
            return _amount(field, value)
        case str() | int() | float():
            return safe_line(value, _LONG)
        case list() if all(isinstance(each, str) for each in value):
            return safe_line(", ".join(str(each) for each in value) or "empty", _LONG)
    return safe_line(json.dumps(value, ensure_ascii=False), _LONG)


def change_text(change: RecordedChange) -> str:
    """One change in a sentence without its subject: "prompt price $3.00/M → $2.50/M"."""
    if not change.field:
        return event_cell(change.kind).text
    before, after = (value_text(change.field, value) for value in (change.before, change.after))
    return f"{field_text(change.field)} {before} → {after}"


def figure_text(series: Series, reading: Reading) -> str:
    """A figure with its unit; null and a gap are shown as such."""
    if reading.state == "gap":
        return "not recorded"
    if reading.state == "null" or reading.value is None:
        return "no traffic" if series.key.resource == "endpoint" else cells.DASH
    return amount_text(series.unit, reading.value)


def amount_text(unit: str, value: Decimal) -> str:
    """An amount of a unit of the history."""
    match unit:
        case figures.USD:
            return money.usd(value)
        case "USD/token":
            return f"{money.per_million(value)}/M"
        case figures.PERCENT:
            return money.percent_points(value, places=2)
        case figures.MILLISECONDS:
            return f"{value:,.0f} ms"
        case figures.TOKENS_PER_SECOND:
            return f"{value:,.1f} t/s"
    return money.grouped(value)


def _is_amount(field: str) -> bool:
    return field in _AMOUNTS or field.startswith((_PRICE, "budget_"))


def _amount(field: str, text: str) -> str:
    try:
        value = Decimal(text)
    except InvalidOperation:
        return safe_line(text, _LONG)
    if field.removeprefix(_PRICE) in PER_TOKEN_KEYS and field.startswith(_PRICE):
        return amount_text("USD/token", value) if value >= 0 else "varies"
    return money.usd(value)


_NO_SIDE = {"created": 0, "appeared": 0, "deleted": 1, "gone": 1}


def _words(row: ChangeRow, side: int) -> str:
    """The value before (0) or after (1)."""
    if row.readings is not None and row.series is not None:
        return figure_text(row.series, row.readings[side])
    if not row.field:
        event = row.kind.rpartition(".")[2]
        return cells.DASH if _NO_SIDE.get(event) == side else "there"
    return value_text(row.field, (row.before, row.after)[side])


def _cell(row: ChangeRow, side: int) -> Cell:
    words = _words(row, side)
    unknown = words in {cells.DASH, "not recorded", "no traffic"}
    return Cell(words, "muted" if unknown or side == 0 else "plain")


def difference(row: ChangeRow) -> Decimal | None:
    """The difference, in the unit of the figure; None where it is unknown."""
    before, after = _amounts(row)
    return None if before is None or after is None else after - before


def _amounts(row: ChangeRow) -> tuple[Decimal | None, Decimal | None]:
    if row.readings is not None:
        return row.readings[0].value, row.readings[1].value
    return amount(row.before), amount(row.after)


def _share(row: ChangeRow) -> Decimal | None:
    before, _after = _amounts(row)
    more = difference(row)
    return None if more is None or not before else more / abs(before)


def _difference_cell(row: ChangeRow) -> Cell:
    more = difference(row)
    if not more:
        return Cell("")
    sign = "+" if more > 0 else "-"
    if row.series is not None and row.series.unit:
        return Cell(f"{sign}{amount_text(row.series.unit, abs(more))}")
    share = _share(row)
    return Cell("" if share is None else f"{sign}{abs(share) * 100:,.1f}%")


def _sort_difference(row: ChangeRow, _now: datetime) -> SortValue:
    share = _share(row)
    return None if share is None else abs(share) * 100


def _subject(row: ChangeRow) -> str:
    return subject_text(*row.subject, row.name)


COLUMNS: tuple[Column[ChangeRow], ...] = (
    text_column("subject", "What", _subject, 20, 0, help="the thing that is different"),
    text_column("field", "Which", lambda row: field_text(row.field), 18, 1, help="field or figure"),
    Column(
        "before",
        "Before",
        lambda row, _now: _cell(row, 0),
        lambda row, _now: _words(row, 0),
        12,
        2,
        help="as of the earlier moment",
    ),
    Column(
        "after",
        "After",
        lambda row, _now: _cell(row, 1),
        lambda row, _now: _words(row, 1),
        12,
        2,
        help="as of the later moment",
    ),
    Column(
        "difference",
        "Difference",
        lambda row, _now: _difference_cell(row),
        _sort_difference,
        11,
        3,
        right=True,
        help="later less earlier; sorted by the share it changed by",
        kind="number",
    ),
    Column(
        "event",
        "Event",
        lambda row, _now: event_cell(row.kind),
        lambda row, _now: row.kind,
        9,
        4,
        help="price, gone, created, changed; figure for what is measured",
    ),
    moment_column("at", "When", lambda row: row.at, 11, 5, "the last time that it changed"),
)


def _what(row: ChangeRow, now: datetime) -> Sequence[DetailRow]:
    rows = [
        DetailRow("what", Cell(_subject(row))),
        DetailRow("resource", cells.text(row.subject.resource)),
        DetailRow("identity", cells.text(row.subject.identity)),
        DetailRow("event", event_cell(row.kind)),
    ]
    return rows if row.at is None else [*rows, cells.moment_row("changed", row.at, now)]


def _both(row: ChangeRow, _now: datetime) -> Sequence[DetailRow]:
    notes = ("", "")
    if row.readings is not None:
        at = (reading.measured_at for reading in row.readings)
        first, second = (
            "" if moment is None else f"read {moment:%m-%d %H:%M} UTC" for moment in at
        )
        notes = (first, second)
    rows = [
        DetailRow("before", _cell(row, 0), notes[0]),
        DetailRow("after", _cell(row, 1), notes[1]),
    ]
    more = _difference_cell(row)
    return [*rows, DetailRow("difference", more)] if more.text else rows


def _raw(row: ChangeRow) -> Any:
    return {
        "kind": row.kind,
        "resource": row.subject.resource,
        "identity": row.subject.identity,
        "name": row.name,
        "field": row.field,
        "before": _words(row, 0) if row.readings else row.before,
        "after": _words(row, 1) if row.readings else row.after,
    }


CHANGES: ResourceSpec[ChangeRow] = ResourceSpec(
    id="changes",
    title="Changes",
    singular="change",
    identity=lambda row: row.identity,
    has_id=False,
    name=_subject,
    columns=COLUMNS,
    sections=(Section("What", _what), Section("Before and after", _both)),
    feed=lambda hub, _scope: changes_feed(hub, last_day(hub.clock.now())),
    raw=_raw,
    empty="Nothing that is recorded differs between the two moments.",
    default_sort=("subject", False),
    facets={
        "resource": lambda row, _now: row.subject.resource,
        "identity": lambda row, _now: row.subject.identity,
        "kind": lambda row, _now: row.kind,
    },
)
