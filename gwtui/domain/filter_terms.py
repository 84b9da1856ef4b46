"""Conditions of the filter language: what one compares, and whether a row fulfils it."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, TypeVar

from gwtui.domain.cell_values import UNKNOWN, SortValue, ValueKind
from gwtui.domain.patterns import Pattern
from gwtui.domain.safe_text import safe_line
from gwtui.domain.times import named_day, parse_date, parse_duration

Fields = Mapping[str, Callable[[], SortValue]]
"""The values of a row by column name, read only when a query asks for them."""

T = TypeVar("T")

NOTHING = ("none", "null", UNKNOWN)
"""Words for a value that is unknown or not set."""
YES, NO = ("yes", "true", "on"), ("no", "false", "off")
PATTERN = "~"

_NUMBER = re.compile(r"([-+]?)\$?(\d[\d,_]{0,40}(?:\.\d{0,40})?|\.\d{1,40})([kmbt]?)%?", re.ASCII)
_POWERS = {"": 0, "k": 3, "m": 6, "b": 9, "t": 12}
_DAYS_ALONE = re.compile(r"\d{1,3}", re.ASCII)
_PARTIAL_DATE = re.compile(r"\d{4}(-\d\d)?", re.ASCII)
_COMPARE: Mapping[str, Callable[[Any, Any], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
    "!=": operator.ne,
    ":": operator.eq,
}
EQUALITY = frozenset({":", "=", "!="})
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY = timedelta(days=1)
_MOMENT_BEGINS = re.compile(r"\d{4}(-\d{0,2}(-\d{0,2}([t ][\d:]{0,8})?)?)?", re.ASCII)
"""Beginnings of a moment's text, for ":", "=" and "!="."""
_SHOWN = 40
"""Characters of a condition that an error repeats."""


@dataclass(frozen=True, slots=True)
class Word:
    """A text that is searched in the whole row, or a pattern that is searched in every cell."""

    text: str
    negated: bool
    pattern: Pattern | None = None

    def holds(self, _fields: Fields, haystack: str, _now: datetime) -> bool:
        """Whether the row matches."""
        if self.pattern is None:
            return (self.text in haystack) != self.negated
        return any(map(self.pattern.found_in, haystack.split("\n"))) != self.negated


@dataclass(frozen=True, slots=True)
class Term:
    """A condition on one column, with every possible reading of its text.

    ``pattern`` is None for what is no pattern, and for one with a ``fault``.
    """

    name: str
    op: str
    text: str
    words: tuple[str, ...]
    """The typed words, used if the name is not a column."""
    negated: bool
    number: Decimal | None
    span: timedelta | None
    moment: datetime | None
    day: str
    """The name of a day: "today", "next friday"; empty for what is none."""
    pattern: Pattern | None
    ends_text: bool
    """Whether it stands at the end of the query, where it may not be typed to its end yet."""

    def refusal(self, kind: ValueKind) -> str:
        """Why no value of that kind can be compared with it; "" when it can."""
        equality = self.op in EQUALITY
        if kind == "text" or (equality and self.text in NOTHING):
            return ""
        if self.op == PATTERN:
            return f"{self.shown}: a pattern only matches text: use :, = or !="
        if kind == "flag" and not equality:
            return f"{self.shown}: yes and no have no order: use :, = or !="
        expected = self._expected(kind, equality=equality)
        nothing = ", or none" if equality else ""
        return f"{self.shown}: expected {expected}{nothing}" if expected else ""

    def _expected(self, kind: ValueKind, *, equality: bool) -> str:
        """The expected value, "" if the text is one."""
        if kind == "number":
            return "" if self.number is not None else "a number such as 80 or 1.5k"
        if kind == "flag":
            known = bool(self.text) and any(word.startswith(self.text) for word in (*YES, *NO))
            return "" if known else "yes or no"
        begins = equality and _MOMENT_BEGINS.fullmatch(self.text) is not None
        known = begins or bool(self.day) or self.span is not None or self.moment is not None
        return "" if known else "a date such as 2026-11-01 or today, or a distance such as 7d"

    @property
    def shown(self) -> str:
        """The condition in a message."""
        return safe_line(" ".join(self.words), _SHOWN)

    def holds(self, fields: Fields, haystack: str, now: datetime) -> bool:
        """Whether the row matches; ``haystack`` is its text, for other names than columns."""
        read = field_named(fields, self.name)
        if read is None:
            return all(word in haystack for word in self.words) != self.negated
        return self._accepts(read(), now) != self.negated

    def _accepts(self, value: SortValue, now: datetime) -> bool:
        if value is None or (self.pattern is not None and not isinstance(value, str)):
            return self.op in EQUALITY and (self.text in NOTHING) != (self.op == "!=")
        if isinstance(value, bool):
            return self._accepts_flag(value)
        if isinstance(value, datetime):
            return self._accepts_moment(value, now)
        if isinstance(value, str):
            return self._accepts_text(value.casefold())
        if self.number is None:
            return self.op == "!="
        number = value if isinstance(value, Decimal) else Decimal(str(value))
        return _COMPARE[self.op](number, self.number)

    def _accepts_flag(self, value: bool) -> bool:
        if self.op not in EQUALITY:
            return False
        meant = any(word.startswith(self.text) for word in (YES if value else NO))
        return meant != (self.op == "!=")

    def _accepts_moment(self, value: datetime, now: datetime) -> bool:
        begins = named_day(self.day, now.astimezone(UTC))
        if begins is not None:
            return self._accepts_day(value, begins)
        if self.span is not None:
            # "created:7d" reads as: within 7 days.
            compare = operator.le if self.op == ":" else _COMPARE[self.op]
            return bool(compare(abs(value - now), self.span))
        if self.op == ":" or self.moment is None:
            shown = value.astimezone(UTC).isoformat(" ", "minutes")
            return shown.startswith(self.text.replace("t", " ")) != (self.op == "!=")
        return _COMPARE[self.op](value, self.moment)

    def _accepts_day(self, value: datetime, begins: datetime) -> bool:
        """A named day: its whole length for an equality, its first moment for an order."""
        if self.op in EQUALITY:
            return (begins <= value < begins + _DAY) != (self.op == "!=")
        return _COMPARE[self.op](value, begins)

    def _accepts_text(self, value: str) -> bool:
        if self.pattern is not None:
            return self.pattern.found_in(value)
        if self.op == ":":
            return self.text in value
        return _COMPARE[self.op](value, self.text)


def make_term(
    name: str, op: str, typed: str, words: tuple[str, ...], *, negated: bool, ends_text: bool
) -> Term:
    """A condition of what was typed. Raises PatternError."""
    value = typed.casefold()
    return Term(
        name=name.casefold(),
        op=op,
        text=value,
        words=tuple(word.casefold() for word in words),
        negated=negated,
        number=_number(value),
        span=_duration(value),
        moment=_moment(value),
        day="" if named_day(value, _EPOCH) is None else value,
        pattern=Pattern(typed) if op == PATTERN else None,
        ends_text=ends_text,
    )


def field_named(fields: Mapping[str, T], name: str) -> T | None:
    """The column of that name; a dash may stand for an underscore."""
    found = fields.get(name)
    return fields.get(name.replace("-", "_")) if found is None and "-" in name else found


def _number(text: str) -> Decimal | None:
    match = _NUMBER.fullmatch(text)
    if match is None:
        return None
    sign, digits, power = match.groups()
    plain = Decimal(sign + digits.replace(",", "").replace("_", ""))
    return plain.scaleb(_POWERS[power])


def _duration(text: str) -> timedelta | None:
    try:
        return parse_duration(f"{text}d" if _DAYS_ALONE.fullmatch(text) else text)
    except (ValueError, OverflowError):
        return None


def _moment(text: str) -> datetime | None:
    if _PARTIAL_DATE.fullmatch(text):
        text += "-01" if "-" in text else "-01-01"
    if not text[:1].isdigit():
        return None
    try:
        return parse_date(text)
    except ValueError:
        return None
