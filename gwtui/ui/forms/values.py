"""From what a person typed to the value of a field, and back. No widgets."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from pydantic import SecretStr

from gwtui.contract.request import FieldRules
from gwtui.crud.form import BuiltinRow, CustomRow, FormField, Kind, builtin_rows, custom_rows
from gwtui.domain.diffs import ABSENT
from gwtui.domain.money import parse_quantity, parse_share, parse_usd
from gwtui.domain.times import duration, parse_duration_or_zero, parse_moment, utc

Typed = (
    str | bool | None | SecretStr | tuple[str, ...] | tuple[BuiltinRow, ...] | tuple[CustomRow, ...]
)
"""What an editor holds: a text, a choice's value ("" for none), a switch, a secret, or rows.

Where None is a choice of its own, "" is a value that the gateway did not say.
"""

UNSAID = ""
TEXTS = frozenset({"text", "lines", "model"})
"""Kinds whose value is the text itself."""
_OPEN = frozenset({"three_way", "pick", "builtins", "filters"})
"""Kinds in which "" means that nobody said."""

_INTEGER = re.compile(r"[+-]?\d{1,18}", re.ASCII)
_NO_INTEGERS = "[]"
_PERCENT = 100


def parse_integers(text: str) -> list[int]:
    """Whole numbers with commas, semicolons or blanks between. Raises ValueError with a message."""
    if text.strip() == _NO_INTEGERS:
        return []
    words = re.split(r"[\s,;]+", text.strip().strip("[],; "))
    for word in words:
        if not _INTEGER.fullmatch(word):
            raise ValueError(f"expected whole numbers such as 12, 40: not “{word[:20]}”")
    return list(dict.fromkeys(int(word) for word in words))


def to_value(field: FormField, rules: FieldRules, typed: Typed, now: datetime) -> Any:
    """The value for the request model. Raises ValueError with a message for the person."""
    match typed:
        case bool():
            return typed
        case SecretStr():
            secret = typed.get_secret_value().strip()
            return SecretStr(secret) if secret else ABSENT
        case None:
            return None
        case str():
            return _text_value(field, rules, typed, now)
    # No filter is null, which clears; nothing picked is a list of its own.
    entries = [entry if isinstance(entry, str) else entry.value() for entry in typed]
    return entries if entries or field.kind == "pick" else None


def _text_value(field: FormField, rules: FieldRules, typed: str, now: datetime) -> Any:
    text = typed.rstrip() if field.kind == "lines" else typed.strip()
    if not text:
        if field.kind in {"workspace", *_OPEN}:
            return ABSENT
        return "" if field.kind in TEXTS and not rules.nullable else _nothing(rules)
    if field.kind in {"choice", "workspace", *TEXTS}:
        return text
    if field.kind == "number":
        return parse_quantity(text, rules.unit)
    parse = _PARSERS.get(field.kind)
    return parse(text) if parse is not None else parse_moment(text, now)


_PARSERS: Mapping[Kind, Callable[[str], Any]] = {
    "usd": parse_usd,
    "percent": parse_share,
    "integers": parse_integers,
    "duration": parse_duration_or_zero,
}


def to_typed(field: FormField, value: Any) -> Typed:
    """What an editor holds for a value; nothing for None. ABSENT: nobody said."""
    if field.kind == "secret":
        return SecretStr("")
    if field.kind == "switch":
        return value is not ABSENT and bool(value)
    if field.kind in _OPEN:
        return UNSAID if value is ABSENT else _open_typed(field.kind, value)
    return "" if value is None or value is ABSENT else _typed_text(field.kind, value)


def _open_typed(kind: Kind, value: Any) -> Typed:
    match kind:
        case "builtins":
            return builtin_rows(value or ())
        case "filters":
            return custom_rows(value or ())
    if value is None:
        return None
    return bool(value) if kind == "three_way" else tuple(str(entry) for entry in value)


def _typed_text(kind: Kind, value: Any) -> str:
    match value:
        case list():
            return ", ".join(str(number) for number in value) or _NO_INTEGERS
        case Decimal() if kind == "percent":
            return f"{(value * _PERCENT).normalize():f} %"
        case Decimal():
            return f"{value.normalize():f}"
        case timedelta():
            return duration(value)
        case datetime():
            return utc(value, seconds=bool(value.second)).removesuffix(" UTC")
    return str(value)


def _nothing(rules: FieldRules) -> Any:
    return None if rules.nullable else ABSENT
