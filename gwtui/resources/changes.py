"""Differences between two recorded moments: prices, uptime, credits, keys, budgets, guardrails."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
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
from gwtui.watch.feeds.recorded import ChangeRow, FigureDifference, changes_feed, last_day
from gwtui.watch.history import model as figures
from gwtui.watch.history.model import Reading, RecordedChange, SeriesKey, amount, model_of, unit_of

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
        case list() if all(isinstance(each, str) for each in value):
            return safe_line(", ".join(str(each) for each in value) or "empty", _LONG)
    return safe_line(json.dumps(value, ensure_ascii=False), _LONG)


def change_text(change: RecordedChange) -> str:
    """Return the text of a change, without its subject: "prompt price $3.00/M → $2.50/M"."""
    if not change.field:
        return event_cell(change.kind).text
    before, after = (value_text(change.field, value) for value in (change.before, change.after))
    return f"{field_text(change.field)} {before} → {after}"


def _figure_text(key: SeriesKey, reading: Reading) -> str:
    if reading.state == "gap":
        return "not recorded"
    if reading.state == "null" or reading.value is None:
        return "no traffic" if key.resource == "endpoint" else cells.DASH
    return amount_text(unit_of(key), reading.value)


def amount_text(unit: str, value: Decimal) -> str:
    """Return an amount with its unit in the recorded history."""
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


def _both_figures(figure: FigureDifference) -> tuple[str, str]:
    return _figure_text(figure.key, figure.before), _figure_text(figure.key, figure.after)


def _words(row: ChangeRow, side: int) -> str:
    if row.figures:
        return _both_figures(row.figures[0])[side]
    if not row.field:
        event = row.kind.rpartition(".")[2]
        return cells.DASH if _NO_SIDE.get(event) == side else "there"
    return value_text(row.field, (row.before, row.after)[side])


def _cell(row: ChangeRow, side: int) -> Cell:
    words = _words(row, side)
    unknown = words in {cells.DASH, "not recorded", "no traffic"}
    return Cell(words, "muted" if unknown or side == 0 else "plain")


def _share(row: ChangeRow) -> Decimal | None:
    if row.figures:
        return row.figures[0].share
    before, after = amount(row.before), amount(row.after)
    return None if before is None or after is None or not before else (after - before) / abs(before)


def _difference_text(figure: FigureDifference) -> str:
    more = figure.difference
    return "" if not more else f"{_sign(more)}{amount_text(unit_of(figure.key), abs(more))}"


def _difference_cell(row: ChangeRow) -> Cell:
    if row.figures:
        return Cell(_difference_text(row.figures[0]))
    share = _share(row)
    return Cell("" if not share else f"{_sign(share)}{abs(share) * 100:,.1f}%")


def _sign(number: Decimal) -> str:
    return "+" if number > 0 else "-"


def _sort_difference(row: ChangeRow, _now: datetime) -> SortValue:
    share = _share(row)
    return None if share is None else abs(share) * 100


def _subject(row: ChangeRow) -> str:
    return subject_text(*row.subject, row.name)


def _which(row: ChangeRow) -> str:
    if not row.figures:
        return field_text(row.field) or event_cell(row.kind).text
    first, *others = (field_text(figure.key.figure) for figure in row.figures)
    return f"{first} +{len(others)}" if others else first


def _made_by_people_first(row: ChangeRow, _now: datetime) -> SortValue:
    rank = 2 if row.figures else 1 if row.subject.resource == "endpoint" else 0
    age = 2**40 - (int(row.at.timestamp()) if row.at is not None else 0)
    return f"{rank}{age:014}{_subject(row)}"


COLUMNS: tuple[Column[ChangeRow], ...] = (
    text_column("subject", "What", _subject, 20, help="the thing that is different", grow=True),
    text_column(
        "field",
        "Which",
        _which,
        18,
        help="field, or the figure that changed the most; +6: so many other figures did, too",
    ),
    Column(
        "before",
        "Before",
        lambda row, _now: _cell(row, 0),
        lambda row, _now: _words(row, 0),
        12,
        help="as of the earlier moment",
    ),
    Column(
        "after",
        "After",
        lambda row, _now: _cell(row, 1),
        lambda row, _now: _words(row, 1),
        12,
        help="as of the later moment",
    ),
    Column(
        "difference",
        "Difference",
        lambda row, _now: _difference_cell(row),
        _sort_difference,
        11,
        right=True,
        help="later less earlier; sorted by the share it changed by",
        kind="number",
    ),
    Column(
        "event",
        "Event",
        lambda row, _now: event_cell(row.kind),
        _made_by_people_first,
        9,
        help="price, gone, created, changed; figure for what is measured; sorted with what people "
        "changed first",
        export=lambda row, _now: row.kind,
    ),
    moment_column("at", "When", lambda row: row.at, 11, "the last time that it changed"),
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
    if row.figures:
        return [*_reading_times(row.figures[0]), *map(_figure_row, row.figures)]
    rows = [DetailRow("before", _cell(row, 0)), DetailRow("after", _cell(row, 1))]
    more = _difference_cell(row)
    return [*rows, DetailRow("difference", more)] if more.text else rows


def _figure_row(figure: FigureDifference) -> DetailRow:
    before, after = _both_figures(figure)
    name = field_text(figure.key.figure)
    return DetailRow(name, Cell(f"{before} → {after}"), _difference_text(figure))


def _reading_times(figure: FigureDifference) -> Iterator[DetailRow]:
    for label, reading in (("before", figure.before), ("after", figure.after)):
        if reading.measured_at is not None:
            yield DetailRow(label, Cell(f"read {reading.measured_at:%m-%d %H:%M} UTC", "muted"))


def _raw(row: ChangeRow) -> Any:
    subject = {
        "kind": row.kind,
        "resource": row.subject.resource,
        "identity": row.subject.identity,
        "name": row.name,
    }
    if row.figures:
        return {**subject, "figures": list(map(_raw_figure, row.figures))}
    return {**subject, "field": row.field, "before": row.before, "after": row.after}


def _raw_figure(figure: FigureDifference) -> dict[str, str]:
    before, after = _both_figures(figure)
    return {"figure": figure.key.figure, "before": before, "after": after}


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
    default_sort=("event", False),
    facets={
        "event": lambda row, _now: row.kind,
        "resource": lambda row, _now: row.subject.resource,
        "identity": lambda row, _now: row.subject.identity,
        "kind": lambda row, _now: row.kind,
    },
)
