"""Changes of facts that are alerts by themselves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from itertools import groupby

from gwtui.contract.pricing import PER_TOKEN_KEYS
from gwtui.domain.alert_rules import EventRule, GoneRule, PriceRule
from gwtui.domain.money import per_million, percent_points, usd
from gwtui.domain.safe_text import safe_line
from gwtui.watch.history import kinds
from gwtui.watch.history.model import Change, Subject

_HUNDRED = Decimal(100)
_PRICE = "price_"
_SAID = 300


@dataclass(frozen=True, slots=True)
class Happening:
    """Something that happened with a subject, in words."""

    subject: Subject
    at: datetime
    name: str
    said: str


def happenings(rule: EventRule, changes: Sequence[Change]) -> Iterator[Happening]:
    """What of these changes a rule tells of; those of one subject at one moment are one."""
    if isinstance(rule, GoneRule):
        for change in changes:
            if change.kind == kinds.ENDPOINT_GONE:
                yield Happening(change.subject, change.at, change.name, "not offered any more")
    elif isinstance(rule, PriceRule):
        priced = [change for change in changes if change.kind == kinds.ENDPOINT_PRICE]
        for (subject, at), together in groupby(priced, key=lambda one: (one.subject, one.at)):
            found = list(together)
            if any(_counts(rule, change) for change in found):
                said = safe_line(", ".join(_words(change) for change in found), _SAID)
                yield Happening(subject, at, found[0].name, said)


def _counts(rule: PriceRule, change: Change) -> bool:
    """Whether a change is large enough; what cannot be compared is."""
    before, after = _amount(change.before), _amount(change.after)
    if before is None or after is None or not before:
        return True
    return abs(after - before) / before * _HUNDRED >= rule.at_least


def _words(change: Change) -> str:
    if not change.field.startswith(_PRICE):
        return f"{change.field.replace('_', ' ')} changed"
    key = change.field.removeprefix(_PRICE)
    before, after = _amount(change.before), _amount(change.after)
    shown = per_million if key in PER_TOKEN_KEYS else usd
    unit = " per million tokens" if key in PER_TOKEN_KEYS else ""
    words = f"{key.replace('_', ' ')} {shown(before)} → {shown(after)}{unit}"
    if before and after is not None:
        sign = "+" if after > before else "-"
        words += f" ({sign}{percent_points(abs(after - before) / before * _HUNDRED)})"
    return words


def _amount(value: object) -> Decimal | None:
    """Prices in facts are decimal text; a negative one varies."""
    try:
        found = Decimal(str(value)) if isinstance(value, str) else None
    except ArithmeticError:
        return None
    return None if found is None or found < 0 else found
