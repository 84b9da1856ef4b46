"""Tones, sort values and value kinds of table cells, and sorting of rows by a sort value."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Literal, NamedTuple, TypeVar

Tone = Literal["plain", "muted", "good", "warn", "bad", "accent"]
"""The meaning of a figure, shown by its colour. The text must be enough without the colour."""

SortValue = str | int | float | Decimal | datetime | bool | None
"""A value to sort by; None is unknown and comes last. Percentages are in points: 42.5 is 42.5%."""

ValueKind = Literal["text", "number", "moment", "flag"]
"""The kind of values in a column."""

UNKNOWN = "—"
"""The text of an unknown figure."""


class Verdict(NamedTuple):
    """A state such as "degraded" (``word``), with its ``tone`` and the reason (``why``)."""

    word: str
    tone: Tone
    why: str


T = TypeVar("T")

_NUMBER, _MOMENT, _TEXT = range(3)


def sort_key(value: SortValue) -> tuple[int, Any] | None:
    """A key that makes sort values comparable; None for None and for not-a-number.

    Numbers sort before moments, and moments before text. Text is compared case-insensitively.
    """
    if value is None:
        return None
    if isinstance(value, str):
        return _TEXT, value.casefold()
    if isinstance(value, datetime):
        # As seconds: comparing aware moments asks each of them for its offset every time.
        aware = value if value.tzinfo is not None else value.replace(tzinfo=UTC)
        return _MOMENT, aware.timestamp()
    if isinstance(value, Decimal):
        return None if value.is_nan() else (_NUMBER, value)
    return None if value != value else (_NUMBER, value)  # noqa: PLR0124 - only NaN differs from itself


def ordered(
    rows: Iterable[tuple[str, T]], value: Callable[[T], SortValue], *, descending: bool
) -> list[str]:
    """Sort rows, given as identity and item, by the value of the item; returns the identities.

    The sort is stable. Unknown values come last in both directions.
    """
    known: list[tuple[tuple[int, Any], str]] = []
    unknown: list[str] = []
    for identity, item in rows:
        key = sort_key(value(item))
        if key is None:
            unknown.append(identity)
        else:
            known.append((key, identity))
    known.sort(key=lambda pair: pair[0], reverse=descending)
    return [identity for _, identity in known] + unknown
