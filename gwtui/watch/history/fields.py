"""Fields of an answer as facts: JSON values, without what must not be kept."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from pydantic import JsonValue

from gwtui.contract.response import ResponseModel
from gwtui.contract.scalars import timestamp_text
from gwtui.watch.history.facts import digest_of
from gwtui.watch.history.numbers import kept, text_of

DIGESTS = frozenset({"content_filters"})
"""Patterns of filters may quote what they look for: only that they changed is kept."""


def fields_of(model: ResponseModel, names: Sequence[str]) -> dict[str, JsonValue]:
    """The fields that could be read; null is "none", one that is left out is not known."""
    found: dict[str, JsonValue] = {}
    for name in names:
        if name not in model.gaps:
            value = json_value(getattr(model, name))
            found[name] = digest_of(value) if name in DIGESTS else value
    return found


def json_value(value: Any) -> JsonValue:
    """A field's value; an amount is decimal text, a moment ISO 8601."""
    match value:
        case Decimal():
            return text_of(kept(value))
        case datetime():
            return timestamp_text(value)
        case ResponseModel():
            return {name: json_value(each) for name, each in value if each is not None}
        case list() | tuple():
            return [json_value(each) for each in value]
        case None | bool() | int() | str():
            return value
    return str(value)
