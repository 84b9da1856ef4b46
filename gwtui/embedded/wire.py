"""How stored values stand on the wire."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from typing import Any

from pydantic import JsonValue

from gwtui.contract.scalars import timestamp_text


def value(stored: Any) -> JsonValue:
    """The JSON value of a stored one: amounts are doubles, moments ISO 8601 in UTC."""
    if isinstance(stored, datetime):
        return timestamp_text(stored)
    found: JsonValue = float(stored) if isinstance(stored, Decimal) else stored
    return found


class JsonText(str):
    """A part of an answer that is JSON text already: the value of a field at the top of it."""

    __slots__ = ()


def json_list(entries: Iterable[str]) -> JsonText:
    """The JSON text of a list, given those of its entries."""
    return JsonText(f"[{','.join(entries)}]")
