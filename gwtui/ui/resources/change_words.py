"""What changed, in words: facts of the history as a person reads them."""

from __future__ import annotations

import json
from decimal import Decimal, InvalidOperation

from pydantic import JsonValue

from gwtui.contract.pricing import PER_TOKEN_KEYS
from gwtui.domain import money
from gwtui.domain.safe_text import safe_line
from gwtui.ui.resources import cells
from gwtui.ui.resources.spec import Cell, Tone
from gwtui.watch.history import figures
from gwtui.watch.history.model import Change, Reading, Series, model_of

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


def subject_words(resource: str, identity: str, name: str) -> str:
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


def field_words(field: str) -> str:
    """A field as people say it: "prompt price", "budget daily"; empty for the thing itself."""
    words = safe_line(field.removeprefix(_PRICE).replace("_", " "), _LONG)
    return f"{words} price" if field.startswith(_PRICE) else words


def value_words(field: str, value: JsonValue) -> str:
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


def change_words(change: Change) -> str:
    """One change in a sentence without its subject: "prompt price $3.00/M → $2.50/M"."""
    if not change.field:
        return event_cell(change.kind).text
    before, after = (value_words(change.field, value) for value in (change.before, change.after))
    return f"{field_words(change.field)} {before} → {after}"


def figure_words(series: Series, reading: Reading) -> str:
    """A figure with its unit; null and gap are no figures, and say so."""
    if reading.state == "gap":
        return "not recorded"
    if reading.state == "null" or reading.value is None:
        return "no traffic" if series.key.resource == "endpoint" else cells.DASH
    return in_unit(series.unit, reading.value)


def in_unit(unit: str, value: Decimal) -> str:
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
        return in_unit("USD/token", value) if value >= 0 else "varies"
    return money.usd(value)
