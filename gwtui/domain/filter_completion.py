"""Completions for a filter that is being typed: columns, operators and values."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from gwtui.domain.cell_values import ValueKind
from gwtui.domain.filters import EQUALITY, NAME, NOTHING, PATTERN
from gwtui.domain.times import DAYS

MOST = 40
"""Maximum number of completions."""
_OPERATORS: dict[ValueKind, tuple[str, ...]] = {
    "text": (":", "=", "!=", PATTERN),
    "number": (">", "<", ">=", "<=", "=", "!="),
    "moment": ("<", ">", "<=", ">=", ":"),
    "flag": (":", "!="),
}
_SPANS = ("24h", "7d", "30d")
_CONDITION = re.compile(
    rf'(?P<name>{NAME})\s*(?P<op>>=|<=|!=|[:=<>~])\s*(?P<quote>"?)(?P<value>.*)', re.DOTALL
)
_BEFORE_VALUE = re.compile(rf"(?:^|[\s(-])(?P<part>{NAME}\s*(?:>=|<=|!=|[:=<>])\s+)$")


@dataclass(frozen=True, slots=True)
class FilterField:
    """A field name that filters accept: a column (with its heading) or an additional field."""

    name: str
    kind: ValueKind
    heading: str = ""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One completion: the list displays ``shown``; ``text`` is inserted."""

    shown: str
    text: str


@dataclass(frozen=True, slots=True)
class Suggestions:
    """Completions that replace the text from ``start`` on, most likely first."""

    start: int
    offered: tuple[Suggestion, ...] = ()

    def applied(self, text: str, place: int = 0) -> str:
        """The text with the completion at index ``place`` applied. Raises IndexError."""
        return text[: self.start] + self.offered[place].text


Values = Callable[[str], Iterable[str]]
"""A function that returns the values of a column, by its name."""


def suggestions(text: str, fields: Sequence[FilterField], values: Values) -> Suggestions:
    """Complete ``text``, the filter up to the cursor. Never raises."""
    start = _part_begins(text)
    part = text[start:]
    condition = _CONDITION.fullmatch(part)
    if condition is not None:
        field = _find_field(condition["name"], fields)
        start += condition.start("quote")
        typed = condition["value"].removesuffix('"')
        offered = _values(field, condition["op"], typed, values) if field else ()
        return Suggestions(start, _most(offered))
    exact = _find_field(part, fields) if part else None
    if exact is not None:
        texts = [f"{exact.name}{op}" for op in _OPERATORS[exact.kind]]
        longer = (
            suggestion
            for suggestion in _field_suggestions(part, fields)
            if suggestion.text.rstrip(":") != exact.name
        )
        return Suggestions(start, _most([*(Suggestion(text, text) for text in texts), *longer]))
    return Suggestions(start, _most(_field_suggestions(part, fields)))


def _part_begins(text: str) -> int:
    """The start of the last part of a filter, after its minus signs and parentheses."""
    start, quoted = 0, False
    for place, character in enumerate(text):
        if character == '"':
            quoted = not quoted
        elif character.isspace() and not quoted:
            start = place + 1
    spaced = _BEFORE_VALUE.search(text[:start])
    if spaced is not None:
        start = spaced.start("part")
    while text[start : start + 1] in ("-", "("):
        start += 1
    return start


def _most(offered: Iterable[Suggestion]) -> tuple[Suggestion, ...]:
    return tuple(dict.fromkeys(offered))[:MOST]


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "_", name.casefold()).strip("_")


def _find_field(name: str, fields: Sequence[FilterField]) -> FilterField | None:
    """The field with this name, or else with this heading."""
    plain = _plain(name)
    matching = [field for field in fields if _plain(field.name) == plain]
    matching += [field for field in fields if field.heading and _plain(field.heading) == plain]
    return matching[0] if matching else None


def _field_suggestion(field: FilterField) -> Suggestion:
    """Suggest a field, with its operator if there is only one that makes sense."""
    text = f"{field.name}:" if field.kind in ("text", "flag") else field.name
    alike = _plain(field.heading) in ("", _plain(field.name))
    return Suggestion(field.name if alike else f"{field.name} ({field.heading})", text)


def _field_suggestions(part: str, fields: Sequence[FilterField]) -> Iterator[Suggestion]:
    """Suggest fields that start with ``part``, by name or heading, then fields that contain it."""
    plain = _plain(part)
    if part and not plain:
        return
    ranked: list[tuple[int, FilterField]] = []
    for field in fields:
        names = (_plain(field.name), _plain(field.heading))
        if any(plain in name for name in names):
            begins = [place for place, name in enumerate(names) if name.startswith(plain)]
            ranked.append((begins[0] if begins else len(names), field))
    yield from (_field_suggestion(field) for _, field in sorted(ranked, key=lambda entry: entry[0]))


def _values(field: FilterField, op: str, typed: str, values: Values) -> Iterator[Suggestion]:
    """Suggest values that start with the typed text, then values that contain it.

    Without a match, suggest all values if there are at most ``MOST``.
    """
    if op == PATTERN:
        return
    known: list[str] = []
    match field.kind:
        case "text":
            known += values(field.name)
        case "flag":
            known += ("yes", "no")
        case "moment":
            known += (*DAYS, *_SPANS)
    if op in EQUALITY:
        known.append(NOTHING[0])
    folded = typed.casefold()
    matching = [value for value in known if folded in value.casefold()]
    matching.sort(key=lambda value: not value.casefold().startswith(folded))
    few = known if len(known) <= MOST else ()
    for value in dict.fromkeys(matching or few):
        if '"' not in value:
            yield Suggestion(value, f'"{value}"' if re.search(r"[\s()]", value) else value)
