"""Values as people type them, in a form or on the command line."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from gwtui.contract.request import FieldRules
from gwtui.crud.fields import Kind
from gwtui.domain.money import parse_quantity, parse_share, parse_usd
from gwtui.domain.times import parse_duration_or_zero, parse_moment

_INTEGER = re.compile(r"[+-]?\d{1,18}", re.ASCII)
NO_INTEGERS = "[]"


def parse_integers(text: str) -> list[int]:
    """Whole numbers separated by commas, semicolons or blanks, each once.

    Raises ValueError with a message for the person.
    """
    if text.strip() == NO_INTEGERS:
        return []
    words = re.split(r"[\s,;]+", text.strip().strip("[],; "))
    for word in words:
        if not _INTEGER.fullmatch(word):
            raise ValueError(f"expected whole numbers such as 12, 40: not “{word[:20]}”")
    return list(dict.fromkeys(int(word) for word in words))


_PARSERS: Mapping[Kind, Callable[[str, FieldRules, datetime], Any]] = {
    "usd": lambda text, _rules, _now: parse_usd(text),
    "percent": lambda text, _rules, _now: parse_share(text),
    "integers": lambda text, _rules, _now: parse_integers(text),
    "number": lambda text, rules, _now: parse_quantity(text, rules.unit),
    "duration": lambda text, _rules, _now: parse_duration_or_zero(text),
    "datetime": lambda text, _rules, now: parse_moment(text, now),
}
"""The kinds whose value is not the text itself."""


def parse_value(kind: Kind, text: str, rules: FieldRules, now: datetime) -> Any:
    """The value that a text stands for. Raises ValueError with a message for the person."""
    return _PARSERS[kind](text, rules, now) if kind in _PARSERS else text
