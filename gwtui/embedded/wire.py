"""How stored values stand on the wire: numbers as JSON numbers, moments as ISO 8601 UTC.

``data`` makes JSON values of a record. Where many rows are answered at once, the functions below it
write the same JSON text straight from the columns of the database.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from datetime import date, datetime
from decimal import Decimal
from functools import cache, lru_cache
from json.encoder import encode_basestring
from typing import Any

from pydantic import JsonValue

from gwtui.contract.scalars import timestamp_text
from gwtui.embedded.store.usage import UsageWindows


def value(stored: Any) -> JsonValue:
    """The JSON value of a stored one: amounts are doubles, tuples are lists, None is null."""
    convert = _CONVERT.get(type(stored))
    found: JsonValue = stored if convert is None else convert(stored)
    return found


_CONVERT: Mapping[type, Callable[[Any], JsonValue]] = {
    datetime: timestamp_text,
    Decimal: float,
    tuple: list,
}


def data(record: Any, *names: str) -> dict[str, JsonValue]:
    """Fields and properties of a record by name, all of its fields when none are named."""
    shown = names or _fields_of(record.__class__)
    found: dict[str, JsonValue] = {}
    for name in shown:
        stored = getattr(record, name)
        convert = _CONVERT.get(type(stored))
        found[name] = stored if convert is None else convert(stored)
    return found


@cache
def _fields_of(record: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(record))


_WINDOWS = ("usage", "usage_daily", "usage_weekly", "usage_monthly")
USAGE_FIELDS = (*_WINDOWS, *(f"byok_{name}" for name in _WINDOWS))
"""A key's usage as every answer about a key gives it."""


def usage_figures(usage: UsageWindows) -> dict[str, JsonValue]:
    """A key's usage by field, in USD."""
    windows = (usage.all_time, usage.daily, usage.weekly, usage.monthly)
    amounts = (*(spend.usd for spend in windows), *(spend.byok_usd for spend in windows))
    return dict(zip(USAGE_FIELDS, map(float, amounts), strict=True))


class JsonText(str):
    """A part of an answer that is JSON text already: the value of a field at the top of it."""

    __slots__ = ()


def json_list(entries: Iterable[str]) -> JsonText:
    """The JSON text of a list, given those of its entries."""
    return JsonText(f"[{','.join(entries)}]")


def json_amount(pico: int) -> str:
    """The JSON text of pico-USD: USD, as the double that is nearest to them."""
    return repr(pico / _PICO) if pico else "0.0"


json_text: Callable[[str], str] = encode_basestring
"""The JSON text of a text column."""

JSON_BOOLEAN = ("false", "true")
"""The JSON text of a column that is 0 or 1."""


def json_moment(micros: int) -> str:
    """The JSON text of a moment in microseconds since 1970."""
    seconds, fraction = divmod(micros, 1_000_000)
    day, second = divmod(seconds, 86_400)
    minute, second = divmod(second, 60)
    hour, minute = divmod(minute, 60)
    tail = f".{fraction // 1000:03d}Z" if fraction else "Z"
    return f'"{_day_text(day)}T{_TWO[hour]}:{_TWO[minute]}:{_TWO[second]}{tail}"'


@lru_cache(maxsize=512)
def _day_text(day: int) -> str:
    """The ISO 8601 text of a day, counted from 1970."""
    return date.fromordinal(_EPOCH_DAY + day).isoformat()


_PICO = 10**12
_TWO = tuple(f"{number:02d}" for number in range(60))
_EPOCH_DAY = date(1970, 1, 1).toordinal()
