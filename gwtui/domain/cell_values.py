"""The tone and the sort value of cells. Unknown values sort last."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Literal, TypeVar

Tone = Literal["plain", "muted", "good", "warn", "bad", "accent"]
"""The meaning of a figure; themes decide its colour. Never the only carrier of the meaning."""

SortValue = str | int | float | Decimal | datetime | bool | None
"""None is unknown: it sorts last in both directions. Percentages are in points: 42.5 is 42.5%."""

ValueKind = Literal["text", "number", "moment", "flag"]
"""The type of a column's values; each value may be unknown."""

UNKNOWN = "—"
"""Shown for an unknown figure; never 0."""


T = TypeVar("T")

_NUMBER, _MOMENT, _TEXT = range(3)


def sort_key(value: SortValue) -> tuple[int, Any] | None:
    """A comparable key; None for what has no place in an order (None itself, not-a-number).

    Kinds that cannot be compared with each other are kept apart: numbers, moments, text. Text is
    compared without regard to case.
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
    """Identities by the value of their item; equals keep their order, unknown comes last."""
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
