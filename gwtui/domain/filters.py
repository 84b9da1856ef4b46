"""The language of the filter bar.

A row is shown when every part of the query holds:

    word            somewhere in the row, in any case
    "two words"     the same, with a space
    -part           the row does not match the part
    column:text     the column holds the text; a number or yes/no is compared by its value
    column=text     the column is exactly that; != is the opposite
    column>5        also >=, <, <=; $ and % may be written, k, M, B and T multiply
    created<7d      a moment that is less than 7 days away from now, before or after
    created>=2026-11-01   a moment, UTC
    limit:none      the value is unknown or not set (also null)

A name that is no column is searched as it was typed. Percentages count in points: used>80.
What a column cannot be compared with is an error (``Query.checked``), not a list without rows.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, TypeVar

from gwtui.domain.cells import UNKNOWN, SortValue, ValueKind
from gwtui.domain.clock import SYSTEM_CLOCK
from gwtui.domain.safe_text import safe_line
from gwtui.domain.times import parse_duration, parse_moment

Fields = Mapping[str, Callable[[], SortValue]]
"""The values of a row by column name, read only when a query asks for them."""

T = TypeVar("T")

_TOKEN = re.compile(
    r"(?P<no>-(?=\S))?"
    r"(?:(?P<name>[^\W\d][\w.-]*)(?P<op>>=|<=|!=|[:=<>]))?"
    r'(?:"(?P<quoted>[^"]*)"?|(?P<bare>\S*))'
)
_SPACE = re.compile(r"\s*")
_NUMBER = re.compile(r"([-+]?)\$?(\d[\d,_]{0,40}(?:\.\d{0,40})?|\.\d{1,40})([kmbt]?)%?", re.ASCII)
_POWERS = {"": 0, "k": 3, "m": 6, "b": 9, "t": 12}
_PARTIAL_DATE = re.compile(r"\d{4}(-\d\d)?", re.ASCII)
_NOTHING = frozenset({"none", "null", UNKNOWN})
_YES, _NO = ("yes", "true", "on"), ("no", "false", "off")
_COMPARE: Mapping[str, Callable[[Any, Any], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
    "!=": operator.ne,
    ":": operator.eq,
}
_EQUALITY = frozenset({":", "=", "!="})
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MOMENT_BEGINS = re.compile(r"\d{4}(-\d{0,2}(-\d{0,2}([t ][\d:]{0,8})?)?)?", re.ASCII)
"""How the text of a moment may begin, which ":", "=" and "!=" look for."""
_SHOWN = 40
"""Characters of a condition that an error repeats."""


@dataclass(frozen=True, slots=True)
class _Term:
    """A condition on one column, with everything that its text can mean."""

    name: str
    op: str
    text: str
    negated: bool
    number: Decimal | None
    span: timedelta | None
    moment: datetime | None
    ends_text: bool
    """Whether it stands at the end of the query, where it may not be typed to its end yet."""

    @property
    def word(self) -> str:
        """What was typed, for when the name is no column."""
        return f"{self.name}{self.op}{self.text}"

    def refusal(self, kind: ValueKind) -> str:
        """Why no value of that kind can be compared with it; "" when it can."""
        equality = self.op in _EQUALITY
        if kind == "text" or (equality and self.text in _NOTHING):
            return ""
        if kind == "number":
            expected = "" if self.number is not None else "a number such as 80 or 1.5k"
        elif kind == "flag":
            if not equality:
                return f"{self._shown}: a yes or no has no order: use :, = or !="
            words = (*_YES, *_NO)
            known = bool(self.text) and any(word.startswith(self.text) for word in words)
            expected = "" if known else "yes or no"
        else:
            begins = equality and _MOMENT_BEGINS.fullmatch(self.text) is not None
            known = begins or self.span is not None or self.moment is not None
            expected = "" if known else "a date such as 2026-11-01, or a distance such as 7d"
        if not expected:
            return ""
        nothing = ", or none" if equality else ""
        return f"{self._shown}: expected {expected}{nothing}"

    @property
    def _shown(self) -> str:
        return safe_line(self.word, _SHOWN)

    def holds(self, fields: Fields, haystack: str, now: datetime) -> bool:
        read = _field(fields, self.name)
        return self.word in haystack if read is None else self._accepts(read(), now)

    def _accepts(self, value: SortValue, now: datetime) -> bool:
        if value is None:
            return self.op in _EQUALITY and (self.text in _NOTHING) != (self.op == "!=")
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
        if self.op not in _EQUALITY:
            return False
        meant = any(word.startswith(self.text) for word in (_YES if value else _NO))
        return meant != (self.op == "!=")

    def _accepts_moment(self, value: datetime, now: datetime) -> bool:
        if self.span is not None:
            # "created:7d" reads as: within 7 days.
            compare = operator.le if self.op == ":" else _COMPARE[self.op]
            return bool(compare(abs(value - now), self.span))
        if self.op == ":" or self.moment is None:
            shown = value.astimezone(UTC).isoformat(" ", "minutes")
            return shown.startswith(self.text.replace("t", " ")) != (self.op == "!=")
        return _COMPARE[self.op](value, self.moment)

    def _accepts_text(self, value: str) -> bool:
        if self.op == ":":
            return self.text in value
        return _COMPARE[self.op](value, self.text)


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed filter. ``error`` says what is not finished or not understood, "" when all is."""

    text: str
    error: str = ""
    unfinished: bool = False
    """Whether the error is about the end of the text, which may still be being typed."""
    words: tuple[str, ...] = ()
    """What must be somewhere in the row, casefolded; for highlighting too."""
    excluded: tuple[str, ...] = ()
    terms: tuple[_Term, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether every row matches."""
        return not (self.words or self.excluded or self.terms)

    def matches(self, fields: Fields, haystack: str, now: datetime | None = None) -> bool:
        """Whether a row is shown. ``haystack`` is the row's whole text, casefolded.

        ``now`` is what ages are measured from, the system's clock when not given. Never raises.
        """
        for word in self.words:
            if word not in haystack:
                return False
        for word in self.excluded:
            if word in haystack:
                return False
        if not self.terms:
            return True
        at = now or SYSTEM_CLOCK.now()
        return all(term.holds(fields, haystack, at) != term.negated for term in self.terms)

    def unknown_columns(self, names: Iterable[str]) -> tuple[str, ...]:
        """Names in the query that are no column: they are searched as plain text."""
        known = dict.fromkeys(names, True)
        return tuple(term.name for term in self.terms if _field(known, term.name) is None)

    def checked(self, kinds: Mapping[str, ValueKind]) -> Query:
        """The query for these columns: with an ``error`` where a condition can never hold.

        ``kinds`` tells what the values of each column are. What is refused is left out of it; an
        error that is there already stays, unless it may be about what is still being typed.
        """
        fit: list[_Term] = []
        refused: list[tuple[str, bool]] = []
        for term in self.terms:
            kind = _field(kinds, term.name)
            refusal = "" if kind is None else term.refusal(kind)
            if refusal:
                refused.append((refusal, term.ends_text))
            else:
                fit.append(term)
        if not refused:
            return self
        error, unfinished = (self.error, False) if self._is_wrong else refused[0]
        return replace(self, error=error, unfinished=unfinished, terms=tuple(fit))

    @property
    def _is_wrong(self) -> bool:
        return bool(self.error) and not self.unfinished


def parse(text: str) -> Query:
    """Read a filter. Never raises: what is wrong is in ``error``, the rest of it works."""
    words: list[str] = []
    excluded: list[str] = []
    terms: list[_Term] = []
    error, unfinished = "", False
    position = 0
    while (position := _after_space(text, position)) < len(text):
        match = _TOKEN.match(text, position)
        if match is None or match.end() == position:
            break
        position = match.end()
        typed = match["bare"] if match["quoted"] is None else match["quoted"]
        value = typed.casefold()
        if match["name"]:
            if value or match["quoted"] is not None:
                closed = match["quoted"] is not None and match[0].count('"') == len('""')
                at_end = match.end() == len(text)
                terms.append(_term(match, value, ends_text=at_end and not closed))
            elif not error:
                error = f"{match['name']}{match['op']} needs a value"
                unfinished = match.end() == len(text)
        elif value and value != "-":
            (excluded if match["no"] else words).append(value)
    return Query(text, error, unfinished, tuple(words), tuple(excluded), tuple(terms))


def _after_space(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return position if match is None else match.end()


def _term(match: re.Match[str], value: str, *, ends_text: bool) -> _Term:
    return _Term(
        name=match["name"].casefold(),
        op=match["op"],
        text=value,
        negated=bool(match["no"]),
        number=_number(value),
        span=_duration(value),
        moment=_moment(value),
        ends_text=ends_text,
    )


def _number(text: str) -> Decimal | None:
    match = _NUMBER.fullmatch(text)
    if match is None:
        return None
    sign, digits, power = match.groups()
    plain = Decimal(sign + digits.replace(",", "").replace("_", ""))
    return plain.scaleb(_POWERS[power])


def _duration(text: str) -> timedelta | None:
    try:
        return parse_duration(text)
    except (ValueError, OverflowError):
        return None


def _moment(text: str) -> datetime | None:
    if _PARTIAL_DATE.fullmatch(text):
        text += "-01" if "-" in text else "-01-01"
    if not text[:1].isdigit():
        return None
    try:
        return parse_moment(text, _EPOCH)
    except ValueError:
        return None


def _field(fields: Mapping[str, T], name: str) -> T | None:
    """The column of that name; a dash may stand for an underscore."""
    found = fields.get(name)
    return fields.get(name.replace("-", "_")) if found is None and "-" in name else found
