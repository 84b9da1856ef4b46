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
    (a b or c)      one of the alternatives matches; groups may be nested

A column is named by its name or its heading, with a dash for each space or symbol (p50-ms). An
unknown name is searched as text. Percentages are plain numbers: used>80. Parentheses group only if
they contain an ``or``; outside of them ``or`` is an ordinary word. A comparison that the column
cannot have is an error (``Query.checked``). Patterns have a time limit.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, NamedTuple, TypeVar

from gwtui.domain.cell_values import UNKNOWN, SortValue, ValueKind
from gwtui.domain.clock import SYSTEM_CLOCK
from gwtui.domain.patterns import TOO_SLOW, Pattern, PatternError
from gwtui.domain.safe_text import safe_line
from gwtui.domain.times import DAYS, named_day, parse_date, parse_duration

Fields = Mapping[str, Callable[[], SortValue]]
"""Functions that return the values of a row, by column name. Only those in use are called."""

T = TypeVar("T")

NOTHING = ("none", "null", UNKNOWN)
"""Words that stand for an unknown or missing value."""
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
    """A text searched in the whole row, or a pattern searched in every cell."""

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
    """A condition on one column, with its text parsed as every kind of value that it can be.

    ``pattern`` is None unless the operator is ``~`` and the pattern is valid.
    """

    name: str
    op: str
    text: str
    words: tuple[str, ...]
    """The words to search in the whole row if there is no such column."""
    negated: bool
    number: Decimal | None
    span: timedelta | None
    moment: datetime | None
    day: str
    """The name of a day, such as "today" or "next friday"; empty for any other text."""
    pattern: Pattern | None
    ends_text: bool
    """Whether the condition is the last of the query, and may still be incomplete."""

    def refusal(self, kind: ValueKind) -> str:
        """Why values of this kind cannot be compared with the text; "" if they can."""
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
        """The expected kind of value, "" if the text has it."""
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
        """The condition as shown in a message."""
        return safe_line(" ".join(self.words), _SHOWN)

    def holds(self, fields: Fields, haystack: str, now: datetime) -> bool:
        """Whether the row matches; without such a column ``haystack``, its text, is searched."""
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
        """Compare with a named day: with the whole day for equality, with its start for order."""
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
    """Return the term of one condition. Raises PatternError for an invalid regular expression."""
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
    """The value for a column name, in which dashes may replace underscores; None if unknown."""
    field = fields.get(name)
    return fields.get(name.replace("-", "_")) if field is None and "-" in name else field


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


NAME = r"[^\W\d][\w.-]*"
"""Regular expression of a column name."""
DEEPEST = 10
"""Maximum depth of parentheses."""

_WORDS = "|".join((*NOTHING, *YES, *NO, *DAYS))
_SPACED = rf'(?:[-+]?\$?\.?\d|(?:{_WORDS})(?=[\s)]|$)|")'
"""Beginnings of a value that may follow a space."""
_SIGN = r"\\[()]|[^\s()]"
_OWN = rf"\((?:{_SIGN}|\((?:{_SIGN})*\))*\)"
"""Parentheses within a value, such as a pattern."""
_IN_GROUP = rf"(?:{_SIGN}|{_OWN}|\()*"
_SPACE = re.compile(r"\s*")
_OR = re.compile(r"or(?=\s|$)", re.IGNORECASE)

_OR_IS_TEXT = '"or" is searched as text: put alternatives in ( )'


def _conditions(bare: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Patterns of a comparison with spaces around its operator, and of all other conditions."""
    value = rf'(?:"(?P<quoted>[^"]*)"?|(?P<bare>{bare}))'
    apart = rf"(?P<no>(?!))?(?P<name>{NAME})(?P<gap>\s+)(?P<op>>=|<=|!=|[=<>])\s*(?={_SPACED})"
    joined = (
        rf"(?P<no>-(?=\S))?"
        rf"(?:(?P<name>{NAME})(?P<op>>=|<=|!=|[:=<>~])(?P<gap>\s+(?={_SPACED}))?)?"
    )
    return re.compile(apart + value, re.IGNORECASE), re.compile(joined + value, re.IGNORECASE)


_CONDITIONS = {False: _conditions(r"\S*"), True: _conditions(_IN_GROUP)}
"""Patterns of a condition, by whether it is inside a group."""


def parse(text: str) -> Query:
    """Parse a filter. Never raises: the query has an ``error``, and its valid parts still work."""
    parser = _Parser(text)
    group = parser.read(0, in_group=False)
    faults = sorted(group.faults, key=lambda fault: fault.open)
    return Query(text, faults[0] if faults else NO_FAULT, parser.note, tuple(group.alternatives[0]))


class FilterFault(NamedTuple):
    """An error in a filter; its text is "" if there is none."""

    text: str
    unfinished: bool = False
    """Whether the error is at the end of the filter, which may be incomplete."""
    open: bool = False
    """Whether only the closing parenthesis of a group is missing. The group applies anyway."""


NO_FAULT = FilterFault("")


@dataclass(slots=True)
class _ParsedGroup:
    """The result of parsing up to ``end``."""

    alternatives: list[list[Part]] = field(default_factory=lambda: [[]])
    faults: list[FilterFault] = field(default_factory=list)
    end: int = 0
    is_closed: bool = False


class _Parser:
    """Parses a filter from left to right.

    Parentheses with an ``or`` directly between them are a group. All others are text, as in the
    name ``Llama (free)``, and so is an ``or`` outside of a group.
    """

    def __init__(self, text: str) -> None:
        self.note = ""
        self._text = text
        self._groups: dict[int, _ParsedGroup | None] = {}
        self._is_deep = _depth(text) > DEEPEST

    def read(self, at: int, *, in_group: bool) -> _ParsedGroup:
        """Read up to the end of the group, or of the text."""
        group, text = _ParsedGroup(), self._text
        if self._is_deep:
            group.faults.append(FilterFault(f"at most {DEEPEST} levels of parentheses"))
        while (at := _past_space(text, at)) < len(text):
            if in_group and text[at] == ")":
                group.is_closed = True
                at += 1
                break
            if _OR.match(text, at):
                if in_group and group.alternatives[-1]:
                    group.alternatives.append([])
                    at += len("or")
                    continue
                if in_group and len(group.alternatives) > 1:
                    group.faults.append(_missing())
                elif not in_group and text[:at].strip() and text[at + len("or") :].strip():
                    self.note = _OR_IS_TEXT
            at = self._part(at, group, in_group=in_group)
        group.end = at
        return group

    def _part(self, at: int, group: _ParsedGroup, *, in_group: bool) -> int:
        """Read one part; returns its end."""
        is_negated = self._text.startswith("-", at)
        nested = self._group(at + is_negated)
        if nested is None:
            return self._condition(at, group, in_group=in_group)
        # While one alternative is still being typed, the others are meant.
        alternatives = tuple(
            tuple(alternative) for alternative in nested.alternatives if alternative
        ) or ((),)
        group.alternatives[-1].append(Group(alternatives, is_negated))
        group.faults += nested.faults
        return nested.end

    def _group(self, at: int) -> _ParsedGroup | None:
        """The group that begins at this position; None for other text."""
        if self._is_deep or not self._text.startswith("(", at):
            return None
        if at not in self._groups:
            group = self.read(at + 1, in_group=True)
            if not group.is_closed:
                group.faults.append(
                    FilterFault("a group lacks its closing )", unfinished=True, open=True)
                )
            elif not group.alternatives[-1]:
                group.faults.append(_missing())
            self._groups[at] = group if len(group.alternatives) > 1 else None
        return self._groups[at]

    def _condition(self, at: int, group: _ParsedGroup, *, in_group: bool) -> int:
        apart, joined = _CONDITIONS[in_group]
        match = apart.match(self._text, at) or joined.match(self._text, at)
        if match is None or match.end() == at:
            return at + 1
        at_end = match.end() == len(self._text)
        try:
            part = _read_condition(match, at_end)
        except PatternError as error:
            group.faults.append(FilterFault(f"{safe_line(match[0], _SHOWN)}: {error}", at_end))
        except ValueError as error:
            group.faults.append(FilterFault(str(error), at_end))
        else:
            group.alternatives[-1] += part
        return match.end()


def _read_condition(match: re.Match[str], at_end: bool) -> tuple[Part, ...]:
    """Parse a condition; empty for a lone minus sign. Raises ValueError."""
    name, op, negated = match["name"], match["op"], bool(match["no"])
    is_quoted = match["quoted"] is not None
    typed = match["quoted"] if is_quoted else match["bare"]
    if name:
        if not typed and not is_quoted:
            raise ValueError(f"{name}{op} needs a value")
        ends_text = at_end and not (is_quoted and match[0].count('"') == len('""'))
        words = tuple(match[0].removeprefix("-").split()) if match["gap"] else (name + op + typed,)
        return (make_term(name, op, typed, words, negated=negated, ends_text=ends_text),)
    if not is_quoted and typed.startswith(PATTERN) and typed != PATTERN:
        return (Word(typed.casefold(), negated, Pattern(typed[1:])),)
    return (Word(typed.casefold(), negated),) if typed not in ("", "-") else ()


def _missing() -> FilterFault:
    return FilterFault("an alternative is missing after or")


def _past_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return at if match is None else match.end()


def _depth(text: str) -> int:
    """The maximum depth of parentheses."""
    depth = deepest = 0
    for sign in text:
        depth = max(depth + (sign == "(") - (sign == ")"), 0)
        deepest = max(deepest, depth)
    return deepest


# Queries ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Group:
    """Alternatives of which at least one must match, or none if ``negated``."""

    alternatives: tuple[tuple[Part, ...], ...]
    negated: bool

    def holds(self, fields: Fields, haystack: str, now: datetime) -> bool:
        """Whether the row matches."""
        found = any(
            _all_hold(alternative, fields, haystack, now) for alternative in self.alternatives
        )
        return found != self.negated


Part = Word | Term | Group


def _all_hold(parts: Iterable[Part], fields: Fields, haystack: str, now: datetime) -> bool:
    return all(part.holds(fields, haystack, now) for part in parts)


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed filter; a row matches if all ``parts`` match.

    ``note`` is a warning about a part that may not mean what the person expects.
    """

    text: str
    fault: FilterFault = NO_FAULT
    note: str = ""
    parts: tuple[Part, ...] = ()

    @property
    def error(self) -> str:
        """The message of the fault, "" if there is none."""
        return self.fault.text

    def matches(self, fields: Fields, haystack: str, now: datetime | None = None) -> bool:
        """Whether a row matches. ``haystack`` is the casefolded text of the whole row.

        Ages are measured from ``now``, by default the system's time. Never raises.
        """
        return _all_hold(self.parts, fields, haystack, now or SYSTEM_CLOCK.now())

    def conditions(self) -> Iterator[Word | Term]:
        """All conditions, including those within groups."""
        waiting: list[Part] = [*self.parts]
        while waiting:
            part = waiting.pop(0)
            if not isinstance(part, Group):
                yield part
            else:
                waiting += [
                    condition for alternative in part.alternatives for condition in alternative
                ]

    @property
    def slow(self) -> str:
        """The error message for a pattern that ran out of time; empty if there is none."""
        for condition in self.conditions():
            if condition.pattern is not None and condition.pattern.slow:
                return f"{safe_line(condition.pattern.pattern, _SHOWN)}: {TOO_SLOW}"
        return ""

    def reads_text(self, names: Iterable[str]) -> bool:
        """Whether the query searches the text of rows that have these columns."""
        searched = any(not isinstance(condition, Term) for condition in self.conditions())
        return searched or bool(self.unknown_columns(names))

    def names_any(self, names: Iterable[str]) -> bool:
        """Whether the query has a condition on at least one of these columns."""
        known = dict.fromkeys(names, True)
        return any(field_named(known, term.name) for term in self._terms())

    def unknown_columns(self, names: Iterable[str]) -> tuple[str, ...]:
        """Names in the query that are not among these columns and are searched as text."""
        known = dict.fromkeys(names, True)
        return tuple(term.name for term in self._terms() if not field_named(known, term.name))

    def _terms(self) -> Iterator[Term]:
        return (condition for condition in self.conditions() if isinstance(condition, Term))

    def checked(
        self, kinds: Mapping[str, ValueKind], headings: Mapping[str, str] | None = None
    ) -> Query:
        """Check the query against the columns of a list.

        ``kinds`` are the kinds of values by column, ``headings`` the column names by heading.
        Conditions that can never match are removed, within a group together with the group, and set
        ``error``. An earlier error stays, unless it may be due to an incomplete end.
        """
        faults = [self.fault] if self.error and not self.fault.unfinished else []
        parts = _fitting(self.parts, kinds, headings or {}, faults)
        return replace(self, parts=parts, fault=faults[0] if faults else self.fault)


def _fitting(
    parts: Iterable[Part],
    kinds: Mapping[str, ValueKind],
    headings: Mapping[str, str],
    faults: list[FilterFault],
) -> tuple[Part, ...]:
    """The parts that can match, with column names in place of headings."""
    kept: list[Part] = []
    for part in parts:
        known_faults = len(faults)
        fitting = part
        if isinstance(part, Group):
            alternatives = (
                _fitting(alternative, kinds, headings, faults) for alternative in part.alternatives
            )
            fitting = replace(part, alternatives=tuple(alternatives))
        elif isinstance(part, Term):
            fitting = replace(part, name=field_named(headings, part.name) or part.name)
            kind = field_named(kinds, fitting.name)
            if kind is not None and (refusal := fitting.refusal(kind)):
                faults.append(FilterFault(refusal, part.ends_text))
        if len(faults) == known_faults:
            kept.append(fitting)
    return tuple(kept)
