"""The filter language of the filter bar and of ``--filter``.

A row is shown when every part of the query matches:

    word            the text anywhere in the row, in upper or lower case
    "two words"     the same, with a space
    -part           rows that do not match the part
    column:text     the column contains the text; a number or yes/no must equal the value
    column=text     the column is exactly the text; != is the opposite
    column>5        also >=, <, <=; accepts $ and %, and the suffixes k, M, B and T
    column >= 80%   spaces are allowed around a comparison with a number, a day or none
    created<7d      within 7 days of now, before or after
    created>=2026-11-01   a moment, UTC; yesterday, today and tomorrow are days
    limit:none      the value is unknown or not set (also null)
    column~^prod    the column matches a regular expression; ~pattern searches every cell
    this or that    rows that match either side
    (this or that)  the same within a longer query; groups may be nested

A column is named by its name or its heading, with a dash for each space or symbol (p50-ms). An
unknown name is searched as text. Percentages are plain numbers: used>80. Patterns have a time
limit.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from types import MappingProxyType
from typing import Any

from gwtui.domain.cell_values import UNKNOWN, SortValue, ValueKind
from gwtui.domain.patterns import TOO_SLOW, Pattern, PatternError
from gwtui.domain.safe_text import safe_line
from gwtui.domain.times import DAYS, named_day, parse_date, parse_duration

Fields = Mapping[str, Callable[[], SortValue]]
"""Column name -> function that returns the value of the row. Called only for columns in use."""

NOTHING = ("none", "null", UNKNOWN)
"""Words that stand for an unknown or missing value."""
YES, NO = ("yes", "true", "on"), ("no", "false", "off")
PATTERN = "~"
EQUALITY = frozenset({":", "=", "!="})
DEEPEST = 10
"""Maximum depth of parentheses."""
_SHOWN = 40
"""Characters of a condition that an error repeats."""


class FilterError(ValueError):
    """The filter is invalid or incomplete; the message is for the user."""


# Conditions -------------------------------------------------------------------------------------

Test = Callable[[Any, datetime], bool]
"""Returns whether a value other than None matches; ages are measured from the given moment."""

_COMPARE: Mapping[str, Callable[[Any, Any], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
    ":": operator.eq,
}
_NUMBER = re.compile(r"([-+]?)\$?(\d[\d,_]{0,40}(?:\.\d{0,40})?|\.\d{1,40})([kmbt]?)%?", re.ASCII)
_POWERS = {"": 0, "k": 3, "m": 6, "b": 9, "t": 12}
_DAYS_ALONE = re.compile(r"\d{1,3}", re.ASCII)
_PARTIAL_DATE = re.compile(r"\d{4}(-\d\d)?", re.ASCII)
_MOMENT_BEGINS = re.compile(r"\d{4}(-\d{0,2}(-\d{0,2}([t ][\d:]{0,8})?)?)?", re.ASCII)
"""A date and time of any length, such as ``2026-11``: equality compares that many characters."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Word:
    """A text searched in the whole row, or a regular expression searched in every cell."""

    text: str
    negated: bool
    pattern: Pattern | None = None

    def holds(self, _fields: Fields, haystack: str, _now: datetime) -> bool:
        """Whether the row matches."""
        if self.pattern is None:
            return (self.text in haystack) != self.negated
        return any(map(self.pattern.found_in, haystack.split("\n"))) != self.negated


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on one column. ``finds_nothing`` is whether an unknown value matches."""

    column: str
    negated: bool
    finds_nothing: bool
    accepts: Test

    def holds(self, fields: Fields, _haystack: str, now: datetime) -> bool:
        """Whether the row matches."""
        value = fields[self.column]()
        matches = self.finds_nothing if value is None else self.accepts(value, now)
        return matches != self.negated


@dataclass(frozen=True, slots=True)
class Group:
    """Alternatives of which at least one must match, or none if ``negated``."""

    alternatives: tuple[tuple[Part, ...], ...]
    negated: bool = False

    def holds(self, fields: Fields, haystack: str, now: datetime) -> bool:
        """Whether the row matches."""
        matches = any(
            all(part.holds(fields, haystack, now) for part in parts) for parts in self.alternatives
        )
        return matches != self.negated


Part = Word | Condition | Group


def _number_test(op: str, text: str) -> Test:
    match = _NUMBER.fullmatch(text)
    if match is None:
        raise FilterError("expected a number such as 80 or 1.5k")
    sign, digits, power = match.groups()
    number = Decimal(sign + digits.replace(",", "").replace("_", "")).scaleb(_POWERS[power])
    compare = _COMPARE[op]

    def test(value: Any, _now: datetime) -> bool:
        return compare(value if isinstance(value, Decimal) else Decimal(str(value)), number)

    return test


def _flag_test(op: str, text: str) -> Test:
    if op not in EQUALITY:
        raise FilterError("yes and no have no order: use :, = or !=")
    is_yes, is_no = (
        bool(text) and any(word.startswith(text) for word in words) for words in (YES, NO)
    )
    if not (is_yes or is_no):
        raise FilterError("expected yes or no")
    return lambda value, _now: is_yes if value else is_no


def _moment_test(op: str, text: str) -> Test:
    compare = _COMPARE[op]
    if named_day(text, _EPOCH) is not None:
        return lambda value, now: _is_on_day(op, value, named_day(text, now.astimezone(UTC)))
    if (span := _duration(text)) is not None:
        # "created:7d" reads as: within 7 days.
        within = operator.le if op in EQUALITY else compare
        return lambda value, now: within(abs(value - now), span)
    moment = _moment(text)
    if op in EQUALITY and _MOMENT_BEGINS.fullmatch(text):
        begin = text.replace("t", " ")
        return lambda value, _now: value.astimezone(UTC).isoformat(" ", "minutes").startswith(begin)
    if moment is None:
        raise FilterError("expected a date such as 2026-11-01 or today, or a distance such as 7d")
    return lambda value, _now: compare(value, moment)


def _is_on_day(op: str, value: datetime, begin: datetime | None) -> bool:
    """Compare with a named day: with the whole day for equality, with its start for order."""
    if begin is None:
        return False
    return begin <= value < begin + _DAY if op in EQUALITY else _COMPARE[op](value, begin)


def _text_test(op: str, text: str) -> Test:
    if op == ":":
        return lambda value, _now: text in value.casefold()
    compare = _COMPARE[op]
    return lambda value, _now: compare(value.casefold(), text)


def _matches_none(_value: Any, _now: datetime) -> bool:
    return False


_TESTS: Mapping[ValueKind, Callable[[str, str], Test]] = {
    "number": _number_test,
    "flag": _flag_test,
    "moment": _moment_test,
    "text": _text_test,
}


def _duration(text: str) -> timedelta | None:
    try:
        return parse_duration(f"{text}d" if _DAYS_ALONE.fullmatch(text) else text)
    except (ValueError, OverflowError):
        return None


def _moment(text: str) -> datetime | None:
    if _PARTIAL_DATE.fullmatch(text):
        text += "-01" if "-" in text else "-01-01"
    try:
        return parse_date(text) if text[:1].isdigit() else None
    except ValueError:
        return None


# Parsing ----------------------------------------------------------------------------------------

NAME = r"[^\W\d][\w.-]*"
"""Regular expression of a column name."""

_WORDS = "|".join((*NOTHING, *YES, *NO, *DAYS))
_SPACED = rf'(?:[-+]?\$?\.?\d|(?:{_WORDS})(?=[\s)]|$)|")'
"""A value may follow a space after the operator if it begins like this."""
_SIGN = r"\\[()]|[^\s()]"
_OWN = rf"\((?:{_SIGN}|\((?:{_SIGN})*\))*\)"
"""Parentheses that belong to a value, such as those of a regular expression."""
_CONDITION = re.compile(
    rf"(?P<no>-(?=\S))?"
    rf"(?:(?P<name>{NAME})(?P<op>\s*(?:>=|<=|!=|[:=<>])\s*(?={_SPACED})|>=|<=|!=|[:=<>~]))?"
    rf'(?:"(?P<quoted>[^"]*)"?|(?P<bare>(?:{_SIGN}|{_OWN}|\()*))',
    re.IGNORECASE,
)
_SPACE = re.compile(r"\s*")
_CLOSING = re.compile(r"\)")
_OR = re.compile(r"or(?=[\s)]|$)", re.IGNORECASE)
_OPENING = re.compile(r"-?\(")


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed filter.

    ``columns`` are the columns with a condition, and ``unknown`` the names without a column, which
    are searched as text. ``reads_text`` is whether the text of rows is searched.
    """

    group: Group
    columns: frozenset[str]
    unknown: tuple[str, ...]
    reads_text: bool
    patterns: tuple[Pattern, ...]

    @property
    def is_empty(self) -> bool:
        """Whether the filter has no condition, so that every row matches."""
        return not (self.columns or self.reads_text)

    def matches(self, fields: Fields, haystack: str, now: datetime) -> bool:
        """Whether a row matches. ``haystack`` is the casefolded text of the whole row.

        Ages are measured from ``now``. Never raises.
        """
        return self.group.holds(fields, haystack, now)

    @property
    def timeout_error(self) -> str:
        """The error message if a regular expression exceeded its time limit; "" if none did."""
        slow = (pattern.pattern for pattern in self.patterns if pattern.slow)
        return next((f"{safe_line(pattern, _SHOWN)}: {TOO_SLOW}" for pattern in slow), "")


def parse(
    text: str,
    kinds: Mapping[str, ValueKind],
    headings: Mapping[str, str] = MappingProxyType({}),
) -> Query:
    """Parse a filter. Raises FilterError.

    ``kinds`` are the kinds of values by column, ``headings`` the column names by heading.
    """
    return _Parser(text, kinds, headings).query()


class _Parser:
    """Parses a filter from left to right."""

    def __init__(
        self, text: str, kinds: Mapping[str, ValueKind], headings: Mapping[str, str]
    ) -> None:
        self._text = text
        self._kinds = kinds
        self._headings = headings
        self._at = 0
        self._columns: set[str] = set()
        self._unknown: list[str] = []
        self._patterns: list[Pattern] = []
        self._reads_text = False

    def query(self) -> Query:
        group = Group(self._alternatives(0))
        if self._at < len(self._text):
            raise FilterError("a group lacks its opening (")
        return Query(
            group,
            frozenset(self._columns),
            tuple(self._unknown),
            self._reads_text,
            tuple(self._patterns),
        )

    def _alternatives(self, depth: int) -> tuple[tuple[Part, ...], ...]:
        """Read alternatives up to a closing parenthesis or the end; each is a list of parts."""
        if depth > DEEPEST:
            raise FilterError(f"at most {DEEPEST} levels of parentheses")
        alternatives: list[list[Part]] = [[]]
        while self._next_sign() not in {"", ")"}:
            if self._take(_OR):
                alternatives.append([])
            elif opening := self._take(_OPENING):
                group = Group(self._alternatives(depth + 1), opening[0].startswith("-"))
                if not self._take(_CLOSING):
                    raise FilterError("a group lacks its closing )")
                alternatives[-1].append(group)
            else:
                alternatives[-1] += self._condition()
        if len(alternatives) > 1 and not all(alternatives):
            raise FilterError("an alternative is missing next to or")
        return tuple(map(tuple, alternatives))

    def _next_sign(self) -> str:
        self._take(_SPACE)
        return self._text[self._at : self._at + 1]

    def _take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        match = pattern.match(self._text, self._at)
        self._at = self._at if match is None else match.end()
        return match

    def _condition(self) -> Iterator[Part]:
        """Read a word or condition and yield it; yields nothing for a lone minus sign."""
        match = self._take(_CONDITION)
        if match is None:
            return
        negated = bool(match["no"])
        typed = match["bare"] if match["quoted"] is None else match["quoted"]
        try:
            if match["name"]:
                yield self._on_column(match, typed, negated)
            elif match["quoted"] is None and typed.startswith(PATTERN) and typed != PATTERN:
                yield self._word("", negated, self._pattern(typed[1:]))
            elif typed not in {"", "-"}:
                yield self._word(typed, negated)
        except (FilterError, PatternError) as error:
            raise FilterError(f"{safe_line(match[0], _SHOWN)}: {error}") from None

    def _on_column(self, match: re.Match[str], typed: str, negated: bool) -> Part:
        name, op, text = match["name"].casefold(), match["op"].strip(), typed.casefold()
        if not typed and match["quoted"] is None:
            raise FilterError("a value is missing")
        name = _named(self._headings, name) or name
        column = _named({known: known for known in self._kinds}, name)
        if column is None:
            self._unknown.append(name)
            return self._word(f"{match['name']}{match['op']}{typed}", negated)
        self._columns.add(column)
        kind, finds_nothing = self._kinds[column], op in EQUALITY and text in NOTHING
        if op == PATTERN:
            test = self._pattern_test(kind, typed)
        elif finds_nothing and kind != "text":
            test = _matches_none
        else:
            test = _TESTS[kind](op.removeprefix("!"), text)
        return Condition(column, negated != (op == "!="), finds_nothing, test)

    def _pattern_test(self, kind: ValueKind, typed: str) -> Test:
        if kind != "text":
            raise FilterError("a pattern only matches text: use :, = or !=")
        pattern = self._pattern(typed)
        return lambda value, _now: pattern.found_in(value.casefold())

    def _word(self, typed: str, negated: bool, pattern: Pattern | None = None) -> Word:
        self._reads_text = True
        return Word(typed.casefold(), negated, pattern)

    def _pattern(self, typed: str) -> Pattern:
        pattern = Pattern(typed)
        self._patterns.append(pattern)
        return pattern


def _named(names: Mapping[str, str], name: str) -> str | None:
    """The value of a name, which may have dashes for underscores; None if missing."""
    return names.get(name) or names.get(name.replace("-", "_"))
