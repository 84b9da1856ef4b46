"""Completions for a filter that is being typed: columns, operators and values."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

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
_LAST_PART = re.compile(
    rf"(?:^|[\s(])-?\(*"
    rf"(?:(?P<name>{NAME})\s*(?P<op>>=|<=|!=|[:=<>~])\s*)?"
    rf'(?P<typed>"[^"]*|[^\s"()]*)$'
)
"""The last part of a filter: a condition, or the beginning of a name."""

Values = Callable[[str], Iterable[str]]
"""A function that returns the values of a column, by its name."""


@dataclass(frozen=True, slots=True)
class Suggestions:
    """Completions that replace the text from ``start`` on, most likely first."""

    start: int
    offered: tuple[str, ...] = ()

    def apply(self, text: str, place: int = 0) -> str:
        """Return the text with the completion at index ``place`` inserted. Raises IndexError."""
        return text[: self.start] + self.offered[place]


def suggestions(text: str, kinds: Mapping[str, ValueKind], values: Values) -> Suggestions:
    """Complete ``text``, the filter up to the cursor. Never raises.

    ``kinds`` maps column names to their kinds of values; ``values`` returns the values of a column.
    """
    match = _LAST_PART.search(text)
    if match is None:
        return Suggestions(len(text))
    if match["name"] is None:
        offered = _names(_plain(match["typed"]), kinds)
    else:
        name, typed = _plain(match["name"]), match["typed"].removeprefix('"')
        offered = _values(name, match["op"], typed, kinds, values) if name in kinds else iter(())
    return Suggestions(match.start("typed"), tuple(islice(dict.fromkeys(offered), MOST)))


def _plain(name: str) -> str:
    return name.casefold().replace("-", "_")


def _names(typed: str, kinds: Mapping[str, ValueKind]) -> Iterator[str]:
    """Complete the typed beginning of a column name.

    If it is a whole name, first that name with each operator; then longer names that begin with it,
    and names that contain it. Names of text and yes/no columns end in a colon.
    """
    if typed in kinds:
        yield from (f"{typed}{op}" for op in _OPERATORS[kinds[typed]])
    longer = [name for name in kinds if typed in name and name != typed]
    for name in sorted(longer, key=lambda name: not name.startswith(typed)):
        yield f"{name}:" if kinds[name] in {"text", "flag"} else name


def _values(
    name: str, op: str, typed: str, kinds: Mapping[str, ValueKind], values: Values
) -> Iterator[str]:
    """Complete a value: first values that begin with the typed text, then values that contain it.

    Without a match, these are all values if there are at most ``MOST``.
    """
    known: list[str] = []
    match kinds[name]:
        case "text" if op != PATTERN:
            known += values(name)
        case "flag":
            known += ("yes", "no")
        case "moment":
            known += (*DAYS, *_SPANS)
    if op in EQUALITY:
        known.append(NOTHING[0])
    folded = typed.casefold()
    matching = [value for value in known if folded in value.casefold()]
    matching.sort(key=lambda value: not value.casefold().startswith(folded))
    for value in matching or (known if len(known) <= MOST else ()):
        if '"' not in value:
            yield f'"{value}"' if re.search(r"[\s()]", value) else value
