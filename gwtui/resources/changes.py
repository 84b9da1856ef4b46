"""Recorded changes: prices, endpoints, credits, keys, budgets, guardrails."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from pydantic import JsonValue

from gwtui.contract.models import PER_TOKEN_KEYS
from gwtui.crud import cells
from gwtui.crud.cells import moment_column, text_column
from gwtui.crud.resource import Cell, Column, DetailRow, ResourceSpec, Section, SortValue, Tone
from gwtui.domain import money
from gwtui.domain.safe_text import safe_line
from gwtui.watch.feeds.recorded import changes_feed
from gwtui.watch.history import model as figures
from gwtui.watch.history.model import RecordedChange, amount, model_of

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
    """Return the display name; an endpoint is preceded by its model, without the author."""
    called = safe_line(name or identity, _LONG)
    if resource == "endpoint":
        model = model_of(identity)
        return f"{safe_line(model.partition('/')[2] or model, _LONG)} · {called}"
    return called if resource == called else f"{resource} {called}"


def event_cell(kind: str) -> Cell:
    """The kind of change: "price", "gone", "changed"."""
    event = kind.rpartition(".")[2]
    return Cell(event, _EVENT_TONES.get(event, "plain"))


def field_text(field: str) -> str:
    """Return the label of a field: "prompt price", "budget daily"; "" for the resource itself."""
    words = safe_line(field.removeprefix(_PRICE).replace("_", " "), _LONG)
    return f"{words} price" if field.startswith(_PRICE) else words


def value_text(field: str, value: JsonValue) -> str:
    """Return a value with its unit; null is "none"."""
    match value:
        case None:
            return "none"
        case bool():
            return "yes" if value else "no"
        case str() if _is_amount(field):
            return _amount(field, value)
        case str() | int() | float():
            return safe_line(value, _LONG)
        case list() if all(isinstance(item, str) for item in value):
            return safe_line(", ".join(str(item) for item in value) or "empty", _LONG)
    return safe_line(json.dumps(value, ensure_ascii=False), _LONG)


def change_text(change: RecordedChange) -> str:
    """Return the text of a change, without its subject: "prompt price $3.00/M → $2.50/M"."""
    if not change.field:
        return event_cell(change.kind).text
    before, after = (value_text(change.field, value) for value in (change.before, change.after))
    return f"{field_text(change.field)} {before} → {after}"


def _is_amount(field: str) -> bool:
    return field in _AMOUNTS or field.startswith((_PRICE, "budget_"))


def _amount(field: str, text: str) -> str:
    try:
        value = Decimal(text)
    except InvalidOperation:
        return safe_line(text, _LONG)
    if field.removeprefix(_PRICE) in PER_TOKEN_KEYS and field.startswith(_PRICE):
        return f"{money.per_million(value)}/M" if value >= 0 else "varies"
    return money.usd(value)


_NO_SIDE = {"created": 0, "appeared": 0, "deleted": 1, "gone": 1}


def _words(row: RecordedChange, side: int) -> str:
    if not row.field:
        event = row.kind.rpartition(".")[2]
        return cells.DASH if _NO_SIDE.get(event) == side else "exists"
    return value_text(row.field, (row.before, row.after)[side])


def _cell(row: RecordedChange, side: int) -> Cell:
    words = _words(row, side)
    return Cell(words, "muted" if words == cells.DASH or side == 0 else "plain")


def _percent(row: RecordedChange) -> Decimal | None:
    before, after = amount(row.before), amount(row.after)
    if before is None or after is None or not before:
        return None
    return (after - before) / abs(before) * 100


def _difference_cell(row: RecordedChange) -> Cell:
    percent = _percent(row)
    return Cell("" if not percent else f"{percent:+,.1f}%")


def _sort_difference(row: RecordedChange, _now: datetime) -> SortValue:
    percent = _percent(row)
    return None if percent is None else abs(percent)


def _subject(row: RecordedChange) -> str:
    return subject_text(*row.subject, row.name)


def _which(row: RecordedChange) -> str:
    return field_text(row.field) or event_cell(row.kind).text


COLUMNS: tuple[Column[RecordedChange], ...] = (
    text_column("subject", "Resource", _subject, 18, help="the resource that changed", grow=True),
    moment_column("at", "When", lambda row: row.at, 11, "when it changed"),
    text_column(
        "field",
        "Field",
        _which,
        14,
        help="the field that changed",
    ),
    Column(
        "before",
        "Before",
        lambda row, _now: _cell(row, 0),
        lambda row, _now: _words(row, 0),
        12,
        help="the value before the change",
    ),
    Column(
        "after",
        "After",
        lambda row, _now: _cell(row, 1),
        lambda row, _now: _words(row, 1),
        12,
        help="the value after the change",
    ),
    Column(
        "difference",
        "Difference",
        lambda row, _now: _difference_cell(row),
        _sort_difference,
        11,
        right=True,
        help="the change of an amount, as a share of the earlier value",
        export=lambda row, _now: _percent(row),
        kind="number",
    ),
    Column(
        "event",
        "Event",
        lambda row, _now: event_cell(row.kind),
        lambda row, _now: row.kind,
        9,
        help="price, gone, created, changed",
        export=lambda row, _now: row.kind,
    ),
)


def _what(row: RecordedChange, now: datetime) -> Sequence[DetailRow]:
    rows = [
        DetailRow("what", Cell(_subject(row))),
        DetailRow("resource", cells.text(row.subject.resource)),
        DetailRow("identity", cells.text(row.subject.identity)),
        DetailRow("event", event_cell(row.kind)),
    ]
    return [*rows, cells.moment_row("changed", row.at, now)]


def _both(row: RecordedChange, _now: datetime) -> Sequence[DetailRow]:
    rows = [DetailRow("before", _cell(row, 0)), DetailRow("after", _cell(row, 1))]
    more = _difference_cell(row)
    return [*rows, DetailRow("difference", more)] if more.text else rows


def _raw(row: RecordedChange) -> Any:
    subject = {
        "kind": row.kind,
        "resource": row.subject.resource,
        "identity": row.subject.identity,
        "name": row.name,
    }
    return {**subject, "field": row.field, "before": row.before, "after": row.after}


CHANGES: ResourceSpec[RecordedChange] = ResourceSpec(
    id="changes",
    title="Changes",
    singular="change",
    identity=lambda row: str(row.id),
    has_id=False,
    name=_subject,
    columns=COLUMNS,
    sections=(Section("Change", _what), Section("Before and after", _both)),
    feed=changes_feed,
    raw=_raw,
    empty="No price, endpoint, key, budget or guardrail has changed since the recording began.",
    default_sort=("at", True),
    facets={
        "event": lambda row, _now: row.kind,
        "resource": lambda row, _now: row.subject.resource,
        "identity": lambda row, _now: row.subject.identity,
        "kind": lambda row, _now: row.kind,
    },
)
