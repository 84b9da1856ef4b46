"""JSON and CSV for other programs: exact figures, masked secrets, no formulas.

JSON keeps the numbers of the gateway digit by digit and is ASCII. CSV cells never start like a
spreadsheet formula.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any, TextIO

from gwtui.domain.safe_text import safe_text

if TYPE_CHECKING:
    from gwtui.domain.cell_values import SortValue

MASK = "********"
"""The replacement for the value of a secret field."""

_SECRET = frozenset({"key", "secret", "token", "password", "authorization", "api_key"})

_CELL = 100_000
_FORMULA = ("=", "+", "-", "@")
"""Characters that start a formula in a spreadsheet."""


def looks_secret(name: object, value: object) -> bool:
    """Whether the name of a field suggests that its value is secret."""
    return isinstance(value, str) and str(name).lower() in _SECRET


def masked(value: Any) -> Any:
    """A copy in which the values of all secret fields are masked."""
    if isinstance(value, Mapping):
        return {
            name: MASK if looks_secret(name, part) else masked(part) for name, part in value.items()
        }
    if isinstance(value, list | tuple):
        return [masked(part) for part in value]
    return value


def exact_json(value: Any, *, indent: int = 0, ascii_only: bool = True) -> str:
    """Serialize ``value`` as JSON, on one line if ``indent`` is 0.

    Decimals keep every digit. ``ascii_only`` escapes all other characters, some of which could
    disturb a terminal. Raises ValueError for NaN and infinity, TypeError for a value that JSON
    does not have.
    """
    dumps = partial(json.dumps, allow_nan=False, ensure_ascii=ascii_only)
    return "".join(_pieces(value, "\n" if indent else "", " " * indent, dumps))


def _pieces(value: Any, line: str, step: str, dumps: Callable[[Any], str]) -> Iterator[str]:
    if isinstance(value, Mapping):
        colon = ": " if step else ":"
        heads = [dumps(str(name)) + colon for name in value]
        yield from _group("{}", heads, list(value.values()), line, step, dumps)
    elif isinstance(value, list | tuple):
        yield from _group("[]", [""] * len(value), list(value), line, step, dumps)
    elif isinstance(value, Decimal):
        if not value.is_finite():
            raise ValueError("JSON has no such number")
        yield str(value)
    else:
        yield dumps(value)


def _group(
    brackets: str,
    heads: list[str],
    values: list[Any],
    line: str,
    step: str,
    dumps: Callable[[Any], str],
) -> Iterator[str]:
    yield brackets[0]
    inner = line + step if line else ""
    for number, (head, value) in enumerate(zip(heads, values, strict=True)):
        yield f"{',' if number else ''}{inner}{head}"
        yield from _pieces(value, inner, step, dumps)
    yield f"{line if values else ''}{brackets[1]}"


def write_csv(file: TextIO, titles: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write the titles, unless there are none, and the rows. Raises OSError."""
    import csv  # noqa: PLC0415 - every command loads this module, few write CSV

    writer = csv.writer(file, lineterminator="\n")
    if titles:
        writer.writerow(titles)
    writer.writerows([csv_cell(value) for value in row] for row in rows)


def csv_cell(value: Any) -> Any:
    """The text of a CSV cell, escaped so that a spreadsheet does not run it as a formula."""
    if not isinstance(value, str):
        return exact_text(value)
    text = safe_text(value, _CELL)
    return f"'{text}" if text.startswith(_FORMULA) else text


def exact_text(value: SortValue) -> str:
    """Format a number with all digits, a moment in UTC, a flag as a word; "" if unknown."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal):
        return f"{value:f}"
    return _timestamp(value) if isinstance(value, datetime) else str(value)


def _timestamp(moment: datetime) -> str:
    from gwtui.contract.scalars import timestamp_text  # noqa: PLC0415 - loads pydantic

    return timestamp_text(moment)
