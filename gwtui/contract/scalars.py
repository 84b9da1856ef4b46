"""The scalar types of the wire: money, prices, timestamps and identifiers.

Requests are strict: a number is a JSON number, a timestamp is ISO 8601 in UTC. Responses are read
leniently: a naive timestamp counts as UTC, and a number may be a string.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Annotated, Any

from pydantic import (
    BeforeValidator,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    PlainSerializer,
    WithJsonSchema,
)
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\Z")
_DATE_TIME = re.compile(
    r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)?\Z", re.ASCII
)
_DECIMAL = re.compile(r"\d{1,30}(?:\.\d{1,60})?\Z", re.ASCII)
_MAX_USD = Decimal("1e12")
MAX_DIGITS = 100
"""The maximum number of characters of a number; a double needs fewer."""
_MAX_EXPONENT = 307
"""The maximum exponent of a double; a larger Decimal breaks sums and prints endless digits."""
_MAX_WHOLE = 2**63 - 1


def _bad(code: str, message: str) -> PydanticCustomError:
    return PydanticCustomError(code, message)


def _strict_number(value: Any) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise _bad("number_type", "must be a number")
    number = Decimal(str(value)) if isinstance(value, float) else Decimal(value)
    if not number.is_finite():
        raise _bad("number_type", "must be a finite number")
    return number


def _strict_usd(value: Any) -> Decimal:
    return _usd(_strict_number(value))


def _usd(amount: Decimal) -> Decimal:
    if amount < 0:
        raise _bad("usd_negative", "must not be negative")
    if amount > _MAX_USD:
        raise _bad("usd_too_large", "must be at most 1000000000000 USD")
    return amount


@dataclass(frozen=True, slots=True)
class NumberBounds:
    """Inclusive bounds of a number in a request; None means no bound."""

    low: int | Decimal | None = None
    high: int | None = None

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_before_validator_function(
            self._check,
            handler(source),
            serialization=core_schema.plain_serializer_function_ser_schema(
                float, return_schema=core_schema.float_schema(), when_used="json"
            ),
        )

    def __get_pydantic_json_schema__(
        self, _schema: CoreSchema, _handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        low = float(self.low) if isinstance(self.low, Decimal) else self.low
        bounds = {"minimum": low, "maximum": self.high}
        given = {name: bound for name, bound in bounds.items() if bound is not None}
        return {"type": "number", **given}

    def _check(self, value: Any) -> Decimal:
        number = _strict_number(value)
        if number and abs(number.adjusted()) > _MAX_EXPONENT:
            raise _bad("number_range", "is outside the range of a number")
        low, high = self.low, self.high
        if (low is not None and number < low) or (high is not None and number > high):
            raise _bad("number_range", self._in_words())
        return number

    def _in_words(self) -> str:
        if self.high is None:
            return f"must be at least {self.low}"
        if self.low is None:
            return f"must be at most {self.high}"
        return f"must be from {self.low} to {self.high}"


def _strict_decimal_text(value: Any) -> Decimal:
    if not isinstance(value, str):
        return _strict_usd(value)
    if not _DECIMAL.match(value):
        raise _bad("decimal_text", "must be a decimal number such as 0.5")
    return _usd(Decimal(value))


def decimal_of(text: str) -> Decimal:
    """Parse a number; equal short texts return the same object, to save memory in long lists.

    Raises ValueError if the text is not a finite number or has too many digits or too large an
    exponent.
    """
    return _short_decimal(text) if len(text) <= _SHORT else _decimal(text)


def _decimal(text: str) -> Decimal:
    if len(text) > MAX_DIGITS:
        raise ValueError("has too many digits")
    try:
        number = Decimal(text)
    except InvalidOperation as error:
        raise ValueError("expected a number") from error
    return _in_range(number)


def _in_range(number: Decimal) -> Decimal:
    if not number.is_finite():
        raise ValueError("expected a finite number")
    if abs(number.adjusted()) > _MAX_EXPONENT:
        raise ValueError("is outside the range of a number")
    return number


_SHORT = 24
_short_decimal = lru_cache(maxsize=1024)(_decimal)


def _loose_number(value: Any) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
        raise ValueError("expected a number")  # noqa: TRY004 - pydantic wants ValueError
    return _in_range(value) if isinstance(value, Decimal) else decimal_of(str(value))


def _date_time(value: str) -> datetime:
    if not _DATE_TIME.match(value):
        raise ValueError("expected an ISO 8601 date and time such as 2026-12-31T00:00:00Z")
    return datetime.fromisoformat(value.upper())


def _strict_utc(value: Any) -> datetime:
    if isinstance(value, datetime):
        if value.tzinfo is None or value.utcoffset():
            raise _bad("not_utc", "must be in UTC")
        return value.astimezone(UTC)
    if not isinstance(value, str):
        raise _bad("date_time", "must be an ISO 8601 date and time string in UTC")
    try:
        moment = _date_time(value)
    except ValueError as error:
        raise _bad(
            "date_time",
            "must be an ISO 8601 date and time in UTC, with seconds, such as 2026-12-31T00:00:00Z",
        ) from error
    if moment.tzinfo is None or moment.utcoffset():
        raise _bad("not_utc", "must be in UTC: end it in Z, other time zones are rejected")
    return moment


def _loose_timestamp(value: Any) -> datetime:
    if not isinstance(value, datetime | str):
        raise ValueError("expected an ISO 8601 timestamp")  # noqa: TRY004
    moment = value if isinstance(value, datetime) else _date_time(value)
    if moment.tzinfo is None:
        return moment.replace(tzinfo=UTC)
    try:
        return moment.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("is outside the years 1 to 9999") from error


def _uuid(value: Any) -> str:
    if not isinstance(value, str) or not _UUID.match(value.lower()):
        raise _bad("uuid", "must be a UUID such as 0b9f6f0e-3a0a-4a57-9f0e-5f1c2f6a7d10")
    return value.lower()


def timestamp_text(moment: datetime) -> str:
    """ISO 8601 in UTC with a Z, as the API writes timestamps; a zero fraction is omitted."""
    spec = "milliseconds" if moment.microsecond else "seconds"
    inside = moment if moment.tzinfo is UTC else moment.astimezone(UTC)
    return inside.isoformat(timespec=spec).removesuffix("+00:00") + "Z"


_NUMBER_SCHEMA = WithJsonSchema({"type": "number"})
_TIME_SCHEMA = WithJsonSchema({"type": "string", "format": "date-time"})


def _float(number: Decimal) -> float:
    return float(number)


def _text(number: Decimal) -> str:
    return str(number)


# Functions of Python: of a built-in one pydantic reads the signature from its documentation, for
# each field of each model anew.
_as_number = PlainSerializer(_float, return_type=float, when_used="json")
_as_text = PlainSerializer(_text, return_type=str, when_used="json")
_as_timestamp = PlainSerializer(timestamp_text, return_type=str, when_used="json")

Usd = Annotated[
    Decimal,
    BeforeValidator(_strict_usd),
    _as_number,
    WithJsonSchema({"type": "number", "minimum": 0, "maximum": 1_000_000_000_000}),
]
"""An amount of USD in a request: a JSON number, not negative."""

SamplingRate = Annotated[Decimal, NumberBounds(Decimal("0.0001"), 1)]
"""A sampled share of requests, in a request."""

AnyNumber = Annotated[Decimal, NumberBounds()]
"""Any finite number in a request."""

DecimalUsd = Annotated[
    Decimal,
    BeforeValidator(_strict_decimal_text),
    _as_text,
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "number", "minimum": 0}]}),
]
"""An amount of USD in a request, not negative: a decimal string in JSON."""

UtcDateTime = Annotated[datetime, BeforeValidator(_strict_utc), _as_timestamp, _TIME_SCHEMA]
"""A moment in a request: ISO 8601 with seconds, UTC only."""

Uuid = Annotated[str, BeforeValidator(_uuid), WithJsonSchema({"type": "string", "format": "uuid"})]
"""A UUID in a request, normalised to lower case."""

Number = Annotated[Decimal, BeforeValidator(_loose_number), _as_number, _NUMBER_SCHEMA]
"""Any number in a response, with all digits."""

Whole = Annotated[int, Field(ge=-_MAX_WHOLE, le=_MAX_WHOLE), WithJsonSchema({"type": "integer"})]
"""Any whole number in a response."""

Price = Annotated[
    Decimal,
    BeforeValidator(_loose_number),
    _as_text,
    WithJsonSchema({"type": "string"}),
]
"""USD per unit in a response: a decimal string on the wire."""

Timestamp = Annotated[datetime, BeforeValidator(_loose_timestamp), _as_timestamp, _TIME_SCHEMA]
"""A moment in a response, aware, in UTC."""
